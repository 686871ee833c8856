"""The statement of a rule from which its wrong numbers come: what intermediate values are, and should be."""

from __future__ import annotations

import ast
import itertools
import types
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...compiler.base.source import find_source
from ...errors import RuleLabError
from ...rules.twins import written
from ..calling.subjects import Subject, codes_of
from ..measuring.copies import own_keywords
from ..measuring.vectors import to_vec
from ..probing.closeness import expected_of
from ..probing.perturb import fresh
from ..probing.probes import Probe, answer_to, without_warnings
from ..reading.anatomy import own_nodes
from ..reading.editing import Edit, is_stored
from .evidence import Explanation
from .patching import Patched
from .reading import OF_ANSWER
from .slips import is_buffer
from .watching import Watch, real_vector, watched

LOOKED_AT = 3
"""At how many probes intermediate values are examined."""
MOST_NUMBERS = 24
"""How many real numbers an intermediate value may have, in all its evaluations together."""
MOST_STATEMENTS, MOST_PARTS = 40, 60
"""How many statements of a rule, and how many expressions of its function, are examined."""
MOST_STEPS, MOST_HALVINGS = 16, 8
"""In how many steps a value that makes the answer right is sought, and how often a step is halved."""
_OTHER_MATTERS = ("writes", "stateful", "shape", "kind", "count", "raises", "value", "keeps_uncopied")
"""Mistakes about which intermediate values show nothing."""
_CLOSE = 1e-6
_PARTS = (ast.BinOp, ast.Call, ast.UnaryOp, ast.Subscript)


@dataclass
class NeededChange:
    """How a statement's value would have to change at one probe for the answer to be right. `unknowns` is the
    number of free parameters in that change (the rank of its effect on the answers), `rows` is how many
    numbers of the answers it affects, and `factor` is a number by which the value could be multiplied
    instead, if there is one.
    """

    unknowns: int
    rows: int
    factor: float | None


