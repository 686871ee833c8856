"""A new pass: source, fence, lower, types, activity, adjoint, tidy, emit."""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import ir
from .activity import Activity, mark_moved_slices
from .adjoint import adjoint
from .cache import Pass, guard_of
from .derived import Derived, base_of, derived_of
from .effects import effects_of
from .emit import emit, is_stand_in
from .libraries import is_library
from .lower import lower
from .lowering import Surroundings
from .purity import Named
from .refusals import text_read_again
from .regions import Regions, share
from .sites import Sites
from .source import find_source
from .sources import mark_sources, read_once
from .spelling import readings, spelled_out
from .tangent import handed_on, kept_open, may_be_written, tangent
from .tidy import prune
from .types import (
    ANY,
    FUNCTION,
    Known,
    Types,
    signature_of,
    type_of,
    type_of_signature,
)

if TYPE_CHECKING:
    from .pullbacks import Pullbacks


# Not list, tuple and sorted: the rows that they take from an array are views.
_READ_ONLY: frozenset[Any] = frozenset(
    {
        len,
        sum,
        max,
        min,
        abs,
        print,
        float,
        np.sum,
        np.mean,
        np.prod,
        np.max,
        np.min,
        np.std,
        np.var,
        np.dot,
        np.array,
        np.stack,
        np.concatenate,
        np.vstack,
        np.hstack,
        np.linalg.norm,
        np.zeros_like,
        np.ones_like,
        np.empty_like,
        np.outer,
        np.trace,
        np.cumsum,
    }
)


_FRESH: frozenset[Any] = frozenset(
    {
        list,
        np.zeros,
        np.ones,
        np.empty,
        np.full,
        np.zeros_like,
        np.ones_like,
        np.empty_like,
        np.full_like,
        np.array,
        np.arange,
        np.linspace,
        np.copy,
        np.dot,
        np.concatenate,
        np.stack,
        np.outer,
        np.eye,
        np.sum,
        np.mean,
        np.prod,
        np.cumsum,
        float,
        int,
    }
)


def _in(value: Any, known: frozenset[Any]) -> bool:
    try:
        return isinstance(value, np.ufunc) or (value is not ir.UNBOUND and value in known)
    except TypeError:  # not hashable, so none of these
        return False


def compile_pass(
    pullbacks: Pullbacks,
    function: types.FunctionType,
    signature: tuple[Any, ...],
    flags: tuple[bool, ...],
    free: tuple[Any, ...],
    captured: bool | frozenset[str],
    differentiate: bool,
) -> Pass:
    """Source, fence, lower, types, activity, adjoint, tidy, emit."""
    namespace, code = function.__globals__, function.__code__
    epoch = pullbacks.cache.registry.epoch
    looked_up: dict[str, Any] = {}

    def find_global(name: str) -> Any:
        value = namespace[name] if name in namespace else vars(builtins).get(name, ir.UNBOUND)
        looked_up[name] = value
        return value

    source = find_source(base_of(code))
    around = Surroundings(find_global, lambda v: _in(v, _READ_ONLY), lambda v: _in(v, _FRESH))
    cells = frozenset(name for name, part in zip(code.co_freevars, free) if part == "cell")

    def known_of(lowered: ir.Function) -> tuple[Types, Sites]:
        given = dict(zip(lowered.parameters, map(type_of_signature, signature)))
        given |= {
            name: type_of_signature(part) if part != "own" else type_of_signature(types.FunctionType)
            for name, part in zip(lowered.free, free, strict=True)
        }
        kinds = Types(lowered, given, find_global)
        found = Sites(pullbacks, source, kinds, namespace, _loads(lowered, find_global), _nested(lowered))
        return kinds, found

    def lowered_of(code: types.CodeType) -> ir.Function:
        derived = derived_of(code)
        if derived is None:
            lowered = lower(source, code, around, cells)
            prune(lowered)
            if pullbacks.implicit:
                read_once(lowered, find_global)
            return lowered
        return _tangent(lowered_of(derived.base), derived, known_of, differentiate or any(flags))

    lowered = lowered_of(code)
    kinds, sites = known_of(lowered)
    sites.runs_forward = not (differentiate or any(flags)) and derived_of(code) is not None
    forward = sites.runs_forward
    if pullbacks.implicit:
        mark_sources(lowered, sites, find_global)
    changes_nothing = _changes_nothing if forward else sites.changes_nothing
    regions = sites.regions = Regions(lowered, kinds, changes_nothing, sites.holds_nothing)
    if not forward:  # there, what is changed is changed, and nobody undoes it
        share(lowered, regions, kinds)
    start = {name for name, on in zip(lowered.parameters, flags, strict=True) if on}
    start |= (set(lowered.free) if captured is True else captured) if captured else set()
    active = Activity(lowered, kinds, regions, start, sites.is_constant, differentiate)
    _texts(lowered, active.varied, sites)
    parameters = [*lowered.free, *lowered.parameters]
    emitted = adjoint(lowered, kinds, active, regions, parameters, start, sites, differentiate)
    own = [name for name, part in zip(lowered.free, free, strict=True) if part == "own"]
    probes = pullbacks.cache.probes
    of_library = is_stand_in(code.co_filename) or is_library(function)
    probed = None if probes is None or of_library else (probes, code)
    made = emit(emitted, lowered.free, own, source.filename, source.node.lineno, probed)
    return Pass(
        code.co_name,
        made.forward,
        made.slot,
        _guard(looked_up, lowered, kinds, sites.relied),
        tuple(sites.trail.values()),
        epoch,
        made.text,
        made.origins,
        signature,
        effects_of(lowered, kinds, lambda target: pullbacks.cache.registry.house_entry(target) is not None),
    )


