from __future__ import annotations

import msgspec
import pytest
from msgspec import inspect

from honchod.identity import fields
from honchod.identity.block import Block
from honchod.service.settings_sections import File


def every_struct(kind: type[msgspec.Struct]) -> list[type[msgspec.Struct]]:
    nested = [
        field.type
        for field in msgspec.structs.fields(kind)
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct)
    ]
    return [kind, *(found for inner in nested for found in every_struct(inner))]


@pytest.mark.parametrize("kind", [kind for root in (Block, File) for kind in every_struct(root)])
def test_every_key_of_ours_can_say_what_it_takes(kind: type[msgspec.Struct]) -> None:
    for field in msgspec.structs.fields(kind):
        assert fields.describe(inspect.type_info(field.type))


def test_a_kind_of_value_without_words_is_a_mistake_of_ours() -> None:
    with pytest.raises(TypeError):
        fields.describe(inspect.type_info(bytes))


class Table(msgspec.Struct):
    number: int = 1
    text: str = "t"


def test_what_is_faulty_has_its_default() -> None:
    problems: list[str] = []
    raw = {"number": "x", "text": "given"}
    table = fields.read(Table, raw, where="t.", problems=problems, forbid_unknown=True)
    assert table == Table(1, "given")
    assert problems == ['t.number = "x": expected a whole number']


def test_an_unknown_key_is_named_only_where_it_is_forbidden() -> None:
    for forbid_unknown in (True, False):
        problems: list[str] = []
        fields.read(Table, {"other": 1}, where="t.", problems=problems, forbid_unknown=forbid_unknown)
        assert problems == (["t.other: unknown key"] if forbid_unknown else [])


def test_the_first_spelling_counts() -> None:
    spellings = {"text": ("words",)}
    raw = {"words": "second", "text": "first"}
    table = fields.read(Table, raw, where="", problems=[], forbid_unknown=True, spellings=spellings)
    assert table.text == "first"
    del raw["text"]
    table = fields.read(Table, raw, where="", problems=[], forbid_unknown=True, spellings=spellings)
    assert table.text == "second"


def test_a_long_value_is_quoted_in_part() -> None:
    problems: list[str] = []
    fields.read(Table, {"number": "x" * 10_000}, where="", problems=problems, forbid_unknown=True)
    assert len(problems[0]) < 200
