"""From bytes and query strings to wire types, strictly; what is wrong is named by its field."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final, TypeVar

import msgspec
from multidict import MultiMapping

from honchod.errors import BadRequest

S = TypeVar("S", bound=msgspec.Struct)

ID_CHARS_MAX: Final = 512

_SURROGATE_ESCAPE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_REPLACEMENT: Final = "\ufffd"
_WHERE: Final = re.compile(r"(?P<what>.*) - at `\$\.?(?P<path>.*)`", re.DOTALL)
_UNKNOWN_FIELD: Final = re.compile(r"Object contains unknown field `(?P<name>.*)`", re.DOTALL)
_FIELD_NAME: Final = re.compile(r"[A-Za-z][A-Za-z_]{0,31}")
"""The name of an unknown field is shown where it looks like one: it may be anything, a secret too."""
_ENUM_VALUE: Final = "Invalid enum value "
_DETAIL_CHARS_MAX: Final = 200


def decode_body(body: bytes, decoder: msgspec.json.Decoder[S]) -> S:
    """The body as its wire type. A lone surrogate escape is read as U+FFFD: no UTF-8 can carry it.

    Raises BadRequest, which names the field and never repeats a value.
    """
    failure: Exception
    try:
        return decoder.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        failure = error
    if not isinstance(failure, msgspec.ValidationError) and _SURROGATE_ESCAPE.search(body):
        try:
            return decoder.decode(_without_lone_surrogates(body))
        except msgspec.ValidationError as error:
            failure = error
        except (ValueError, RecursionError):
            pass  # It is no JSON for another reason, which the first failure names.
    raise BadRequest(_describe(failure) if body else "the body is empty: JSON is expected")


def decode_query(query: MultiMapping[str], wire_type: type[S]) -> S:
    """The query string as its wire type; each parameter at most once. Raises BadRequest that names it."""
    values = dict(query)
    if len(values) != len(query):
        raise BadRequest("a query parameter is given more than once")
    try:
        return msgspec.convert(values, wire_type, strict=False)
    except msgspec.ValidationError as error:
        raise BadRequest(_describe(error)) from None


def check_path(parameters: Mapping[str, str]) -> None:
    """Raise BadRequest when a parameter of the path cannot be an id."""
    for name, value in parameters.items():
        if len(value) > ID_CHARS_MAX:
            raise BadRequest(f"{name}: over {ID_CHARS_MAX} characters")


def _without_lone_surrogates(body: bytes) -> str:
    text = json.dumps(json.loads(body.decode()), ensure_ascii=False)
    return _SURROGATE.sub(_REPLACEMENT, text)


def _describe(failure: Exception) -> str:
    """The words of msgspec as ``messages[0].role: what is wrong``, without the value that was sent."""
    if isinstance(failure, RecursionError):
        return "the JSON is nested too deeply"
    found = _WHERE.fullmatch(str(failure))
    what, path = (found["what"], found["path"]) if found else (str(failure), "")
    if what.startswith(_ENUM_VALUE):
        what = "not one of the allowed values"
    unknown = _UNKNOWN_FIELD.fullmatch(what)
    if unknown is not None and not _FIELD_NAME.fullmatch(unknown["name"]):
        what = "Object contains an unknown field"
    what = what[:_DETAIL_CHARS_MAX]
    return f"{path}: {what}" if path else what
