"""Changes of one expression: another one in its place, something around it, one more factor or term."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from ...parsing import parse
from ..calling.subjects import codes_of
from ..reading.anatomy import names_in, own_nodes
from ..reading.editing import Edit, instead, is_stored
from .counterparts import (
    centred,
    clipped,
    counted_by,
    exchanged_within,
    guarded,
    in_each_call,
    keywords_of_others,
    less_one,
    mirrored_terms,
    missing_keyword_arguments,
    of_a_part,
    of_neighbours,
    other_divisors,
    regrouped_sums,
    reversed_by_keyword,
    summed_before,
    transposed_terms,
)
from .edits import (
    added,
    chain,
    halves,
    is_zero,
    joined,
    masked,
    matrix_times,
    negated_tests,
    other_calls,
    other_comparisons,
    other_conditions,
    other_constants,
    other_indices,
    other_numbers,
    other_operators,
    other_orders,
    other_slices,
    other_transforms,
    other_updates,
    product,
    products_with,
    rechained,
    regrouped,
    reversed_operands,
    rolled,
    rows_written,
    solved,
    unread_names,
    with_one_more,
    with_term,
)  # fmt: skip
from .evidence import Explanation
from .materials import MOST_NAMES
from .slips import (
    filled_up,
    folded,
    inverted,
    mirrored_cuts,
    moved_cuts,
    not_cut,
    of_elements,
    other_attributes,
    other_axes,
    other_buffers,
    other_cuts,
    other_entries,
    other_kernels,
    other_lays,
    other_letters,
    other_modes,
    other_transposes,
    parallel_expressions,
    rows_for_columns,
    slopes_of_powers,
    transforms_around,
    transposed_sums,
    wider_parts,
)  # fmt: skip
from .statements import added_at
from .stock import Stock

_CONSTANTS = ("{0}.sqrt(2 * {0}.pi)", "{0}.sqrt({0}.pi)", "(2 * {0}.pi)", "{0}.pi", "({0}.pi / 180)")
"""Constants of which one is easily forgotten beside a function."""
_ALONG = frozenset("sum mean max min prod norm cumsum argmax argmin repeat stack concatenate softmax".split())
_CONJUGATES = ("conj", "conjugate")
_TRIANGLES = frozenset(("tril", "triu"))
_TRANSFORMS = ("fft", "ifft", "rfft", "irfft", "fft2", "ifft2")


class Neighbours(Stock):
    """What the author may have intended with an expression of a rule."""

    def _neighbours(self, node: Any) -> Iterator[Edit]:
        """What the author may have intended with an expression: the same with one small thing changed."""

        def made(new: ast.expr, mistake: str) -> Edit:
            words = f"has `{ast.unparse(node)}` where `{ast.unparse(new)}` belongs"
            return Edit(node, new, mistake, words)

        if id(node) in self._indices:
            yield from other_indices(node, self._indexing)
        if id(node) in self._gone_through:
            yield from other_orders(node)
        if isinstance(node, ast.Subscript):
            yield from not_cut(node)
        if isinstance(node, ast.expr):
            yield from summed_before(node)
            yield from of_neighbours(node)
        if isinstance(node, ast.BinOp):
            yield from self._conjugated(node)
            yield from other_operators(node)
            yield from regrouped(node)
            yield from slopes_of_powers(node, self._powers)
            yield from regrouped_sums(node)
            if isinstance(node.op, (ast.Mult, ast.Div)) and id(node) not in self._in_chains:
                yield from rechained(node)
                yield from halves(node, self._named)
            if isinstance(node.op, ast.MatMult):
                yield from transposed_terms(node)
            if isinstance(node.op, ast.MatMult) and "solve" in self._called and self._numpy() is not None:
                yield from solved(node, self._numpy() or "")
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            yield made(node.operand, "sign")
            if isinstance(node.operand, ast.Constant) and type(node.operand.value) is int:
                for name in self._whole_numbers:
                    yield made(ast.Name(name, ast.Load()), "wrong_axis" if name == "axis" else "size")
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            lengths = self._lengths(("len({})", "{}.size", "{}.shape[0]", "{}.shape[1]"))
            lengths = [*self._named_sizes, *lengths]
            if type(node.value) is int:
                for name in self._whole_numbers:
                    mistake = "wrong_axis" if name == "axis" else "size"
                    yield made(ast.Name(name, ast.Load()), mistake)
            lengths += self._of_sizes
            numbers = other_numbers(node, [m for m in self.marks if m != node.value], lengths)
            at = self._picked_at(node)
            yield from numbers if at is None else of_elements(numbers, at)
            yield from other_constants(node, self._constants_of(node.value))
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield from other_comparisons(node, self.marks)
            if isinstance(self._slots.owner(node), ast.BinOp):  # a mask, as a factor
                yield made(node.left, "wrong_variable")
            yield from other_conditions(node, self._conditions)
        elif isinstance(node, ast.Call):
            yield from other_calls(node)
            yield from self._signed(node)
            yield from mirrored_terms(node)
            yield from keywords_of_others(node, self._calls)
            yield from reversed_by_keyword(node)
            yield from other_transposes(node, self.is_module)
            if isinstance(node.func, ast.Name):
                known = self.function.__globals__.get(node.func.id)
                yield from missing_keyword_arguments(
                    node, known, [n for n in self._named if n not in self.bars()]
                )
                for name in self._functions_like(known):
                    new = ast.Call(ast.Name(name, ast.Load()), node.args, node.keywords)
                    yield made(new, "other_function")
            yield from other_transforms(node, self._lengths(("len({})", "{}.shape[-1]", "{}.size")))
            if self._is_ranked(None) and not self.is_module(node.func):
                yield from reversed_operands(node)
            for name, whole in self.made.items():
                if isinstance(whole, ast.Call) and whole is not node and _calls_the_same(whole, node):
                    yield made(ast.Name(name, ast.Load()), "wrong_variable")
        elif isinstance(node, ast.Attribute) and node.attr == "T":
            yield made(node.value, "transposed")
        elif isinstance(node, ast.Attribute) and node.attr == "pi":
            yield from products_with(node, (ast.Constant(2),))
        elif isinstance(node, ast.Attribute) and node.attr in ("real", "imag"):
            other = ast.Attribute(node.value, "imag" if node.attr == "real" else "real", ast.Load())
            yield made(node.value, "conjugate")
            yield made(other, "conjugate")
        elif isinstance(node, ast.Name):
            if self._is_value(node):
                yield made(ast.BinOp(node, ast.Pow(), ast.Constant(2)), "factor")
            yield from (made(other, "wrong_variable") for other in self._other_names(node))
            stands_for = self.made.get(node.id)
            if is_length(stands_for) or node.id in self._whole_numbers:
                for operator in (ast.Sub(), ast.Add()):
                    yield made(ast.BinOp(node, operator, ast.Constant(1)), "off_by_one")
            rolls = "roll" in self._called and not self._is_rolled(node)
            if rolls and self._numpy() is not None and self._is_value(node):
                yield from rolled(node, self._numpy() or "")
            if isinstance(stands_for, ast.BinOp):  # a part of the name's value, there or here
                if self._times_read[node.id] == 1:
                    yield from other_operators(stands_for)
                yield from (made(part, "factor") for part in (stands_for.left, stands_for.right))
        elif isinstance(node, ast.Slice):
            yield from other_slices(node)
        elif isinstance(node, (ast.If, ast.IfExp)):
            yield from negated_tests(node)
        elif isinstance(node, ast.AugAssign):
            yield from other_updates(node)
            yield from rows_written(node, self._numpy())
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            yield from self._written(node)
        if isinstance(node, ast.Subscript):
            yield from reversed_operands(node)
            if isinstance(node.ctx, ast.Load):
                yield from rows_for_columns(node) if self._is_array else ()
                yield from guarded(node, self._looping)
                yield from inverted(node, filter(self._sorts, self.made), self._numpy() or "np")
        if is_length(node):
            yield from counted_by(node, self._masks)
            names = (name for name in self.anatomy.values if name in self.made)
            yield from (made(ast.Name(name, ast.Load()), "wrong_variable") for name in names)
        if self._is_value(node):
            if self._is_array and id(node) not in self._picked_from:  # another index is a better correction
                yield made(ast.Attribute(node, "T", ast.Load()), "transposed")
            if not self._has_a_sign(node) and not _begins_with_minus(node):
                yield made(ast.UnaryOp(ast.USub(), node), "sign")
        numpy = self._numpy()
        if isinstance(node, ast.BinOp) and numpy is not None:
            yield made(_call(numpy, "sqrt", node), "power")

    def _conjugated(self, node: ast.BinOp) -> Iterator[Edit]:
        """The factors of a product conjugated, which equals a quotient on the unit circle; and all factors
        except the cotangent.
        """
        numpy = self._numpy()
        if numpy is None or not self._passes_complex or not isinstance(node.op, (ast.Mult, ast.Div)):
            return
        for side in (node.left, node.right):
            if isinstance(side, (ast.Name, ast.BinOp)) and not self.is_module(side):
                new = _call(numpy, "conj", side)
                yield Edit(side, new, "conjugate", instead(new, side))
        above, below = chain(node)
        bars = [factor for factor in above if not names_in(factor).isdisjoint(self.bars())]
        rest = [factor for factor in above if factor not in bars]
        if len(bars) == 1 and len(rest) + len(below) > 1:
            new = product([*bars, _call(numpy, "conj", product(rest, below))], [])
            yield Edit(node, new, "conjugate", instead(new, node))

    def _signed(self, node: ast.Call) -> Iterator[Edit]:
        """One side of a `where` multiplied by the sign of an argument: slopes below `-a` and above `a` may
        differ only in sign.
        """
        numpy = self._numpy()
        if numpy is None or getattr(node.func, "attr", "") != "where" or len(node.args) != 3:
            return
        for part in (one for one in node.args[1:] if not isinstance(one, ast.Constant)):
            for name in self.anatomy.parameters:
                sign = _call(numpy, "sign", ast.Name(name, ast.Load()))
                new = ast.BinOp(sign, ast.Mult(), part)
                yield Edit(part, new, "sign", f"lacks the sign of `{name}`: {instead(new, part)}")

    def _sorts(self, name: str) -> bool:
        """Whether a name stands for the result of `argsort`."""
        made = self.made[name]
        return isinstance(made, ast.Call) and getattr(made.func, "attr", "") == "argsort"

    def _slips(self, node: Any) -> Iterator[Edit]:
        """What the author may have intended with an expression that has several parts, or is a part of
        something elsewhere.
        """
        numpy = self._numpy() or "np"
        if isinstance(node, (ast.List, ast.Tuple)) and id(node) in self._literals:
            yield from other_entries(node)
        elif isinstance(node, (ast.Assign, ast.AugAssign)):
            yield from added_at(node, numpy, self._picking)
            yield from mirrored_cuts(node)
        elif isinstance(node, ast.Attribute) and self._is_of_object(node):
            yield from other_attributes(node, self.anatomy.node)
        elif isinstance(node, ast.Call):
            yield from mirrored_cuts(node)
            yield from filled_up(node)
            yield from of_a_part(node, self._cuts, [*self._picks, *self._looping])
            called = getattr(node.func, "attr", "")
            yield from other_letters(node)
            yield from other_modes(node)
            if called in _ALONG:
                yield from other_axes(node, self.is_module)
            ranked = filter(self._is_ranked, self.anatomy.parameters)
            yield from other_buffers(node, numpy, ranked, not self._is_for_whole_numbers)
        elif isinstance(node, ast.Subscript):
            yield from other_modes(node)
            yield from folded(node)
            if isinstance(node.slice, ast.Tuple):
                yield from other_cuts(node.slice, [cut for cut in self._cuts if isinstance(cut, ast.Tuple)])
        if id(node) in self._indices:
            yield from other_cuts(node, self._cuts)
            if isinstance(node, ast.Slice):
                yield from moved_cuts(node)
        if id(node) in self._divided_by:
            yield from other_divisors(node, self._divisors)
        if not self._is_value(node) and not isinstance(node, ast.Subscript):
            return
        yield from other_kernels(node, numpy)
        if isinstance(node, (ast.BinOp, ast.Call)):
            yield from exchanged_within(node, [n for n in self._named if n not in self.bars()])
            yield from in_each_call(node, [n for n in self._named if n not in self.bars()][:MOST_NAMES])
        if isinstance(node, ast.Name) and self._is_value(node):
            for name in self._computed if node.id not in self._computed else ():
                computed = ast.Name(name, ast.Load())
                yield Edit(node, computed, "wrong_variable", instead(computed, node))
        yield from wider_parts(node, self._wholes)
        if isinstance(node, ast.Name) and node.id in self.anatomy.parameters:
            yield from parallel_expressions(node, self._wholes, self.anatomy.parameters)
        yield from transposed_sums(node, numpy)
        if self._is_array:
            yield from other_lays(node)
        names = [name for name in _TRANSFORMS if name in self._called]
        if names and isinstance(node, (ast.Name, ast.BinOp)):
            yield from transforms_around(node, numpy, names, self._lengths(("len({})",)))
        around = dict.fromkeys(sorted(_TRIANGLES & self._called), "triangle")
        if self._is_complex() and getattr(getattr(node, "func", None), "attr", "") not in _CONJUGATES:
            around["conj"] = "conjugate"
        for name, mistake in around.items():
            new = _call(numpy, name, node)
            yield Edit(node, new, mistake, instead(new, node))

    def _changed_more(self, node: Any) -> Iterator[Edit]:
        """An expression with something around it that may have been forgotten."""
        if not self._is_value(node):
            return

        def made(new: ast.expr, mistake: str) -> Edit:
            words = f"has `{ast.unparse(node)}` where `{ast.unparse(new)}` belongs"
            return Edit(node, new, mistake, words)

        if isinstance(node, ast.Name) and self._is_ranked(None) and self._numpy() is not None:
            weights = [name for name in self.made if name != node.id and self._is_still(name)]
            yield from centred(node, self._numpy() or "", weights[:MOST_NAMES], self._axes)
        yield from self._wrapped(node, made)
        if self._has_stacks and self._numpy() is not None:
            yield made(_last_two_turned(self._numpy() or "", node), "transposed")
        if isinstance(node, ast.Name) and self._is_array:
            twice = ast.BinOp(node, ast.Add(), ast.Attribute(node, "T", ast.Load()))
            yield made(twice, "transposed")
            yield made(ast.BinOp(twice, ast.Div(), ast.Constant(2)), "transposed")

    def _written(self, node: ast.Assign) -> Iterator[Edit]:
        """An assignment changed so that it adds to what is there, writes elsewhere, or writes something other
        than zero.
        """
        target = node.targets[0]
        again = isinstance(target, ast.Name) and target.id in self.updates
        if isinstance(target, ast.Subscript) or again:
            yield from added(node)
        yield from rows_written(node, self._numpy())
        if isinstance(target, ast.Subscript) and isinstance(node.value, ast.Constant):
            for bar in filter(None, self.bars()):
                new = ast.Subscript(ast.Name(bar, ast.Load()), target.slice, ast.Load())
                words = f"has `{ast.unparse(node.value)}` where `{ast.unparse(new)}` belongs"
                yield Edit(node.value, new, "lacks_term", words)

    def _wrapped(self, node: ast.expr, made: Callable[[ast.expr, str], Edit]) -> Iterator[Edit]:
        """A value inside a call or a power that may have been forgotten."""
        numpy = self._numpy()
        of_numpy = (numpy or "") if self._is_ranked(None) else ""
        yield from clipped(node, self._conditions, self.made, of_numpy)
        if isinstance(node, ast.Name):
            if self._is_ranked(None):
                yield made(parse(f"{node.id}[::-1]", mode="eval").body, "order")
        if numpy is None:
            return
        if self._is_complex():
            yield made(_call(numpy, "conj", node), "conjugate")
        names = {name for code in codes_of(self.subject.primal) for name in code.co_names}
        if isinstance(node, ast.Name) and {"cumsum", "accumulate"} & names and not self._is_still(node.id):
            text = f"{numpy}.cumsum({node.id}[::-1])[::-1]"
            yield made(parse(text, mode="eval").body, "lacks_sum")
        if isinstance(node, ast.Name) and node.id in self.made and self._times_read[node.id] < 2:
            return  # the sum is put around the name's value
        if self._is_ranked(None):
            yield made(_call(numpy, "sum", node), "lacks_sum")
        if self._is_array:
            if "linalg" in {name for code in codes_of(self.subject.primal) for name in code.co_names}:
                inverse = parse(f"{numpy}.linalg.inv({ast.unparse(node)})", mode="eval").body
                yield made(inverse, "lacks_inverse")
                yield made(ast.Attribute(inverse, "T", ast.Load()), "lacks_inverse")
            for axis in (0, 1, -1):
                kept = [ast.keyword("axis", ast.Constant(axis)), ast.keyword("keepdims", ast.Constant(True))]
                yield made(_call(numpy, "sum", node, *kept), "lacks_sum")

    def _with_factor(self, node: Any) -> Iterator[Edit]:
        """An expression multiplied by a number or by something in the rule, or masked by a condition."""
        if self._is_factor(node) and id(node) not in self._compared:  # a condition rarely lacks a factor
            whole = (2, *(int(m) for m in self.marks if 2 < m <= 12 and m == int(m)))
            yield from products_with(node, map(ast.Constant, dict.fromkeys(whole)))
            yield from products_with(node, (ast.Name(n, ast.Load()) for n in self._factors(node)))
            yield from products_with(node, self._laid_out)
            yield from products_with(node, (*self._reductions, *self._fields))
            if isinstance(self._slots.owner(node), (ast.Assign, ast.AugAssign)):
                for new in (ast.BinOp(node, ast.Mult(), part) for part in self._runs):
                    yield Edit(node, new, "factor", instead(new, node))
            numpy = self._numpy()
            yield from masked(node, self._conditions, numpy, self._chooses)
            if isinstance(node, ast.Call) and numpy is not None:
                yield from products_with(node, (parse(c.format(numpy), mode="eval").body for c in _CONSTANTS))
            values = (ast.Name(n, ast.Load()) for n in self.anatomy.values if n in self.made)
            rests = [ast.BinOp(ast.Constant(1), ast.Sub(), value) for value in values]
            yield from products_with(node, rests)
        elif isinstance(node, ast.Constant) and type(node.value) is float and node.value:
            yield from masked(node, self._conditions, self._numpy(), self._chooses)
            fractions = (m for m in self.marks if m != int(m) and abs(m) != abs(node.value))
            yield from products_with(node, map(ast.Constant, dict.fromkeys(map(abs, fractions))))

    def _with_function(self, node: Any) -> Iterator[Edit]:
        """An expression multiplied by a matrix, or by a function of something in the rule."""
        if not self._is_factor(node):
            return
        if self._is_array:
            yield from matrix_times(node, self._factors(node))
        numpy = self._numpy()
        if numpy is not None:
            insides = [*self._pieces(), *(ast.Name(n, ast.Load()) for n in self.anatomy.parameters)]
            for name in ("log", "cos", "sin", "exp"):
                yield from products_with(node, (_call(numpy, name, inside) for inside in insides))

    def _with_term(self, node: ast.expr) -> Iterator[Edit]:
        """A cotangent with one more term, a product of the cotangent of the value and values of the rule: a
        term of the product rule is easily forgotten.
        """
        known = dict.fromkeys((*self.anatomy.values, *self.anatomy.parameters))
        names = [n for n in known if n.isidentifier() and n not in self.bars()][:MOST_NAMES]
        while isinstance(node, ast.Name) and node.id in self.made:
            node = self.made[node.id]
        for bar, rest in itertools.product(filter(None, self.bars()), self._partial_products):
            for operator in (ast.Add(), ast.Sub()):
                new = joined(node, operator, ast.BinOp(ast.Name(bar, ast.Load()), ast.Mult(), rest))
                yield Edit(node, new, "lacks_term", f"lacks a term: {instead(new, node)}")
        for count, bar in itertools.product((1, 2, 3), self.bars() if node not in self.returned() else ()):
            for factors in itertools.combinations(names, count):
                yield from with_term(node, (bar, *factors))

    def _less_one(self, node: ast.expr) -> Iterator[Edit]:
        """A part of an expression minus, or plus, a value that the rule has computed before."""
        yield from less_one(node, [name for name in self._named if name not in self.bars()][:MOST_NAMES])

    def _of_unread(self, sites: list[ast.expr]) -> Iterator[Edit]:
        """A value that was computed and is never used, put back into the cotangent."""
        for name in unread_names(self.anatomy.node):
            yield from (Edit(site, ast.Name(name, ast.Load())) for site in sites if is_zero(site))
            functions = {pullback.name for pullback in self.anatomy.pullbacks if hasattr(pullback, "name")}
            known = dict.fromkeys((*self.anatomy.values, *self.anatomy.parameters, *self._at_hand))
            others = [n for n in known if n != name and n.isidentifier() and n not in functions]
            for node in self._expressions(sites, elsewhere=False):
                if self._is_value(node) and not is_zero(node):
                    yield from with_one_more(node, name, others)

    def _of_mistake(self, seen: Explanation, sites: list[ast.expr]) -> Iterator[Edit]:
        sites = [site for site in sites if isinstance(site, ast.expr)]
        for site, bar, text in itertools.product(sites, self.bars(), seen.edits):
            new = self._filled(text, site, bar)
            if new is not None:
                adds = seen.mistake in ("lacks_term", "extra_term") and text.startswith("IT ")
                words = f"lacks a term: {instead(new, site)}"
                yield Edit(site, new, "lacks_term", words) if adds else Edit(site, new)

    def _expressions(self, targets: list[ast.expr], elsewhere: bool) -> Iterator[Any]:
        """The expressions in which a mistake may be: those in the targets or, with `elsewhere`, in the rest
        of the rule.
        """
        inside = {id(node) for root in targets for node in ast.walk(root)}
        scopes: list[Any] = [*self.anatomy.pullbacks, self.anatomy.node]
        roots = (n for scope in scopes for n in own_nodes(scope)) if elsewhere else iter(targets)
        seen: set[int] = set()
        for root in roots:
            for node in ast.walk(root):
                if id(node) in seen or (elsewhere and id(node) in inside):
                    continue
                seen.add(id(node))
                if isinstance(node, (ast.Assign, ast.AugAssign, ast.If)):
                    yield node
                elif isinstance(node, ast.expr) and not is_stored(node):
                    yield node


def _begins_with_minus(node: ast.expr) -> bool:
    """Whether a product has a minus before its first factor, which is changed instead."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        node = node.left
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


def is_length(node: Any) -> bool:
    """Whether an expression is a length: `len(x)`, `x.size`, `x.shape[0]`."""
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", "") == "len"
    if isinstance(node, ast.Subscript):
        return getattr(node.value, "attr", "") == "shape"
    return isinstance(node, ast.Attribute) and node.attr == "size"


def _calls_the_same(one: ast.Call, other: ast.Call) -> bool:
    return ast.dump(one.func) == ast.dump(other.func)


def _last_two_turned(numpy: str, node: ast.expr) -> ast.expr:
    """A stack of matrices, each transposed: `np.swapaxes(G, -1, -2)`."""
    turned = _call(numpy, "swapaxes", node)
    turned.args += [ast.UnaryOp(ast.USub(), ast.Constant(axis)) for axis in (1, 2)]  # type: ignore[attr-defined]
    return turned


def _call(numpy: str, name: str, node: ast.expr, *keywords: ast.keyword) -> ast.expr:
    return ast.Call(ast.Attribute(ast.Name(numpy, ast.Load()), name, ast.Load()), [node], list(keywords))