class Look:
    """One probe with the answers to two cotangents, or tangents, and all intermediate values."""

    def __init__(self, probe: Probe, subject: Subject, watch: Watch) -> None:
        self.probe, self.subject, self.watch = probe, subject, watch
        is_forward = subject.reverse is None
        leaves = probe.truth.inputs if is_forward else probe.truth.outputs
        self.seeds = np.random.default_rng(3).normal(size=(2, leaves[-1].stop if leaves else 0))
        expected, bars = expected_of(probe.truth, self.seeds, is_forward)
        self.known = np.isfinite(expected) & np.isfinite(bars)
        self.expected, self.bars = np.where(self.known, expected, 0.0), np.where(self.known, bars, 0.0)
        self.size = float(np.abs(self.expected).max(initial=0.0)) or 1.0
        self.values: list[dict[int, list[np.ndarray]]] = []
        watch.changes, watch.instead = {}, {}
        for row in range(2):
            self.error_of(row, keeps=True)
            self.values.append(watch.values)

    def error_of(self, row: int, keeps: bool = False) -> np.ndarray:
        """The error of the answer to one of the cotangents."""
        self.watch.start(keeps)
        y, answer = answer_to(self.seeds[row], self.subject, self.probe.point, self.probe.truth.y)
        self.y = to_vec(y)[0]
        return np.where(self.known[row], answer - self.expected[row], 0.0)

    def is_right(self, rows: list[int], off: np.ndarray) -> bool:
        bars = np.concatenate([self.bars[row] for row in rows])
        return bool(np.all(np.abs(off) <= _CLOSE * self.size + 8 * bars))

    @property
    def is_of_a_number(self) -> bool:
        """Whether the value of the function, or the varying input of a forward rule, is a single number."""
        return self.seeds.shape[1] == 1

    def value(self, number: int, row: int) -> np.ndarray:
        """The value of a statement as one vector; empty if it is not finite, not numeric or too large."""
        vector = real_vector(self.values[row].get(number, ()))
        return vector if vector.size <= MOST_NUMBERS and np.all(np.isfinite(vector)) else vector[:0]

    def is_still(self, number: int) -> bool:
        """Whether a value does not depend on the cotangent."""
        return np.array_equal(self.value(number, 0), self.value(number, 1))

    def needed_change(self, number: int) -> NeededChange | None:
        """What a statement would have to give; None if nothing that it gives makes the answer right."""
        sizes = [self.value(number, row).size for row in range(2)]
        if not all(sizes):
            return None
        groups = [[0, 1]] if self.is_still(number) else [[0], [1]]
        found = [self._solved(number, rows) for rows in groups]
        if any(one is None for one in found):
            return None
        factors = [one[1] for one in found if one is not None]
        same = None not in factors and np.allclose(factors, factors[0], rtol=1e-5)  # type: ignore[arg-type]
        # For a single number, the answers to two cotangents differ by a factor only.
        ways = [one for one in found if one is not None][: 1 if self.is_of_a_number else 2]
        return NeededChange(sum(w[0] for w in ways), sum(w[2] for w in ways), factors[0] if same else None)

    def _solved(self, number: int, rows: list[int]) -> tuple[int, float | None, int] | None:
        """For a change of a value that makes the answers right: the rank of its effect, the factor that has
        the same effect, and how many numbers of the answers it affects. None if there is none.
        """
        value = self.value(number, rows[0])
        step = 1e-6 * (float(np.abs(value).max()) or 1.0)

        def off(change: np.ndarray) -> np.ndarray:
            self.watch.changes = {number: change}
            return np.concatenate([self.error_of(row) for row in rows])

        change, rank, factor, touched = np.zeros(value.size), 0, None, 0
        now = off(change)
        for turn in range(MOST_STEPS):
            columns = [(off(change + step * unit) - now) / step for unit in np.eye(value.size)]
            table = np.array(columns).T
            if not np.all(np.isfinite(table)):
                return None
            if turn == 0:
                moved = np.any(np.abs(table) > 1e-9 * np.abs(table).max(), axis=1)
                moved = moved.reshape(len(rows), -1)[: 1 if self.is_of_a_number else 2]
                touched = int(np.count_nonzero(moved))
                rank = int(np.linalg.matrix_rank(table, tol=1e-5 * (np.abs(table).max() + 1e-300)))
                factor = self._factor(table @ value, now, lambda by: off((by - 1) * value), rows)
            wanted = np.linalg.lstsq(table, -now, rcond=1e-6)[0]
            before = float(np.linalg.norm(now))
            if turn and np.linalg.norm(now + table @ wanted) > before / 2:
                return None
            for _ in range(MOST_HALVINGS):
                then = off(change + wanted)
                if np.all(np.isfinite(then)) and np.linalg.norm(then) < before:
                    break
                wanted = wanted / 2
            else:
                return None
            change, now = change + wanted, then
            if self.is_right(rows, now):
                return rank, factor, touched
        return None

    def _factor(self, along: np.ndarray, now: np.ndarray, off: Any, rows: list[int]) -> float | None:
        """The number by which a value has to be multiplied, if that is enough."""
        weight = float(along @ along)
        if not weight > 0:
            return None
        by = 1 - float(along @ now) / weight
        with np.errstate(all="ignore"):
            return by if self.is_right(rows, off(by)) else None

    def is_mended_by(self, values: dict[int, list[np.ndarray]]) -> bool:
        """Whether the answers are right if these values, one for each cotangent, replace the present ones."""
        self.watch.changes = {}
        for row in range(2):
            self.watch.instead = {number: both[row] for number, both in values.items()}
            right = self.is_right([row], self.error_of(row))
            self.watch.instead = {}
            if not right:
                return False
        return True


def is_of_values(mistake: str) -> bool:
    """Whether intermediate values may show where a mistake is."""
    return mistake not in OF_ANSWER and mistake not in _OTHER_MATTERS


