"""Writing files so that an interruption leaves the old one whole."""

import os
from pathlib import Path


def replace(path: Path, text: str) -> bool:
    """Write `text` to `path` in one step; return whether the file changed by it."""
    data = text.encode("utf-8")
    if path.exists() and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".new")
    fresh.write_bytes(data)
    os.replace(fresh, path)
    return True
