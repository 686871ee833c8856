"""The term or factor that a cotangent lacks, found from the numbers that the rule has at that place."""

from __future__ import annotations

import ast
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...parsing import parse
from ..reading.editing import Edit
from .edits import chain, product
from .observing import Observation, as_row, real_rows

MOST_NAMES, MOST_BARS = 9, 48
"""How many names terms are made of, and how many parts of terms with the cotangent are tried."""
MOST_PRODUCTS = 160
"""How many matrix products and outer products with the cotangent are tried."""
MOST_FACTORS = 12
"""How many names, and parts made from them, occur as factors."""
_WEIGHT = 3
_CONSTANTS = {1.0: "", 2.0: "2 * ", 0.5: "0.5 * ", 3.0: "3 * ", 4.0: "4 * ", 0.25: "0.25 * "}
ALONE = "1"
"""Takes the place of the part with the cotangent in expressions that do not depend on it."""
_CLOSE = 1e-7
"""How close, relatively, the effect of a term has to be to what is needed."""
_OPERATORS: dict[str, type[ast.operator]] = {"+": ast.Add, "-": ast.Sub}


def terms(
    node: ast.expr,
    seen: list[Observation],
    numpy: str,
    functions: set[str],
    parts: Sequence[str],
    whole: bool,
) -> Iterator[Edit]:
    """An expression with the term that it lacks or, with `whole`, what should take its place. Some `parts`,
    given as text, may be factors of a term.
    """
    if len(seen) < 4 or not any(np.abs(one.lacking).max(initial=0.0) > 1e-9 for one in seen):
        return
    own = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    search, text = _Search(seen, numpy, functions, parts, own), ast.unparse(node)
    if whole:
        found: Iterator[ast.expr] = (parse(changed, mode="eval").body for changed in search.instead())
    else:
        found = (_plus(node, sign, parse(term, mode="eval").body) for sign, term in search.lacking())
    for new in found:
        words = f"has `{text}` where `{ast.unparse(new)}` belongs"
        if _is_multiple(new, node):
            yield Edit(node, new, "factor", words)
        else:
            yield Edit(node, new, "lacks_term", words if whole else f"lacks a term: {words}")


def _is_multiple(new: ast.expr, old: ast.expr) -> bool:
    """Whether an expression has every factor of another one, so that the others multiply it."""
    above, below = map(_dumped, chain(new))
    return all(not some - there for some, there in zip(map(_dumped, chain(old)), (above, below)))


def _dumped(nodes: Sequence[ast.expr]) -> Counter[str]:
    return Counter(map(ast.dump, nodes))


def _plus(node: ast.expr, sign: str, term: ast.expr) -> ast.expr:
    """An expression plus or minus a term; if the term is a multiple of the expression, the expression with
    the factor that it lacks.
    """
    above, below = chain(term)
    same = next((factor for factor in above if ast.dump(factor) == ast.dump(node)), None)
    if same is not None and len(above) == 1 and not below and sign == "+":
        return ast.BinOp(ast.Constant(2), ast.Mult(), node)
    if same is not None and len(above) > 1:
        rest = product([factor for factor in above if factor is not same], below)
        return ast.BinOp(node, ast.Mult(), ast.BinOp(ast.Constant(1), _OPERATORS[sign](), rest))
    return ast.BinOp(node, _OPERATORS[sign](), term)


