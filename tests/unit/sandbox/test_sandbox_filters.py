from __future__ import annotations

from typing import Any

import pytest

from honchod.sandbox import Conclusion, StoredMessage
from honchod.sandbox.errors import Refused
from honchod.sandbox.filters import CONCLUSION_COLUMNS, MESSAGE_COLUMNS, compile_filter

ROW = StoredMessage(
    id="m",
    content="hi",
    peer_id="al",
    session_id="s",
    metadata={"id": "x1", "n": 1, "flag": True, "deep": {"a": {"b": 1}, "c": 2}, "tags": ["t", "u"]},
    created_at="2026-03-02T09:00:00.5Z",
    workspace_id="w",
    token_count=3,
)


def wanted(filters: dict[str, Any]) -> bool:
    return compile_filter(filters, MESSAGE_COLUMNS, "Message")(ROW)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, True),
        ({"peer_id": "al"}, True),
        ({"peer_id": "bo"}, False),
        ({"peer_id": "*"}, True),
        ({"peer_id": ["bo", "al"]}, True),
        ({"peer_id": {"in": []}}, False),
        ({"peer_id": {"in": ["*"]}}, True),
        ({"peer_id": {"ne": "al"}}, False),
        ({"peer_id": {"contains": "A"}}, True),
        ({"peer_id": {"icontains": "z"}}, False),
        ({"peer_id": None}, False),
        ({"token_count": {"gte": 3, "lt": 4}}, True),
        ({"token_count": {"gt": 3}}, False),
        ({"token_count": {"lte": 2}}, False),
        ({"created_at": {"gte": "2026-03-02T09:00:00Z"}}, True),
        ({"created_at": {"lt": "2026-03-02"}}, False),
        ({"created_at": {"lt": "2026-03-02T10:30:00+02:00"}}, False),
        ({"metadata": {"id": "x1"}}, True),
        ({"metadata": {"id": "*"}}, True),
        ({"metadata": {"missing": "x"}}, False),
        ({"metadata": {"n": 1}}, True),
        ({"metadata": {"n": "1"}}, False),
        ({"metadata": {"n": True}}, False),
        ({"metadata": {"flag": 1}}, False),
        ({"metadata": {"deep": {"a": {"b": 1}}}}, True),
        ({"metadata": {"deep": {"a": {"b": 2}}}}, False),
        ({"metadata": {"tags": ["u"]}}, True),
        ({"metadata": {"tags": ["v"]}}, False),
        ({"metadata": {"contains": {"id": "x1"}}}, True),
        ({"metadata": {"id": {"in": ["x0", "x1"]}}}, True),
        ({"metadata": {"id": {"in": []}}}, False),
        ({"metadata": {"id": {"in": ["*"]}}}, True),
        ({"metadata": {"n": {"in": ["1"]}}}, True),
        ({"metadata": {"flag": {"in": ["true"]}}}, True),
        ({"metadata": {"id": {"contains": "X"}}}, True),
        ({"metadata": {"id": {"ne": "x2"}}}, True),
        ({"metadata": {"n": {"gte": 1, "lt": 2}}}, True),
        ({"metadata": {"id": {"gt": 5}}}, False),
        ({"metadata": {"missing": {"ne": "x"}}}, False),
        ({"AND": [{"peer_id": "al"}, {"session_id": "t"}]}, False),
        ({"OR": [{"peer_id": "bo"}, {"metadata": {"id": "x1"}}]}, True),
        ({"OR": []}, True),
        ({"NOT": [{"peer_id": "al"}]}, False),
        ({"NOT": [{"peer_id": "bo"}], "session_id": "s"}, True),
        ({"AND": [{"OR": [{"peer_id": "al"}]}, {"NOT": [{"session_id": "t"}]}]}, True),
    ],
)
def test_a_filter_decides_about_a_row(filters: dict[str, Any], expected: bool) -> None:
    assert wanted(filters) is expected


@pytest.mark.parametrize(
    "filters",
    [
        {"id": "x"},
        {"content": "hi"},
        {"bogus": 1},
        {"AND": {}},
        {"NOT": None},
        {"AND": ["x"]},
        {"peer_id": 1},
        {"peer_id": {"like": "a"}},
        {"peer_id": {"in": "al"}},
        {"peer_id": {"ne": "al", "like": "b"}},
        {"token_count": "many"},
        {"created_at": "soon"},
        {"metadata": "x"},
        {"metadata": {"id": {"in": "x"}}},
        {"metadata": {"id": {"in": ["x"], "like": "y"}}},
        {"AND": [{"AND": [{"AND": [{"AND": [{"AND": [{"AND": [{}]}]}]}]}]}]},
    ],
)
def test_what_means_nothing_is_a_422(filters: dict[str, Any]) -> None:
    with pytest.raises(Refused) as refused:
        wanted(filters)
    assert refused.value.status == 422


@pytest.mark.parametrize("key", ["observer", "observer_id"])
def test_conclusions_know_both_names_of_their_pair(key: str) -> None:
    row = Conclusion("c", "x", "bot", "al", None, "explicit", "2026-03-02T09:00:00Z")
    test = compile_filter({key: "bot", "session_id": None}, CONCLUSION_COLUMNS, "Document")
    assert test(row)
