"""Declarations of the package's modules about their own code, so that no module needs the names of others.

>>> from rulelab.ad import nested
>>> is_stand_in(nested.__file__), is_stand_in(__file__)
(True, False)
"""

from __future__ import annotations

import os
from typing import Any

FOLDER = os.path.dirname(__file__)
"""The folder of the package's files."""

_stand_ins: tuple[str, ...] = ()
_record_keepers: tuple[str, ...] = ()
_carriers: tuple[str, ...] = ()
_without_authors: frozenset[str] = frozenset()
_witnesses: tuple[str, ...] = ()
_out_of_sight: frozenset[str] = frozenset()
_asking_nothing: dict[int, Any] = {}  # by id; the functions are kept alive, so that no id is reused
_changing_nothing: dict[int, Any] = {}  # likewise


def stands_in(path: str) -> None:
    """Declare that the code of a file, or of all files whose paths begin so, is itself differentiated."""
    global _stand_ins
    _stand_ins += (path,)


def is_stand_in(filename: str) -> bool:
    """Whether the code of this file replaces functions of Python's, or is a built-in forward rule: it is
    compiled, and none of its lines is the author's.
    """
    return filename.startswith(_stand_ins)


def keeps_records(module: str) -> None:
    """Declare that objects of the classes of a module, and of its submodules, record computations, and are
    not part of the author's state.
    """
    global _record_keepers
    _record_keepers += (module,)


def is_record_keeper(kind: type) -> bool:
    """Whether the objects of a class record computations, and are not part of the author's state."""
    return kind.__module__.startswith(_record_keepers)


def carries_values(module: str) -> None:
    """Declare that objects of the classes of a module, and of its submodules, hold values of the author's."""
    global _carriers
    _carriers += (module,)


def is_carrier(kind: type) -> bool:
    """Whether the objects of a class of this package hold values of the author's."""
    return kind.__module__.startswith(_carriers)


def holds_no_authors(module: str) -> None:
    """Declare that objects of a module's classes hold no values of the author's."""
    global _without_authors
    _without_authors |= {module}


def is_without_authors(x: Any) -> bool:
    """Whether the class of a value was declared to hold no values of the author's."""
    return type(x).__module__ in _without_authors


def runs_out_of_sight(module: str) -> None:
    """Declare that functions of a module call their arguments out of sight of the AD, or twice."""
    global _out_of_sight
    _out_of_sight |= {module}


def may_hide(function: Any) -> bool:
    """Whether a function may call its arguments out of sight of the AD, or twice."""
    return function.__module__ in _out_of_sight


def only_look(*functions: Any) -> None:
    """Declare that functions without a derivative run no code of the author's, or only code that is not to
    be differentiated.
    """
    global _asking_nothing
    _asking_nothing = _asking_nothing | {id(each): each for each in functions}


def asks_nothing(function: Any) -> bool:
    """Whether a function was declared by `only_look`."""
    return id(function) in _asking_nothing


def change_nothing(*functions: Any) -> None:
    """Declare that functions change nothing that they are given, whatever their source seems to say."""
    global _changing_nothing
    _changing_nothing = _changing_nothing | {id(each): each for each in functions}


def changes_nothing(function: Any) -> bool:
    """Whether a function was declared by `change_nothing`."""
    return id(function) in _changing_nothing


def bears_witness(module: str) -> None:
    """Declare that a module, and its submodules, compute derivatives without using rules."""
    global _witnesses
    _witnesses += (module,)


def is_witness(module: str) -> bool:
    """Whether a module computes derivatives without using rules."""
    return module.startswith(_witnesses)
