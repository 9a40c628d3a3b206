"""The description of every package, from Cargo.toml, and the platforms that have packages."""
import os
import tomllib

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))

_LINUX_INTEL = {"npm": ("linux", "x64"), "deb": "amd64", "brew": ("on_linux", "on_intel")}
_LINUX_ARM = {"npm": ("linux", "arm64"), "deb": "arm64", "brew": ("on_linux", "on_arm")}

# Rust's name of a platform, and those of npm, Debian and Homebrew. Linux binaries are static, so both kinds run with every
# C library. The one with musl starts faster and comes first.
PLATFORMS = {
    "x86_64-unknown-linux-musl": _LINUX_INTEL,
    "x86_64-unknown-linux-gnu": _LINUX_INTEL,
    "aarch64-unknown-linux-musl": _LINUX_ARM,
    "aarch64-unknown-linux-gnu": _LINUX_ARM,
    "x86_64-apple-darwin": {"npm": ("darwin", "x64"), "brew": ("on_macos", "on_intel")},
    "aarch64-apple-darwin": {"npm": ("darwin", "arm64"), "brew": ("on_macos", "on_arm")},
}


def _toml(path):
    with open(os.path.join(ROOT, path), "rb") as file:
        return tomllib.load(file)


_workspace = _toml("Cargo.toml")["workspace"]["package"]
VERSION = _workspace["version"]
LICENCE = _workspace["license"]
REPOSITORY = _workspace["repository"]
DESCRIPTION = _toml("crates/context-graph-cli/Cargo.toml")["package"]["description"]
KEYWORDS = _workspace["keywords"]
