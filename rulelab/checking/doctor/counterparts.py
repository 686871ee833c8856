"""Counterparts that are easily left out: the other half of a statement, of a term or of a pair."""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...annotations import signature_of_callable
from ...parsing import cloned, parse
from ..reading.anatomy import last_name, names_in
from ..reading.editing import Edit, as_block, instead, is_stored
from .edits import addends, of_numpy
from .slips import MOST_EXCHANGED, mirrored, negated, with_names
from .statements import target_of

MOST_TURNED = 4
"""Up to how many factors of a matrix product all transpositions are tried in an added term."""


def twins(scope: Any, names: Sequence[str], indices: Sequence[str] = ()) -> Iterator[Edit]:
    """A statement that adds to elements, followed by a similar one with either sign: with two names
    exchanged, at another index, with its slices mirrored, or with the slices that it writes and reads
    exchanged.
    """
    nodes: list[Any] = [node for node in ast.walk(scope) if _adds(node)]
    written = Counter(map(_dumped_target, nodes))
    for node in nodes:
        others = (*_of_other_index(node, indices), *_of_other_ends(node), *_of_exchanged_parts(node))
        for twin in (*others, *_of_other_names(node, names)):
            for new in (twin, _subtracting(twin)):
                # If another statement writes to the same target, it was not left out, but may be wrong.
                own = _dumped_target(new) == _dumped_target(node)
                is_written = not own and written[_dumped_target(new)] > 0
                if ast.dump(new) != ast.dump(node) and not _writes_over(node, new) and not is_written:
                    words = f"lacks a statement: `{ast.unparse(new)}` after `{ast.unparse(node)}`"
                    yield Edit(node, as_block(node, new), "lacks_term", words)


def _of_other_names(node: Any, names: Sequence[str]) -> Iterator[Any]:
    mine = list(dict.fromkeys(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in names))
    for one, other in itertools.combinations(mine[:MOST_EXCHANGED], 2):
        yield with_names(node, {one: other, other: one})


def _of_other_index(node: Any, others: Sequence[str]) -> Iterator[Any]:
    """The statement at another index: that of a peak beside that of a trough, the second of a pair."""
    if not isinstance(node, (ast.AugAssign, ast.Assign)):
        return
    target: Any = target_of(node)
    indices = dict.fromkeys(n.id for n in ast.walk(target.slice) if isinstance(n, ast.Name))
    for name, other in itertools.product(indices, (other for other in others if other not in indices)):
        new = cloned(node)
        for n in ast.walk(target_of(new)):
            if isinstance(n, ast.Name) and n.id == name:
                n.id = other
        yield new


def _of_other_ends(node: Any) -> Iterator[Any]:
    """The statement with the slices that it writes, or all its slices, mirrored: for a difference, what is
    added to the first elements is subtracted from the last.
    """
    if not isinstance(node, (ast.AugAssign, ast.Assign)):
        return
    written = [n for n in ast.walk(target_of(node)) if isinstance(n, ast.Slice)]
    every = [n for n in ast.walk(node) if isinstance(n, ast.Slice)]
    for cuts in [written, every] if len(written) < len(every) else [written]:
        turned = [mirrored(cut) for cut in cuts]
        if cuts and None not in turned:
            yield cloned(node, {id(old): cut for old, cut in zip(cuts, turned)})


def _of_exchanged_parts(node: Any) -> Iterator[Any]:
    """The statement with the slice that it writes and one that it reads exchanged: each of two elements in a
    product is a factor of the other.
    """
    if not isinstance(node, (ast.AugAssign, ast.Assign)):
        return
    written = getattr(target_of(node), "slice", None)
    for read in [n.slice for n in ast.walk(node.value) if isinstance(n, ast.Subscript)]:
        if isinstance(written, ast.Slice) and isinstance(read, ast.Slice):
            yield cloned(node, {id(written): read, id(read): written})


