"""The client's named tuples are what ``typing`` would have made of the same class."""

from __future__ import annotations

import copy
import pickle
import typing

import pytest

from honchod.client import records


class Ours(records.NamedTuple):
    """A thing."""

    id: str
    status: str
    parts: int | None = None
    reasons: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether it has one part."""
        return self.parts == 1

    def renamed(self, to: str) -> Ours:
        """The same under another name."""
        return self._replace(id=to)


class Theirs(typing.NamedTuple):
    """A thing."""

    id: str
    status: str
    parts: int | None = None
    reasons: tuple[str, ...] = ()


def test_fields_defaults_and_annotations_are_those_of_typing() -> None:
    assert Ours._fields == Theirs._fields
    assert Ours._field_defaults == Theirs._field_defaults
    assert typing.get_type_hints(Ours) == typing.get_type_hints(Theirs)
    assert (Ours.__name__, Ours.__module__, Ours.__doc__) == ("Ours", __name__, "A thing.")


def test_it_is_a_tuple_with_names() -> None:
    ours, theirs = Ours("a", "queued", 1), Theirs("a", "queued", 1)
    assert ours == theirs == ("a", "queued", 1, ())
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    assert ours._asdict() == theirs._asdict()
    assert hash(ours) == hash(theirs)
    identifier, *_ = ours
    assert identifier == ours.id


def test_it_has_the_methods_of_its_class() -> None:
    ours = Ours("a", "queued", parts=1)
    assert ours.is_whole
    assert ours.renamed("b") == Ours("b", "queued", 1)
    assert type(ours.renamed("b")) is Ours


def test_it_survives_copying_and_pickling() -> None:
    ours = Ours("a", "queued", reasons=("noise",))
    for same in (copy.copy(ours), copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert (type(same), same) == (Ours, ours)


@pytest.mark.parametrize("given", [(), ("a",), ("a", "b", 1, (), "more")])
def test_what_is_missing_or_too_much_is_refused(given: tuple[typing.Any, ...]) -> None:
    with pytest.raises(TypeError):
        Ours(*given)


def test_it_cannot_be_changed_or_added_to() -> None:
    ours = Ours("a", "queued")
    with pytest.raises(AttributeError):
        ours.id = "b"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        ours.other = "b"  # type: ignore[attr-defined]
