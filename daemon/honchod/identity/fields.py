"""Reads one table of a configuration file into a struct and names every fault of it at once.

The struct is the table of keys, types, ranges and defaults (as ``msgspec.Meta``), so that the same types
give the JSON schema. A fault names the key, its value and the range: ``delivery.concurrency = 0: expected
a whole number from 1 to 64``. The value of a key marked ``SECRET`` is never quoted.
"""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, TypeVar

import msgspec
from msgspec import inspect

SECRET: Final = {"secret": True}
"""For ``Meta(extra=SECRET)``: the value is not to be quoted."""

_QUOTED_CHARS: Final = 80

StructT = TypeVar("StructT", bound=msgspec.Struct)


class Unit(Protocol):
    """How a number may also be written as text (``"14d"``, ``"1GiB"``); for ``Meta(extra={"unit": …})``."""

    noun: str

    def parse(self, text: str) -> float:
        """The number the text means. Raises ValueError when it means none."""

    def show(self, number: float) -> str:
        """The text for a number, for ranges in messages."""


@functools.cache
def keys(kind: type[msgspec.Struct]) -> Mapping[str, msgspec.structs.FieldInfo]:
    """The fields of a table by their names in Python."""
    return {field.name: field for field in msgspec.structs.fields(kind)}


def read(
    kind: type[StructT],
    raw: object,
    *,
    where: str,
    problems: list[str],
    forbid_unknown: bool,
    spellings: Mapping[str, Sequence[str]] | None = None,
) -> StructT:
    """The table ``raw`` as a ``kind``; a key that is absent, null or faulty has its default.

    ``where`` stands before each key in a problem (``"delivery."``). ``spellings`` gives other names of a
    field; its own name comes first. Faults are added to ``problems``; nothing is raised.
    """
    if not isinstance(raw, Mapping):
        problems.append(f"{where.removesuffix('.') or 'the file'}: expected a table of keys")
        return kind()
    known: set[str] = set()
    values: dict[str, object] = {}
    for field in keys(kind).values():
        names = (field.encode_name, *(spellings or {}).get(field.name, ()))
        known.update(names)
        for name in names:
            if raw.get(name) is None:
                continue
            if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
                values[field.name] = read(
                    field.type,
                    raw[name],
                    where=f"{where}{name}.",
                    problems=problems,
                    forbid_unknown=forbid_unknown,
                )
            elif (value := convert(field, raw[name], key=where + name, problems=problems)) is not None:
                values[field.name] = value
            break
    if forbid_unknown:
        problems.extend(f"{where}{name}: unknown key" for name in raw if name not in known)
    return kind(**values)


def convert(field: msgspec.structs.FieldInfo, raw: object, *, key: str, problems: list[str]) -> object | None:
    """The value as the field's type, or None after adding to ``problems`` what is wrong with it."""
    try:
        return _converted(field, raw)
    except msgspec.ValidationError:
        kind = inspect.type_info(field.type)
    extra = _extra(kind)
    if isinstance(raw, str) and "unit" in extra:
        with contextlib.suppress(msgspec.ValidationError, ValueError):
            return _converted(field, extra["unit"].parse(raw))
    shown = "" if extra.get("secret") else f" = {_quote(raw)}"
    problems.append(f"{key}{shown}: expected {describe(kind)}")
    return None


def _converted(field: msgspec.structs.FieldInfo, raw: object) -> object:
    converted: object = msgspec.convert(raw, field.type)
    return converted


def describe(kind: inspect.Type, unit: Unit | None = None) -> str:
    """What a type takes, in words: ``a whole number from 1 to 64``."""
    match kind:
        case inspect.Metadata():
            return describe(kind.type, (kind.extra or {}).get("unit"))
        case inspect.UnionType():
            return " or ".join(describe(member) for member in _members(kind))
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType() | inspect.FloatType():
            noun = "a whole number" if isinstance(kind, inspect.IntType) else "a number"
            return (unit.noun if unit else noun) + _range(kind.ge, kind.le, unit)
        case inspect.StrType():
            if kind.min_length is None and kind.max_length is None:
                return "a text"
            return f"a text of {kind.min_length or 0} to {kind.max_length} characters"
        case inspect.EnumType():
            return "one of " + ", ".join(str(member.value) for member in kind.cls)
        case inspect.LiteralType():
            return "one of " + ", ".join(map(str, kind.values))
        case inspect.ListType() | inspect.VarTupleType():
            count = f" ({kind.min_length or 0} to {kind.max_length})" if kind.max_length is not None else ""
            return f"a list{count}, each {describe(kind.item_type)}"
        case inspect.DictType():
            return f"a table of {describe(kind.key_type)} to {describe(kind.value_type)}"
        case inspect.StructType():
            return "a table of " + ", ".join(field.encode_name for field in kind.fields)
    raise TypeError(f"no words for {kind}")


def _members(kind: inspect.UnionType) -> list[inspect.Type]:
    return [member for member in kind.types if not isinstance(member, inspect.NoneType)]


def facts_of(field_type: Any) -> dict[str, Any]:
    """The facts that are attached to the type of a field (``Meta(extra=…)``)."""
    return _extra(inspect.type_info(field_type))


def _extra(kind: inspect.Type) -> dict[str, Any]:
    """The extra facts of a type, where it is optional those of what it wraps."""
    if isinstance(kind, inspect.UnionType):
        return {name: fact for member in _members(kind) for name, fact in _extra(member).items()}
    return (kind.extra or {}) if isinstance(kind, inspect.Metadata) else {}


def _range(low: float | None, high: float | None, unit: Unit | None) -> str:
    show = unit.show if unit else lambda number: f"{number:g}" if number < 1 else f"{number:.0f}"
    if low is not None and high is not None:
        return f" from {show(low)} to {show(high)}"
    return f" of at least {show(low)}" if low is not None else ""


def _quote(value: object) -> str:
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text if len(text) <= _QUOTED_CHARS else text[:_QUOTED_CHARS] + "…"
