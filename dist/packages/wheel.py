#!/usr/bin/env python3
"""The Python wheel: the native program in the environment's `bin`, and no Python.

    dist/packages/wheel.py OUT TARGET FOLDER    FOLDER: an unpacked archive

A wheel is a zip file with the program under `data/scripts` and three files about it. maturin is not used, because it
would build the program again: every package must contain the same bytes.
"""
import base64
import hashlib
import os
import sys
import time
import zipfile

from common import DESCRIPTION, KEYWORDS, LICENCE, REPOSITORY, ROOT, VERSION

# A static binary runs with any C library, so it has the tags for glibc (Debian) and for musl (Alpine).
_LINUX_INTEL = "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"
_LINUX_ARM = "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"
TAGS = {
    "x86_64-unknown-linux-musl": _LINUX_INTEL,
    "x86_64-unknown-linux-gnu": _LINUX_INTEL,
    "aarch64-unknown-linux-musl": _LINUX_ARM,
    "aarch64-unknown-linux-gnu": _LINUX_ARM,
    "x86_64-apple-darwin": "macosx_10_12_x86_64",
    "aarch64-apple-darwin": "macosx_11_0_arm64",
}


def python_version():
    """0.2.0-rc.1 is 0.2.0rc1 to Python."""
    release, _, candidate = VERSION.partition("-")
    return release + candidate.replace(".", "")


def metadata(version):
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        readme = file.read()
    return (f"Metadata-Version: 2.4\nName: context-graph\nVersion: {version}\nSummary: {DESCRIPTION}\n"
            f"Keywords: {','.join(KEYWORDS)}\nLicense-Expression: {LICENCE}\nLicense-File: LICENSE-MIT\n"
            "License-File: LICENSE-APACHE\nLicense-File: LICENSES-OF-OTHERS.txt\n"
            "Classifier: Environment :: Console\nClassifier: Operating System :: POSIX :: Linux\n"
            "Classifier: Operating System :: MacOS\nClassifier: Programming Language :: Rust\n"
            f"Requires-Python: >=3.8\nProject-URL: Repository, {REPOSITORY}\n"
            f"Description-Content-Type: text/markdown; charset=UTF-8; variant=GFM\n\n{readme}").encode()


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    out, target, archive = sys.argv[1:]
    version, tags = python_version(), TAGS[target].split(".")
    info = f"context_graph-{version}.dist-info"

    def taken(name):
        with open(os.path.join(archive, name), "rb") as file:
            return file.read()

    wheel = "Wheel-Version: 1.0\nGenerator: context-graph\nRoot-Is-Purelib: false\n"
    wheel += "".join(f"Tag: py3-none-{tag}\n" for tag in tags)
    files = {f"context_graph-{version}.data/scripts/context-graph": taken("context-graph")}
    for name in ("LICENSE-MIT", "LICENSE-APACHE", "LICENSES-OF-OTHERS.txt"):
        files[f"{info}/licenses/{name}"] = taken(name)
    files[f"{info}/METADATA"] = metadata(version)
    files[f"{info}/WHEEL"] = wheel.encode()
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    # A zip file cannot store a time before 1980.
    when = time.gmtime(max(int(os.environ["SOURCE_DATE_EPOCH"]), 315532800))[:6]
    path = os.path.join(out, f"context_graph-{version}-py3-none-{TAGS[target]}.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, when)
            entry.create_system = 3
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            packed.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    main()
