"""Fonts cut down to the characters that pages show."""

import io
import logging
from pathlib import Path

from fontTools import subset as subsetter

logging.getLogger("fontTools.subset").setLevel(logging.WARNING)  # Sphinx shows what others report


def subset(font: Path, characters: set[str]) -> bytes:
    """The font as woff2 with these characters alone: with their metrics, without hints.

    Hints would double the file, and screens have no use for them.
    """
    options = subsetter.Options(flavor="woff2", hinting=False, notdef_outline=True)
    cut = subsetter.Subsetter(options)
    cut.populate(unicodes={ord(character) for character in characters})
    with subsetter.load_font(font, options) as loaded:
        cut.subset(loaded)
        out = io.BytesIO()
        subsetter.save_font(loaded, out, options)
    return out.getvalue()


def is_private(character: str) -> bool:
    """Whether a character has no meaning but that of an icon font."""
    return "\ue000" <= character <= "\uf8ff"
