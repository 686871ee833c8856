"""Who uses the memory of a cotangent, while a reverse sweep is written: memory that nothing else uses, or
reads again, may be written to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class Holders:
    """The cotangents whose value is an array of float64 that this sweep has made, or a zero object, each with
    all variables that may have its memory. `held_by` says which variable holds one that has none of its own.

    Those in `thin` may be a number, or have axes of one, where what they belong to has more. Those that are
    sure are a zero object only if what flows back to the whole function is one: then all of them are.
    """

    def __init__(self, held_by: Mapping[str, str]) -> None:
        self._held_by = held_by
        self._groups: dict[str, set[str]] = {}
        self._sure: set[str] = set()
        self.thin: set[str] = set()

    def variable(self, name: str) -> str:
        """The variable that holds a cotangent."""
        return self._held_by.get(name, name)

    def of(self, name: str) -> set[str] | None:
        """All that may have the memory of a cotangent; None where others may have it, too."""
        return self._groups.get(self.variable(name))

    def add(self, name: str, group: set[str] | None = None) -> None:
        """A variable has an array of its own, or one of a group that may all be the same."""
        group = set() if group is None else group
        group.add(name)
        self._groups[name] = group

    def give_away(self, names: Iterable[str]) -> None:
        """Others may have the memory of these from now on."""
        for name in names:
            for each in self.of(name) or ():
                self._groups.pop(each, None)

    def drop(self, name: str) -> None:
        """A variable has its array no more."""
        group = self._groups.pop(name, None)
        if group is not None:
            group.discard(name)

    def replace(self, name: str) -> None:
        """A variable gets another value, of which nothing is known."""
        self.drop(name)
        self._sure.discard(name)

    def drop_all(self) -> None:
        """Nothing is known of any array."""
        self._groups.clear()

    def are_sure(self, names: Iterable[str]) -> bool:
        """Whether all of these are sure."""
        return all(self.variable(name) in self._sure for name in names)

    def note(self, names: Iterable[str], sure: bool) -> None:
        """These variables are sure from now on, or are not."""
        (self._sure.update if sure else self._sure.difference_update)(names)
