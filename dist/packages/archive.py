#!/usr/bin/env python3
"""An archive of a folder, the same bytes whenever and wherever it is made: order, owners, modes and times are fixed.

    dist/packages/archive.py OUT.tar.gz FOLDER NAME    NAME is the entry of FOLDER to pack
"""
import gzip
import os
import sys
import tarfile


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    out, folder, name = sys.argv[1:]
    epoch = int(os.environ["SOURCE_DATE_EPOCH"])

    def plain(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime = epoch
        return entry

    with open(out, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        # Folders are added with their content, sorted by name.
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
            archive.add(os.path.join(folder, name), name, filter=plain)


if __name__ == "__main__":
    main()
