"""A new pass: source, fence, lower, types, activity, adjoint, tidy, emit."""

from __future__ import annotations

import builtins
import inspect
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ...own_code import is_stand_in
from ...python_facts import JOINING, MAKING, READING
from ...rules.kinds import (
    ANY,
    BOOL,
    F8,
    FLOAT,
    FUNCTION,
    INT,
    NUMERIC,
    REAL,
    Known,
    Text,
    any_part,
    is_real,
    signature_of,
    type_of_signature,
)
from ...tangents.missing import NotImplementedTangent
from ..analysis.activity import Activity, mark_asking, mark_moved_slices
from ..analysis.displays import read_as_arrays
from ..analysis.effects import effects_of
from ..analysis.finite import look_at_hidden
from ..analysis.flowing import flowed_to, gone_through
from ..analysis.on_floats import (
    computes_alike,
    has_powers,
    made_otherwise,
    only_computes,
    read_as_floats,
    settle_powers,
)
from ..analysis.regions import Regions, share
from ..analysis.spelling import readings, spelled_out
from ..analysis.types import Types, type_of
from ..base import ir
from ..base.derived import Derived, base_of, derived_of
from ..base.libraries import is_authors_function, is_library
from ..base.liveness import prune
from ..base.purity import Named
from ..base.question import Question
from ..base.refusals import text_read_again
from ..base.source import find_source
from ..front.held import leave_unread, read_held
from ..front.inlining import Callees, inline
from ..front.lower import lower
from ..front.lowering import Surroundings
from ..front.opening import NotOpened, Structure, open_arguments, settle
from ..front.readers import Inlined, Reader, Restated, computing, is_plain, reader
from ..front.single_items import take_apart
from ..front.spreading import spread
from ..implicit.sources import mark_sources, read_once
from ..transform.adjoint import Emitted, adjoint
from ..transform.emit import emit, emit_fused
from ..transform.open_values import Resting, depending, handed_on, kept_open, may_be_written, touched
from ..transform.tangent import tangent
from ..transform.typed_tangents import hold
from .cache import Pass, guard_of
from .sites import Sites


def _in(value: Any, known: frozenset[Any]) -> bool:
    """Whether a value is a ufunc or among `known`; False if it is not hashable."""
    try:
        return isinstance(value, np.ufunc) or (value is not ir.UNBOUND and value in known)
    except TypeError:  # not hashable, so not among these
        return False


