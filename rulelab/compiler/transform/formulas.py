"""Operations whose derivative is written out: the forward sweep has them as the author wrote them, the
reverse sweep has one sum for each operand that needs a cotangent.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...rules.binding import parameter_names, positional_parameters
from ...rules.direct import direct
from ...rules.formulas import (
    Formula,
    adding_onto,
    is_together,
    lacks_slope,
    makes_new_memory,
    of_distinct_rows,
    only_spreads,
    partials_of,
    share_of,
    subtracting_from,
    takes_numbers,
    takes_one_number,
    takes_tuples,
)
from ...rules.kinds import F8, INT, REAL, Array, Known, Tuple, Type, is_real
from ...rules.rule import Rule
from ...rules.scalar import arity_of
from ...tangents.projection import unbroadcast, unbroadcast_to
from ..base import ir
from ..memory import support
from . import specialise
from .reuse import Reuse, is_float_array
from .sweeps import Sweeps, is_temporary
from .tidy import Line, Node, flow


def _has_floats(kind: Type) -> bool:
    """Whether values of this type are real scalars or arrays of float64."""
    return is_real(kind) or is_float_array(kind)


def _is_taken(kind: Type, functions: list[Callable[..., Any]]) -> bool:
    """Whether functions that give cotangents accept an operand of this type."""
    of_numbers = all(map(takes_numbers, functions))
    if isinstance(kind, Tuple):
        inside = [item for item in kind.items if of_numbers or isinstance(item, Array)]
        whole = len(inside) == len(kind.items) and all(_is_taken(item, functions) for item in inside)
        return whole and all(map(takes_tuples, functions))
    return _is_typed(kind) and (of_numbers or isinstance(kind, Array))


def _is_typed(kind: Type) -> bool:
    """Whether values of this type are real scalars or arrays of real numbers."""
    return is_real(kind) or (isinstance(kind, Array) and kind.dtype[0] in "fib")


@dataclass(frozen=True)
class _Kept:
    """The texts that a formula's names stand for (cotangent, result, operands). A forward value that is
    looked up is kept for the reverse sweep.
    """

    sweeps: Sweeps
    operands: tuple[ir.Atom, ...]
    target: str
    helpers: tuple[Any, ...] = ()

    def __getitem__(self, name: str) -> str:
        if name == "bar":
            return self.sweeps.flow(self.target)
        if name in ("result", "y"):
            return self.sweeps.need(self.target)
        if name[0] == "h":
            return self.sweeps.shared_constant(self.helpers[int(name[1:])])
        if name[0] == "x":
            return self.sweeps.need(self.operands[int(name[1:])])
        operand = self.sweeps.need(self.operands[0 if name == "left" else 1])
        if name != "divisor" or not self.may_be_whole_zero():
            return operand
        return f"({operand} or {self.sweeps.shared_constant(support.NUMPY_ZERO, 'zero')})"

    def with_helpers(self, formula: Formula) -> Any:
        """These names with those of the functions that a formula calls."""
        return replace(self, helpers=formula.helpers)

    def may_be_whole_zero(self) -> bool:
        """Whether the divisor may be an integer zero, by which NumPy has divided where Python would raise."""
        (left, right), types = self.operands, self.sweeps.types
        known = isinstance(right, ir.Const) and right.value != 0
        return types(right) == INT and types(left) in (F8, REAL) and not known


class Formulas(Reuse):
    """The part of the transform that writes derivatives out."""

    def by_formula(self, op: ir.Op, target: str, position: ir.Position) -> list[Node] | None:
        """The reverse nodes of an operation whose derivative can be written out, after adding its forward
        line; None, with nothing added, if it cannot.
        """
        if not _has_floats(self.types(target)):
            return None
        if isinstance(op, ir.Call) and self.converts(op):
            return self.by_terms((*[""] * (len(op.operands()) - 1), "{bar}"), op, target, position)
        rule = self.sites.stated_rule(op)
        if rule is None:
            return None
        if rule.partials is not None:
            return self.by_slopes(op, rule.partials, target, position)
        return self.by_cotangents(op, rule, target, position) if rule.cotangents else None

    def as_written(
        self, op: ir.Op, texts: list[str], target: str, position: ir.Position, memory: str = ""
    ) -> None:
        """Add the operation to the forward sweep as its author wrote it, or writing into the `memory` of an
        operand.
        """
        if memory:
            parts = [written_call(op, texts[:1])[:-2], *texts[1:]] if isinstance(op, ir.Call) else texts
            text = self.written_into(op, parts, memory, target)
        elif isinstance(op, ir.Call):
            text = self.call_as_written(op, texts)
        else:
            text = specialise.primal_text(op, texts, self.asked)
        self.assign(target, text, position, may_wait=is_temporary(target))

    def call_as_written(self, op: ir.Call, texts: list[str]) -> str:
        """The text of a call, given those of its operands. In code that is never shown to a user this may be
        the direct call that NumPy's own Python code ends in.
        """
        return (self.runs_once and self.direct_call(op, texts)) or written_call(op, texts)

    def direct_call(self, op: ir.Call, texts: list[str]) -> str:
        """The text of the quicker call that can replace this one (`rules/direct.py`), or an empty text."""
        array, *axes = self.arguments_of(op) or (ir.Const(None),)
        words = dict(op.keywords)
        found = direct(self.sites.target(op), self.types(array))
        if found is None or len(axes) > 1 or not words.keys() <= ({"keepdims"} if axes else _REDUCING):
            return ""
        if not all(map(self.is_option, (*axes, *words.values()))):
            return ""
        of_array, *rest = texts if array is op.function else texts[1:]
        said = dict(zip(words, rest[len(axes) :], strict=True))
        axis = rest[0] if axes else said.get("axis", "None")
        kept = [f"keepdims={said['keepdims']}"] if "keepdims" in said else []
        return f"{self.shared_constant(found.call, found.name)}({', '.join([of_array, axis, *kept])})"

    def is_option(self, atom: ir.Atom) -> bool:
        """Whether an atom is certainly a valid `axis` or `keepdims`."""
        if isinstance(atom, ir.Const):
            return atom.value is None or type(atom.value) in (int, bool)
        kind = self.types(atom)
        return kind == INT or (isinstance(kind, Tuple) and all(item == INT for item in kind.items))

    def arguments_of(self, op: ir.Op) -> tuple[ir.Atom, ...]:
        """The positional arguments of the function behind an operation; a method's object comes first."""
        if not isinstance(op, ir.Call):
            return op.operands()
        is_method = op.method is not None and not isinstance(self.types(op.function), Known)
        return (op.function, *op.args) if is_method else op.args

    def written(self, op: ir.Op, named: Iterable[ir.Atom]) -> list[str]:
        """The texts of the operands; those in `named`, which the reverse sweep reads, keep a name."""
        return self.texts(op.operands(), tuple(named), tight=1 if isinstance(op, ir.Call) else 1 << 30)

    # -- real scalars ----------------------------------------------------------------------------------------

    def by_terms(self, terms: tuple[str, ...], op: ir.Op, target: str, position: ir.Position) -> list[Node]:
        """Write an operation on real scalars: each term is the cotangent of an operand."""
        operands, kept = op.operands(), _Kept(self, op.operands(), target, specialise.HELPERS)
        used = [
            (atom, term) for atom, term in zip(operands, terms, strict=True) if term and self.active(atom)
        ]
        read = "".join(term for _, term in used).replace("divisor", "right")
        named = tuple(a for a, name in zip(operands, ("{left}", "{right}")) if name in read)
        texts = self.texts(operands, named=named)
        bar = self.flow(target)
        nodes: list[Node] = []
        for atom, term in used:
            text = term.format_map(kept)
            said: dict[str, Any] = {"certain": True}
            if isinstance(self.types(target), Array):  # a power, `x ** n`
                factor, twice = text.removeprefix(f"{bar} "), "* 2.0 * "
                of_square = factor.startswith(twice)
                steps = ("* 2.0", f"* {factor.removeprefix(twice)}") if of_square else (factor,)
                said |= {"new": True, "steps": steps, "full": (self.text(operands[0]),)}
            nodes += self.add(atom, text, position, exact=True, **said)
        self.as_written(op, texts, target, position)
        if isinstance(self.types(target), Array):
            self.note_readers(operands)
            self.note_new(op, target)
        return nodes

    def is_power_of_array(self, op: ir.Op) -> bool:
        """Whether an operation is `x ** n` of an array with a literal n, a whole number from two on."""
        if not isinstance(op, (ir.Binary, ir.Augmented)) or op.operator != "pow":
            return False
        exponent = op.right.value if isinstance(op.right, ir.Const) else 0
        whole = type(exponent) in (int, float) and float(exponent).is_integer() and exponent >= 2
        return whole and is_float_array(self.types(op.left))

    # -- elementwise -----------------------------------------------------------------------------------------

    def by_slopes(
        self, op: ir.Op, partials: Callable[..., Any], target: str, position: ir.Position
    ) -> list[Node] | None:
        """Write an elementwise operation: each operand's cotangent is that of the result times a slope; None,
        with nothing added, if it cannot be written out.
        """
        operands = self.arguments_of(op)
        kinds = list(map(self.types, operands))
        by_position = not (isinstance(op, ir.Call) and op.keywords)
        takes_all = by_position and arity_of(partials) in (len(operands), None)
        if not takes_all or not all(map(_is_typed, kinds)):
            return None
        of_arrays = all(isinstance(kind, Array) or kind == F8 for kind in kinds)
        slopes = partials_of(partials, len(operands), of_arrays)
        wanted = [k for k, atom in enumerate(operands) if self.active(atom)]
        if lacks_slope(partials, slopes, wanted):
            return None
        self.note_shape(operands, target)
        read = {
            atom
            for k, atom in enumerate(operands)
            if not slopes or any(slopes[number].reads(f"x{k}") for number in wanted)
        }
        summed = {operands[k] for k in wanted if self.is_summed(operands[k], target)}
        shapes = {
            a: self.shape_text(a)
            for a in dict.fromkeys(operands)
            if a in summed and isinstance(self.types(a), Array)
        }
        kept = read | summed - shapes.keys()
        self.note_readers(operands)
        memory = self.memory_for(op, operands, target, tuple(kept))
        texts = self.written(op, kept | {memory})
        nodes: list[Node] = []
        if slopes and all(self.is_full(slopes[k], operands, target) for k in wanted):
            self.scaled.add(target)
        if slopes:
            names = _Kept(self, operands, target)
            terms = [slopes[k].times(self.flow(target), names.with_helpers(slopes[k])) for k in wanted]
        else:
            terms, nodes = self.by_partials(op, partials, wanted, target, position)
        square = len(terms) == 2 and terms[0] == terms[1] and operands[0] == operands[1]
        for k, term in zip(wanted[:1] if square else wanted, terms):
            to_shape = self.summing(operands[k], shapes) if operands[k] in summed else ""
            along = self.sum_along(operands[k], target) if to_shape else ""
            full = self.full_in(slopes[k], operands, target) if slopes else ()
            alike = self.alike_in(slopes[k], operands, target, full) if slopes and to_shape else ()
            nodes += self.share(operands[k], term, target, position, square, to_shape, full, alike, along)
        self.as_written(op, texts, target, position, memory)
        self.note_new(op, target)
        return nodes

    def summing(self, atom: ir.Atom, shapes: dict[ir.Atom, str]) -> str:
        """The call that sums a cotangent to the shape of an operand, with a field for the cotangent."""
        if atom in shapes:
            return self.asked(unbroadcast_to, "{}", shapes[atom])
        return self.asked(unbroadcast, "{}", self.need(atom))

    def sum_along(self, atom: ir.Atom, target: str) -> str:
        """The text of the direct sum that reduces the result's cotangent to the shape of an operand, if the
        operand is certainly a reduction of an array of the result's shape; else empty, and shapes are checked
        at run time.
        """
        shape, total = self.shape_of(atom), direct(np.sum, self.types(target))
        reduced = str(next(iter(shape))) if len(shape) == 1 else ""
        axis = self.along_last.get(reduced)
        if axis is None or total is None or not self.runs_once:
            return ""
        if self.shape_of(target) != self.fits_into[reduced]:
            return ""
        return self.asked(total.call, "{}", str(axis), "keepdims=True", base=total.name)

    def share(
        self,
        atom: ir.Atom,
        term: str,
        target: str,
        position: ir.Position,
        twice: bool,
        to_shape: str,
        full: tuple[str, ...],
        alike: tuple[str, ...],
        along: str,
    ) -> list[Node]:
        """Nodes that add what flows from an elementwise operation to one operand; doubled if `twice`, where
        both operands are the same. If there are arrays in `full`, which the slope reads, the term is a new
        array; those in `alike` may have its shape. `along` replaces `to_shape` where the cotangent is
        certainly an array.
        """
        bar, is_array = self.flow(target), isinstance(self.types(atom), Array)
        slope = term.removeprefix(f"{bar} ")
        said: dict[str, Any] = {"certain": True, "quiet": term != bar, "passes": term == bar}
        if is_array and slope != term and "\0" not in slope:
            said |= {"steps": (slope, *(["* 2.0"] if twice else [])), "then": to_shape.format(bar)}
        said |= {"multiple": "steps" in said or (is_array and term == f"-{bar}")}
        said |= {"full": full, "alike": alike, "new": bool(full) and is_array}
        if twice:
            term = f"2.0 * ({term})"
        if to_shape:
            sign = "-" if term == f"-{bar}" else ""  # applied to the sum, which has fewer elements
            summand = term.removeprefix(sign)
            term = sign + to_shape.format(summand)
            said |= {"of_array": along and sign + along.format(summand)}
        return self.add(atom, term, position, exact=not to_shape or not self.has_real_bar(str(atom)), **said)

    def by_partials(
        self, op: ir.Op, partials: Callable[..., Any], wanted: list[int], target: str, position: ir.Position
    ) -> tuple[list[str], list[Node]]:
        """The terms of an operation whose partials are not formulas, and the lines that compute these in the
        reverse sweep.
        """
        operands, bar = self.arguments_of(op), self.flow(target)
        ask = self.constant(partials, f"{self.called(op)}_partials")
        asked = f"{ask}({', '.join([self.need(target), *map(self.need, operands)])})"
        if len(operands) == 1:
            return [f"{bar} * {asked}"], []
        found = self.fresh("partial")
        return [f"{bar} * {flow(found)}[{k}]" for k in wanted], [Line(asked, position, (found,))]

    def shape_text(self, atom: ir.Atom) -> str:
        """The shape of an array as a text for the reverse sweep, without keeping the array for it."""
        shape = self.shape_of(atom)
        for other in shape if len(shape) == 1 else ():
            if other in self.function.parameters:
                return f"{self.need(other)}.shape"
        name = self.shape_names.get(shape, "")
        if not self.is_defined(name):
            source = self.with_shape.get(shape, "")
            source = source if self.is_defined(source) else str(atom)
            self.shape_names[shape] = name = self.defined(f"{source}_shape")
            if source in self.pending:
                self.flush()
            self.shaped.add(self.text(source))
            self.out.append(Line(f"{name} = {self.text(source)}.shape", None))
        return self.need(name)

    def is_full(self, slope: Formula, operands: tuple[ir.Atom, ...], target: str) -> bool:
        """Whether a slope is certainly an array of the result's shape."""
        same = (not self.is_summed(atom, target) and slope.reads(f"x{k}") for k, atom in enumerate(operands))
        return isinstance(self.types(target), Array) and (slope.reads("y") or any(same))

    def full_in(self, slope: Formula, operands: tuple[ir.Atom, ...], target: str) -> tuple[str, ...]:
        """The float64 arrays of the result's shape that a slope reads. If there are any, the cotangent times
        the slope is certainly a new such array.
        """
        named: list[ir.Atom] = [target] if slope.reads("y") else []
        named += [atom for number, atom in enumerate(operands) if slope.reads(f"x{number}")]
        shape = self.shape_of(target) if isinstance(self.types(target), Array) else None
        arrays = [atom for atom in named if is_float_array(self.types(atom))]
        return tuple(self.text(atom) for atom in arrays if self.shape_of(atom) == shape)

    def alike_in(
        self, slope: Formula, operands: tuple[ir.Atom, ...], target: str, full: tuple[str, ...]
    ) -> tuple[str, ...]:
        """The other float64 arrays that a slope reads: they have the result's type and may have its shape."""
        named = [atom for number, atom in enumerate(operands) if slope.reads(f"x{number}")]
        arrays = [atom for atom in named if is_float_array(self.types(atom))]
        same = [self.text(atom) for atom in arrays if self.types(atom) == self.types(target)]
        return tuple(name for name in same if name not in full)

    def is_summed(self, atom: ir.Atom, target: str) -> bool:
        """Whether an operand may have been repeated to the shape of the result."""
        return isinstance(self.types(target), Array) and not (
            isinstance(self.types(atom), Array) and self.shape_of(atom) == self.shape_of(target)
        )

    def note_shape(self, operands: Iterable[ir.Atom], target: str) -> None:
        """Note that the result of an elementwise operation has the broadcast shape of its arrays."""
        arrays = [self.shape_of(atom) for atom in operands if isinstance(self.types(atom), Array)]
        shape = frozenset().union(*arrays)
        self.shapes[target] = shape = frozenset(
            atom for atom in shape if not self.fits_into.get(str(atom), shape) <= shape - {atom}
        )
        if not self.is_defined(self.with_shape.get(shape, "")):
            self.with_shape[shape] = target

    # -- by functions that give cotangents -------------------------------------------------------------------

    def by_cotangents(self, op: ir.Op, rule: Rule, target: str, position: ir.Position) -> list[Node] | None:
        """Write an operation whose rule states each cotangent as a function (`Rule.cotangents`); None, with
        nothing added, if it cannot be written out.
        """
        given = self.given(op, rule)
        if given is None:
            return None
        asked = self.asked_for(rule, given)
        if isinstance(op, ir.Item) and self.names_distinct_rows(op.index):
            asked = [(of_distinct_rows(part[0]) or part[0], part[1], part[2]) for part in asked]
        functions = list(dict.fromkeys(function for function, _, _ in asked))
        if None in functions or any(not given.keys() <= _known(function, rule) for function in functions):
            return None  # an operand without a cotangent function, or an unknown option
        spread = self.need_not_spread(functions, given, target)
        if spread:
            self.note_reduction(rule, given, target)
            self.note_readers(op.operands())
            self.as_written(op, self.written(op, ()), target, position)
            return self.add(next(iter(given.values())), spread, position, exact=True, thin=True, certain=True)
        if functions and all(map(takes_one_number, functions)):
            self.repeated.add(target)
        read = {name for function in functions for name in _parameters(function)}
        shapes = {name: self.shape_text(given[name]) for name in given if f"{name}_shape" in read}
        more = self.arguments_of(op)[len(_order(rule)) :]
        texts = self.written(op, [*more, *(atom for name, atom in given.items() if name in read)])
        kinds = [self.types(atom) for atom in given.values()]
        of_floats = all(is_float_array(kind) for kind in kinds if isinstance(kind, Array))
        nodes: list[Node] = []
        for function in functions:
            words = [self.handed_to(function, name, given, shapes, target) for name in _parameters(function)]
            term = self.asked(function, *filter(None, words), *map(self.need, more))
            parts = [part for part in asked if part[0] is function]
            terms = [term]
            if is_together(function):
                bars = self.fresh("bars")
                nodes.append(Line(term, position, (bars,)))
                terms = [f"{flow(bars)}[{slot}]" for _, slot, _ in parts]
            own = makes_new_memory(function) and of_floats
            said: dict[str, Any] = {"new": own, "certain": own or only_spreads(function)}
            said |= {"onto": adding_onto(function), "off": subtracting_from(function)}
            for (_, _, atom), term in zip(parts, terms):
                nodes += self.shared_out(atom, term, position, **said)
        if self.note_reduction(rule, given, target) or self.makes_new(op):
            self.note_readers(op.operands())
        self.as_written(op, texts, target, position)
        self.note_new(op, target)
        return nodes

    def names_distinct_rows(self, index: ir.Atom) -> bool:
        """Whether an index is a pair of vectors, the first of which is `np.arange(n)`. That vector and the
        pair are used nowhere else, so they are unchanged.
        """
        parts = self.tuples.get(index, ())
        if len(parts) != 2 or self.uses[index] != 1 or self.uses[parts[0]] != 1:
            return False
        kind, op = self.types(parts[1]), self.made_by.get(str(parts[0]))
        if not isinstance(op, ir.Call) or len(op.args) != 1 or op.keywords:
            return False
        is_vector = isinstance(kind, Array) and kind.ndim == 1 and kind.dtype[0] == "i"
        return is_vector and self.sites.target(op) is np.arange

    @functools.cached_property
    def made_by(self) -> dict[str, ir.Op]:
        """The operation that gives each name its value."""
        return {let.target: let.op for let in self.function.lets()}

    def need_not_spread(self, functions: list[Any], given: dict[str, ir.Atom], target: str) -> str:
        """The cotangent of a sum's or mean's operand as the share of each element, not yet spread over the
        operand's shape: NumPy broadcasts it where it is next combined with an array of that shape. Empty if
        the operand is read elsewhere, or if such a combination is not certain.
        """
        atom, *options = given.values()
        lone = len(functions) == 1 and only_spreads(functions[0]) and self.uses[atom] == 1
        if not lone or not all(isinstance(option, ir.Const) for option in options):
            return ""
        axis, kept = (getattr(given.get(name), "value", None) for name in ("axis", "keepdims"))
        is_number = axis is None and is_real(self.types(target))
        if atom not in self.scaled and not (is_number and atom in self.repeated):
            return ""
        kind, before = self.types(atom), 0
        if kept is not True and not is_number:
            if kept or type(axis) is not int or not isinstance(kind, Array):
                return ""
            if not -kind.ndim <= axis < kind.ndim:
                return ""
            before = axis % kind.ndim
        share, text = share_of(functions[0]), self.flow(target)
        if share is not None:
            along = [repr(axis)] if axis is not None else []
            text = self.asked(share, text, self.shape_text(atom), *along)
        return f"{text}[{':, ' * before}None]" if before else text

    def shared_out(self, atom: ir.Atom, term: str, position: ir.Position, **more: Any) -> list[Node]:
        """Add a cotangent, with `more` for its `Sum`; that of a tuple built for this call goes straight to
        the items.
        """
        items = self.tuples.get(atom)
        if items is None or self.uses[atom] != 1 or "\0" not in term:
            return self.add(atom, term, position, exact=not self.has_real_bar(str(atom)), **more)
        bars = self.fresh("bars")
        nodes: list[Node] = [Line(term, position, (bars,))]
        for number, item in enumerate(items):
            exact = not self.has_real_bar(str(item))
            nodes += self.add(item, f"{flow(bars)}[{number}]", position, exact=exact)
        return nodes

    def asked_for(self, rule: Rule, given: dict[str, ir.Atom]) -> list[tuple[Any, int, ir.Atom]]:
        """For each operand that needs a cotangent: the function that gives it, its number, the operand."""
        order, functions = _order(rule), rule.cotangents
        if is_together(functions[0]):
            functions *= len(order)
        stated = dict(zip(order, functions))
        return [
            (stated.get(name), order.index(name), atom) for name, atom in given.items() if self.active(atom)
        ]

    def given(self, op: ir.Op, rule: Rule) -> dict[str, ir.Atom] | None:
        """The operands by the rule's names for them; None if the rule cannot be written out for them."""
        parameters, operands = _order(rule), self.arguments_of(op)
        keywords = dict(op.keywords) if isinstance(op, ir.Call) else {}
        more = operands[len(parameters) :]
        if more and (not _takes_more(rule) or any(map(self.active, more))):
            return None
        count = max(len(rule.cotangents), rule.leading or 0)
        if not keywords.keys() <= set(parameters[count:]):
            return None  # an operand that may need a cotangent must be positional
        given = dict(zip(parameters, operands)) | keywords
        first = list(map(self.types, operands[:count]))
        stated = list(filter(None, rule.cotangents))
        if not all(_is_taken(kind, stated) for kind in first):
            return None
        if all(map(is_real, first)) and not (isinstance(op, ir.Binary) and op.operator == "pow"):
            return None
        return given

    def converts(self, op: ir.Call) -> bool:
        """Whether a call converts a number to a Python number: `float(x)`, `x.item()`."""
        number = op.function if op.method is not None else op.args[0] if len(op.args) == 1 else op.function
        converts = not op.args if op.method == "item" else self.sites.target(op) is float
        if not converts or op.keywords or not is_real(self.types(number)):
            return False
        rule = self.sites.certain_rule(op)
        return rule is not None and rule.built_in

    def note_reduction(self, rule: Rule, given: dict[str, ir.Atom], target: str) -> bool:
        """Note that a reduction with a kept axis, or along the first one, broadcasts back to the shape of its
        operand. Return whether the rule is one of a reduction, that is, has a `keepdims`.
        """
        if "keepdims" not in _parameters(next(filter(None, rule.cotangents))):
            return False
        axis, kept = given.get("axis"), given.get("keepdims")
        keeps = isinstance(kept, ir.Const) and kept.value is True
        if keeps or (isinstance(axis, ir.Const) and axis.value == 0):
            reduced = next(iter(given.values()))
            self.fits_into[target] = self.shape_of(reduced)
            kind, along = self.types(reduced), getattr(axis, "value", None)
            if keeps and type(along) is int and isinstance(kind, Array) and along in (-1, kind.ndim - 1):
                self.along_last[target] = along
        return True

    def handed_to(
        self,
        function: Callable[..., Any],
        name: str,
        given: dict[str, ir.Atom],
        shapes: dict[str, str],
        target: str,
    ) -> str | None:
        """The text of the argument for one parameter of a cotangent function; None to use its default."""
        if name == "y_bar":
            return self.flow(target)
        if name == "result":
            return self.need(target)
        if name.removesuffix("_shape") in shapes:
            return shapes[name.removesuffix("_shape")]
        if name not in given:
            return None
        return f"{name}={self.need(given[name])}" if name in _options(function) else self.need(given[name])


