"""Value and gradient by an entry, for a call that does not give every parameter by position: with keywords,
defaults, or a partial, whose arguments are constants.
"""

from __future__ import annotations

from functools import partial
from types import FunctionType
from typing import Any

from ..compiler.calls.binding import in_order
from ..compiler.calls.entries import KEPT
from ..rules.kinds import varies
from .by_entry import run_entry
from .natural import natural_entries
from .operator_arguments import PULLBACKS


def by_keywords(
    f: Any, args: tuple[Any, ...], words: dict[str, Any], numbers: tuple[int, ...] | None, several: bool
) -> tuple[Any, tuple[Any, ...]] | None:
    """Return value and gradient, the latter for the arguments at `numbers` only, if given; None for the slow
    path.
    """
    __tracebackhide__ = True
    held: tuple[Any, ...] = ()
    if type(f) is partial:  # which cannot have a rule of its own
        f, held, words = f.func, f.args, {**f.keywords, **words}
    if type(f) is not FunctionType or KEPT not in f.__dict__:
        return None
    if numbers is not None and "argnums" in f.__code__.co_varnames:
        return None
    given = (*held, *args)
    values = in_order(f, given, words)
    if values is None:
        return None
    asked: list[Any] = [varies(x) and (numbers is None or n in numbers) for n, x in enumerate(args)]
    flags = [*(False,) * len(held), *asked]
    if len(given) == len(values) and not words:
        entry = PULLBACKS.entries.find(f, values, tuple(flags))
    else:
        rest = (False,) * (len(values) - len(given))
        entry = PULLBACKS.entries.find_bound(f, values, len(given), (*flags, *rest))
    if entry is None or entry.structured:  # containers are examined at each call
        return None
    answer = run_entry(entry, f, values, given, several)
    if answer is None:
        return None
    y, found, exact = answer
    del answer
    entries = (found[1] if exact else natural_entries(given, found, entry.projected))[len(held) :]
    return y, entries if numbers is None else tuple([entries[number] for number in numbers])
