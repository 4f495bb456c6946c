"""A short run of the soak, with a fixed seed (`make soak` is the long one), and whether its oracle sees."""

from __future__ import annotations

from itertools import islice

import pytest

from soak import plan, rig
from soak.ledger import Entry, Told
from soak.oracle import Piece, judge
from soak.plan import Options

SEED = 20_260_302
MESSAGES = 300
KILLS = 5


# Half a minute as a rule; a machine that is busy with other things may take its time.
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_killed_again_and_again_under_a_bad_sky_keeps_every_promise() -> None:
    report = rig.run(Options(SEED, minutes=4.0, messages=MESSAGES, kills=KILLS), lambda _: None)
    assert report.passed, report
    assert report.told[Told.ACKED] >= MESSAGES
    assert sum(report.blows.values()) >= KILLS


def test_the_same_seed_makes_the_same_decisions() -> None:
    def decisions(seed: int) -> list[object]:
        options = Options(seed)
        planned = (plan.requests(options, 1), plan.weather(options), plan.attacks(options))
        return [list(islice(actor, 50)) for actor in planned]

    assert decisions(1) == decisions(1)
    assert decisions(1) != decisions(2)


WRITTEN = [Entry("s", f"m{number}", Told.ACKED, 1) for number in range(3)]
ALL = [Piece("m0"), Piece("m1"), Piece("m2")]


def test_the_oracle_is_content_with_what_was_promised() -> None:
    told = [*WRITTEN, Entry("s", "no", Told.REFUSED, 0), Entry("s", "maybe", Told.UNKNOWN, 0)]
    assert judge(told, {"s": ALL}).kept
    assert judge(told, {"s": [Piece("maybe"), *ALL]}).kept


def test_the_oracle_sees_what_is_lost() -> None:
    assert judge(WRITTEN, {"s": [ALL[0], ALL[2]]}).lost == ("s/m1/1",)
    assert judge(WRITTEN, {}).lost == ("s/m0/1", "s/m1/1", "s/m2/1")
    assert judge([Entry("s", "long", Told.ACKED, 2)], {"s": [Piece("long")]}).lost == ("s/long/2",)


def test_the_oracle_sees_what_is_there_twice() -> None:
    assert judge(WRITTEN, {"s": [*ALL, ALL[1]]}).twice == ("s/m1/1",)
    maybe = [*WRITTEN, Entry("s", "maybe", Told.UNKNOWN, 0)]
    assert judge(maybe, {"s": [*ALL, Piece("maybe"), Piece("maybe")]}).twice == ("s/maybe/1",)


def test_the_oracle_sees_what_is_out_of_order() -> None:
    assert judge(WRITTEN, {"s": [ALL[0], ALL[2], ALL[1]]}).disordered == ("s/m1/1",)


def test_the_oracle_sees_what_should_not_be_there() -> None:
    refused = [*WRITTEN, Entry("s", "no", Told.REFUSED, 0)]
    assert judge(refused, {"s": [*ALL, Piece("no")]}).uninvited == ("s/no/1",)
    assert judge(WRITTEN, {"s": ALL, "other": [Piece("x")]}).uninvited == ("other/x/1",)
