"""The daemon's answers as the types that it makes them of."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from honchod.client.errors import BadAnswer

T = TypeVar("T")


def read(answer: Any, kind: type[T]) -> T:
    """``answer`` as a ``kind``; fields of a newer daemon are ignored. Raises BadAnswer for another shape."""
    try:
        return msgspec.convert(answer, kind)
    except msgspec.ValidationError as error:
        raise BadAnswer(f"the daemon's answer is not of this version: {error}") from error
