"""Honcho's filter language: a JSON object becomes a test of a row, or a 422.

Logic is ``AND``, ``OR``, ``NOT`` with lists; a column takes a value, a list, ``"*"`` (anything) or
comparisons (``gte lte gt lt ne in contains icontains``). Metadata equality is type-sensitive
containment, while ``in`` and ``contains`` on a metadata key compare text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from .clock import TimeProblem, read_instant
from .errors import Refused
from .model import Json

Test: TypeAlias = Callable[[Any], bool]
"""Says whether a row is wanted."""

Columns: TypeAlias = Mapping[str, str]
"""The names a filter may use, each with the attribute of the row that it means."""

MESSAGE_COLUMNS: Final[Columns] = {
    name: name for name in ("workspace_id", "session_id", "peer_id", "token_count", "created_at", "metadata")
}
RESOURCE_COLUMNS: Final[Columns] = {
    name: name for name in ("id", "created_at", "is_active", "workspace_id", "metadata")
}
CONCLUSION_COLUMNS: Final[Columns] = {
    **{name: name for name in ("id", "session_id", "created_at", "level", "content")},
    "observer": "observer_id",
    "observer_id": "observer_id",
    "observed": "observed_id",
    "observed_id": "observed_id",
}

_MAX_DEPTH: Final = 5
_LOGIC: Final = frozenset({"AND", "OR", "NOT"})
_ORDERING: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "gte": lambda mine, other: bool(mine >= other),
    "lte": lambda mine, other: bool(mine <= other),
    "gt": lambda mine, other: bool(mine > other),
    "lt": lambda mine, other: bool(mine < other),
}
_OPERATORS: Final = frozenset({*_ORDERING, "ne", "in", "contains", "icontains"})


def compile_filter(filters: Json | None, columns: Columns, row_name: str) -> Test:
    """The test that ``filters`` asks for; absent or empty, every row is wanted.

    Raises ``Refused`` (422) for a column that is not in ``columns`` or a shape that means nothing.
    """
    return _all_of(_conditions(filters or {}, columns, row_name, depth=0))


def _conditions(filters: Json, columns: Columns, row_name: str, depth: int) -> list[Test]:
    if depth > _MAX_DEPTH:
        raise Refused(422, f"Filter nesting exceeds maximum depth of {_MAX_DEPTH}")
    if not isinstance(filters, dict):
        raise Refused(422, "Invalid filter configuration")
    tests: list[Test] = []
    for key, value in filters.items():
        if key in _LOGIC:
            tests.append(_logic(key, value, columns, row_name, depth))
        else:
            test = _column(key, value, columns, row_name)
            if test is not None:
                tests.append(test)
    return tests


def _logic(operator: str, value: Any, columns: Columns, row_name: str, depth: int) -> Test:
    if not isinstance(value, list):
        raise Refused(422, f"{operator} operator must contain a list, got {type(value).__name__}")
    tests = [_all_of(found) for item in value if (found := _conditions(item, columns, row_name, depth + 1))]
    if operator == "NOT":
        return lambda row: not any(test(row) for test in tests)
    if operator == "OR" and tests:
        return lambda row: any(test(row) for test in tests)
    return _all_of(tests)


def _column(key: str, value: Any, columns: Columns, row_name: str) -> Test | None:
    attribute = columns.get(key)
    if attribute is None:
        text = f"Column '{key}' is not allowed to be filtered on or does not exist on {row_name}"
        raise Refused(422, text)
    if value == "*":
        return None
    if attribute == "metadata":
        return _metadata(value)
    if isinstance(value, list):
        value = {"in": value}
    if isinstance(value, dict):
        if not _OPERATORS.intersection(value):
            text = f"Invalid filter for column '{key}': unsupported operator(s) {sorted(value)}. "
            raise Refused(422, f"{text}Expected one of {sorted(_OPERATORS)} or a scalar value.")
        return _all_of([_compare_column(attribute, *item) for item in value.items() if item[1] != "*"])
    wanted = _operand(attribute, value)
    return lambda row: bool(_read(row, attribute) == wanted)


def _compare_column(attribute: str, operator: str, value: Any) -> Test:
    if operator not in _OPERATORS:
        raise Refused(422, f"Unsupported comparison operator: {operator}")
    if operator == "in":
        wanted = {_operand(attribute, item) for item in _iterable(value)}
        anything = "*" in wanted
        return lambda row: anything or _read(row, attribute) in wanted
    if operator in ("contains", "icontains"):
        part = str(value).lower()
        return lambda row: part in str(_read(row, attribute) or "").lower()
    other = _operand(attribute, value)
    if operator == "ne":
        return lambda row: bool(_read(row, attribute) != other)
    order = _ORDERING[operator]
    return lambda row: (mine := _read(row, attribute)) is not None and order(mine, other)


def _metadata(wanted: Any) -> Test:
    if not isinstance(wanted, dict):
        text = "Invalid filter for column 'h_metadata': a JSONB column takes an object, optionally under "
        raise Refused(422, f"{text}'contains'")
    if set(wanted) == {"contains"} and isinstance(wanted["contains"], dict):
        wanted = wanted["contains"]
    tests: list[Test] = []
    for field, value in wanted.items():
        if isinstance(value, dict) and _OPERATORS.intersection(value):
            tests += [_compare_metadata(field, *item) for item in value.items() if item[1] != "*"]
        elif value != "*":
            tests.append(_metadata_holds(field, value))
    return _all_of(tests)


def _metadata_holds(field: str, wanted: Any) -> Test:
    return lambda row: field in row.metadata and _contains(row.metadata[field], wanted)


def _compare_metadata(field: str, operator: str, value: Any) -> Test:
    if operator not in _OPERATORS:
        raise Refused(422, f"Unsupported comparison operator: {operator}")
    if operator == "in":
        wanted = {_as_text(item) for item in _iterable(value)}
        anything = "*" in wanted
        return lambda row: anything or _as_text(row.metadata.get(field)) in wanted
    if operator in ("contains", "icontains"):
        part = str(value).lower()
        return lambda row: part in (_as_text(row.metadata.get(field)) or "").lower()
    return _order_metadata(field, operator, value)


def _order_metadata(field: str, operator: str, value: Any) -> Test:
    number = _as_number(value)
    other: Any = _as_text(value) if number is None else number
    order = _ORDERING.get(operator, lambda mine, its: bool(mine != its))

    def test(row: Any) -> bool:
        held = row.metadata.get(field)
        mine: Any = _as_text(held) if number is None else _as_number(held)
        return mine is not None and order(mine, other)

    return test


def _contains(held: Any, wanted: Any) -> bool:
    """JSONB's ``@>``: objects by key, lists by element, scalars by value and type."""
    if isinstance(held, dict) and isinstance(wanted, dict):
        return all(key in held and _contains(held[key], item) for key, item in wanted.items())
    if isinstance(held, list):
        items = wanted if isinstance(wanted, list) else [wanted]
        return all(any(_contains(mine, item) for mine in held) for item in items)
    return isinstance(held, bool) == isinstance(wanted, bool) and bool(held == wanted)


