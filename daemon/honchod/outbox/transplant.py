"""Giving a damaged database the schema of a sound one, page by page.

Where each table begins is written on a few pages. The same migrations put the same tables on the same pages,
so that those of a fresh database do for one whose own are broken.
The format is that of https://www.sqlite.org/fileformat.html, 1.3 and 1.6.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from honchod.outbox.database import PAGE_BYTES

_HEADER_BYTES: Final = 100
"""The first page begins with the header of the file; its tree comes after that."""
_PAGE_COUNT: Final = slice(28, 32)
_FREE_PAGES: Final = slice(32, 40)
_INTERIOR: Final = 0x05
_CELLS: Final = slice(3, 5)
_RIGHTMOST: Final = slice(8, 12)
_POINTERS: Final = 12
_POINTER_BYTES: Final = 2


def transplant_schema(model: Path, target: Path) -> None:
    """Replace the pages of ``target`` that hold its schema by those of ``model``. Neither may be open."""
    pages = model.read_bytes()
    first = bytearray(pages[:PAGE_BYTES])
    first[_PAGE_COUNT] = (target.stat().st_size // PAGE_BYTES).to_bytes(4, "big")
    first[_FREE_PAGES] = bytes(8)
    with target.open("r+b") as file:
        file.write(first)
        for number in _children(pages):
            start = (number - 1) * PAGE_BYTES
            file.seek(start)
            file.write(pages[start : start + PAGE_BYTES])


def _children(pages: bytes) -> Iterator[int]:
    """The pages below the first, which is the root of the schema's tree."""
    tree = pages[_HEADER_BYTES:]
    if tree[0] != _INTERIOR:
        return
    for cell in range(_number(tree[_CELLS])):
        at = _POINTERS + cell * _POINTER_BYTES
        # A pointer counts from the beginning of the page, and a cell begins with the page below it.
        start = _number(tree[at : at + _POINTER_BYTES])
        yield _number(pages[start : start + 4])
    yield _number(tree[_RIGHTMOST])


def _number(data: bytes) -> int:
    return int.from_bytes(data, "big")