class Suspects(Patched):
    """The statements of a rule, in the order in which they are suspected."""

    def sites(self, seen: list[Explanation]) -> Iterator[ast.expr]:
        """Where the mistake may be: the statements whose value is not the cotangent that it should be, or
        that alone can make everything right; then what is likeliest by the text.
        """
        if not is_of_values(seen[0].mistake):
            yield from super().sites(seen)
            return
        first, fine = self._judged
        known = {id(node) for node in first}
        yield from first
        rest = [node for node in super().sites(seen) if id(node) not in known]
        rest.sort(key=is_buffer)  # last, since what is written to a buffer is likelier to be wrong
        yield from [node for node in rest if id(node) not in fine] or ([] if first else rest)

    def where_numbers_end(self) -> ast.expr | None:
        """The first value in a rule that is nan or inf and makes the answer so: with finite numbers in its
        place the answer is finite.
        """
        watch = Watch()
        nodes = [value for value, _, _ in self._statements]
        function = watched(self.anatomy.node, nodes, self.function, watch, dict(self._emptied()))
        if function is None or self.rule.requires or self.rule.partials is not None:
            return None
        subject = self._with(function)
        with without_warnings():
            number = self._first_end(subject, watch)
        return None if number is None else nodes[number]

    def _first_end(self, subject: Subject, watch: Watch) -> int | None:
        found = (_where_numbers_end(probe, subject, watch) for probe in self.probes)
        return next((number for number in found if number is not None), None)

    @property
    def culprits(self) -> list[Any]:
        """The statements that are wrong according to intermediate values, the likeliest first."""
        return self._judged[0]

    @property
    def fine_values(self) -> list[ast.expr]:
        """The named values in pullbacks that are the cotangent of something."""
        fine = self._judged[1]
        return [v for v, statement, _ in self._statements if id(v) in fine and self._is_inner(statement)]

    def is_fine(self, edit: Edit) -> bool:
        """Whether an edit changes something that is right by its value."""
        inside = self._inside_fine
        return any(id(one.old) in inside for one in edit.all)

    @cached_property
    def _inside_fine(self) -> set[int]:
        fine = self._judged[1]
        nodes = [part for row in self._statements for part in row[:2] if id(part) in fine]
        return {id(node) for root in nodes if isinstance(root, ast.AST) for node in ast.walk(root)}

    def where_it_goes_wrong(self) -> str:
        """The place of the mistake in words, by the first of the culprits; empty if there is none."""
        return f"in `{ast.unparse(self.culprits[:2][-1])}`" if self.culprits else ""

    @cached_property
    def _judged(self) -> tuple[list[Any], set[int]]:
        """The suspected statements, and the ids of those whose values are right."""
        if self.rule.partials is not None:
            return [], set()
        with without_warnings():
            looks = self._looks()
            if looks and self.is_forward:
                return self._mending(looks, set()), set()
            return self._by_values(looks) if looks else ([], set())

    # --- what is examined -----------------------------------------------------------------------------------

    @cached_property
    def _statements(self) -> list[tuple[ast.expr, Any, str]]:
        """The expressions whose values are examined, each with its statement and the name that it is assigned
        to.
        """
        found: list[tuple[ast.expr, Any, str]] = []
        scopes: list[Any] = [self.anatomy.node, *self.anatomy.pullbacks]
        for scope in {id(s): s for s in scopes}.values():
            inner = scope in self.answering
            for node in own_nodes(scope):
                if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)) and node.value is not None:
                    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                    found += [(value, node, name) for value, name in _parted(target, node.value)]
                elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                    found += [(value, node, "") for value in node.value.args[1:]]
                elif isinstance(node, ast.Return) and inner and node.value is not None:
                    found += [(value, value, "") for value in _held(node.value)]
        plain = [one for one in found if not _is_nothing(one[0])]
        return plain[:MOST_STATEMENTS]

    def _looks(self) -> list[Look]:
        """Looks at probes where the rule is wrong, with the values of its statements."""
        watch = Watch()
        nodes = [value for value, _, _ in self._statements]
        function = watched(self.anatomy.node, nodes, self.function, watch, dict(self._emptied()))
        if function is None or self.rule.requires:
            return []
        subject, found = self._with(function), []
        usual = [p for p in self.probes if _is_usual(p)]
        for probe in sorted(usual, key=lambda p: (not _is_complex(p), -min(_size(p), 8), _size(p))):
            try:
                look = Look(probe, subject, watch)
                off = np.concatenate([look.error_of(0), look.error_of(1)])
            except Exception:
                continue
            if np.all(np.isfinite(off)) and not look.is_right([0, 1], off):
                found.append(look)
            if len(found) == LOOKED_AT:
                break
        return found

    # --- what the values show -------------------------------------------------------------------------------

    def _by_values(self, looks: list[Look]) -> tuple[list[Any], set[int]]:
        truths = [_Truths(self, look) for look in looks]
        right, wrong = set(), []
        for number, (_, statement, name) in enumerate(self._statements):
            inner = self._is_inner(statement)
            # A value that is written to elements may be right but written to the wrong ones.
            if name and all(truth.is_right(number, inner, name) for truth in truths):
                right.add(number)
            elif inner and all(truth.is_wrong(number, name) for truth in truths):
                wrong.append(number)
        fine = {id(part) for number in right for part in self._statements[number][:2]}
        ways = ([number] for number in wrong)
        first = next((some for some in ways if self._is_mended(looks, truths, some)), None)
        if first is not None:
            return self._both(first[0]), fine
        found = self._mending(looks, right)
        if not found and len(wrong) > 1 and self._is_mended(looks, truths, wrong):
            found = [part for number in wrong for part in self._both(number)]
        return found, fine

    def _is_mended(self, looks: list[Look], truths: list[_Truths], numbers: list[int]) -> bool:
        """Whether everything is right if some statements give the cotangents that their names promise."""
        names = {number: self._statements[number][2] for number in numbers}
        return all(
            look.is_mended_by({number: truth.named(number, name) for number, name in names.items()})
            for look, truth in zip(looks, truths)
        )

    def _mending(self, looks: list[Look], right: set[int]) -> list[Any]:
        """The statements of which another value would make everything right, those with the fewest numbers to
        change first. A statement does not count if it has as many such numbers as it affects in the answers,
        unless it is the only one.
        """
        found: list[tuple[int, int]] = []
        able: list[int] = []
        by_number = []  # corrected by a constant factor, which may be in any step
        for number in range(len(self._statements)):
            if number in right:
                continue
            ways = []
            for look in looks:
                try:
                    way = look.needed_change(number)
                except Exception:  # the rule may raise for another value
                    way = None
                if way is None:
                    break
                ways.append(way)
            if len(ways) < len(looks):
                continue
            able.append(number)
            factors = [way.factor for way in ways]
            if None not in factors and np.allclose(factors, factors[0], rtol=1e-5):  # type: ignore[arg-type]
                by_number.append(number)
            unknowns = sum(way.unknowns if way.factor is None else min(way.unknowns, 1) for way in ways)
            if unknowns < sum(way.rows for way in ways):
                found.append((unknowns, number))
        if by_number:
            return self._both(by_number[0]) if len(by_number) == 1 else []
        if not found and len(able) == 1:  # only the answer itself can be made right
            return self._both(able[0])
        fewest = min(found, default=(0, -1))[0]
        best = [number for unknowns, number in found if unknowns == fewest]
        return [part for number in best[:3] for part in self._both(number)]

    def _both(self, number: int) -> list[Any]:
        value, statement, _ = self._statements[number]
        return [value] if statement is value else [value, statement]

    def _is_inner(self, statement: Any) -> bool:
        return any(statement in ast.walk(scope) for scope in self.answering)


