"""What the package's modules declare about their own code, each for itself: no module is known to another
by name.

>>> from rulelab.ad import nested
>>> is_stand_in(nested.__file__), is_stand_in(__file__)
(True, False)
"""

from __future__ import annotations

import os
from typing import Any

FOLDER = os.path.dirname(__file__)
"""Where the package's files are."""

_stand_ins: tuple[str, ...] = ()
_record_keepers: tuple[str, ...] = ()
_carriers: tuple[str, ...] = ()
_without_authors: frozenset[str] = frozenset()
_witnesses: tuple[str, ...] = ()
_out_of_sight: frozenset[str] = frozenset()
_asking_nothing: dict[int, Any] = {}  # by identity: they are held, so that none is used again


def stands_in(path: str) -> None:
    """Say that the code of a file, or of the files whose paths begin like this, is itself differentiated."""
    global _stand_ins
    _stand_ins += (path,)


def is_stand_in(filename: str) -> bool:
    """Whether code of this file stands in for functions of Python's, or is a built-in forward rule: it is
    compiled, and no line of it is the author's.
    """
    return filename.startswith(_stand_ins)


def keeps_records(module: str) -> None:
    """Say that objects of a module's classes, and of the modules below it, remember what was computed, and
    are no state of the author's.
    """
    global _record_keepers
    _record_keepers += (module,)


def is_record_keeper(kind: type) -> bool:
    """Whether the objects of a class are no state of the author's."""
    return kind.__module__.startswith(_record_keepers)


def carries_values(module: str) -> None:
    """Say that objects of a module's classes, and of the modules below it, hold values of the author's."""
    global _carriers
    _carriers += (module,)


def is_carrier(kind: type) -> bool:
    """Whether the objects of a class of the package's hold values of the author's."""
    return kind.__module__.startswith(_carriers)


def holds_no_authors(module: str) -> None:
    """Say that nothing of the author's is in what objects of a module's classes hold."""
    global _without_authors
    _without_authors |= {module}


def is_without_authors(x: Any) -> bool:
    """Whether nothing of the author's is in what a value holds, because of its class."""
    return type(x).__module__ in _without_authors


def runs_out_of_sight(module: str) -> None:
    """Say that functions of a module run what they are given out of sight, or twice."""
    global _out_of_sight
    _out_of_sight |= {module}


def may_hide(function: Any) -> bool:
    """Whether a function runs what it is given out of sight, or twice."""
    return function.__module__ in _out_of_sight


def only_look(*functions: Any) -> None:
    """Say that functions without derivative run no code of the author's, or such as nobody is to
    differentiate.
    """
    global _asking_nothing
    _asking_nothing = _asking_nothing | {id(each): each for each in functions}


def asks_nothing(function: Any) -> bool:
    """Whether a function is one of those."""
    return id(function) in _asking_nothing


def bears_witness(module: str) -> None:
    """Say that a module, and those below it, find derivatives without asking a rule."""
    global _witnesses
    _witnesses += (module,)


def is_witness(module: str) -> bool:
    """Whether a module finds derivatives without asking a rule."""
    return module.startswith(_witnesses)