def compile_pass(
    pullbacks: Question,
    function: types.FunctionType,
    signature: tuple[Any, ...],
    flags: tuple[bool, ...],
    free: tuple[Any, ...],
    captured: bool | frozenset[str],
    differentiate: bool,
    on_floats: bool = False,
    before: int | None = None,
    fused: int | None = None,
    opened: tuple[Structure | None, ...] | None = None,
) -> Pass:
    """Compile a pass: source, fence, lower, types, activity, adjoint, tidy, emit.

    With `on_floats`, numbers are read from arrays as Python's own (`analysis/on_floats`); raises NotOnFloats
    if that gains nothing, or would change more than the speed. With `before`, signature and flags are those
    of the arguments one by one, and `*args` has those after the first `before`; `Pass.before` says whether
    the pass takes them one by one. With `fused`, both sweeps are one function, which gives the cotangents of
    that many parameters (`emit_fused`); raises NotFused if they cannot be. With `opened`, signature and flags
    are those of the contents of arguments with these structures; raises NotOpened if the function does more
    than read these.
    """
    namespace, code = function.__globals__, function.__code__
    epoch = pullbacks.cache.registry.epoch
    looked_up: dict[str, Any] = {}

    def look(name: str) -> Any:
        return namespace[name] if name in namespace else vars(builtins).get(name, ir.UNBOUND)

    def find_global(name: str) -> Any:
        value = looked_up[name] = look(name)
        return value

    source = find_source(base_of(code))
    inlines = _inlines(pullbacks, function) and not pullbacks.implicit

    def found_by(
        judge: Callable[[str, types.FunctionType], Reader | None],
    ) -> Callable[[str], Reader | None]:
        def find(name: str) -> Reader | None:
            meant = look(name)
            plain = inlines and is_plain(meant, namespace, pullbacks.cache.has_rule)
            return judge(name, meant) if plain else None

        return find

    early: list[Any] | None = [] if opened is not None else None
    around = Surroundings(
        find_global,
        lambda v: _in(v, READING),
        lambda v: _in(v, MAKING),
        lambda v: _in(v, JOINING) and pullbacks.cache.registry.built_in_entry(v) is not None,
        {name: part.value for name, part in zip(code.co_freevars, free) if isinstance(part, Known)},
        found_by(reader),
        found_by(computing),
        lambda v: not inlines or bool((entry := pullbacks.cache.registry.entry(v)) and entry.user),
        early,
    )
    cells = frozenset(name for name, part in zip(code.co_freevars, free) if part == "cell")
    inlined: list[Inlined | Reader | Restated] = []
    parts_read: set[str] = set()

    def types_of(lowered: ir.Function, find: Callable[[str], Any]) -> Types:
        given = dict(zip(lowered.parameters, map(type_of_signature, signature)))
        given |= {
            name: type_of_signature(part) if part != "own" else type_of_signature(types.FunctionType)
            for name, part in zip(lowered.free, free, strict=True)
        }
        return Types(lowered, given, find)

    def known_in(lowered: ir.Function) -> Callable[[ir.Atom], bool]:
        kinds = types_of(lowered, look)
        return lambda atom: not any_part(kinds(atom), lambda part: part in (ANY, NUMERIC))

    callees = Callees(namespace, look, around, pullbacks.cache.has_rule, known_in)

    def known_of(lowered: ir.Function) -> tuple[Types, Sites]:
        kinds = types_of(lowered, find_global)
        made = [(s.target, s.op) for s in lowered.statements() if isinstance(s, ir.Let)]
        loads = {name: (op.name, find_global(op.name)) for name, op in made if isinstance(op, ir.Load)}
        nested = {name: op.code for name, op in made if isinstance(op, ir.MakeFunction)}
        sites = Sites(pullbacks, source, kinds, namespace, loads, nested)
        if kinds.written:
            ruled = any(sites.relies_on_built_in(called) is None for called in (sum, list, operator.mul))
            if pullbacks.implicit or ruled:
                kinds.written = {}  # then the cotangents of such lists go by identity
        return kinds, sites

    def is_built_in(called: Any) -> bool:
        return pullbacks.cache.registry.built_in_entry(called) is not None

    def spread_out(lowered: ir.Function) -> ir.Function:
        nonlocal signature, flags, before
        if before is None:
            return lowered
        words = bool(code.co_flags & inspect.CO_VARKEYWORDS)
        texts = [name for name, part in zip(lowered.free, free) if type(part) is Text] if inlines else []
        count = len(signature) - before
        taken = spread(lowered, count, words, texts) if derived_of(code) is None else None
        if taken is None:
            signature = (*signature[:before], (tuple, *signature[before:]), *(dict,) * words)
            flags, before = (*flags[:before], any(flags[before:]), *(False,) * words), None
        return taken or lowered

    def lowered_of(code: types.CodeType) -> ir.Function:
        nonlocal free
        derived = derived_of(code)
        if derived is None:
            lowered = lower(source, code, around, cells)
            prune(lowered)
            lowered = spread_out(lowered)
            containers: dict[str, Structure] = {}
            if opened is not None:
                lowered, containers = open_arguments(lowered, opened)
            if pullbacks.implicit:
                read_once(lowered, find_global)
            elif inlines:
                free, texts = read_held(lowered, free)
                lowered, bodies = inline(lowered, source, code, callees, containers, texts)
                free = leave_unread(lowered, free)
                inlined.extend((*bodies, *lowered.readers.values()))
            if opened is not None:
                callee_in = lambda made: types_of(made, find_global).callee  # noqa: E731
                parts_read.update(settle(lowered, containers, callee_in))
            if inlines and not pullbacks.implicit:
                take_apart(lowered)
            if not pullbacks.implicit:
                replaced = read_as_arrays(lowered, lambda made: types_of(made, find_global), is_built_in)
                inlined.extend(Restated(target.__name__, target, ()) for target in replaced)
            return lowered
        return _tangent(lowered_of(derived.base), derived, known_of, differentiate or any(flags))

    lowered = lowered_of(code)
    if not on_floats and not pullbacks.implicit:
        lowered.settle()  # until `share`
    kinds, sites = known_of(lowered)
    if early and kinds.written:
        raise NotOpened  # an item may be computed from a list before that is changed
    if on_floats:
        kinds, sites = _read_as_floats(lowered, kinds, known_of)
    for held in inlined:
        if isinstance(held, Restated):
            sites.relies_on_built_in(held.target)
    sites.runs_forward = not (differentiate or any(flags)) and derived_of(code) is not None
    forward = sites.runs_forward
    if pullbacks.implicit:
        mark_sources(lowered, sites, find_global)
    # In forward mode a change is final: nothing undoes it.
    changes_nothing = (lambda op: True) if forward else sites.changes_nothing
    regions = sites.regions = Regions(lowered, kinds, changes_nothing, sites.holds_nothing)
    if not forward:
        share(lowered, regions, kinds)
    lowered.settle()
    start = {name for name, on in zip(lowered.parameters, flags, strict=True) if on}
    start |= (set(lowered.free) if captured is True else captured) if captured else set()
    active = Activity(lowered, kinds, regions, start, sites.is_constant, differentiate)
    _texts(lowered, active.varied, sites)
    parameters = [*lowered.free, *lowered.parameters]
    once = fused is not None
    emitted = adjoint(lowered, kinds, active, regions, parameters, start, sites, differentiate, once)
    own = [name for name, part in zip(lowered.free, free, strict=True) if part == "own"]
    probes = pullbacks.cache.probes
    of_library = is_stand_in(code.co_filename) or is_library(function)
    probed = None if probes is None or of_library else (probes, code)
    computes = only_computes(lowered, kinds, sites.is_known_function)
    reached = flowed_to(lowered, kinds, sites.has_slope) if opened is not None else set()
    through = gone_through(lowered, active) if differentiate and opened is None else set[str]()
    if fused is not None:
        if not (computes or on_floats) or captured or probed or not _may_be_fused(emitted, kinds):
            raise NotFused
        made = emit_fused(emitted, lowered.free, fused, on_floats, source.filename, source.node.lineno)
    else:
        made = emit(emitted, lowered.free, own, source.filename, source.node.lineno, probed)
    return Pass(
        code.co_name,
        made.forward,
        made.closure,
        _guard(looked_up, lowered, kinds, sites.relied, inlined),
        tuple(sites.trail.values()),
        epoch,
        made.text,
        made.origins,
        signature,
        effects_of(lowered, kinds, lambda f: pullbacks.cache.registry.built_in_entry(f) is not None),
        tuple({held.function: None for held in inlined if not isinstance(held, Restated)}),
        computes,
        before,
        emitted.takes_numbers,
        kinds(lowered.result),
        differentiate and _keeps_numbers(made.forward, emitted.back_name, emitted.sweeps.constants, kinds),
        made.exact,
        made.entries,
        tuple([name in parts_read for name in lowered.parameters]),
        tuple([name in reached for name in lowered.parameters]),
        tuple([name in through for name in lowered.parameters]),
        has_powers(lowered, kinds),
    )


