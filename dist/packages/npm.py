#!/usr/bin/env python3
"""The npm packages: one for each platform, with the native program in it, and the one that people install.

    dist/packages/npm.py OUT                  context-graph: a launcher, with the platforms as optional dependencies
    dist/packages/npm.py OUT TARGET FOLDER    @context-graph/PLATFORM; FOLDER: an unpacked archive

There is no install script: npm itself picks the platform's package by its `os` and `cpu`.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from common import DESCRIPTION, KEYWORDS, LICENCE, PLATFORMS, REPOSITORY, ROOT, VERSION


def package_name(target):
    return "@context-graph/" + "-".join(PLATFORMS[target]["npm"])


def manifest(name, description):
    return {
        "name": name,
        "version": VERSION,
        "description": description,
        "license": LICENCE,
        "homepage": REPOSITORY,
        "repository": {"type": "git", "url": f"git+{REPOSITORY}.git"},
        "bugs": f"{REPOSITORY}/issues",
    }


def main_package(folder):
    """The package that people install."""
    said = manifest("context-graph", DESCRIPTION)
    said["keywords"] = KEYWORDS
    said["engines"] = {"node": ">=18"}
    said["bin"] = {"context-graph": "bin/context-graph.js"}
    said["optionalDependencies"] = {package_name(target): VERSION for target in PLATFORMS}
    take(folder, os.path.join(ROOT, "dist/npm/context-graph.js"), "bin/context-graph.js")
    for name in ("README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"):
        take(folder, os.path.join(ROOT, name), name)
    return said


def platform_package(folder, target, archive):
    """The program for one platform."""
    system, processor = PLATFORMS[target]["npm"]
    said = manifest(package_name(target), f"The context-graph program for {system} on {processor}; install context-graph")
    said["os"], said["cpu"] = [system], [processor]
    said["preferUnplugged"] = True
    take(folder, os.path.join(archive, "context-graph"), "bin/context-graph")
    for name in ("LICENSE-MIT", "LICENSE-APACHE", "LICENSES-OF-OTHERS.txt"):
        take(folder, os.path.join(archive, name), name)
    with open(os.path.join(folder, "README.md"), "w", encoding="utf-8") as file:
        file.write(f"# {said['name']}\n\n{said['description']}: [{REPOSITORY}]({REPOSITORY}).\n")
    return said


def take(folder, source, name):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copy(source, path)
    os.chmod(path, 0o755 if name.startswith("bin/") else 0o644)


def main():
    if len(sys.argv) not in (2, 4):
        raise SystemExit(__doc__)
    out = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        said = main_package(folder) if len(sys.argv) == 2 else platform_package(folder, *sys.argv[2:])
        with open(os.path.join(folder, "package.json"), "w", encoding="utf-8") as file:
            file.write(json.dumps(said, indent=2) + "\n")
        # npm's own packer, which fixes times, owners and order.
        subprocess.run(["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", out], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
