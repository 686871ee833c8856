"""Which variables share the memory of a cotangent while a reverse sweep is being written: memory that nothing
else uses or reads again may be overwritten.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class Holders:
    """The cotangents that are either a float64 array made during this sweep or a zero object, each with all
    variables that may share its memory. `held_by` maps a cotangent without a variable of its own to the
    variable that holds it.

    A cotangent in `thin` may be a number, or have axes of length one, where its primal has a larger shape.
    A cotangent is "sure" if it is a zero object only when the seed is one; then all sure cotangents are.
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
        """All variables that may share a cotangent's memory, or None if something else may, too."""
        return self._groups.get(self.variable(name))

    def add(self, name: str, group: set[str] | None = None) -> None:
        """Note that a variable holds an array of its own, or one that the variables of `group` may share."""
        group = set() if group is None else group
        group.add(name)
        self._groups[name] = group

    def give_away(self, names: Iterable[str]) -> None:
        """Note that something else may share the memory of these cotangents from now on."""
        for name in names:
            for each in self.of(name) or ():
                self._groups.pop(each, None)

    def drop(self, name: str) -> None:
        """Note that a variable no longer holds its array."""
        group = self._groups.pop(name, None)
        if group is not None:
            group.discard(name)

    def replace(self, name: str) -> None:
        """Note that a variable gets a new value, about which nothing is known."""
        self.drop(name)
        self._sure.discard(name)

    def drop_all(self) -> None:
        """Forget what is known about all arrays."""
        self._groups.clear()

    def are_sure(self, names: Iterable[str]) -> bool:
        """Whether all of these are sure."""
        return all(self.variable(name) in self._sure for name in names)

    def note(self, names: Iterable[str], sure: bool) -> None:
        """Note that these variables are sure from now on, or no longer are."""
        (self._sure.update if sure else self._sure.difference_update)(names)
