"""Parameters that are sources of random numbers: which they are, by annotations, names and methods called;
and those that are seeds of such sources.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ...rules.signatures import meant_types
from .kinds import Kind
from .texts import attributes_read, text_of

_NAMES = re.compile(r"(?:\w+_)?(?:p?rng|random_?state|random|generator|gen)\d*")
_OF_OLD = frozenset(
    "get_state set_state rand randn randint random_sample random_integers seed tomaxint".split()
)
"""Methods that `RandomState` has and `Generator` has not."""
_SEED = (("seed", Kind("option", options=(0,))),)
_OLD = Kind("object", made=np.random.RandomState, parts=_SEED)
_NEW = Kind(
    "object",
    made=np.random.Generator,
    parts=(("bit_generator", Kind("object", made=np.random.PCG64, parts=_SEED)),),
)
_SEEDED = frozenset("default_rng RandomState SeedSequence PCG64 MT19937 seed Random".split())
"""What makes or sets a source of random numbers by its first argument."""
_KINDS: Mapping[Any, Kind] = {np.random.Generator: _NEW, np.random.RandomState: _OLD}


def random_sources(f: Callable) -> Mapping[str, tuple[Kind, ...]]:
    """The kinds of the parameters from which a function draws random numbers; all have the same seed.

    >>> def waits(gaps, rng):
    ...     return gaps * rng.exponential(size=len(gaps))
    >>> {name: str(kinds[0]) for name, kinds in random_sources(waits).items()}
    {'rng': 'a Generator'}
    """
    tree, names = text_of(f)
    notes = meant_types(f)
    found = {name: (_KINDS[notes[name]],) for name in names if notes.get(name) in _KINDS}
    for name, methods in attributes_read(f).items():
        if name not in notes and _NAMES.fullmatch(name):
            if not _OF_OLD.isdisjoint(methods):
                found[name] = (_OLD,)
            elif all(hasattr(np.random.Generator, method) for method in methods):
                found[name] = (_NEW,)
    return found | {name: (Kind("integer"),) for name in _seeds(tree) if name in names and name not in notes}


def _seeds(tree: ast.AST | None) -> Iterator[str]:
    """The names that are passed on as seeds.

    >>> list(_seeds(ast.parse("rng = np.random.default_rng(seed)")))
    ['seed']
    """
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in _SEEDED:
                yield node.args[0].id
