#!/usr/bin/env python3
"""The Debian package: program, manual pages, completions, licences. No maintainer scripts, so nothing runs at installation.

    dist/packages/deb.py OUT TARGET FOLDER    FOLDER: an unpacked archive

Times are SOURCE_DATE_EPOCH, owners are root.
"""
import gzip
import os
import shutil
import subprocess
import sys
import tempfile

from common import DESCRIPTION, PLATFORMS, REPOSITORY, VERSION

MAINTAINER = "The context-graph authors <context-graph@users.noreply.github.com>"
COPYRIGHT = f"""\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: context-graph
Source: {REPOSITORY}

Files: *
Copyright: the context-graph authors
License: Expat or Apache-2.0
Comment: The texts, and those of the packages that are linked in, are in this folder.
"""


def control(architecture, size):
    # For Debian `~` sorts before the end of a version, so a release candidate comes before its release.
    version = VERSION.replace("-", "~")
    return (f"Package: context-graph\nVersion: {version}\nArchitecture: {architecture}\nMaintainer: {MAINTAINER}\n"
            f"Installed-Size: {size}\nSection: devel\nPriority: optional\nHomepage: {REPOSITORY}\n"
            f"Description: {DESCRIPTION}\n"
            " It keeps the thread of a session, guards every tool call by what it would do,\n"
            " and records every call. No daemon, no interpreter, no network.\n"
            " .\n"
            " Installing it changes no settings: `context-graph init` does, in a project.\n")


def lay_out(root, archive):
    """Puts every file where Debian expects it."""
    share, doc = os.path.join(root, "usr/share"), os.path.join(root, "usr/share/doc/context-graph")
    completions = {
        "bash": "bash-completion/completions/context-graph",
        "zsh": "zsh/vendor-completions/_context-graph",
        "fish": "fish/vendor_completions.d/context-graph.fish",
    }
    put(os.path.join(archive, "context-graph"), os.path.join(root, "usr/bin/context-graph"))
    os.chmod(os.path.join(root, "usr/bin/context-graph"), 0o755)
    for shell, place in completions.items():
        put(os.path.join(archive, "completions", f"context-graph.{shell}"), os.path.join(share, place))
    pages = os.path.join(archive, "man/man1")
    for page in os.listdir(pages):
        squeeze(os.path.join(pages, page), os.path.join(share, "man/man1", page + ".gz"))
    squeeze(os.path.join(archive, "CHANGELOG.md"), os.path.join(doc, "changelog.gz"))
    for name in ("README.md", "LICENSE-MIT", "LICENSE-APACHE", "LICENSES-OF-OTHERS.txt"):
        put(os.path.join(archive, name), os.path.join(doc, name))
    with open(os.path.join(doc, "copyright"), "w", encoding="utf-8") as file:
        file.write(COPYRIGHT)


def put(source, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copyfile(source, path)


def squeeze(source, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(source, "rb") as file, open(path, "wb") as out:
        with gzip.GzipFile("", "wb", 9, out, mtime=0) as packed:
            packed.write(file.read())


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    out, target, archive = sys.argv[1:]
    architecture, epoch = PLATFORMS[target]["deb"], int(os.environ["SOURCE_DATE_EPOCH"])
    with tempfile.TemporaryDirectory() as root:
        os.chmod(root, 0o755)
        lay_out(root, archive)
        files = [os.path.join(at, name) for at, _, names in os.walk(root) for name in names]
        size = sum(-(-os.path.getsize(file) // 1024) for file in files)
        os.mkdir(os.path.join(root, "DEBIAN"))
        with open(os.path.join(root, "DEBIAN/control"), "w", encoding="utf-8") as file:
            file.write(control(architecture, size))
        for at, folders, names in os.walk(root):
            for name in (*names, "."):
                path = os.path.join(at, name)
                if name == "." or not os.access(path, os.X_OK):
                    os.chmod(path, 0o755 if name == "." else 0o644)
                os.utime(path, (epoch, epoch))
        name = f"context-graph_{VERSION.replace('-', '~')}_{architecture}.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, os.path.join(out, name)], check=True,
                       stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
