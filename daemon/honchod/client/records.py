"""Named tuples with annotated fields, as ``typing.NamedTuple`` makes them.

Importing ``typing`` would cost a shell hook as much as importing all of this package.
"""

from __future__ import annotations

from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple
else:

    class _Kind(type):
        """Makes every subclass a tuple whose fields are what is annotated in it."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = body["__annotations__"]
            defaults = [body.pop(field) for field in fields if field in body]
            plain = namedtuple(name, fields, defaults=defaults)
            return type(name, (plain,), {**body, "__slots__": ()})

    class NamedTuple(metaclass=_Kind):
        """The base of a class that is to be one."""


__all__ = ["NamedTuple"]
