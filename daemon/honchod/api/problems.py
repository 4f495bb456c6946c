"""Errors as the socket shows them: ``application/problem+json`` (RFC 9457)."""

from __future__ import annotations

import math
from typing import Final

import msgspec

from honchod.api.asked import Reply
from honchod.errors import MethodNotAllowed, Problem

MEDIA_TYPE: Final = "application/problem+json"


class ProblemDocument(msgspec.Struct, frozen=True, omit_defaults=True):
    """Every error of the socket; ``code`` is stable, ``retry_after_s`` is there where waiting helps."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    retry_after_s: float | None = None


def internal() -> Problem:
    """The answer to a failure that the caller has no part in: it says nothing of the cause."""
    return Problem("the daemon failed at this; its log names the failure under this request id")


def encode(problem: Problem) -> bytes:
    """The document of a problem."""
    return msgspec.json.encode(
        ProblemDocument(
            type=f"urn:honchod:problem:{problem.code}",
            title=problem.title,
            status=problem.status,
            detail=problem.detail,
            code=problem.code,
            retry_after_s=problem.retry_after_s,
        )
    )


def reply(problem: Problem, request_id: str) -> Reply:
    """The problem as an answer to a request; ``Retry-After`` is in whole seconds, rounded up."""
    more = {}
    if problem.retry_after_s is not None:
        more["Retry-After"] = str(math.ceil(problem.retry_after_s))
    if isinstance(problem, MethodNotAllowed):
        more["Allow"] = ", ".join(problem.allowed)
    return Reply(problem.status, MEDIA_TYPE, request_id, encode(problem), more)
