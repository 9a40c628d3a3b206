"""The Homebrew formula."""
from common import DESCRIPTION, PLATFORMS, REPOSITORY, VERSION

HEAD = f"""\
class ContextGraph < Formula
  desc "{DESCRIPTION}"
  homepage "{REPOSITORY}"
  version "{VERSION}"
  license any_of: ["MIT", "Apache-2.0"]
"""
TAIL = """
  def install
    bin.install "context-graph"
    man1.install Dir["man/man1/*"]
    bash_completion.install "completions/context-graph.bash" => "context-graph"
    zsh_completion.install "completions/context-graph.zsh" => "_context-graph"
    fish_completion.install "completions/context-graph.fish"
    doc.install "README.md", "CHANGELOG.md", "LICENSES-OF-OTHERS.txt"
  end

  test do
    system bin/"context-graph", "demo"
  end
end
"""


def text(sums):
    """The formula for the archives among these files, by their checksums."""
    parts = [HEAD]
    for system in ("on_macos", "on_linux"):
        blocks = {}
        for target, names in PLATFORMS.items():
            archive = f"context-graph-{VERSION}-{target}.tar.gz"
            if names["brew"][0] == system and archive in sums:
                block = (f'    {names["brew"][1]} do\n      url "{REPOSITORY}/releases/download/v{VERSION}/{archive}"\n'
                         f'      sha256 "{sums[archive]}"\n    end\n')
                # The first archive for a processor is the one to take.
                blocks.setdefault(names["brew"][1], block)
        if blocks:
            parts.append(f"\n  {system} do\n" + "".join(blocks.values()) + "  end\n")
    return "".join([*parts, TAIL])