def mirrored_terms(node: ast.Call) -> Iterator[Edit]:
    """A shift in one direction combined with one in the other, which is easily left out:
    `np.roll(x, -1) - np.roll(x, 1)`.
    """
    if getattr(node.func, "attr", "") != "roll" or len(node.args) < 2:
        return
    back = cloned(node)
    back.args[1] = negated(back.args[1])
    for operator in (ast.Sub(), ast.Add()):
        new = ast.BinOp(node, operator, back)
        yield Edit(node, new, "lacks_term", f"lacks a term: {instead(new, node)}")


def moved_into_loops(scope: Any) -> Iterator[Edit]:
    """The statement after a loop moved to the end of its body."""
    for holder in ast.walk(scope):
        body = getattr(holder, "body", None)
        for one, other in itertools.pairwise(body) if isinstance(body, list) else ():
            if isinstance(one, (ast.For, ast.While)) and isinstance(other, (ast.Assign, ast.AugAssign)):
                last, left = one.body[-1], ast.copy_location(ast.Pass(), other)
                words = f"`{ast.unparse(other)}` is after the loop, but belongs inside it"
                yield Edit(other, left, "factor", words, (Edit(last, as_block(last, other)),))


def keywords_of_others(node: ast.Call, calls: Iterable[ast.Call]) -> Iterator[Edit]:
    """A call with the keywords of another call of the same function, which are easily left out or changed."""
    mine = {keyword.arg: ast.dump(keyword.value) for keyword in node.keywords}
    called = last_name(node.func)
    for other in calls:
        theirs = {keyword.arg: ast.dump(keyword.value) for keyword in other.keywords}
        orders = {called, last_name(other.func)} <= _READING and "order" in theirs
        if (
            other is node
            or theirs == mine
            or None in theirs
            or not (orders or last_name(other.func) == called)
        ):
            continue
        new = ast.Call(node.func, node.args, other.keywords)
        axis = "axis" in theirs or "axis" in mine
        mistake = "wrong_axis" if axis else "order" if orders else "wrong_variable"
        yield Edit(node, new, mistake, instead(new, node))


_READING = frozenset(("reshape", "ravel", "flatten"))
"""Functions that read the numbers of an array in some order."""


def missing_keyword_arguments(node: ast.Call, function: Any, names: Sequence[str]) -> Iterator[Edit]:
    """A call with one more argument, if the function has a parameter with a name that is known there."""
    try:
        takes = list(signature_of_callable(function).parameters)
    except (TypeError, ValueError):
        return
    given = {keyword.arg for keyword in node.keywords}
    for at, name in enumerate(takes):
        if at >= len(node.args) and name not in given and name in names:
            value = ast.Name(name, ast.Load())
            if at == len(node.args):
                new = ast.Call(node.func, [*node.args, value], node.keywords)
            else:
                new = ast.Call(node.func, node.args, [*node.keywords, ast.keyword(name, value)])
            yield Edit(node, new, "wrong_variable", f"does not pass `{name}` on: {instead(new, node)}")


_TURNING = {"solve_triangular": ("trans", 1)}
"""Keywords with which functions transpose a matrix."""


def reversed_by_keyword(node: ast.Call) -> Iterator[Edit]:
    """A call with the keyword that transposes its matrix, if it is missing."""
    name, value = _TURNING.get(last_name(node.func), ("", 0))
    if name and all(keyword.arg != name for keyword in node.keywords):
        new = ast.Call(node.func, node.args, [*node.keywords, ast.keyword(name, ast.Constant(value))])
        yield Edit(node, new, "transposed", instead(new, node))


def updates_after(scope: Any) -> Iterator[Edit]:
    """The statement with which a loop accumulates, repeated once after the loop: what the last iteration
    carries belongs to the start.
    """
    bodies = (getattr(holder, "body", None) for holder in ast.walk(scope))
    pairs = (pair for body in bodies if isinstance(body, list) for pair in itertools.pairwise(body))
    for loop, after in pairs:
        for one in _accumulated(loop) if isinstance(loop, (ast.For, ast.While)) else ():
            words = f"lacks a statement: `{ast.unparse(one)}` after the loop"
            yield Edit(after, as_block(one, after), "lacks_term", words)


