"""How a client uses the drop box: what no daemon took is kept, and handed over once one answers.

A daemon takes in the box of its own user by itself. Where it runs as another one, as the daemon of a whole
machine does, each client hands over what its user left: before anything new, so that order is kept.
"""

from __future__ import annotations

import os
import time

from honchod.client.box import Box, box_path
from honchod.client.errors import DropUnusable
from honchod.client.results import DROPPED, Written, WrittenMessage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from honchod.client.calls import Call

BUDGET_S = 0.25
"""As long may a write spend on what was left before it; then it is left there too."""

TIMEOUT_S = 1.0
"""As long may the daemon take over each of them."""


def is_through(socket_path: str) -> bool:
    """Whether a new write may go to the daemon: nothing waits in this user's box, or nothing any more.

    What waits is handed over, oldest first; what the daemon can never take goes to ``bad`` in the box. A box
    that cannot be looked into holds nothing of this user's.
    """
    path = box_path()
    if path is None:
        return True
    try:
        box = Box(path)
    except (OSError, DropUnusable):
        return True
    with box:
        try:
            return box.is_empty() or _hand_over(box, socket_path)
        except OSError:
            return False


def keep(call: Call, *, tried: bool) -> Written:
    """Put a write into the box of this user; it is on disk when this returns.

    ``tried``: it went out to a daemon, and no answer came. Raises a NotKept, and then nothing was written.
    """
    path, body = box_path(), call.body or {}
    if path is None:
        raise DropUnusable("this user has no home: set HONCHOD_DROP")
    from honchod.client.drop_file import encode

    data = encode(body, uid=os.geteuid(), now_s=time.time(), tried=tried)
    try:
        with Box(path, make=True) as box:
            box.put(data)
    except OSError as error:
        raise DropUnusable(f"{path}: {error.strerror}") from None
    results = tuple(WrittenMessage(message["id"], DROPPED) for message in body["messages"])
    return Written(body.get("session", ""), results)


def _hand_over(box: Box, socket_path: str) -> bool:
    from honchod.client.backlog import hand_over
    from honchod.client.blocking import Client

    with Client(socket_path, timeout_s=TIMEOUT_S) as client:
        return hand_over(box, client, budget_s=BUDGET_S)