class _Truths:
    """The cotangents of all parts of the function, and of the rule's own steps to the value, at one probe."""

    def __init__(self, suspects: Suspects, look: Look) -> None:
        self.suspects, self.look = suspects, look
        self.parts: list[tuple[np.ndarray, list[np.ndarray]]] = []
        self.named_parts: dict[str, list[np.ndarray]] = {}
        try:
            self._measure()
        except Exception:  # if only a part changes, the function may have no value
            self.parts = []
        self._measure_steps()

    def is_right(self, number: int, inner: bool, name: str) -> bool:
        """Whether a value in the pullback is the cotangent of some part of the function, or one before it is
        such a part. If it is named after a part or an argument, it has to be the cotangent of that.
        """
        both = [self.look.value(number, row) for row in range(2)]
        if not both[0].size:
            return False
        wanted = self._wanted(name) if inner else None
        if wanted is not None and wanted[0].size == both[0].size == both[1].size:
            return all(map(_same, both, wanted))
        for leaf in self.look.probe.truth.inputs if inner else ():
            own = self.look.expected[:, leaf.start : leaf.stop]
            if name in called_after(leaf.name) and own.shape[1] == both[0].size == both[1].size:
                return _same(both[0], own[0]) and _same(both[1], own[1])
        if not inner or self.look.is_still(number):
            slopes = [bar[0] / self.look.seeds[0] for _, bar in self.parts if self._goes_with(bar[0])]
            parts = [real_vector([value]) for value, _ in self.parts]
            return any(_same(both[0], one) for one in (*parts, *(slopes if inner else ())))
        bars = [bars for _, bars in self.parts]
        return any(_same(both[0], one[0]) and _same(both[1], one[1]) for one in bars)

    def _goes_with(self, bar: np.ndarray) -> bool:
        """Whether a cotangent may be an elementwise product with the seed."""
        seed = self.look.seeds[0]
        return seed.size == 1 or seed.shape == bar.shape

    def named(self, number: int, name: str) -> list[np.ndarray]:
        """The cotangents that a value should be by its name, for both seeds."""
        wanted = self._wanted(name)
        shapes = [np.shape(self.look.values[row][number][0]) for row in range(2)]
        like = [self.look.values[row][number][0] for row in range(2)]
        return [
            (bar[0::2] + 1j * bar[1::2] if np.iscomplexobj(x) else bar).reshape(shape)
            for bar, shape, x in zip(wanted or [], shapes, like)
        ]

    def is_wrong(self, number: int, name: str) -> bool:
        """Whether a value is not the cotangent that its name says."""
        wanted = self._wanted(name)
        turns = [len(self.look.values[row].get(number, ())) for row in range(2)]
        if wanted is None or turns != [1, 1] or self.look.is_still(number):
            return False
        both = [self.look.value(number, row) for row in range(2)]
        if any(mine.size != bar.size for mine, bar in zip(both, wanted)):
            return False
        return not all(map(_same, both, wanted))

    def _wanted(self, name: str) -> list[np.ndarray] | None:
        of = next((n for n in self.named_parts if name in called_after(n)), None)
        return None if of is None else self.named_parts[of]

    def _measure(self) -> None:
        """Measure the cotangents of the parts of the function: of each alone, and of all parts with equal
        values together.
        """
        primal = written(self.suspects.subject.primal)
        if not isinstance(primal, types.FunctionType):
            return
        try:
            tree = find_source(codes_of(primal)[0]).node
        except (RuleLabError, AttributeError, IndexError):
            return
        parts = (n for n in ast.walk(tree) if isinstance(n, _PARTS) and not is_stored(n))
        nodes: list[ast.expr] = list(itertools.islice(parts, MOST_PARTS))
        watch = Watch()
        function = watched(tree, nodes, primal, watch, {})
        if function is None:
            return
        point = self.look.probe.point

        def value() -> np.ndarray:
            watch.start(not watch.changes)
            return to_vec(function(*fresh(point.floats), **own_keywords(point.kwargs)))[0]

        value()
        known = {n: v[0] for n, v in watch.values.items() if len(v) == 1 and v[0].size}
        self._add(watch, value, known, _assigned(tree, nodes))

    def _measure_steps(self) -> None:
        """Measure the same for the rule's own steps, as far as its value depends on them."""
        look, statements = self.look, self.suspects._statements
        known = {}
        for number, (_, statement, _) in enumerate(statements):
            values = look.values[0].get(number, [])
            if not self.suspects._is_inner(statement) and len(values) == 1 and values[0].size:
                known[number] = values[0]
        names = {number: statements[number][2] for number in known}

        def value() -> np.ndarray:
            look.error_of(0)
            return look.y

        look.watch.changes = {}
        try:
            self._add(look.watch, value, known, names)
        except Exception:
            return
        finally:
            look.watch.changes = {}

    def _add(self, watch: Watch, value: Any, known: dict[int, np.ndarray], names: dict[int, str]) -> None:
        groups: dict[Any, list[int]] = {}
        for number, part in known.items():
            if part.size <= MOST_NUMBERS:
                groups.setdefault((part.shape, part.round(12).tobytes()), []).append(number)
        for alike in groups.values():
            for numbers in [alike, *([[n] for n in alike] if len(alike) > 1 else [])]:
                bars = self._bars(watch, value, known[numbers[0]], numbers)
                if bars is None:
                    continue
                part = known[numbers[0]]
                if not any(np.any(bar) for bar in bars):
                    continue
                self.parts.append((part, bars))
        for number, name in names.items():
            if name and number in known and name not in self.named_parts:
                mine = real_vector([known[number]])
                of = next((b for v, b in self.parts if _same(real_vector([v]), mine)), None)
                if of is not None:
                    self.named_parts[name] = of

    def _bars(
        self, watch: Watch, value: Any, part: np.ndarray, numbers: list[int]
    ) -> list[np.ndarray] | None:
        vector = real_vector([part])
        step = 1e-5 * (float(np.abs(vector).max()) or 1.0)
        columns = []
        for unit in np.eye(vector.size):
            ends = []
            for sign in (step, -step):
                watch.changes = dict.fromkeys(numbers, sign * unit)
                ends.append(value())
            columns.append((ends[0] - ends[1]) / (2 * step))
        watch.changes = {}
        table = np.array(columns).T
        if not np.all(np.isfinite(table)):
            return None
        return [seed @ table for seed in self.look.seeds]