def _changes_nothing(op: ir.Op) -> bool:
    return True


def _tangent(
    lowered: ir.Function,
    derived: Derived,
    known_of: Callable[[ir.Function], tuple[Types, Sites]],
    in_sweep: bool,
) -> ir.Function:
    """The tangent of a lowered function for the parameters that vary; `in_sweep` says that it is part of a
    sweep of reverse mode, which asks what was made here, also where the tangent itself is not needed.
    """
    kinds, sites = known_of(lowered)
    regions = sites.regions = Regions(lowered, kinds, sites.changes_nothing, sites.holds_nothing)
    parameters = [name for name, on in zip(lowered.parameters, derived.varied, strict=True) if on]
    start = {*parameters, *(lowered.free if derived.captured else ())}
    start |= kept_open(lowered) | handed_on(lowered, sites.changes_nothing)
    if not in_sweep:
        start |= may_be_written(lowered, kinds, sites.changes_nothing)
    varied = Activity(lowered, kinds, regions, start, sites.is_constant, False).varied
    texts = _texts(lowered, varied, sites)
    writes = not in_sweep
    return tangent(lowered, kinds, varied, parameters, derived.captured, derived.own, sites, writes, texts)


def _texts(lowered: ir.Function, varied: set[str], sites: Sites) -> set[str]:
    """The names of texts made from what varies. Where such a text, or a slice's bound, would lose its
    derivative without a word, it is refused: here if that is certain, else by a mark, at run time.
    """
    mark_moved_slices(lowered, varied, sites.types)
    texts = spelled_out(lowered, varied, sites.types)
    for reading in readings(lowered, texts, sites.types, sites.is_declared_constant):
        raise text_read_again(sites.place(reading.position))
    return texts


def _loads(lowered: ir.Function, find_global: Callable[[str], Any]) -> dict[str, tuple[str, Any]]:
    """The names of globals, and the objects that they stand for now."""
    return {
        statement.target: (statement.op.name, find_global(statement.op.name))
        for statement in ir.walk(lowered.body)
        if isinstance(statement, ir.Let) and isinstance(statement.op, ir.Load)
    }


def _nested(lowered: ir.Function) -> dict[str, types.CodeType]:
    """The names of nested functions, and their code."""
    return {
        statement.target: statement.op.code
        for statement in ir.walk(lowered.body)
        if isinstance(statement, ir.Let) and isinstance(statement.op, ir.MakeFunction)
    }


def _guard(
    looked_up: dict[str, Any], lowered: ir.Function, kinds: Types, relied: list[Named]
) -> Callable[[dict[str, Any]], bool]:
    """What the pass took for granted about names outside of the function."""
    names: dict[str, tuple[str, Any]] = {}
    for name, value in looked_up.items():
        kind = type_of(value) if value is not ir.UNBOUND else None
        if isinstance(kind, Known):
            names[name] = ("is", value)
        elif kind is not None and kind not in (ANY, FUNCTION):
            names[name] = ("like", signature_of(value))
    for name, value in lowered.assumed.items():
        names[name] = ("is", value)
    attributes = []
    for statement in ir.walk(lowered.body):
        if isinstance(statement, ir.Let):
            op = statement.op
            owner, attribute = (
                (op.value, op.name)
                if isinstance(op, ir.Attribute)
                else ((op.function, op.method) if isinstance(op, (ir.Call, ir.Apply)) else (None, None))
            )
            if owner is not None and attribute is not None:
                kind = kinds(owner)
                if isinstance(kind, Known) and hasattr(kind.value, attribute):
                    attributes.append((kind.value, attribute, getattr(kind.value, attribute)))
    return guard_of(names, attributes, relied)
