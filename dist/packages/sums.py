#!/usr/bin/env python3
"""The checksums of a folder of packages, and what needs them: the Homebrew formula.

    dist/packages/sums.py OUT
"""
import hashlib
import os
import sys

import formula


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    out = sys.argv[1]

    def digest(name):
        with open(os.path.join(out, name), "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    names = (name for name in os.listdir(out) if name not in ("SHA256SUMS", "context-graph.rb"))
    sums = {name: digest(name) for name in sorted(names)}
    with open(os.path.join(out, "context-graph.rb"), "w", encoding="utf-8") as file:
        file.write(formula.text(sums))
    sums["context-graph.rb"] = digest("context-graph.rb")
    with open(os.path.join(out, "SHA256SUMS"), "w", encoding="utf-8") as file:
        file.writelines(f"{checksum}  {name}\n" for name, checksum in sorted(sums.items()))


if __name__ == "__main__":
    main()
