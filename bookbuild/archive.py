"""The site in one file, to keep and to read without a network: `make archive`.

    _build/qkv-book-VERSION.zip          unpack it and open index.html
    _build/qkv-book-VERSION.zip.sha256   `sha256sum --check` compares the two

The same site gives the same bytes: files in order, one time for all, no trace of the machine.
"""

import hashlib
import sys
import tomllib
import zipfile
from pathlib import Path

from bookbuild.address import ROOT

SITE = ROOT / "_build" / "html"
LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the earliest time that the format can hold


def version(root: Path = ROOT) -> str:
    with open(root / "pyproject.toml", "rb") as file:
        return tomllib.load(file)["project"]["version"]


def archive(site: Path, folder: Path, name: str) -> Path:
    """Write NAME.zip of a site and NAME.zip.sha256 into a folder; return the first.

    Everything lies in one folder called NAME, so that unpacking strews nothing about.
    """
    path = folder / f"{name}.zip"
    files = {file.relative_to(site).as_posix(): file for file in site.rglob("*") if file.is_file()}
    with zipfile.ZipFile(path, "w") as zipped:
        for inside in sorted(files):
            entry = zipfile.ZipInfo(f"{name}/{inside}", LONG_AGO)
            entry.create_system = 3  # Unix, also where it is made on Windows
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            zipped.writestr(entry, files[inside].read_bytes())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    path.with_name(f"{path.name}.sha256").write_text(f"{digest}  {path.name}\n", "utf-8")
    return path


if __name__ == "__main__":
    if not (SITE / "index.html").is_file():
        sys.exit(f"{SITE} holds no site: run `make book` first.")
    made = archive(SITE, SITE.parent, f"qkv-book-{version()}")
    print(f"{made}, {made.stat().st_size / 1e6:.1f} MB: unpack it and open index.html. "
          "`sha256sum --check` compares it with the .sha256 beside it.")
