"""Renew constraints.txt: the newest versions that the ranges in requirements.txt allow.

    python -m bookbuild.constraints torch==2.13.0     hold one version, renew the others

pip only resolves here and installs nothing. Run the tests on the result before it is kept.
"""

import json
import subprocess
import sys

from bookbuild.address import ROOT
from bookbuild.files import replace

OLDEST = (3, 11)  # what this Python can install, the newer ones can; not the other way round

# Found only where pip takes torch's CUDA build, and named to the digit by torch itself.
CUDA = ("cuda-", "nvidia-", "triton==")

HEADER = """\
# The exact set of versions that is tested, on Python 3.11, 3.12 and 3.13. Made by
#
#     {command}
"""


def resolved(held: list[str]) -> list[str]:
    """Return the lines name==version that pip would install into an empty environment."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed"]
    requirements = ["--report", "-", "--requirement", ROOT / "requirements.txt", *held]
    report = subprocess.run([*pip, *requirements], check=True, stdout=subprocess.PIPE).stdout
    packages = [package["metadata"] for package in json.loads(report)["install"]]
    # "+cpu" and the like name a build, which differs between machines, not a version.
    pins = [f"{p['name']}=={p['version'].partition('+')[0]}" for p in packages]
    return sorted((pin for pin in pins if not pin.startswith(CUDA)), key=str.lower)


def main(held: list[str]) -> None:
    """Write constraints.txt and say whether it changed."""
    if sys.version_info[:2] != OLDEST:
        sys.exit("Versions are chosen on the oldest Python that the book supports: use 3.11 here")
    header = HEADER.format(command=" ".join(["python -m bookbuild.constraints", *held]))
    changed = replace(ROOT / "constraints.txt", "\n".join([header.rstrip(), *resolved(held), ""]))
    print(f"constraints.txt {'written: run make test' if changed else 'unchanged'}")


if __name__ == "__main__":
    main(sys.argv[1:])