def accumulated_loop_variables(scope: Any) -> Iterator[Edit]:
    """The variable that a loop carries from iteration to iteration, and nobody reads after it, added to the
    first or the last element of a buffer that the loop writes: the start of a recurrence is not in the loop.
    """
    bodies = (getattr(holder, "body", None) for holder in ast.walk(scope))
    pairs = (pair for body in bodies if isinstance(body, list) for pair in itertools.pairwise(body))
    read = Counter(n.id for n in ast.walk(scope) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    for loop, after in pairs:
        if not isinstance(loop, ast.For) or not isinstance(loop.target, ast.Name):
            continue
        within = Counter(
            n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
        )
        targets = [target_of(one) for one in loop.body if isinstance(one, (ast.Assign, ast.AugAssign))]
        carried = [t.id for t in targets if isinstance(t, ast.Name) and 0 < within[t.id] == read[t.id]]
        buffers = [t.value for t in targets if isinstance(t, ast.Subscript) and isinstance(t.value, ast.Name)]
        for name, buffer, at in itertools.product(dict.fromkeys(carried), buffers, ("0", "-1")):
            new = parse(f"{buffer.id}[{at}] += {name}").body[0]
            words = f"drops what its loop carries: lacks `{ast.unparse(new)}` after the loop"
            yield Edit(after, as_block(new, after), "lacks_term", words)


def _accumulated(loop: ast.For | ast.While) -> Iterator[ast.AugAssign]:
    """The statements with which a loop accumulates names that it also assigns."""
    assigned = [one for one in loop.body if isinstance(one, (ast.Assign, ast.AugAssign))]
    written = {n.id for one in assigned for n in ast.walk(target_of(one)) if isinstance(n, ast.Name)}
    for one in assigned:
        if isinstance(one, ast.AugAssign) and not names_in(one.value).isdisjoint(written):
            yield one


def less_one(node: ast.expr, names: Sequence[str]) -> Iterator[Edit]:
    """A power or a call minus, or plus, a named value, such as a mean that is to be subtracted."""
    of_one = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) or isinstance(node, ast.Call)
    for name in names if of_one else ():
        for operator in (ast.Sub(), ast.Add()):
            new = ast.BinOp(node, operator, ast.Name(name, ast.Load()))
            yield Edit(node, new, "lacks_term", f"lacks a term: {instead(new, node)}")


def _adds(node: Any) -> bool:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return getattr(node.value.func, "attr", "") == "at" and len(node.value.args) == 3
    return isinstance(node, (ast.AugAssign, ast.Assign)) and isinstance(target_of(node), ast.Subscript)


def _dumped_target(node: Any) -> str:
    """The target of a statement, for comparison."""
    if isinstance(node, ast.Expr):
        return ast.dump(ast.Tuple(node.value.args[:2], ast.Load()))  # type: ignore[attr-defined]
    return ast.dump(target_of(node))


def _writes_over(node: Any, new: Any) -> bool:
    """Whether one assignment overwrites all of another: then it would replace it."""
    both = isinstance(node, ast.Assign) and isinstance(new, ast.Assign)
    return both and ast.dump(target_of(node)) == ast.dump(target_of(new))


def _subtracting(node: Any) -> Any:
    """A statement with its sign changed."""
    new = cloned(node)
    if isinstance(new, ast.AugAssign):
        new.op = ast.Add() if isinstance(new.op, ast.Sub) else ast.Sub()
    elif isinstance(new, ast.Expr):
        call: Any = new.value
        call.args[-1] = negated(call.args[-1])
    else:
        new.value = negated(new.value)
    return new


