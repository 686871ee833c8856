"""Changes of whole statements: their targets, their order, and whether they are there."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from ...parsing import cloned
from ..reading.editing import Edit, instead
from .edits import added
from .slips import MOST_ENTRIES, attribute_of


def other_targets(node: ast.Assign) -> Iterator[Edit]:
    """Two of the names exchanged that a sequence is unpacked into."""
    target = node.targets[0]
    if not isinstance(target, ast.Tuple) or not 2 <= len(target.elts) <= MOST_ENTRIES:
        return
    for i, j in itertools.combinations(range(len(target.elts)), 2):
        parts = list(target.elts)
        parts[i], parts[j] = parts[j], parts[i]
        new = ast.copy_location(ast.Assign([ast.Tuple(parts, ast.Store())], node.value), node)
        yield Edit(node, new, "swapped_arguments", instead(new, node))


def statements_left_out(scope: Any) -> Iterator[Edit]:
    """A statement left out that changes something: it writes an element, adds or multiplies, or assigns a
    name again, with or without using its old value.
    """
    for holder in ast.walk(scope):
        body = getattr(holder, "body", None)
        statements: list[ast.stmt] = body if isinstance(body, list) and len(body) > 1 else []
        for node in statements:
            if isinstance(node, ast.AugAssign):
                mistake = "extra_term" if isinstance(node.op, (ast.Add, ast.Sub)) else "factor"
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
                mistake = "overwrites"
                yield from added(node)
            elif isinstance(node, ast.Assign) and _is_of_itself(node):
                mistake = ""
            elif isinstance(node, ast.Assign) and _takes_the_place(node, statements):
                mistake = "overwrites"
            else:
                continue
            new = ast.copy_location(ast.Pass(), node)
            yield Edit(node, new, mistake, f"should leave out `{ast.unparse(node)}`")


def _takes_the_place(node: ast.Assign, body: list[ast.stmt]) -> bool:
    """Whether a statement assigns a name that the statement before has assigned."""
    at = body.index(node)
    return at > 0 and _writes_the_same(body[at - 1], node)


def _writes_the_same(one: ast.stmt, other: ast.stmt) -> bool:
    """Whether two statements assign the same name, the second without reading it."""
    if not isinstance(one, ast.Assign) or not isinstance(other, ast.Assign):
        return False
    first, last = one.targets[0], other.targets[0]
    same = isinstance(first, ast.Name) and isinstance(last, ast.Name) and first.id == last.id
    return same and not _reads(other.value, last.id)  # type: ignore[attr-defined]


def _is_of_itself(node: ast.Assign) -> bool:
    """Whether a statement computes a new value of a name from the old one: `y_bar = abs(y_bar)`."""
    target = node.targets[0]
    return isinstance(target, ast.Name) and _reads(node.value, target.id)


def other_statements(scope: Any) -> Iterator[Edit]:
    """Two consecutive statements in the other order, or with their targets exchanged."""
    for holder in ast.walk(scope):
        body = getattr(holder, "body", None)
        if not isinstance(body, list):
            continue
        for one, other in itertools.pairwise(body):
            plain = (ast.Assign, ast.AugAssign)
            yield from _given_to_each_other(one, other)
            yield from _too_early(one, other)
            if not isinstance(one, plain) or not isinstance(other, plain):
                continue
            first, last = target_of(one), target_of(other)
            if isinstance(first, ast.Subscript) and isinstance(last, ast.Subscript):
                words = f"exchanges `{ast.unparse(first)}` and `{ast.unparse(last)}`"
                edits = [Edit(one, _writing(one, last), "swapped_arguments", words)]
                yield Edit(edits[0].old, edits[0].new, "swapped_arguments", words,
                           (Edit(other, _writing(other, first)),))  # fmt: skip


def _too_early(one: ast.stmt, other: ast.stmt) -> Iterator[Edit]:
    """Two statements in the other order, if the second reads what the first assigns, or the first reads what
    the second assigns, even conditionally.
    """
    plain = (ast.Assign, ast.AugAssign)
    if not isinstance(one, plain) or not isinstance(other, (*plain, ast.If)):
        return
    first = target_of(one)
    is_read = isinstance(first, ast.Name) and _reads(getattr(other, "value", other), first.id)
    if is_read or any(_reads(one.value, name) for name in _given_by(other)):
        later = ast.unparse(other).splitlines()[0]
        words = f"does `{ast.unparse(one)}` too early: `{later}` comes before it"
        yield Edit(one, other, "order", words, (Edit(other, one),))


def _given_by(node: ast.stmt) -> Iterator[str]:
    """The names that a statement assigns, even conditionally."""
    if isinstance(node, ast.If):
        for inner in (*node.body, *node.orelse):
            yield from _given_by(inner)
    elif isinstance(node, (ast.Assign, ast.AugAssign)):
        target = target_of(node)
        yield from (target.id,) if isinstance(target, ast.Name) else ()


def _given_to_each_other(one: ast.stmt, other: ast.stmt) -> Iterator[Edit]:
    """The values that two statements write, or two calls of `np.add.at` add, exchanged."""
    plain = (ast.Assign, ast.AugAssign)
    calls = [n.value for n in (one, other) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)]
    if len(calls) == 2 and all(len(call.args) > 2 for call in calls):
        first, last = calls[0].args[-1], calls[1].args[-1]
    elif type(one) is type(other) and isinstance(one, plain) and isinstance(other, plain):
        if _writes_the_same(one, other):
            return  # the value of the first is never used, so this only replaces the second
        first, last = one.value, other.value
    else:
        return
    if ast.dump(first) != ast.dump(last):
        words = f"exchanges `{ast.unparse(first)}` and `{ast.unparse(last)}`"
        yield Edit(first, last, "swapped_arguments", words, (Edit(last, first),))


def target_of(node: ast.Assign | ast.AugAssign) -> ast.expr:
    """The target of a statement."""
    return node.target if isinstance(node, ast.AugAssign) else node.targets[0]


def _writing(node: ast.Assign | ast.AugAssign, target: ast.expr) -> Any:
    new = copy.copy(node)
    if isinstance(new, ast.AugAssign):
        new.target = target  # type: ignore[assignment]
    else:
        new.targets = [target]
    return new


def _reads(node: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))


def added_at(node: ast.Assign | ast.AugAssign, numpy: str, picks: Iterable[ast.expr] = ()) -> Iterator[Edit]:
    """A sum over an index that may be repeated: `np.add.at(a, i, b)` for `a[i] += b` and `a[i] = b`, and
    `np.subtract.at` for `-=`, also if there are several indices; and the same with another index, from the
    rule's `picks`, in place of a slice.
    """
    target = target_of(node)
    if not isinstance(target, ast.Subscript):
        return
    less = isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Sub)
    add = ast.Attribute(attribute_of(numpy, "subtract" if less else "add"), "at", ast.Load())
    own = _as_index(target.slice)
    others = () if isinstance(target.slice, ast.Name) else picks
    for index in (*([] if own is None else [own]), *others):
        new = ast.Expr(ast.Call(add, [copy.copy(target.value), index, node.value], []))
        ast.copy_location(new, node)
        if index is own:
            does = "adds only once" if isinstance(node, ast.AugAssign) else "keeps only the last"
            words = f"{does} where an index is repeated: {instead(new, node)}"
            yield Edit(node, new, "overwrites", words)
        else:
            yield Edit(node, new, "wrong_element", f"writes to the wrong elements: {instead(new, node)}")


def _as_index(node: ast.expr) -> ast.expr | None:
    """An index as `np.add.at` takes it, if a part of it may be an array of indices; otherwise None."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    if not any(isinstance(part, (ast.Name, ast.Call, ast.Attribute)) for part in parts):
        return None
    if not isinstance(node, ast.Tuple):
        return node
    return ast.Tuple([_sliced(part) if isinstance(part, ast.Slice) else part for part in parts], ast.Load())