class _Search:
    """Products of the available names, with one factor that contains the cotangent, and their numbers."""

    def __init__(
        self, seen: list[Observation], numpy: str, functions: set[str], parts: Sequence[str], own: set[str]
    ) -> None:
        self.seen, self.numpy, self.functions = seen, numpy, functions
        self._table: np.ndarray | None = None
        first = seen[0]
        names = [n for n in first.names if all(_is_numeric(one.names.get(n)) for one in seen)]
        names.sort(key=lambda name: name not in own)  # names in the expression itself first
        moving = [n for n in names if not _same(first.names[n], seen[1].names[n])]
        self.still = [n for n in names if n not in moving][:MOST_NAMES]
        self.moving = moving[:4]
        plain = [text for name in self.still for text in self._forms(name)]
        turned = [text for name in self.moving for text in self._forms(name)]
        is_still = _same(first.value, seen[1].value)
        self.bars = [ALONE] if is_still else self._with_bar(turned, plain)
        room = max(0, MOST_FACTORS - len(plain))
        self.parts = self._of_still(parts, room)
        self.products = self._monomials([*plain, *self.parts])

    def _forms(self, name: str) -> list[str]:
        value = np.asarray(self.seen[0].names[name])
        found = [name]
        if value.dtype.kind == "c":
            found.append(f"{self.numpy}.conj({name})")
        return found

    def _of_still(self, parts: Sequence[str], most: int) -> list[str]:
        """The parts that do not depend on the cotangent, at most `most`."""
        known = {*self.still, self.numpy}
        found = [
            text
            for text in parts
            if {n.id for n in ast.walk(parse(text)) if isinstance(n, ast.Name)} <= known
            and self._at(text, 0) is not None
        ]
        return found[:most]

    def _with_bar(self, turned: list[str], plain: list[str]) -> list[str]:
        """Expressions that are linear in the cotangent, the simplest first."""
        np_ = self.numpy
        found = list(turned)
        sums = []
        for bar in turned:
            value = np.asarray(self._at(bar, 0))
            if not value.ndim:
                continue
            # Only along an axis if the function uses one; for a vector it makes no difference.
            along = ", axis=-1, keepdims=True" if value.ndim > 1 or "axis" in self.functions else ""
            sums += [f"{np_}.sum({bar} * {other}{along})" for other in plain]
            sums += [f"{np_}.sum({bar}{along})"]
            found += sums[-len(plain) - 1 :]
            pairs = [(bar, other) for other in plain] + [(other, bar) for other in plain]
            if "cross" in self.functions:
                found += [f"{np_}.cross({one}, {other})" for one, other in pairs]
            if value.ndim > 1 or any(np.ndim(self._at(p, 0)) > 1 for p in plain):
                found += [f"({one} @ {other})" for one, other in pairs]
                found += [f"({bar}.T @ {other})" for other in plain if value.ndim > 1]
        found += [f"({bar} - {total})" for bar in turned for total in sums if bar in total]
        plainer = [text for text in found if self._at(text, 0) is not None][:MOST_BARS]
        return [*plainer, *self._of_matrices(turned, plain)]

    def _of_matrices(self, turned: list[str], plain: list[str]) -> list[str]:
        """Products of matrices, also transposed ones, and outer products, if a matrix is needed."""
        shape, np_ = self.seen[0].value.shape, self.numpy
        if len(shape) != 2:
            return []

        def forms(name: str) -> list[str]:
            value = np.asarray(self._at(name, 0))
            return [name, f"{name}.T"] if value.ndim == 2 else []

        pairs = itertools.product([f for b in turned for f in forms(b)], [f for p in plain for f in forms(p)])
        found = [f"({left} @ {right})" for pair in pairs for left, right in (pair, pair[::-1])]
        vectors = [p for p in plain if np.ndim(self._at(p, 0)) == 1]
        both = itertools.combinations(vectors[:6], 2)
        vectors += [f"({p} - {q})" for p, q in both if np.shape(self._at(p, 0)) == np.shape(self._at(q, 0))]
        bars = [b for b in turned if np.ndim(self._at(b, 0)) == 1]
        shapes = {name: np.shape(self._at(name, 0)) for name in (*bars, *vectors)}
        bars += [f"{p} * {b}" for b in bars for p in vectors if shapes[p] == shapes[b]]
        matrices = [form for p in plain for form in forms(p)]
        bars += [f"{m} @ {b}" for m, b in itertools.product(matrices, list(shapes)) if b in turned]
        for pair in itertools.product(bars, [*vectors, *bars]):
            found += [f"{np_}.outer({one}, {other})" for one, other in (pair, pair[::-1])]
        return [text for text in dict.fromkeys(found) if np.shape(self._at(text, 0)) == shape][:MOST_PRODUCTS]

    def _monomials(self, plain: list[str]) -> list[tuple[tuple[str, int], ...]]:
        """Products of powers, the simplest first."""
        found: list[tuple[tuple[str, int], ...]] = [()]
        parts = set(self.parts)
        for count in range(1, _WEIGHT + 1):
            for some in itertools.combinations(plain, count):
                most = _WEIGHT + parts.isdisjoint(some)
                for powers in itertools.product((1, -1, 2, -2), repeat=count):
                    if sum(map(abs, powers)) <= most:
                        found.append(tuple(zip(some, powers)))
        return sorted(found, key=lambda product: sum(abs(power) + (power < 0) for _, power in product))

    def _at(self, text: str, number: int) -> Any:
        """The value of an expression at one of the probes; None if it has none."""
        try:
            with np.errstate(all="ignore"):
                value = eval(text, {self.numpy: np, **self.seen[number].names})
            return value if np.all(np.isfinite(value)) else None
        except Exception:
            return None

    def _tables(self) -> Iterator[tuple[str, np.ndarray]]:
        """For each part with the cotangent, its products with all monomials at the first probe, as rows."""
        shape = self.seen[0].value.shape
        if self._table is None:
            self._table = self._of_products(shape)
        table = self._table
        for bar in self.bars:
            row = as_row(self._once(bar), shape)
            if row is not None:
                with np.errstate(all="ignore"):
                    turned = table * row
                yield bar, turned

    def _of_products(self, shape: tuple[int, ...]) -> np.ndarray:
        """The values of all products at the first probe, as rows; nan for those that do not fit there."""
        size = int(np.prod(shape))
        powers: dict[tuple[str, int], np.ndarray] = {}
        rows = []
        with np.errstate(all="ignore"):
            for text, power in {one for product in self.products for one in product}:
                part = as_row(self._once(text), shape)
                powers[text, power] = np.full(size, np.nan) if part is None else part ** float(power)
            for product in self.products:
                row: Any = np.ones(size)
                for one in product:
                    row = row * powers[one]
                rows.append(row)
        return np.array(rows)

    def _once(self, text: str) -> Any:
        if not hasattr(self, "_values"):
            self._values: dict[str, Any] = {}
        if text not in self._values:
            self._values[text] = self._at(text, 0)
        return self._values[text]

    def lacking(self) -> Iterator[tuple[str, str]]:
        """The missing terms, each with its sign."""
        yield from itertools.islice(self._found(self.seen[0].lacking, False), 3)

    def instead(self) -> Iterator[str]:
        """Expressions that should replace the whole expression."""
        first = self.seen[0]
        wanted = first.lacking + first.map @ real_rows(first.value.ravel(), first.value)
        for sign, text in itertools.islice(self._found(wanted, True), 3):
            yield text if sign == "+" else f"-{text}"

    def _found(self, wanted: np.ndarray, whole: bool) -> Iterator[tuple[str, str]]:
        first = self.seen[0]
        size = np.abs(wanted).max(initial=0.0)
        if not size > 1e-9:
            return
        fitting: list[tuple[str, float]] = []
        for bar, table in self._tables():
            with np.errstate(all="ignore"):
                moved = real_rows(table, first.value) @ first.map.T
                weight = (moved * moved).sum(1)
                factors = (moved @ wanted) / weight
                off = np.abs(moved * factors[:, None] - wanted).max(1)
                apart = np.abs(np.abs(factors)[:, None] - np.array(list(_CONSTANTS))[None, :])
            fits = (off <= _CLOSE * size) & (apart.min(1) <= 1e-6)
            for row in np.flatnonzero(fits)[:6]:
                text = list(_CONSTANTS.values())[int(apart[row].argmin())] + _written(bar, self.products[row])
                fitting.append((text, float(np.sign(factors[row]))))
        for text, sign in sorted(fitting, key=lambda one: len(one[0])):
            if self._holds(text, sign, whole):
                yield ("+" if sign > 0 else "-"), text

    def _holds(self, text: str, sign: float, whole: bool) -> bool:
        """Whether a term is the missing one at every probe."""
        for number, one in enumerate(self.seen):
            value = as_row(self._at(text, number), one.value.shape)
            if value is None:
                return False
            wanted = one.lacking + (one.map @ real_rows(one.value.ravel(), one.value) if whole else 0.0)
            off = one.map @ real_rows(sign * value, one.value) - wanted
            if not np.all(np.abs(off) <= 1e-6 * (1e-3 + np.abs(wanted).max(initial=0.0))):
                return False
        return True


def _written(bar: str, product: tuple[tuple[str, int], ...]) -> str:
    above = [bar, *(f"{n}**{p}" if p > 1 else n for n, p in product if p > 0)]
    above = above[1:] if bar == ALONE and len(above) > 1 else above
    below = [f"{n}**{-p}" if p < -1 else n for n, p in product if p < 0]
    text = " * ".join(above)
    return f"{text} / ({' * '.join(below)})" if len(below) > 1 else f"{text} / {below[0]}" if below else text


def _is_numeric(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return False
    return isinstance(value, (int, float, complex)) or (
        isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "ifc"
    )


def _same(one: Any, other: Any) -> bool:
    return np.array_equal(np.asarray(one), np.asarray(other))