def _doubled(node: ast.BinOp) -> ast.BinOp:
    """Twice a matrix product; for `0.5 * A @ B` it is `A @ B`."""
    new = cloned(node)
    inner = new
    while isinstance(inner.left, ast.BinOp) and isinstance(inner.left.op, ast.MatMult):
        inner = inner.left
    first = inner.left
    number = first.left if isinstance(first, ast.BinOp) and isinstance(first.op, ast.Mult) else None
    if not isinstance(number, ast.Constant) or not isinstance(number.value, (int, float)):
        return ast.BinOp(ast.Constant(2), ast.Mult(), node)
    rest, twice = first.right, 2 * number.value
    inner.left = rest if twice == 1 else ast.BinOp(ast.Constant(twice), ast.Mult(), rest)
    return new


def transposed_terms(node: ast.BinOp) -> Iterator[Edit]:
    """A matrix product plus the same with some factors transposed, `X.T @ A @ G + X @ A @ G.T`, as for a
    matrix that occurs on both sides; also in place of twice one of the two.
    """
    factors = _factors(node)
    if factors is None or not 2 <= len(factors) <= MOST_TURNED:
        return
    first, *rest = factors
    two = isinstance(first, ast.BinOp) and isinstance(first.left, ast.Constant) and first.left.value == 2
    if two and isinstance(first, ast.BinOp) and isinstance(first.op, ast.Mult):
        first = first.right
    else:  # for vectors or symmetric matrices, the sum with the transpose is just twice the product
        double = _doubled(node)
        yield Edit(node, double, "factor", f"lacks a factor 2: {instead(double, node)}")
    plain, *others = _with_some_turned([first, *rest])
    for one, other in itertools.combinations([plain, *others], 2) if two else ((plain, o) for o in others):
        new = ast.BinOp(one, ast.Add(), other)
        if two:
            yield Edit(node, new, "transposed", f"treats two different things as equal: {instead(new, node)}")
        else:
            yield Edit(node, new, "lacks_term", f"lacks a term: {instead(new, node)}")
    for turned in others if not two else ():
        yield Edit(node, turned, "transposed", instead(turned, node))


def _with_some_turned(factors: Sequence[ast.expr]) -> list[ast.expr]:
    """A matrix product, and the same with some factors transposed, the fewest first."""
    shares = sorted(itertools.product((False, True), repeat=len(factors)), key=sum)
    return [_product([_turned(f) if turns else f for f, turns in zip(factors, some)]) for some in shares]