def _keeps_numbers(
    forward: types.FunctionType, back: str, constants: dict[str, Any], kinds: Types
) -> bool:
    """Whether the free variables of a pullback, apart from helpers, are certainly real numbers or bools."""
    code = next((c for c in forward.__code__.co_consts if _is_code_of(back, c)), None)
    if code is None:
        return False
    kept = [kinds(name) for name in code.co_freevars if name not in constants]
    return all(is_real(kind) or kind == BOOL for kind in kept)


def _is_code_of(name: str, constant: object) -> bool:
    return isinstance(constant, types.CodeType) and constant.co_name == name


class NotFused(Exception):
    """The two sweeps of a function cannot be fused."""


def _may_be_fused(emitted: Emitted, kinds: Types) -> bool:
    """Whether the value is a real number, perhaps a whole one, the reverse sweep consists of its lines alone,
    and no derivative is missing.
    """
    if kinds(emitted.function.result) not in (FLOAT, F8, REAL, INT) or emitted.reverse is None:
        return False
    has_more = emitted.kept or emitted.has_effects or emitted.hands_on
    constants = emitted.sweeps.constants.values()
    return not has_more and not any(isinstance(value, NotImplementedTangent) for value in constants)


class NotOnFloats(Exception):
    """A function does not compute the same on Python's own floats, or gains nothing from them."""


def _read_as_floats(
    lowered: ir.Function, kinds: Types, known_of: Callable[[ir.Function], tuple[Types, Sites]]
) -> tuple[Types, Sites]:
    """Change the function to read numbers from arrays as Python's own; returns the types and call sites that
    result, or raises NotOnFloats.
    """
    if not read_as_floats(lowered, kinds):
        raise NotOnFloats
    after, sites = known_of(lowered)
    real = settle_powers(lowered, after)
    made = [let for let in lowered.lets() if not isinstance(let.op, ir.Load)]
    read = [let.op for let in made if isinstance(let.op, ir.Elements)]
    if not (read or real) or not computes_alike(lowered, kinds, after, sites.is_known_function):
        raise NotOnFloats
    if any(op.of_number for op in read) and any(after(let.target) in (F8, REAL) for let in made):
        raise NotOnFloats  # these would warn, and again when the call is repeated
    hidden = bool(read) and look_at_hidden(lowered, after, made_otherwise(lowered, kinds, after))
    return known_of(lowered) if hidden else (after, sites)


