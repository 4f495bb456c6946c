from __future__ import annotations

import socket
from types import SimpleNamespace

import pytest

from honchod.api.callers import Access, Caller, Role, caller_of


def process(uid: int, *groups: int) -> Caller:
    return Caller(uid, groups[0] if groups else uid, 1, frozenset(groups or (uid,)))


RULES = Access.of(allow_uids=[1001], allow_gids=[2001], operator_uids=[1003], own_uid=999)


@pytest.mark.parametrize(
    ("caller", "role"),
    [
        (process(0), Role.OPERATOR),
        (process(999), Role.OPERATOR),
        (process(1003), Role.OPERATOR),
        (process(1001), Role.AGENT),
        (process(1002, 2001), Role.AGENT),
        (process(1002, 100, 2001), Role.AGENT),
        (process(1002, 100), Role.ANY),
        (process(2001, 100), Role.ANY),
        (process(1003, 2001), Role.OPERATOR),
    ],
)
def test_role_follows_from_uid_and_groups(caller: Caller, role: Role) -> None:
    assert RULES.role_of(caller) is role


def test_without_rules_only_root_and_the_daemons_own_uid_may_do_anything() -> None:
    rules = Access.of(own_uid=999)
    assert [rules.role_of(process(uid)) for uid in (0, 999, 1000)] == [
        Role.OPERATOR,
        Role.OPERATOR,
        Role.ANY,
    ]


def test_more_groups_than_fit_at_first_are_all_read() -> None:
    gids = list(range(10_000, 10_300))

    def getsockopt(level: int, option: int, size: int) -> bytes:
        if option == socket.SO_PEERCRED:
            return b"".join(n.to_bytes(4, "little") for n in (7, 1000, 100))
        if size < 4 * len(gids):
            raise OSError(34, "Numerical result out of range")
        return b"".join(gid.to_bytes(4, "little") for gid in gids)

    caller = caller_of(SimpleNamespace(getsockopt=getsockopt))
    assert (caller.pid, caller.uid, caller.gid) == (7, 1000, 100)
    assert caller.groups == {100, *gids}


def test_the_kernel_names_this_process_as_its_own_peer() -> None:
    import os

    ours, theirs = socket.socketpair(socket.AF_UNIX)
    with ours, theirs:
        caller = caller_of(ours)
    assert (caller.uid, caller.gid, caller.pid) == (os.geteuid(), os.getegid(), os.getpid())
    assert set(os.getgroups()) <= caller.groups
