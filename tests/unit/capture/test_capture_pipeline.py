from __future__ import annotations

import subprocess
import sys
import traceback
from typing import Any

import pytest
from secret_corpus import random_text

from honchod.capture.chunk import CONTINUED
from honchod.capture.clean import CONTROL_TOKENS
from honchod.capture.pipeline import Captured, Dropped, Pipeline
from honchod.capture.redact import Redactor
from honchod.errors import RedactionFailed

LIMIT = 25_000


def pipeline(host: str = "hermes", max_chars: int = LIMIT) -> Pipeline:
    return Pipeline(host, Redactor(), max_chars)


def test_plain_words_pass_unchanged() -> None:
    captured = pipeline().run("  I moved to Lisbon.\n", "human", {"n": 1})

    assert captured == Captured(("  I moved to Lisbon.\n",), {"n": 1})


@pytest.mark.parametrize("content", ["", " \n\t", "\0", "<memory-context>old</memory-context>\n"])
def test_nothing_left_is_dropped_as_empty(content: str) -> None:
    assert pipeline().run(content, "human", None) == Dropped("empty")


def test_an_internal_turn_is_dropped_and_a_question_about_it_is_not() -> None:
    question = "why did I see [ASYNC DELEGATION TASK FAILED — deleg_x]?"

    turn = pipeline().run("[ASYNC DELEGATION TASK FAILED — deleg_x, task 2/3] …", "human", None)

    assert turn == Dropped("noise")
    assert pipeline().run(question, "human", None) == Captured((question,), {})


def test_a_heartbeat_is_dropped_whatever_the_host() -> None:
    for host in ("openclaw", "default", "shell"):
        assert pipeline(host).run("HEARTBEAT_OK", "assistant", None) == Dropped("noise")


def test_a_lone_surrogate_becomes_a_replacement_character_everywhere() -> None:
    captured = pipeline().run("a\ud800b", "human", {"k\ud800": ["\udfff\0"]})

    assert captured == Captured(("a\ufffdb",), {"k\ufffd": ["\ufffd"]})


@pytest.mark.parametrize("token", CONTROL_TOKENS)
def test_no_control_token_comes_through(token: str) -> None:
    hidden = token[:4] + "\0" + token[4:]

    captured = pipeline().run(f"{token} and {hidden}", "human", None)

    assert isinstance(captured, Captured)
    assert token not in captured.pieces[0]


def test_secrets_go_from_content_and_metadata() -> None:
    captured = pipeline().run(
        "export PGPASSWORD=" + "Super" + "Secret123; psql -h db", "human", {"env": {"API_KEY": "abc"}}
    )

    assert captured == Captured(
        ("export PGPASSWORD=[redacted:password]; psql -h db",), {"env": {"API_KEY": "[redacted:key]"}}
    )


def test_a_nul_inside_a_secret_does_not_save_it() -> None:
    secret = "gh" + "p_" + random_text("nul", 36)

    captured = pipeline().run(f"see {secret[:9]}\0{secret[9:]}", "human", None)

    assert captured == Captured(("see [redacted:github_token]",), {})


def test_no_secret_survives_across_a_cut() -> None:
    secret = "gh" + "p_" + random_text("cut", 36)
    for before in range(30, 60):
        content = "x/" * before + secret + "/x" * 60

        captured = pipeline(max_chars=100).run(content, "human", None)

        assert isinstance(captured, Captured)
        stored = "".join(captured.pieces)
        assert not any(secret[at : at + 8] in stored for at in range(len(secret) - 7))


def test_a_nul_inside_a_tag_does_not_save_a_recalled_block() -> None:
    captured = pipeline().run("<memory-con\0text>old</memory-context>new", "human", None)

    assert captured == Captured(("new",), {})


def test_long_content_is_cut_and_marked() -> None:
    captured = pipeline().run("word " * 12_000, "human", None)

    assert isinstance(captured, Captured)
    assert len(captured.pieces) == 3
    assert all(len(piece) <= LIMIT for piece in captured.pieces)
    assert all(piece.startswith(CONTINUED) for piece in captured.pieces[1:])


class Broken:
    def text(self, text: str) -> str:
        raise ValueError(f"cannot handle {text}")

    def value(self, value: Any) -> Any:
        return value


class BrokenForMetadata:
    def text(self, text: str) -> str:
        return text

    def value(self, value: Any) -> Any:
        raise RecursionError


@pytest.mark.parametrize("redactor", [Broken(), BrokenForMetadata()])
def test_a_redactor_that_raises_lets_nothing_through(redactor: Broken | BrokenForMetadata) -> None:
    content = "hush" * 2

    with pytest.raises(RedactionFailed) as failed:
        Pipeline("hermes", redactor, LIMIT).run(content, "human", {"k": content})

    assert content not in "".join(traceback.format_exception(failed.value))


def test_redaction_can_be_switched_off() -> None:
    captured = Pipeline("hermes", None, LIMIT).run("password=hunter2", "human", None)

    assert captured == Captured(("password=hunter2",), {})


def test_metadata_is_well_formed_where_redaction_is_switched_off() -> None:
    captured = Pipeline("hermes", None, LIMIT).run("Hello.", "human", {"password": "hunter2", "a\0": ["\0b"]})

    assert captured == Captured(("Hello.",), {"password": "hunter2", "a": ["b"]})


def test_the_same_message_twice_is_captured_the_same() -> None:
    content = "<memory-context>x</memory-context>\npassword=hunter2 <|endoftext|> a\ud800"

    first = pipeline().run(content, "human", {"token": "abc"})

    assert isinstance(first, Captured)
    assert pipeline().run(first.pieces[0], "human", dict(first.metadata)) == first


def test_redaction_needs_nothing_but_the_standard_library() -> None:
    code = (
        "import sys, honchod.capture.redact, honchod.capture.pipeline, honchod.capture.limits;"
        "print(sorted({m.partition('.')[0] for m in sys.modules} - sys.stdlib_module_names - {'honchod'}))"
    )

    run = subprocess.run(
        [sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, env=_env()
    )

    assert all(name.startswith("_") for name in eval(run.stdout))


def _env() -> dict[str, str]:
    import honchod

    return {"PYTHONPATH": str(honchod.__path__[0]).removesuffix("/honchod")}
