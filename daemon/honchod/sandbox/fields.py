"""Reading bodies and queries, with the field errors that Honcho's framework gives.

A reader collects what does not fit; ``check`` raises it all at once. Values read before ``check`` are
defaults where something was wrong, so a handler reads everything, checks, then acts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET

from .clock import Instant, TimeProblem, read_instant
from .errors import Broken, FieldError, Invalid, Refused
from .limits import ID_PATTERN, id_fits, is_storable, metadata_problem, scope_id_problem, without_nul
from .model import Json

Loc = tuple[str | int, ...]

_DOUBTFUL: Final = (b"\\ud", b"\\uD", b"NaN", b"Infinity")
"""What the text of a body has in it when it holds a lone surrogate or a number that is none."""

_BOOLEANS: Final = {"true": True, "false": False, "1": True, "0": False, "on": True, "off": False}


class Fields:
    """The named fields of one object, at ``loc`` within the request."""

    def __init__(
        self, values: Mapping[str, Any], loc: Loc, errors: list[FieldError], *, storable: bool = True
    ) -> None:
        self._values = values
        self._loc = loc
        self._errors = errors
        self._storable = storable

    def check(self) -> None:
        """Raise ``Invalid`` with everything that did not fit, here and in the objects inside.

        Raises ``Broken`` when only the database will find that it cannot hold what was sent.
        """
        if self._errors:
            raise Invalid(self._errors)
        if not self._storable:
            raise Broken

    def error_count(self) -> int:
        """How much did not fit so far, in the whole request."""
        return len(self._errors)

    def wrong(self, kind: str, loc: Loc, msg: str, value: Any, **ctx: Any) -> None:
        """Note that the value at ``loc`` (below this object) does not fit."""
        self._errors.append(FieldError(kind, self._loc + loc, msg, value, ctx or UNSET))

    def refuse(self, loc: Loc, reason: str, value: Any) -> None:
        """Note a value that has the right shape and is refused all the same."""
        self.wrong("value_error", loc, f"Value error, {reason}", value, error={})

    def text(self, key: str, *, min_chars: int = 0, max_chars: int | None = None) -> str:
        """A required string."""
        if key not in self._values:
            self.wrong("missing", (key,), "Field required", dict(self._values))
            return ""
        return self._string(key, self._values[key], min_chars, max_chars) or ""

    def text_or_none(self, key: str) -> str | None:
        """An optional string."""
        value = self._values.get(key)
        return None if value is None else self._string(key, value, 0, None)

    def resource_id(self, max_chars: int) -> str:
        """The required ``id`` of a workspace, peer or session."""
        value = self.text("id", min_chars=1, max_chars=max_chars)
        if value and len(value) <= max_chars and not id_fits(value, max_chars):
            self.wrong(
                "string_pattern_mismatch",
                ("id",),
                f"String should match pattern '{ID_PATTERN}'",
                value,
                pattern=ID_PATTERN,
            )
        return value

    def integer(self, key: str, *, default: int, ge: int | None = None, le: int | None = None) -> int:
        """An optional whole number with a default."""
        value = self.integer_or_none(key, ge=ge, le=le)
        return default if value is None else value

    def integer_or_none(self, key: str, *, ge: int | None = None, le: int | None = None) -> int | None:
        """An optional whole number; text that spells one is taken."""
        value = self._values.get(key)
        if value is None:
            return None
        if isinstance(value, float) and not value.is_integer():
            message = "Input should be a valid integer, got a number with a fractional part"
            self.wrong("int_from_float", (key,), message, value)
            return None
        try:
            number = int(value)
        except (TypeError, ValueError, OverflowError):
            message = "Input should be a valid integer, unable to parse string as an integer"
            self.wrong("int_parsing", (key,), message, value)
            return None
        return int(number) if self._in_bounds(key, number, value, ge, le) else None

    def number_or_none(self, key: str, *, ge: float, le: float) -> float | None:
        """An optional number."""
        value = self._values.get(key)
        if value is None:
            return None
        try:
            number = float(value)
        except (TypeError, ValueError):
            message = "Input should be a valid number, unable to parse string as a number"
            self.wrong("float_parsing", (key,), message, value)
            return None
        return number if self._in_bounds(key, number, value, ge, le) else None

    def boolean(self, key: str, *, default: bool) -> bool:
        """An optional flag with a default; text that spells one is taken."""
        value = self.boolean_or_none(key)
        return default if value is None else value

    def boolean_or_none(self, key: str) -> bool | None:
        """An optional flag."""
        value = self._values.get(key)
        if value is None or isinstance(value, bool):
            return value
        flag = _BOOLEANS.get(str(value).lower())
        if flag is None:
            message = "Input should be a valid boolean, unable to interpret input"
            self.wrong("bool_parsing", (key,), message, value)
        return flag

    def choice(self, key: str, options: Sequence[str], *, default: str | None) -> str:
        """One of ``options``; required when there is no default."""
        if key not in self._values and default is None:
            self.wrong("missing", (key,), "Field required", dict(self._values))
            return options[0]
        value = self._values.get(key, default)
        if value not in options:
            expected = ", ".join(f"'{option}'" for option in options[:-1]) + f" or '{options[-1]}'"
            self.wrong("literal_error", (key,), f"Input should be {expected}", value, expected=expected)
            return options[0]
        return str(value)

    def instant_or_none(self, key: str) -> Instant | None:
        """An optional time."""
        value = self._values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self.wrong("datetime_type", (key,), "Input should be a valid datetime", value)
            return None
        try:
            return read_instant(value)
        except TimeProblem as problem:
            message = f"Input should be a valid datetime or date, {problem}"
            self.wrong("datetime_from_date_parsing", (key,), message, value, error=str(problem))
            return None

    def object_or_none(self, key: str) -> Json | None:
        """An optional JSON object, taken as it is."""
        value = self._values.get(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            self.wrong("dict_type", (key,), "Input should be a valid dictionary", value)
            return None
        return value

    def metadata_or_none(self, key: str = "metadata") -> Json | None:
        """Optional metadata, bounded, with NUL stripped."""
        value = self.object_or_none(key)
        if value is None:
            return None
        problem = metadata_problem(value)
        if problem is not None:
            self.refuse((key,), problem, value)
            return None
        cleaned: Json = without_nul(value)
        return cleaned

    def texts_or_none(
        self, key: str, *, min_items: int = 0, max_items: int | None = None
    ) -> list[str] | None:
        """An optional list of strings."""
        value = self._values.get(key)
        if value is None:
            return None
        items = self._list(key, value, min_items, max_items)
        return [item for n, item in enumerate(items) if self._is_text((key, n), item)]

    def texts(self, key: str, *, min_items: int = 0, max_items: int | None = None) -> list[str]:
        """A required list of strings."""
        if key not in self._values:
            self.wrong("missing", (key,), "Field required", dict(self._values))
            return []
        items = self._list(key, self._values[key], min_items, max_items)
        return [item for n, item in enumerate(items) if self._is_text((key, n), item)]

    def scope_id(self) -> str:
        """The required ``id`` of a scope."""
        value = self.text("id", min_chars=1)
        problem = scope_id_problem(value) if value else None
        if problem is not None:
            self.refuse(("id",), problem, value)
        return value

    def objects(self, key: str, *, min_items: int, max_items: int) -> Iterator[Fields]:
        """The objects of a required list, each with a reader of its own."""
        if key not in self._values:
            self.wrong("missing", (key,), "Field required", dict(self._values))
            return
        for n, item in enumerate(self._list(key, self._values[key], min_items, max_items)):
            if isinstance(item, dict):
                yield Fields(item, (*self._loc, key, n), self._errors)
            else:
                self._not_an_object((key, n), item)

    def children_of(self, key: str) -> Iterator[tuple[str, Fields]]:
        """The entries of an optional map that are objects, each with a reader of its own."""
        value = self._values.get(key)
        for name, item in (value if isinstance(value, dict) else {}).items():
            if isinstance(item, dict):
                yield name, Fields(item, (*self._loc, key, name), self._errors)
            elif item is not None:
                self._not_an_object((key, name), item)

    def children(self) -> Iterator[tuple[str, Fields]]:
        """The entries of this object, when every value of it is an object."""
        for key, value in self._values.items():
            if isinstance(value, dict):
                yield key, Fields(value, (*self._loc, key), self._errors)
            else:
                self._not_an_object((key,), value)

    def raw(self) -> Json:
        """The object itself, for errors that echo it."""
        return dict(self._values)

    def _not_an_object(self, loc: Loc, value: Any) -> None:
        message = "Input should be a valid dictionary or object to extract fields from"
        self.wrong("model_attributes_type", loc, message, value)

    def _is_text(self, loc: Loc, value: Any) -> bool:
        if isinstance(value, str):
            return True
        self.wrong("string_type", loc, "Input should be a valid string", value)
        return False

    def _string(self, key: str, value: Any, min_chars: int, max_chars: int | None) -> str | None:
        if not self._is_text((key,), value):
            return None
        text = str(value)
        if len(text) < min_chars:
            noun = "character" if min_chars == 1 else "characters"
            message = f"String should have at least {min_chars} {noun}"
            self.wrong("string_too_short", (key,), message, text, min_length=min_chars)
            return None
        if max_chars is not None and len(text) > max_chars:
            message = f"String should have at most {max_chars} characters"
            self.wrong("string_too_long", (key,), message, text, max_length=max_chars)
            return None
        return text

    def _list(self, key: str, value: Any, min_items: int, max_items: int | None) -> list[Any]:
        if not isinstance(value, list):
            self.wrong("list_type", (key,), "Input should be a valid list", value)
            return []
        count = len(value)
        if count < min_items:
            noun = "item" if min_items == 1 else "items"
            message = f"List should have at least {min_items} {noun} after validation, not {count}"
            bounds = {"field_type": "List", "min_length": min_items, "actual_length": count}
            self.wrong("too_short", (key,), message, value, **bounds)
            return []
        if max_items is not None and count > max_items:
            message = f"List should have at most {max_items} items after validation, not {count}"
            bounds = {"field_type": "List", "max_length": max_items, "actual_length": count}
            self.wrong("too_long", (key,), message, value, **bounds)
            return []
        return value

    def _in_bounds(self, key: str, number: float, value: Any, ge: float | None, le: float | None) -> bool:
        if ge is not None and number < ge:
            message = f"Input should be greater than or equal to {ge}"
            self.wrong("greater_than_equal", (key,), message, value, ge=ge)
            return False
        if le is not None and number > le:
            message = f"Input should be less than or equal to {le}"
            self.wrong("less_than_equal", (key,), message, value, le=le)
            return False
        return True


def read_body(raw: bytes) -> Fields:
    """A reader of a required JSON object; raises ``Refused`` when the body is none."""
    fields = read_optional_body(raw)
    if fields is None:
        raise Invalid([FieldError("missing", ("body",), "Field required", None)])
    return fields


def read_optional_body(raw: bytes) -> Fields | None:
    """A reader of a JSON object that may be absent or ``null``."""
    value = _parse(raw)
    if value is None:
        return None
    if not isinstance(value, dict):
        message = "Input should be a valid dictionary or object to extract fields from"
        raise Invalid([FieldError("model_attributes_type", ("body",), message, value)])
    return Fields(value, ("body",), [], storable=_is_storable(raw, value))


def read_texts_body(raw: bytes) -> list[str]:
    """A body that is a list of strings."""
    reader = Fields({"body": _parse(raw)}, (), [])
    texts = reader.texts("body")
    reader.check()
    return texts


def read_query(query: Mapping[str, str]) -> Fields:
    """A reader of a query string."""
    return Fields(query, ("query",), [])


def _is_storable(raw: bytes, value: Any) -> bool:
    """Whether the database can hold the body; the body is walked only when its text raises a doubt."""
    doubtful = any(sign in raw for sign in _DOUBTFUL)
    return not doubtful or is_storable(value)


def _parse(raw: bytes) -> Any:
    if not raw:
        return None
    try:
        return json.loads(raw)
    except json.JSONDecodeError as error:
        loc: Loc = ("body", error.pos)
        ctx = {"error": error.msg}
        raise Invalid([FieldError("json_invalid", loc, "JSON decode error", {}, ctx)]) from None
    except (UnicodeDecodeError, RecursionError):
        raise Refused(400, "There was an error parsing the body") from None