def _factors(node: ast.expr) -> list[ast.expr] | None:
    """The factors of a matrix product; None for anything else."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.MatMult):
        return None
    left, right = _factors(node.left) or [node.left], _factors(node.right) or [node.right]
    return [*left, *right]


def _product(factors: Sequence[ast.expr]) -> ast.expr:
    made = factors[0]
    for factor in factors[1:]:
        made = ast.BinOp(made, ast.MatMult(), factor)
    return made


def _turned(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Attribute) and node.attr == "T":
        return node.value
    return ast.Attribute(node, "T", ast.Load())


def exchanged_within(node: ast.expr, names: Sequence[str]) -> Iterator[Edit]:
    """Two names that are read in an expression exchanged there."""
    read = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in names and not is_stored(n)]
    mine = list(dict.fromkeys(n.id for n in read))
    for one, other in itertools.combinations(mine[:MOST_EXCHANGED], 2):
        new = with_names(node, {one: other, other: one})
        if ast.dump(new) != ast.dump(node):
            words = f"exchanges `{one}` and `{other}`: {instead(new, node)}"
            yield Edit(node, new, "wrong_variable", words)


def terms_of_other(mine: ast.expr, other: ast.expr, names: dict[str, str]) -> Iterator[Edit]:
    """A cotangent plus a term of the cotangent of another argument, with the two arguments exchanged."""
    there = {ast.dump(term) for _, term in addends(mine)}
    for is_minus, term in addends(other):
        new = with_names(term, names)
        if ast.dump(new) in there or ast.dump(term) in there:
            continue
        for operator in (ast.Sub(), ast.Add()) if is_minus else (ast.Add(), ast.Sub()):
            whole = ast.BinOp(mine, operator, new)
            yield Edit(mine, whole, "lacks_term", f"lacks a term: {instead(whole, mine)}")


def centred(node: ast.Name, numpy: str, weights: Sequence[str], axes: Sequence[int | None]) -> Iterator[Edit]:
    """A value minus its mean, its sum, or its weighted sum: the derivative has such a term if the function
    subtracts a mean, or divides by a sum.
    """
    along = ["" if axis is None else f", axis={axis}, keepdims=True" for axis in axes]
    inner = [f"{numpy}.mean({node.id}{{0}})", f"{numpy}.sum({node.id}{{0}})"]
    inner += [f"{numpy}.sum({weight} * {node.id}{{0}})" for weight in weights]
    for text, axis in itertools.product(inner, along):
        new = ast.BinOp(node, ast.Sub(), parse(text.format(axis), mode="eval").body)
        yield Edit(node, new, "lacks_term", f"lacks a term: {instead(new, node)}")


def other_divisors(node: ast.expr, divisors: Iterable[ast.expr]) -> Iterator[Edit]:
    """Another divisor from function or rule."""
    for other in divisors:
        if ast.dump(other) != ast.dump(node):
            yield Edit(node, other, "wrong_variable", instead(other, node))


def decaying(scope: Any, factors: Sequence[ast.expr]) -> Iterator[Edit]:
    """A factor at the end of each iteration of a loop, for a variable that is carried to the next."""
    for loop in (node for node in ast.walk(scope) if isinstance(node, (ast.For, ast.While))):
        last = loop.body[-1]
        for name in dict.fromkeys(_carried(loop)):
            for factor in factors:
                new = ast.AugAssign(ast.Name(name, ast.Store()), ast.Mult(), factor)
                ast.copy_location(new, last)
                words = f"lacks a statement: `{ast.unparse(new)}` at the end of the loop"
                yield Edit(last, as_block(last, new), "factor", words)


def _carried(loop: ast.For | ast.While) -> Iterator[str]:
    """The names that a loop updates from iteration to iteration."""
    for node in loop.body:
        target = target_of(node) if isinstance(node, (ast.Assign, ast.AugAssign)) else None
        if isinstance(target, ast.Name) and isinstance(node, (ast.Assign, ast.AugAssign)):
            read = [n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)]
            if isinstance(node, ast.AugAssign) or target.id in read:
                yield target.id


def summed_before(node: ast.expr) -> Iterator[Edit]:
    """A function of a sum in place of the sum of a function, and the other way round; a term added to each
    element of a sum in place of one added to the sum, and the other way round.
    """
    words = "does two things in the wrong order: "
    if isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.args[0], ast.Call):
        inner = node.args[0]
        if len(inner.args) == 1 and "sum" in (last_name(node.func), last_name(inner.func)):
            within = ast.Call(node.func, inner.args, node.keywords)
            new: ast.expr = ast.Call(inner.func, [within], inner.keywords)
            yield Edit(node, new, "order", words + instead(new, node))
    elif isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.args[0], ast.BinOp):
        of = node.args[0]
        if last_name(node.func) == "sum" and isinstance(of.op, (ast.Add, ast.Sub)):
            new = ast.BinOp(ast.Call(node.func, [of.left], node.keywords), of.op, of.right)
            yield Edit(node, new, "parentheses", words + instead(new, node))
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        left = node.left
        if isinstance(left, ast.Call) and last_name(left.func) == "sum" and len(left.args) == 1:
            new = ast.Call(left.func, [ast.BinOp(left.args[0], node.op, node.right)], left.keywords)
            yield Edit(node, new, "parentheses", words + instead(new, node))


def regrouped_sums(node: ast.expr) -> Iterator[Edit]:
    """A function of a sum in place of a sum of two functions; the sum of a product or quotient in place of a
    product or quotient in which one or both sides are summed separately.
    """
    if not isinstance(node, ast.BinOp):
        return
    left, right = node.left, node.right
    both = isinstance(left, ast.Call) and isinstance(right, ast.Call) and _calls_alike(left, right)
    if isinstance(node.op, (ast.Add, ast.Sub)) and both:
        inner = ast.BinOp(left.args[0], node.op, right.args[0])  # type: ignore[attr-defined]
        new = ast.Call(left.func, [inner], left.keywords)  # type: ignore[attr-defined]
        yield Edit(
            node,
            new,
            "parentheses",
            f"uses two values where a function of both belongs: {instead(new, node)}",
        )
    if not isinstance(node.op, (ast.Mult, ast.Div)):
        return
    sums = [side for side in (left, right) if isinstance(side, ast.Call) and last_name(side.func) in _ADDING]
    if len(sums) == 2 and not _calls_alike(sums[0], sums[1], any_sum=True):
        return
    for call in sums:
        if last_name(call.func) != "sum" or len(call.args) != 1:
            continue
        insides = (side.args[0] if side in sums else side for side in (left, right))
        new = ast.Call(call.func, [ast.BinOp(next(insides), node.op, next(insides))], call.keywords)
        yield Edit(node, new, "parentheses", f"splits what is summed together: {instead(new, node)}")


_ADDING = frozenset(("sum", "mean"))


def _calls_alike(one: ast.Call, other: ast.Call, any_sum: bool = False) -> bool:
    """Whether two calls with one argument are of the same function, with the same keywords."""
    same = any_sum or ast.dump(one.func) == ast.dump(other.func)
    keywords = [[ast.dump(keyword) for keyword in call.keywords] for call in (one, other)]
    return same and len(one.args) == len(other.args) == 1 and keywords[0] == keywords[1]


def of_neighbours(node: ast.expr) -> Iterator[Edit]:
    """A sum of products of two arrays with one of them shifted by one element, in place of products at the
    same index.
    """
    inner = node.args[0] if isinstance(node, ast.Call) and node.args else None
    if isinstance(node, ast.Call) and last_name(node.func) == "dot" and len(node.args) == 2:
        pair = node.args
    elif isinstance(node, ast.Call) and last_name(node.func) == "sum" and isinstance(inner, ast.BinOp):
        pair = [inner.left, inner.right] if isinstance(inner.op, ast.Mult) else []
    else:
        multiplies = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
        pair = [node.left, node.right] if multiplies else []  # type: ignore[attr-defined]
    if len(pair) != 2 or not all(isinstance(side, ast.Name) for side in pair):
        return
    one, less = ast.Constant(1), ast.UnaryOp(ast.USub(), ast.Constant(1))
    cuts = ast.Slice(one, None, None), ast.Slice(None, less, None)
    for first, last in (cuts, cuts[::-1]):
        new = (ast.Subscript(side, cut, ast.Load()) for side, cut in zip(pair, (first, last)))
        one_edit, other = (Edit(old, made, "off_by_one") for old, made in zip(pair, new))
        words = f"off by one: {instead(one_edit.new, pair[0])}, and {instead(other.new, pair[1])}"
        yield Edit(one_edit.old, one_edit.new, "off_by_one", words, (other,))


def in_each_call(node: ast.expr, names: Sequence[str]) -> Iterator[Edit]:
    """One more factor in the same argument of each of several calls of one function in an expression: whoever
    forgets a factor in one call forgets it in the next.
    """
    calls: dict[str, list[ast.Call]] = {}
    for call in (n for n in ast.walk(node) if isinstance(n, ast.Call) and n.args):
        calls.setdefault(f"{ast.dump(call.func)}, {len(call.args)}", []).append(call)
    for alike in (some for some in calls.values() if 1 < len(some) <= MOST_EXCHANGED):
        for at, name in itertools.product(range(len(alike[0].args)), names):
            if any(name in names_in(call.args[at]) for call in alike):
                continue
            old = [call.args[at] for call in alike]
            new = [ast.BinOp(one, ast.Mult(), ast.Name(name, ast.Load())) for one in old]
            first, *more = (Edit(x, y, "factor", instead(y, x)) for x, y in zip(old, new))
            yield Edit(first.old, first.new, "factor", f"{first.words}, and so on", tuple(more))


_PICKING = frozenset(
    ("argmax", "argmin", "max", "min", "sum", "prod", "cumsum", "mean", "std", "var", "median", "norm")
)


def of_a_part(node: ast.Call, cuts: Iterable[ast.expr], indices: Sequence[str]) -> Iterator[Edit]:
    """A call on a part of an array instead of all of it: a slice or a mask used elsewhere, or up to an index
    or from it.
    """
    if getattr(node.func, "attr", "") not in _PICKING or len(node.args) != 1:
        return
    of = node.args[0]
    if not isinstance(of, ast.Name):
        return
    ends = [ast.BinOp(ast.Name(name, ast.Load()), ast.Add(), ast.Constant(1)) for name in indices]
    parts: list[ast.expr] = [cut for cut in cuts if isinstance(cut, (ast.Slice, ast.Name))]
    parts += [ast.Slice(None, end, None) for end in ends]
    parts += [ast.Slice(None, end.left, None) for end in ends]
    parts += [ast.Slice(end.left, None, None) for end in ends]
    for part in parts:
        new = ast.Subscript(of, part, ast.Load())
        yield Edit(of, new, "wrong_element", f"uses the whole where a part belongs: {instead(new, of)}")


def guarded(node: ast.Subscript, looping: Sequence[str]) -> Iterator[Edit]:
    """Zero before the first element, if an index one less than that of a loop would take the last."""
    index = node.slice
    if not isinstance(index, ast.BinOp) or not isinstance(index.op, ast.Sub):
        return
    one = isinstance(index.right, ast.Constant) and index.right.value == 1
    if one and isinstance(index.left, ast.Name) and index.left.id in looping:
        test = ast.Compare(index.left, [ast.Gt()], [ast.Constant(0)])
        new = ast.IfExp(test, node, ast.Constant(0.0))
        words = f"uses the last element where the one before the first belongs: {instead(new, node)}"
        yield Edit(node, new, "off_by_one", words)


def clipped(
    node: ast.expr, conditions: Iterable[ast.expr], made: Mapping[str, ast.expr], numpy: str
) -> Iterator[Edit]:
    """A value limited to what it is compared with, `min(v, limit)`, also through the name that it is assigned
    to in `made`; and a difference of compared values limited to zero, `max(x - edge, 0.0)`. NumPy's functions
    are used if `numpy` is given.
    """
    for one in conditions:
        if not isinstance(one, ast.Compare) or not isinstance(one.ops[0], _ORDERS):
            continue
        left, right = one.left, one.comparators[0]
        sides = {ast.dump(left): right, ast.dump(right): left}
        if isinstance(left, ast.Name) and left.id in made:
            sides[ast.dump(made[left.id])] = right
        ends = [sides[ast.dump(node)]] if ast.dump(node) in sides else []
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
            if {ast.dump(node.left), ast.dump(node.right)} <= set(sides):
                ends.append(ast.Constant(0.0))
        for end in ends:
            for short, name in (("min", "minimum"), ("max", "maximum")):
                plain = ast.Call(ast.Name(short, ast.Load()), [node, end], [])
                new = of_numpy(numpy, name, node, end) if numpy else plain
                yield Edit(node, new, "branch", f"lacks a limit: {instead(new, node)}")


_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def counted_by(node: ast.expr, masks: Iterable[str]) -> Iterator[Edit]:
    """The number of true elements of a mask in place of a length: `keep.sum()` for `len(x)`."""
    for name in masks:
        new = parse(f"{name}.sum()", mode="eval").body
        yield Edit(node, new, "factor", instead(new, node))


def zeroed(pullback: Any, rule: Any, answers: Iterable[ast.Tuple], primal: Any) -> Iterator[Edit]:
    """A statement that sets an element of a returned cotangent to zero, if function or rule overwrite that
    element with a constant: `x_bar[0] = 0.0`.
    """
    inside = {id(node) for node in ast.walk(pullback)}
    over = {
        ast.unparse(target.slice): node
        for root in (primal, rule)
        for node in (ast.walk(root) if root is not None else ())
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and id(node) not in inside
        for target in node.targets
        if isinstance(target, ast.Subscript) and names_in(target.slice) <= {"np", "None"}
    }
    returns = {id(n.value): n for n in ast.walk(pullback) if isinstance(n, ast.Return)}
    for answer in answers:
        last = returns.get(id(answer))
        bars = [part.id for part in answer.elts if isinstance(part, ast.Name)] if last is not None else []
        for at, node in over.items():
            for bar in dict.fromkeys(bars):
                (zero,) = parse(f"{bar}[{at}] = 0.0").body
                words = f"lacks `{bar}[{at}] = 0.0`: `{ast.unparse(node)}` overwrites that element"
                yield Edit(last, as_block(ast.copy_location(zero, last), last), "lacks_term", words)  # type: ignore[arg-type]


def of_totals(node: ast.AST, made: Mapping[str, ast.expr]) -> Iterator[Edit]:
    """A product minus or plus the same product of totals: `(a - b) * f(a)` lacks that of the sums,
    `(a0 - b0) * f(a0)`.
    """
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Mult, ast.Div)):
        return
    totals = {of: name for name, value in made.items() if (of := _summed(value)) is not None}
    if not names_in(node) & totals.keys():
        return
    term = with_names(node, totals)
    for operator in (ast.Sub(), ast.Add()):
        new = ast.BinOp(node, operator, term)
        yield Edit(node, new, "lacks_term", f"lacks `{ast.unparse(term)}`: {instead(new, node)}")


def _summed(value: ast.expr) -> str | None:
    """The name whose sum an expression is; None for anything else."""
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute) or value.keywords:
        return None
    first = value.args[0] if value.args else value.func.value
    return first.id if value.func.attr == "sum" and isinstance(first, ast.Name) else None


def selected_element_terms(
    pullback: Any, answers: Iterable[ast.Tuple], primal: Any, parameters: Iterable[str]
) -> Iterator[Edit]:
    """A separate term for the element that the function selects by a parameter which the pullback does not
    use: `g[t] -= 1.0` for `x[t]`. It replaces a `pass`, or follows the statement that computes `g`.
    """
    if not isinstance(pullback, ast.FunctionDef) or not pullback.args.args or primal is None:
        return
    own = frozenset(parameters) - names_in(pullback)
    at = {
        ast.unparse(node.slice): node
        for node in ast.walk(primal)
        if isinstance(node, ast.Subscript) and names_in(node.value) <= frozenset(parameters)
        if names_in(node.slice) & own and names_in(node.slice) <= {*own, "np", "len"}
    }
    if len(at) > 2:
        return
    returned = {name for answer in answers for name in names_in(answer)}
    idle = [node for node in pullback.body if isinstance(node, ast.Pass)]
    for statement in (node for node in pullback.body if isinstance(node, ast.Assign)):
        bar = getattr(statement.targets[0], "id", None)
        values = itertools.product(at.items(), "-+", ("1.0", pullback.args.args[0].arg))
        for (index, node), sign, value in values if bar in returned else ():
            text = f"{bar}[{index}] {sign}= {value}"
            (more,) = parse(text).body
            words = f"lacks `{text}`, for the element that `{ast.unparse(node)}` picks"
            old = idle[0] if idle else statement
            new = more if idle else as_block(statement, ast.copy_location(more, statement))
            yield Edit(old, ast.copy_location(new, old), "lacks_term", words)
