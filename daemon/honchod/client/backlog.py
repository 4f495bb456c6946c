"""What waits in a drop box, handed over to the daemon. Imported only where something waits."""

from __future__ import annotations

import json
import time

from honchod.client.box import Unfit
from honchod.client.errors import ClientError, Rejected
from honchod.client.fate import Fate, fate_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from honchod.client.blocking import Client
    from honchod.client.box import Box, Entry


def hand_over(box: Box, client: Client, *, budget_s: float) -> bool:
    """Hand over what waits, oldest first, within the budget; True when nothing is left."""
    if not box.lock():
        return False
    give_up_at_s = time.monotonic() + budget_s
    settled = 0
    for entry in box.entries():
        if not _settle(box, entry, client):
            break
        settled += 1
        if time.monotonic() > give_up_at_s:
            break
    if settled:
        box.sync()
    return box.is_empty()


def _settle(box: Box, entry: Entry, client: Client) -> bool:
    """Hand one over; False when it stays where it is."""
    fate = _fate(box, entry, client)
    if fate is Fate.TAKEN:
        box.remove(entry)
    elif fate is Fate.BAD:
        box.set_aside(entry)
    return fate is not Fate.LATER


def _fate(box: Box, entry: Entry, client: Client) -> Fate:
    try:
        document = json.loads(box.read(entry))
        request, tried = document["request"], document["tried"]
    except FileNotFoundError:
        return Fate.TAKEN
    except (Unfit, ValueError, TypeError, KeyError, RecursionError):
        return Fate.BAD
    try:
        client.call("POST", "/v1/messages", request, repeatable=True)
    except Rejected as error:
        return fate_of(error.status, error.code, tried=tried is True)
    except ClientError:
        return Fate.LATER
    return Fate.TAKEN