def _where_numbers_end(probe: Probe, subject: Subject, watch: Watch) -> int | None:
    """The index of the first value that is not finite at a probe and makes the answer so."""
    try:
        look = Look(probe, subject, watch)
        if np.all(np.isfinite(look.error_of(0))):
            return None
        for number, turns in look.values[0].items():  # in the order of evaluation
            if len(turns) == 1 and not np.all(np.isfinite(turns[0])):
                watch.instead = {number: np.where(np.isfinite(turns[0]), turns[0], 0.5)}
                if np.all(np.isfinite(look.error_of(0))):
                    return number
    except Exception:  # the rule may raise for another value
        return None
    finally:
        watch.instead = {}
    return None


def _same(one: np.ndarray, other: np.ndarray) -> bool:
    if one.shape != other.shape:
        return False
    size = float(np.abs(other).max(initial=0.0))
    return size > 0 and bool(np.all(np.abs(one - other) <= 1e-6 * size))


def called_after(name: str) -> tuple[str, ...]:
    """The usual names of the cotangent of something."""
    return (
        f"{name}_bar", f"{name}bar", f"bar_{name}", f"d{name}", f"d_{name}", f"g{name}", f"g_{name}",
        f"{name}_grad", f"grad_{name}", f"{name}_ct", f"ct_{name}", f"{name}_cot", f"{name}_adj", f"{name}_g",
    )  # fmt: skip


