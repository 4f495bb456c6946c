"""Every name, its arguments and its limits: from a call to the task."""

from __future__ import annotations

from typing import Any

import jsonschema
import msgspec
import pytest

from honchod.errors import BadRequest, NotFound
from honchod.identity.choices import ReasoningLevel
from honchod.memory import catalogue, tasks
from honchod.memory.tasks import Where

LEVEL = ReasoningLevel


def task(name: str, **arguments: Any) -> tasks.Task:
    return catalogue.task_of(name, msgspec.Raw(msgspec.json.encode(arguments)))


CALLS = [
    ("honcho_profile", {}, tasks.ReadCard("user")),
    ("honcho_profile", {"peer": "ai", "card": ["Name: Bot"]}, tasks.SetCard("ai", ("Name: Bot",))),
    ("honcho_search", {"query": "q"}, tasks.Search("q", "user", Where.KNOWN, 20, 3_200)),
    ("honcho_search", {"query": "q", "max_tokens": 2000}, tasks.Search("q", "user", Where.KNOWN, 20, 8_000)),
    ("honcho_context", {"peer": "carol"}, tasks.Pack("carol")),
    ("honcho_reasoning", {"query": "q"}, tasks.Ask("q", "user")),
    (
        "honcho_reasoning",
        {"query": "q", "reasoning_level": "max"},
        tasks.Ask("q", "user", level=LEVEL.MAX),
    ),
    ("honcho_recall", {"query": "q"}, tasks.Ask("q", "user", floor=LEVEL.MINIMAL)),
    ("honcho_analyze", {"query": "q"}, tasks.Ask("q", "user", floor=LEVEL.MEDIUM)),
    ("honcho_conclude", {"conclusion": "c", "peer": "ai"}, tasks.Conclude("c", "ai")),
    ("honcho_conclude", {"delete_id": "x"}, tasks.Forget("x")),
    ("honcho_conclude", {"list": True, "query": "q"}, tasks.ListConclusions("user", "q", 20)),
    ("honcho_memory", {"action": "recall", "query": "q"}, tasks.Pack("user", "q")),
    (
        "honcho_memory",
        {"action": "search", "query": "q", "limit": 3},
        tasks.Search("q", "user", Where.CONCLUSIONS, 3, 3_200),
    ),
    (
        "honcho_memory",
        {"action": "search", "query": "q", "where": "workspace", "scope": "a0-x"},
        tasks.Search("q", "user", Where.WORKSPACE, 8, 3_200, "a0-x"),
    ),
    ("honcho_memory", {"action": "ask", "query": "q", "scope": "s"}, tasks.Ask("q", "user", scope="s")),
    ("honcho_memory", {"action": "remember", "content": "c"}, tasks.Conclude("c", "user")),
    ("honcho_memory", {"action": "forget", "conclusion_id": "x", "confirm": True}, tasks.Forget("x")),
    ("honcho_memory", {"action": "status"}, tasks.ShowStatus()),
    ("honcho_memory", {"action": "dream"}, tasks.Dream("user")),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), CALLS)
def test_a_call_becomes_its_task(name: str, arguments: dict[str, Any], expected: tasks.Task) -> None:
    assert task(name, **arguments) == expected


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("honcho_search", {}, "query"),
        ("honcho_search", {"query": ""}, "query"),
        ("honcho_search", {"query": "q", "max_tokens": 2001}, "max_tokens"),
        ("honcho_search", {"query": "q", "nonsense": 1}, "nonsense"),
        ("honcho_search", {"query": "q" * 10_001}, "query"),
        ("honcho_profile", {"card": ["x"] * 41}, "card"),
        ("honcho_profile", {"card": ["x" * 501]}, "card"),
        ("honcho_reasoning", {"query": "q", "reasoning_level": "secret"}, "not one of the allowed values"),
        ("honcho_conclude", {}, "exactly one"),
        ("honcho_conclude", {"conclusion": "c", "delete_id": "x"}, "exactly one"),
        ("honcho_conclude", {"delete_id": "x", "list": True}, "exactly one"),
        ("honcho_conclude", {"conclusion": "c", "query": "q"}, "only with list"),
        ("honcho_conclude", {"conclusion": "c" * 10_001}, "conclusion"),
        ("honcho_memory", {"action": "recall"}, "query"),
        ("honcho_memory", {"action": "remember"}, "content"),
        ("honcho_memory", {"action": "forget", "confirm": True}, "conclusion_id"),
        ("honcho_memory", {"action": "forget", "conclusion_id": "x"}, "confirm"),
        ("honcho_memory", {"action": "remember", "content": "c", "scope": "s"}, "scope"),
        ("honcho_memory", {"action": "search", "query": "q", "limit": 21}, "limit"),
    ],
)
def test_what_breaks_a_limit_is_refused_by_name_and_without_its_value(
    name: str, arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadRequest) as caught:
        task(name, **arguments)
    assert words in caught.value.detail
    assert "secret" not in caught.value.detail


def test_what_is_no_json_object_is_refused() -> None:
    for raw in (b"[]", b"nope", b"null"):
        with pytest.raises(BadRequest):
            catalogue.task_of("honcho_search", msgspec.Raw(raw))


def test_a_name_that_is_none_says_which_there_are() -> None:
    with pytest.raises(NotFound, match="honcho_search"):
        task("honcho_nothing")


@pytest.mark.parametrize("tool", catalogue.TOOLS, ids=lambda tool: tool.name)
def test_each_schema_is_valid_whole_and_takes_what_the_tool_takes(tool: catalogue.Tool) -> None:
    schema = catalogue._schema(tool).function.parameters
    jsonschema.Draft202012Validator.check_schema(schema)
    assert "$ref" not in str(schema)
    assert schema["additionalProperties"] is False
    for name, arguments, _ in CALLS:
        if name == tool.name:
            jsonschema.validate(arguments, schema)