_REDUCING = frozenset({"axis", "keepdims"})


def _order(rule: Rule) -> tuple[str, ...]:
    """The parameters, in order, of a rule that states cotangents."""
    named = parameter_names(rule.function)
    if named:
        return named
    function = next(filter(None, rule.cotangents))
    return tuple(name.removesuffix("_shape") for name in _parameters(function) if name not in _OF_RESULT)


def _known(function: Callable[..., Any], rule: Rule) -> set[str]:
    """The rule's parameters that may be given when this function computes a cotangent."""
    named = {name.removesuffix("_shape") for name in _parameters(function)}
    return named | set(_order(rule)[: len(rule.cotangents)])


def _takes_more(rule: Rule) -> bool:
    """Whether a rule takes any number of arguments."""
    return bool(inspect.unwrap(rule.cotangents[0]).__code__.co_flags & inspect.CO_VARARGS)


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    return parameter_names(inspect.unwrap(function)) or ()


def _options(function: Callable[..., Any]) -> tuple[str, ...]:
    """The parameters that have defaults."""
    return tuple(positional_parameters(function)[1])


_OF_RESULT = ("y_bar", "result")


def parts_of_call(op: ir.Call, texts: list[str]) -> tuple[str, list[str]]:
    """The texts of a call's function and of its arguments, given those of its operands."""
    function = texts[0] if op.method is None else f"{texts[0]}.{op.method}"
    count = 1 + len(op.args)
    words = [f"{key}={value}" for (key, _), value in zip(op.keywords, texts[count:], strict=True)]
    return function, [*texts[1:count], *words]


def written_call(op: ir.Call, texts: list[str]) -> str:
    """The text of a call, given those of its operands."""
    function, given = parts_of_call(op, texts)
    return f"{function}({', '.join(given)})"