def _sliced(cut: ast.Slice) -> ast.expr:
    """A slice as an object: `slice(None)` for `:`."""
    bounds = [bound or ast.Constant(None) for bound in (cut.lower, cut.upper, cut.step)]
    given = bounds if cut.step is not None else bounds[:2]
    whole = cut.lower is cut.upper is cut.step is None
    return ast.Call(ast.Name("slice", ast.Load()), given[:1] if whole else given, [])


def written_through(node: ast.Assign | ast.AugAssign) -> Iterator[Edit]:
    """A statement that writes to some elements, in place of one that writes to a copy of them, which is lost:
    `a[mask] = b` for `a[mask][:] = b`.
    """
    target = target_of(node)
    inner = target.value if isinstance(target, ast.Subscript) else None
    if not isinstance(inner, ast.Subscript) or ast.unparse(target.slice) not in (":", "..."):  # type: ignore[attr-defined]
        return
    new = _writing(node, ast.Subscript(inner.value, inner.slice, ast.Store()))
    yield Edit(node, new, "lost_write", f"writes to a copy, which is lost: {instead(new, node)}")


def widened_parts(statement: ast.Assign | ast.AugAssign) -> Iterator[Edit]:
    """The slices that a statement writes and reads, both extended at one end: `g[i:] -= p` for
    `g[i + 1 :] -= p[1:]`, which omits an element on both sides and so raises no error.
    """
    written = [n for n in ast.walk(target_of(statement)) if isinstance(n, ast.Subscript)]
    read = [n for n in ast.walk(statement.value) if isinstance(n, ast.Subscript)]
    for end in ("lower", "upper"):
        cuts = [[n for n in nodes if _has_end(n, end)] for nodes in (written, read)]
        if [len(nodes) for nodes in cuts] != [1, 1]:
            continue
        for pair in itertools.product(*(_with_wider(nodes[0], end) for nodes in cuts)):
            new = cloned(statement, {id(nodes[0]): wide for nodes, wide in zip(cuts, pair)})
            yield Edit(statement, new, "off_by_one", f"leaves out elements: {instead(new, statement)}")