def _inlines(pullbacks: Question, function: types.FunctionType) -> bool:
    """Whether calls in a function may be replaced by the callee's body: not if probes follow the function
    line by line, nor in manual mode, where the rules of a callee are those in force at its first call.
    """
    cache, of_author = pullbacks.cache, is_authors_function(function)
    stands_in = is_stand_in(function.__code__.co_filename)
    return cache.probes is None and cache.mode == "auto" and of_author and not stands_in


def _tangent(
    lowered: ir.Function,
    derived: Derived,
    known_of: Callable[[ir.Function], tuple[Types, Sites]],
    in_sweep: bool,
) -> ir.Function:
    """The tangent of a lowered function for the parameters that vary.

    With `in_sweep`, it is part of a reverse-mode sweep, which asks for the objects made here even where the
    tangent itself is not needed.
    """
    kinds, sites = known_of(lowered)
    regions = sites.regions = Regions(lowered, kinds, sites.changes_nothing, sites.holds_nothing)
    parameters = [name for name, on in zip(lowered.parameters, derived.varied, strict=True) if on]
    start = {*parameters, *(lowered.free if derived.captured else ())}
    start |= kept_open(lowered) | handed_on(lowered, sites.changes_nothing)
    written = set() if in_sweep else may_be_written(lowered, kinds, sites.changes_nothing)
    varied = Activity(lowered, kinds, regions, start | written, sites.is_constant, False).varied
    resting = Resting(sites.target)
    if written:
        varies = lambda names: Activity(lowered, kinds, regions, names, sites.is_constant, False).varied  # noqa: E731
        reached = (lowered, kinds, sites.changes_nothing, resting)
        resting.unchanged = varied - varies(start | touched(*reached))
        found, moving = varies(start), set[str]()
        while not found <= moving:
            moving |= found
            found = varies(start | touched(*reached, moving))
        resting.names = varied - moving
    if lowered.resting and not in_sweep:
        resting.unchanged |= lowered.resting - depending(lowered, kinds, {*parameters, *lowered.free})
        resting.names |= resting.unchanged
    texts = _texts(lowered, varied, sites)
    for typed in (in_sweep, False):
        given = (
            lowered,
            kinds,
            varied,
            parameters,
            derived.captured,
            derived.own,
            sites,
            not in_sweep,
            resting,
            texts,
        )
        made, assumed = tangent(*given, typed)
        if not assumed or hold(assumed, known_of(made)[0]):
            break
    return made


def _texts(lowered: ir.Function, varied: set[str], sites: Sites) -> set[str]:
    """The names of texts made from varying values. A text, or a slice bound, that would silently lose its
    derivative is refused: here if that is certain, otherwise at run time, by a mark.
    """
    mark_moved_slices(lowered, varied, sites.types)
    mark_asking(lowered, varied, sites.types)
    texts = spelled_out(lowered, varied, sites.types)
    for reading in readings(lowered, texts, sites.types, sites.is_declared_constant):
        raise text_read_again(sites.place(reading.position))
    return texts


def _guard(
    looked_up: dict[str, Any],
    lowered: ir.Function,
    kinds: Types,
    relied: list[Named],
    inlined: list[Inlined | Reader | Restated],
) -> Callable[[dict[str, Any]], bool]:
    """The guard for all that the pass assumes about names outside the function."""
    exact, like = dict(lowered.assumed), {}
    for name, value in looked_up.items():
        kind = type_of(value) if value is not ir.UNBOUND and name not in exact else None
        if isinstance(kind, Known):
            exact[name] = value
        elif kind is not None and kind not in (ANY, FUNCTION):
            like[name] = signature_of(value)
    attributes = []
    for op in (s.op for s in lowered.statements() if isinstance(s, ir.Let)):
        owner, attribute = (op.value, op.name) if isinstance(op, ir.Attribute) else (None, None)
        if isinstance(op, (ir.Call, ir.Apply)):
            owner, attribute = op.function, op.method
        kind = None if owner is None or attribute is None else kinds(owner)
        if isinstance(kind, Known) and isinstance(kind.value, np.ufunc):
            continue  # its methods cannot be set, and are new at each access
        if isinstance(kind, Known) and attribute is not None and hasattr(kind.value, attribute):
            attributes.append((kind.value, attribute, getattr(kind.value, attribute)))
    return guard_of(exact, like, attributes, relied, inlined)
