"""What a recall shows: the answers that are held, put together, with the age of each section. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from honchod.identity.choices import Section
from honchod.recall.cache import Entry
from honchod.recall.injection import AI_SECTIONS, USER_SECTIONS
from honchod.recall.merge import merged
from honchod.recall.parts import EMPTY, Parts
from honchod.recall.supplements import Supplement


class Shown(msgspec.Struct, frozen=True):
    """The parts, how old what each section is made of is, and the oldest of them (None: nothing is held)."""

    parts: Parts
    ages_s: Mapping[Section, float]
    oldest_s: float | None


def show(
    view: Entry | None,
    own: Entry | None,
    found: Entry | None,
    supplement: Supplement | None,
    *,
    now_s: float,
) -> Shown:
    """Put together what is held; what was found for the query comes before what is known anyway."""
    known = EMPTY if view is None else view.parts
    itself = EMPTY if own is None else own.parts
    parts = Parts(
        summary=known.summary,
        user_representation=merged(
            "" if found is None else found.parts.user_representation, known.user_representation
        ),
        user_card=known.user_card,
        ai_representation=itself.ai_representation,
        ai_card=itself.ai_card,
        dialectic="" if supplement is None else supplement.text,
    )
    ages_s = dict.fromkeys(USER_SECTIONS, _oldest_s(now_s, view, found) or 0.0)
    ages_s |= dict.fromkeys(AI_SECTIONS, _oldest_s(now_s, own) or 0.0)
    ages_s[Section.DIALECTIC] = 0.0 if supplement is None else max(0.0, now_s - supplement.made_at_s)
    return Shown(parts, ages_s, _oldest_s(now_s, view, own, found))


def _oldest_s(now_s: float, *entries: Entry | None) -> float | None:
    ages_s = [max(0.0, now_s - entry.fetched_at_s) for entry in entries if entry is not None]
    return max(ages_s, default=None)