def narrowed_parts(statement: ast.AugAssign) -> Iterator[Edit]:
    """All elements except the first, the last, or both, in place of all: ends are easily forgotten."""
    if not isinstance(statement.target, ast.Name):
        return
    one, last = ast.Constant(1), ast.UnaryOp(ast.USub(), ast.Constant(1))
    for cut in (ast.Slice(one), ast.Slice(None, last), ast.Slice(one, last)):
        part = ast.Subscript(ast.Name(statement.target.id, ast.Load()), cut, ast.Store())
        new = _writing(statement, part)
        yield Edit(statement, new, "branch", f"changes an end as well: {instead(new, statement)}")


def _has_end(node: ast.Subscript, end: str) -> bool:
    return isinstance(node.slice, ast.Slice) and getattr(node.slice, end) is not None


def _with_wider(node: ast.Subscript, end: str) -> Iterator[ast.expr]:
    """A slice without one of its ends, and with this end moved outwards by one element."""
    cut: Any = node.slice
    bound = getattr(cut, end)
    both = {"lower": cut.lower, "upper": cut.upper}
    ends: list[Any] = [None]
    by = ast.Add if end == "lower" else ast.Sub
    if isinstance(bound, ast.BinOp) and isinstance(bound.op, by) and isinstance(bound.right, ast.Constant):
        ends.append(bound.left)
    for other in ends:
        made = ast.Slice(**{**both, end: other}, step=cut.step)
        is_all = made.lower is made.upper is made.step is None and isinstance(node.ctx, ast.Load)
        yield node.value if is_all else ast.Subscript(node.value, made, node.ctx)