def _parted(target: Any, value: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    """Each assigned value with the name that it is assigned to, or ""."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, part in zip(target.elts, value.elts):
            yield part, one.id if isinstance(one, ast.Name) else ""
        return
    yield value, target.id if isinstance(target, ast.Name) else ""
    yield from ((part, "") for part in _held(value))


def _held(value: ast.expr) -> Iterator[ast.expr]:
    """The parts of a tuple, a list, a dict or a call of a class."""
    if isinstance(value, (ast.Tuple, ast.List)):
        parts: list[Any] = value.elts
    elif isinstance(value, ast.Dict):
        parts = value.values
    elif isinstance(value, ast.Call) and getattr(value.func, "id", "")[:1].isupper():
        parts = [*value.args, *(keyword.value for keyword in value.keywords)]
    else:
        return
    for part in parts:
        yield part
        yield from _held(part)


def _is_nothing(node: ast.expr) -> bool:
    """Whether an expression is just a name, or an initial value for accumulation."""
    if isinstance(node, ast.Constant):
        return type(node.value) is not float or node.value == 0
    return isinstance(node, (ast.Name, ast.Starred, ast.Lambda)) or is_buffer(node)


def _assigned(tree: Any, nodes: list[ast.expr]) -> dict[int, str]:
    """The names to which some expressions are assigned, by their index."""
    places = {id(node): number for number, node in enumerate(nodes)}
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Name, ast.Tuple)):
            for value, name in itertools.islice(_parted(node.targets[0], node.value), 4):
                if name and id(value) in places:
                    found[places[id(value)]] = name
    return found


def _is_usual(probe: Probe) -> bool:
    leaves = (*probe.truth.inputs, *probe.truth.outputs)
    whole = probe.truth.whole and probe.failure is None
    exact = all(leaf.dtype.itemsize >= (16 if leaf.dtype.kind == "c" else 8) for leaf in leaves)
    return whole and exact and probe.point.like is None and not probe.point.far


def _is_complex(probe: Probe) -> bool:
    return any(leaf.dtype.kind == "c" for leaf in probe.truth.inputs)


def _size(probe: Probe) -> int:
    return probe.truth.inputs[-1].stop if probe.truth.inputs else 0
