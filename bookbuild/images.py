"""Raster pictures of a page made small, and given their size, so that nothing moves with them."""

import re
from pathlib import Path

from PIL import Image

PICTURE = re.compile(r"<img\b[^>]*>")
SOURCE = re.compile(r'\bsrc="([^"]*\.png)"')


def lightened(html: str, folder: Path) -> str:
    """The page, its pictures as lossless WebP where that is smaller; `folder` is the page's.

    They are loaded as the reader comes near.
    """
    for tag in PICTURE.findall(html):
        found = SOURCE.search(tag)
        if not found or not (folder / found[1]).is_file():
            continue
        width, height, source = _smaller(folder, found[1])
        sized = re.sub(r'\s(?:width|height|loading)="[^"]*"', "", tag)
        sized = sized.replace("<img", f'<img width="{width}" height="{height}" loading="lazy"', 1)
        html = html.replace(tag, sized).replace(found[1], source)
    return html


def _smaller(folder: Path, source: str) -> tuple[int, int, str]:
    """Width, height and address of the smaller of a picture and its lossless twin."""
    file = folder / source
    twin = file.with_suffix(".webp")
    with Image.open(file) as picture:
        picture.save(twin, lossless=True, quality=100, method=4, exact=True)
        size = picture.size
    if twin.stat().st_size < file.stat().st_size:
        return *size, source.removesuffix(".png") + ".webp"
    twin.unlink()
    return *size, source
