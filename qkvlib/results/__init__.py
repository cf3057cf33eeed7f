"""Recorded results: what took too long for a chapter, measured once, with date and versions."""

import json
import re
from importlib.resources import files

_LIST = re.compile(r"\[[^\[\]]*\]")


def recorded(name):
    """The record `name` as a dictionary, for example "market". Raises FileNotFoundError."""
    return json.loads(files(__name__).joinpath(f"{name}.json").read_text(encoding="utf-8"))


def as_text(record):
    """A record as JSON: numbers to four decimals, one list a line, so that changes show."""
    text = json.dumps(_rounded(record), indent=1, ensure_ascii=False)
    return _LIST.sub(lambda match: " ".join(match[0].split()), text) + "\n"


def _rounded(part):
    if isinstance(part, dict):
        return {name: _rounded(value) for name, value in part.items()}
    if isinstance(part, list):
        return [_rounded(value) for value in part]
    return round(part, 4) if isinstance(part, float) else part
