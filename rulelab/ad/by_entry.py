"""Run an entry for one call: the value and the cotangents of the arguments."""

from __future__ import annotations

from typing import Any

from numpy import float64

from ..compiler.analysis.effects import LOUD
from ..compiler.base.places import tell_bodies
from ..compiler.calls.entries import Entry
from ..compiler.calls.fused import fused_of
from ..compiler.memory.heap import enter, leave
from ..errors import RuleLabError
from .natural import should_restart
from .operator_arguments import seed_of


def run_entry(
    entry: Entry, f: Any, values: tuple[Any, ...], args: tuple[Any, ...], several: bool
) -> tuple[Any, Any, bool] | None:
    """Return `(y, found, exact)` for a call: the value at `values`, which include `args`, the cotangents, and
    whether these are the entries of the gradient as they are; None if the sweep is to be restarted with
    copies.
    """
    __tracebackhide__ = True
    # A rule is responsible for its own objects.
    outer = None if entry.projected else enter()
    try:
        happened = LOUD[0]
        try:
            fused, found = fused_of(entry), None
            if fused is not None and not (several and fused.on_floats):
                found = fused.run(*values)
            if found is not None:
                return found[0], found, fused.exact  # type: ignore[union-attr]
            y, back = entry.forward(*values)
            found = back(1.0 if type(y) is float or type(y) is float64 else seed_of(y, f, args, several))
            return y, found, False
        except RuleLabError as error:
            if should_restart(error, f, args, happened):
                return None
            raise
        except Exception as error:
            tell_bodies(error)
            raise
    finally:
        if outer is not None:
            leave(outer)
