"""Calls that write: to the array of `out=`, or to an argument that a function is known to change."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import KeywordError
from ...rules import programs
from ...rules.binding import positional_parameters
from ...rules.registry import Registry
from ...rules.rule import Rule
from ...rules.targets import name_of
from ..base.refusals import mutation
from ..memory import heap
from ..memory.operands import describe
from .call import Call, here
from .own_errors import failing_in_place, refuse_misfit
from .templates import ARGS, DOTS, Forward, Program, Pushed, Ref, arg, dot


def out_slot(registry: Registry, target: Any, count: int) -> int | None:
    """Which of `count` positional arguments is the array to write to, as in `np.add(a, b, out)`; None if none
    is.
    """
    if isinstance(target, np.ufunc):
        return target.nin if count > target.nin else None
    operator = getattr(target, "__module__", None) == "_operator"  # these have many rules, and write nowhere
    entry = registry.entry(target) if count > 1 and not operator else None
    for rule in entry.built_in_for("rrule") if entry is not None else ():
        names = positional_parameters(rule.function)[0]  # after `*args`, `out` is a keyword
        if "out" in names[:count]:
            return names.index("out")
    return None


def refuse_mutation(registry: Registry, call: Call) -> None:
    """MutationError for a call that is known to write to its arguments."""
    target, args = call.target, call.args
    slot = out_slot(registry, target, len(args))
    # A ufunc has one output array for each result, and nothing after them.
    last = len(args) if slot is None or isinstance(target, np.ufunc) else slot + 1
    if slot is not None and any(x is not None for x in args[slot:last]):
        raise _mutation(call, f"{name_of(target)}(out={describe(args[slot])})")
    if call.kwargs.get("out") is not None:
        raise _mutation(call, f"{name_of(target)}(out={describe(call.kwargs['out'])})")
    if registry.mutator(target) is not None:
        kind = type(args[0]) if args else np.ndarray
        raise _mutation(
            call,
            f"{name_of(target)}({', '.join(map(describe, args[:1]))})",
            issubclass(kind, np.ndarray),
            f"create the {kind.__name__} in the function" if kind in heap.KINDS else None,
        )


def _mutation(call: Call, called: str, of_array: bool = True, instead: str | None = None) -> Exception:
    refuse_misfit(call.target, call.args, call.kwargs)
    own = failing_in_place(call.target, call.args)
    return own or mutation(called, here(call.place)[0], of_array, instead, in_forward=call.in_forward)


# -- forward: both arrays are written to ---------------------------------------------------------------------


def written_slot(registry: Registry, call: Pushed) -> int | None:
    """The number of the argument, keywords included, that is the array to which a built-in function writes
    its result; None if there is none.
    """
    entry = registry.entry(call.target)
    if entry is None or entry.user:
        return None
    if any(isinstance(rule, Rule) and rule.keyword_tangents for rule in entry.built_in):
        return None  # it passes its keywords on
    count = len(call.args)
    if "out" in call.names:
        return count + call.names.index("out")
    at = out_slot(registry, call.target, count) if count > 1 else None
    if at is None or at >= count:
        return None
    # A None before further arguments stays where it is, since without it they would move up.
    leads = at < count - 1 and not isinstance(call.target, np.ufunc)
    return None if leads and _is_nothing(call.raw[ARGS][at]) else at


def into(push: Forward, call: Pushed, slot: int) -> Program:
    """`g(..., out=array)`: the value and its tangent, each written to its own array."""
    g, args, names, count = call.target, call.raw[ARGS], call.names, len(call.args)
    several = isinstance(g, np.ufunc) and g.nout > 1
    if several and not _is_nothing(args[slot]):
        raise KeywordError(
            f"{name_of(g)} has {g.nout} results, and is given arrays to write them to",
            fixes=("assign what it returns: a[...], b[...] = …",),
            read="limitations#keywords",
        )
    rest = [k for k in range(len(args)) if k != slot]
    left = tuple([name for k, name in enumerate(names) if k != slot - count])
    given = tuple([arg(k) for k in rest])
    given_dots = tuple([dot(k) for k in rest])
    if _is_nothing(args[slot]):
        return push.through(call.raw, g, given, given_dots, left)
    refs = call.refs()
    words = dict(zip(names, refs[count:]))
    if isinstance(args[slot], tuple) and len(args[slot]) == 1:
        out, out_dot = Ref((ARGS, slot, 0)), Ref((DOTS, slot, 0))
    else:
        out, out_dot = arg(slot), dot(slot)
    rule = push.rule(g, tuple([args[k] for k in rest]), left)
    if rule is not None and not rule.differentiable:
        constant = (g, refs[:count], words, out, out_dot)
        return Program(programs.constant_into_out, constant, trusted=True)
    written = (push, g, given, given_dots, left, refs[:count], words, out, out_dot)
    return Program(programs.into_out, written, trusted=True)


def _is_nothing(out: Any) -> bool:
    """Whether the value given for `out=` contains no array."""
    return out is None or (isinstance(out, tuple) and all(x is None for x in out))