def _operand(attribute: str, value: Any) -> Any:
    if value is None:
        return None
    if attribute == "created_at":
        try:
            return read_instant(value).text.rstrip("Z")
        except (TimeProblem, TypeError):
            raise Refused(422, f"Invalid datetime value: {value}") from None
    expected = {"token_count": int | float, "is_active": bool}.get(attribute, str)
    if not isinstance(value, expected):
        noun = {"token_count": "a number", "is_active": "true or false"}.get(attribute, "a string")
        got = type(value).__name__
        raise Refused(422, f"Invalid value for column '{attribute}': expected {noun}, got {got}")
    return value


def _iterable(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    text = f"Invalid value for 'in' operator: {value}. Expected an iterable (list, tuple, set), got "
    raise Refused(422, text + type(value).__name__)


def _as_text(value: Any) -> str | None:
    """What PostgreSQL's ``->>`` gives for a JSON scalar."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _as_number(value: Any) -> float | None:
    if value is None or isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _read(row: Any, attribute: str) -> Any:
    value = getattr(row, attribute)
    # Without the Z, times with and without a fraction sort as text.
    return value.rstrip("Z") if attribute == "created_at" else value


def _all_of(tests: list[Test]) -> Test:
    if len(tests) == 1:
        return tests[0]
    return lambda row: all(test(row) for test in tests)
