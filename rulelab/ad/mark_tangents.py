"""The marks, checkpointed calls and Buffers in forward mode."""

from __future__ import annotations

import operator
import types

import numpy as np

from ..compiler.memory.heap import KINDS
from ..compiler.memory.snapshots import changed_out_of_sight
from ..errors import NotDifferentiableError
from ..own_code import stands_in
from ..rules.rule_table import RuleTable
from ..rulesets.array_likes import dense
from ..rulesets.container_tangents import check_kept
from ..tangents.projection import tangent_dtype
from ..tangents.shadows import attributes_of, held_by, is_constant, kind_of
from ..tangents.tracked import parts_in_step
from ..tangents.zeros import NoTangent
from .buffer import Buffer
from .checkpointed import checkpointed
from .marks import clip_grad, hook, ignore_derivatives, run_block, showgrad

stands_in(__file__)

TABLE = RuleTable("mark_tangents")
NO = NoTangent()


# -- marks ---------------------------------------------------------------------------------------------------


@TABLE.frule(hook)
def hook_frule(tangents, fn, x):
    if moves(tangents[2]):
        raise only_backwards("hook")
    return x, tangents[2]


@TABLE.frule(clip_grad)
def clip_grad_frule(tangents, x, lo, hi):
    if moves(tangents[1]):
        raise only_backwards("clip_grad")
    return x, tangents[1]


def moves(x_dot):
    """Whether a tangent is other than zero."""
    return not is_constant(x_dot) and bool(np.any(x_dot))


def only_backwards(name):
    """The error for a mark that has no counterpart in forward mode.

    A second derivative goes through the tangent of the function, where the changed gradient would be lost.
    """
    return NotDifferentiableError(
        f"{name} changes a gradient on its way back, which forward mode and second derivatives do not follow",
        fixes=(f"leave {name} out where a second derivative is taken", "use reverse mode"),
        read="limitations#second-derivatives",
    )


TABLE.non_differentiable(only_backwards, moves)


@TABLE.frule(showgrad)
def showgrad_frule(tangents, x, label=None):
    """Return x unchanged: no gradient passes backwards here, so nothing is shown."""
    return x, tangents[1]


def _state_ignored(target):
    """Define the frule of a function that runs ignored code, which may not change objects that carry a
    tangent.
    """

    @TABLE.frule(target)
    def ignored_frule(tangents, ignored):
        before = beside_tangents(ignored, tangents[1])
        found = target(ignored)
        check_in_place(before)
        return found, NO


_state_ignored(ignore_derivatives)
_state_ignored(run_block)


def beside_tangents(x, x_dot):
    """Return the containers, objects and functions in a value that have a tangent, each with its contents."""
    found = {}
    waiting = [(x, x_dot)]
    while waiting:
        x, x_dot = waiting.pop()
        if isinstance(x_dot, types.CellType):
            x_dot = x_dot.cell_contents
        if isinstance(x, types.MethodType):
            x = x.__self__
        kind = "buffer" if isinstance(x, Buffer) else kind_of(x)
        if is_constant(x_dot) or kind in (None, "number", "array") or id(x) in found:
            continue
        found[id(x)] = x, _held(kind, x)
        if kind != "buffer":
            waiting += parts_in_step(kind, x, x_dot)
    return list(found.values())


def _held(kind, x):
    if kind == "buffer":
        return KINDS[Buffer].state(x)
    if kind == "function":
        return [part for group in held_by(x) for part in group.values()]
    return attributes_of(x) if kind == "object" else dict(x) if kind == "entries" else list(x)


def check_in_place(before):
    """Raise MutationError if the contents of one of these have changed, since its tangent has not."""
    for x, then in before:
        kind = "buffer" if isinstance(x, Buffer) else kind_of(x)
        now = _held(kind, x)
        same = list(then) == list(now) if isinstance(then, dict) else len(then) == len(now)
        pairs = zip(then.values(), now.values()) if isinstance(then, dict) else zip(then, now)
        if not same or (then != now if kind == "buffer" else any(a is not b for a, b in pairs)):
            raise changed_out_of_sight(x)


TABLE.non_differentiable(beside_tangents, check_in_place)


@TABLE.frule(checkpointed, requires={"forwards"}, keyword_tangents=True)
def checkpointed_frule(config, tangents, f, *xs, **kw):
    """Call f: forward mode keeps no intermediate values anyway."""
    return config.frule_via_ad(tangents[1:], f, *xs, **kw)


# -- Buffers: the tangent of a Buffer is another Buffer, of the tangents of its elements ---------------------


@TABLE.frule(Buffer)
def buffer_frule(tangents, like, shape=None, dtype=None):
    made = Buffer(like, shape, dtype)
    return made, Buffer(made[...], None, tangent_dtype(made.dtype))


@TABLE.frule(operator.getitem, Buffer.__getitem__)
def read_frule(tangents, a: Buffer, b, /):
    return a[b], NO if is_constant(tangents[1]) else tangents[1][b]


@TABLE.frule(operator.setitem, Buffer.__setitem__)
def write_frule(tangents, a: Buffer, b, c, /):
    check_kept(a, tangents[1], tangents[3])
    a[b] = c
    if not is_constant(tangents[1]):
        tangents[1][b] = 0.0 if is_constant(tangents[3]) else tangents[3]
    return None, NO


@TABLE.frule(Buffer.append)
def append_frule(tangents, a, value):
    check_kept(a, tangents[1], tangents[2])
    a.append(value)
    if not is_constant(tangents[1]):
        tangents[1].append(dense(value, tangents[2]))
    return None, NO


@TABLE.frule(Buffer.pop)
def pop_frule(tangents, a):
    y = a.pop()
    return y, NO if is_constant(tangents[1]) else tangents[1].pop()


@TABLE.frule(Buffer.copy)
def copy_frule(tangents, a):
    """Both Buffers are frozen, that of the values and that of the tangents."""
    return a.copy(), NO if is_constant(tangents[1]) else tangents[1].copy()


TABLE.non_differentiable(Buffer.__len__, tangent_dtype)
