"""Where a rule is wrong that is right elsewhere: one side of a branch, a tie, a size, a dtype, a memory
layout.
"""

from __future__ import annotations

import ast
import dis
import enum
import itertools
import linecache
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import Place, RuleLabError
from ..calling.subjects import Subject
from ..measuring.vectors import leaves, shape_of, to_vec
from ..probing.perturb import landmarks, revalued
from ..probing.probes import Point, Probe
from ..reading.anatomy import anatomy_of, last_name, names_in
from ..reading.parameters import default_of
from ..reading.texts import keywords_of
from .evidence import Block, Case, Evidence, Explanation, ProbeMatrices, look_at
from .mistakes import detail


@dataclass(frozen=True)
class Spot:
    """One number in, or one probe: whether the rule is wrong there, and numbers that may explain why."""

    wrong: bool
    numbers: dict[str, float]


def regions(evidence: Evidence, case: Case) -> Iterator[Explanation]:
    """Where the cotangent of an argument is wrong, if it is right at some probe or in some element."""
    twin = _only_twins(evidence, case)
    if twin is not None:
        yield twin
        return
    blocks = [b for b in case.blocks if not b.look.is_coarse] or list(case.blocks)
    blocks += more_blocks(evidence, case, blocks)
    # With a single element some mistakes do not show: a sum over it, a shift along it.
    blocks = [b for b in blocks if b.leaf is None or b.leaf.shape == () or _is_long(b)] or blocks
    there = detail(evidence, case.only(blocks))
    extra = f", {there.words}" if there is not None else ""
    end = _wrong_end(blocks)
    if end is not None:
        yield Explanation("branch", f"{AT_END} {end}{extra}", case.name)
        return
    line = _line_of_wrong(evidence, blocks, case.name)
    option = _option_of_wrong(evidence, blocks)
    if option is not None:
        place = line if there is None or there.place is None else there.place
        if there is None:
            yield Explanation("branch", f"{WHERE} {option}", case.name, place=place)
        else:
            alone = there.words.removesuffix(" there")
            yield Explanation(there.mistake, f"{alone} where {option}", case.name, place=place)
        return
    only = _only_length(evidence, blocks) if line is None else None
    if only is not None:
        yield Explanation("size", f"made for one size: right only where {only}{extra}", case.name)
        return
    for zeros, spots in (
        (False, _by_element(evidence, blocks)),
        (False, _by_probe(evidence, blocks)),
        (True, _by_probe(evidence, blocks, zeros=True)),
    ):
        words = _separated(evidence, spots)
        if words is not None:
            kind = "size" if "len(" in words or ".size" in words else "kink" if "equal" in words else "branch"
            if kind == "size" and (zeros or not _is_written(words, evidence.subject)):
                continue
            if kind == "branch" and not has_branches(evidence.subject):
                continue
            yield Explanation(kind, f"{WHERE} {words}{extra}", case.name, place=line)
            return
    if line is not None:
        yield Explanation("branch", f"{THIS_LINE}{extra}", case.name, place=line)
        return
    if any(b.is_right and np.any(b.right) for b in blocks) and has_branches(evidence.subject):
        yield Explanation("branch", f"{SOMEWHERE}{extra}", case.name)


def _option_of_wrong(evidence: Evidence, blocks: list[Block]) -> str | None:
    """The value of an option at all points at which the rule is wrong, but not (or not only) at those at
    which it is right.
    """
    return _option_alone(evidence, [(b.look.probe.point, b.is_right) for b in blocks])


def option_of_wrong_points(evidence: Evidence) -> str | None:
    """The value of an option at all points at which something is wrong, but not at all others."""
    wrong = {id(finding.probe) for finding in evidence.wrong}
    wrong |= {id(look.probe) for look in evidence.looks if look.wrong.any()}
    return _option_alone(evidence, [(p.point, id(p) not in wrong) for p in evidence.probes])


def _option_alone(evidence: Evidence, points: list[tuple[Point, bool]]) -> str | None:
    for name, told in _options_at(evidence, [point for point, _ in points]):
        wrong = dict.fromkeys(value for value, (_, is_right) in zip(told, points) if not is_right)
        right = {value for value, (_, is_right) in zip(told, points) if is_right}
        usual = repr(default_of(evidence.subject.primal, name)) in wrong
        if wrong and right and (right.isdisjoint(wrong) if usual else right.difference(wrong)):
            return f"{name} is {' or '.join(wrong)}"
    return None


def _options_at(evidence: Evidence, points: list[Point]) -> Iterator[tuple[str, list[str]]]:
    """The parameters that are options at all points (flags, words, None, whole numbers), and their values."""
    if not points:
        return
    for at, name in enumerate(evidence.subject.names):
        values = [point.inputs[at] if at < len(point.inputs) else None for point in points]
        if any(isinstance(value, (str, bool, enum.Enum)) for value in values):
            yield name, list(map(repr, values))
            continue
        default = default_of(evidence.subject.primal, name)
        of_one = any(type(value) is int and at in _defaults(evidence.subject) for value in values)
        if of_one and all(may_be_option(value, default) for value in values):
            yield name, list(map(repr, values))
    defaults = keywords_of(evidence.subject.primal)
    for name in defaults:
        yield name, [repr(point.kwargs.get(name, defaults[name])) for point in points]


def may_be_option(value: Any, default: Any) -> bool:
    """Whether a value may be an option: None, the default, infinity, or a whole number, even as a float."""
    if value is None or value is default:
        return True
    return type(value) in (int, float) and (value % 1 == 0 or math.isinf(value) or value == default)


def _defaults(subject: Subject) -> set[int]:
    """The positions of the parameters with a default."""
    return {at for at, name in enumerate(subject.names) if default_of(subject.primal, name) is not ...}


def _wrong_end(blocks: list[Block]) -> str | None:
    """Which end of a vector is wrong, if nothing else of it is; ends are easily forgotten."""
    rows = [
        np.asarray(b.wrong.any(0)) for b in blocks if b.leaf is not None and b.leaf.shape and not b.is_right
    ]
    if any(b.leaf is None or len(b.leaf.shape) != 1 for b in blocks):
        return None
    long = [row for row in rows if len(row) > 3]
    if len(long) < 2 or len({len(row) for row in long}) < 2:
        return None
    for words, at in (("first", [0]), ("last", [-1]), ("first and last", [0, -1])):
        if all(row[at].all() and row.sum() == len(at) for row in long):
            return f"{words} element{'s' if len(at) > 1 else ''}, and right for the others"
    return None


def _only_length(evidence: Evidence, blocks: list[Block]) -> str | None:
    """The lengths of axes of arguments that are equal at all points where the rule is right, and different at
    several others where it is wrong. If there are several, it is not known for which of them the rule is
    made. If there is none, two lengths that are equal at all points of the first kind, and at none of the
    second.
    """
    right = [b.look.probe.point.inputs for b in blocks if b.is_right and np.any(b.right)]
    wrong = [b.look.probe.point.inputs for b in blocks if not b.is_right]
    if len(right) < ENOUGH or len(wrong) < ENOUGH:
        return None
    alone = []
    for at, name in enumerate(evidence.subject.names[: len(right[0])]):
        shapes = [[shape_of(inputs[at]) for inputs in those] for those in (right, wrong)]
        ranks = {len(shape) for those in shapes for shape in those}
        for axis in range(max(ranks)) if len(ranks) == 1 else ():
            good, bad = ({shape[axis] for shape in those} for those in shapes)
            if len(good) == 1 and len(bad) > 1 and good.isdisjoint(bad) and min(good) > 1:
                length = f"len({name})" if max(ranks) == 1 else f"{name}.shape[{axis}]"
                alone.append(f"{length} is {min(good)}")
    if alone:
        return " and ".join(alone)
    vectors = [
        (at, name)
        for at, name in enumerate(evidence.subject.names[: len(right[0])])
        if all(len(shape_of(inputs[at])) == 1 for inputs in (*right, *wrong))
    ]
    for (one, name), (other, beside) in itertools.combinations(vectors, 2):
        are_alike = [[len(inputs[one]) == len(inputs[other]) for inputs in those] for those in (right, wrong)]
        if all(are_alike[0]) and not any(are_alike[1]):
            return f"len({name}){SAME_AS}({beside})"
    return None


SAME_AS = " is len"
"""The words between two lengths that are equal wherever a rule is right."""


ENOUGH = 3
"""The number of points of either kind that is needed to name a length."""


def _is_long(block: Block) -> bool:
    return block.leaf is not None and all(n > 1 for n in block.leaf.shape)


def _is_written(words: str, subject: Subject) -> bool:
    """Whether the length from which a rule is wrong is a literal in its code, and so no coincidence."""
    number = float(words.split()[-1])
    marks = landmarks(subject.rule_codes or subject.codes)
    return any(abs(mark - number) <= 1 and mark > 1 for mark in marks)


_PARTING = frozenset(
    "where maximum minimum clip abs absolute fabs sign heaviside max min amax amin select piecewise argmax "
    "argmin argsort sort median fmax fmin relu copysign floor ceil round mod remainder".split()
)


def parts(node: ast.Call) -> bool:
    """Whether a call selects between different computations: `np.where(…)`."""
    return last_name(node.func) in _PARTING


def has_branches(subject: Subject) -> bool:
    """Whether the code of the function or of its rule may select between different computations."""
    for code in (*subject.codes, *subject.helpers):
        if not _PARTING.isdisjoint(code.co_names):
            return True
        if any(op.opname == "COMPARE_OP" or "_JUMP_IF_" in op.opname for op in dis.get_instructions(code)):
            return True
    return False


def of_odd_inputs(evidence: Evidence, case: Case) -> Iterator[Explanation]:
    """Right for floats and usual cotangents, but wrong for whole numbers or odd cotangents."""
    whole = [b for b in case.blocks if b.look.probe.point.like is not None]
    floats = [b for b in case.blocks if b.look.probe.point.like is None]
    wrong_whole = [b for b in whole if not b.is_right]
    if floats and all(b.is_right for b in floats) and wrong_whole:
        if any(_is_wrong_for_floats(evidence, b) for b in wrong_whole):
            if has_branches(evidence.subject):  # whole numbers equal each other, and numbers in the code
                yield Explanation("branch", SOMEWHERE, case.name)
            return
        words = f"wrong where {case.name} {OF_INTEGERS}: a buffer of that dtype truncates the fractions"
        yield Explanation("dtype", words, case.name)
        return
    off = [(b, np.flatnonzero(_off_rows(b))) for b in case.blocks if b.look.probe.odd and b.look.whole]
    wrong = [(b, rows) for b, rows in off if rows.size]
    if wrong and not any(np.isin(rows, b.look.probe.usual).any() for b, rows in wrong):
        block, rows = wrong[0]
        seed = block.look.seeds[rows[0]]
        shown = f"{seed[0]:.6g}" if seed.size == 1 else f"[{seed[0]:.6g}, …]"
        words = f"not linear in its cotangent: right for most, and wrong for {shown}"
        yield Explanation("nonlinear", words, case.name)


def _is_wrong_for_floats(evidence: Evidence, block: Block) -> bool:
    """Whether a rule that is wrong for whole numbers is also wrong for the same numbers as floats."""
    point = block.look.probe.point
    look = look_at(evidence, point.having(point.floats, point.origin), np.random.default_rng(0))
    return look is not None and look.whole and bool(look.wrong[:, block.columns].any())


def _off_rows(block: Block) -> np.ndarray:
    """The cotangents, as a mask, for which the answer is wrong."""
    if block.look.forward:
        return np.zeros(len(block.look.seeds), bool)
    with np.errstate(all="ignore"):
        asked, given = block.right_answers(block.look.seeds), block.answers
        scale = np.abs(asked).max(1, initial=0.0, keepdims=True)
        return np.any(np.abs(asked - given) > 1e-6 * scale, axis=1)


def _only_twins(evidence: Evidence, case: Case) -> Explanation | None:
    """Right for real floats in double precision and C order, but wrong for others."""
    coarse = [b for b in case.blocks if b.look.is_coarse]
    fine = [b for b in case.blocks if not b.look.is_coarse]
    if coarse and fine and all(b.is_right for b in fine) and any(not b.is_right for b in coarse):
        return Explanation("dtype", "wrong in single precision, right in double", case.name)
    if coarse and fine and all(b.is_right for b in coarse) and all(not b.is_right for b in fine):
        if _is_close(fine):
            return None  # this is rounding, which `imprecise` recognises
    wide = [b for b in case.blocks if _is_complex(b.look.probe)]
    real = [b for b in case.blocks if not _is_complex(b.look.probe)]
    if wide and real and all(b.is_right for b in real) and any(not b.is_right for b in wide):
        return Explanation("conjugate", IN_COMPLEX_ALONE, case.name)
    gaps = [b for b in case.blocks if _has_gaps(b.look.probe)]
    rest = [b for b in case.blocks if not _has_gaps(b.look.probe)]
    if gaps and rest and all(not b.is_right for b in gaps) and all(b.is_right for b in rest):
        words = "wrong for arrays that are not contiguous in memory, such as views and transposes"
        return Explanation("layout", words, case.name)
    return None


def _is_close(blocks: list[Block]) -> bool:
    return all(np.allclose(b.given, b.right, rtol=1e-3, equal_nan=True) for b in blocks)


def _is_complex(probe: Probe) -> bool:
    return any(leaf.dtype.kind == "c" for leaf in probe.truth.inputs)


def _has_gaps(probe: Probe) -> bool:
    arrays = [x for x in probe.point.inputs if isinstance(x, np.ndarray) and x.size > 1]
    return any(not x.flags.c_contiguous for x in arrays)


MORE = 12
"""The number of further points at which a rule is called before a condition is named."""
IN_COMPLEX_ALONE = "right for real numbers and wrong for complex ones"
"""Said if nothing but the kind of the numbers distinguishes the points."""
OF_INTEGERS = "holds integers"
"""Said if whole numbers take the place of floats."""
WHERE = "wrong where"
"""Said before a condition."""
SOMEWHERE = "wrong at some points and right at others"
"""Said if no condition distinguishes the points."""


AT_END = "wrong for the"
"""Said if one end of a vector is wrong."""
THIS_LINE = f"{WHERE}ver this line of the rule runs"
"""Said if only the lines that run distinguish the points."""


def more_blocks(evidence: Evidence, case: Case, blocks: list[Block]) -> list[Block]:
    """Blocks at further points, near those where the rule is right and near those where it is wrong. With few
    points nearly any condition may fit.
    """
    bases = [b for b in blocks if not b.is_right][:2] + [b for b in blocks if b.is_right][:2]
    found: list[Block] = []
    for look in _more_looks(evidence, bases) if bases and bases[0].leaf is not None else ():
        leaf = next((one for one in look.probe.truth.inputs if one.name == case.name), None)
        if leaf is not None:
            found.append(Block(look, leaf, slice(leaf.start, leaf.stop)))
    return found


def _more_looks(evidence: Evidence, bases: list[Block]) -> list[ProbeMatrices]:
    """The looks at further points near those of some blocks, the same for all arguments of these points."""
    at = tuple(id(base.look) for base in bases)
    if at in evidence.nearby_looks:
        return evidence.nearby_looks[at]
    rng = np.random.default_rng(5)
    looks: list[ProbeMatrices] = []
    for number in range(MORE):
        point = bases[number % len(bases)].look.probe.point
        inputs = revalued(point.inputs, lambda vector: _moved(vector, rng))
        # Whole numbers are compared as floats: when moved they are no longer whole.
        moved = point.moved(inputs, point.origin) if point.like is None else replace(point, inputs=inputs)
        look = look_at(evidence, moved, rng) if moved.is_inside() else None
        if look is not None:
            looks.append(look)
    evidence.nearby_looks[at] = looks
    return looks


def _moved(vector: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Every number made smaller or larger independently, so that no two are correlated, and some with the
    other sign.
    """
    factors = rng.uniform(0.6, 1.4, vector.size) * 4.0 ** rng.integers(-1, 2, vector.size)
    return vector * factors * rng.choice([-1.0, 1.0, 1.0], vector.size)


# --- conditions ---------------------------------------------------------------------------------------------


def _by_element(evidence: Evidence, blocks: list[Block]) -> list[Spot]:
    """A spot for each element of the argument, if each affects numbers of the value of its own."""
    spots: list[Spot] = []
    for block in blocks:
        leaf = block.leaf
        if leaf is None or leaf.dtype.kind != "f" or leaf.shape == ():
            return []
        numbers = _numbers(evidence, block.look.probe, whole=False)
        arrays = {
            name: np.broadcast_to(x, leaf.shape).ravel()
            for name, x in _arrays(evidence, block.look.probe)
            if _fits(shape_of(x), leaf.shape)
        }
        for column in range(leaf.stop - leaf.start):
            right, given = block.right[:, column], block.given[:, column]
            wrong = bool(block.wrong[:, column].any())
            if not wrong and not (np.any(right) or np.any(given)):
                continue
            if not np.all(np.isfinite(block.error[:, column])):
                continue
            own = {name: float(x[column]) for name, x in arrays.items()}
            spots.append(Spot(wrong, {**own, **numbers}))
    return spots


def _by_probe(evidence: Evidence, blocks: list[Block], zeros: bool = False) -> list[Spot]:
    """A spot for each probe. Those where the right answer is zero, which hides mistakes, are included only
    with `zeros`.
    """
    return [
        Spot(not b.is_right, _numbers(evidence, b.look.probe, whole=True))
        for b in blocks
        if not b.is_right or (np.any(np.isfinite(b.error)) and (zeros or np.any(b.right)))
    ]


def _numbers(evidence: Evidence, probe: Probe, whole: bool) -> dict[str, float]:
    """The numbers at a probe on which a rule may branch, by readable names."""
    found: dict[str, float] = {}
    for name, x in zip(evidence.subject.names, probe.point.inputs):
        if isinstance(x, (float, int, np.number)) and not isinstance(x, (bool, np.bool_)):
            found[name] = float(x)
        elif isinstance(x, np.ndarray) and x.dtype.kind == "f" and x.size:
            found[f"len({name})"] = float(len(x)) if x.ndim else 1.0
            if x.ndim > 1:
                found[f"{name}.size"] = float(x.size)
            if whole:
                found |= {
                    f"the sum of {name}": float(x.sum()),
                    f"the largest of {name}": float(x.max()), f"the smallest of {name}": float(x.min()),
                }  # fmt: skip
                found[f"two elements of {name} are equal"] = float(np.unique(x).size < x.size)
        elif not isinstance(x, (np.ndarray, complex, str)):
            numbers, parts = to_vec(x)[0], leaves(x, name)
            found |= {p.name: float(numbers[p.start]) for p in parts if p.shape == () and p.dtype.kind == "f"}
    if isinstance(probe.truth.y, (float, np.floating)):
        found["the value"] = float(probe.truth.y)
    for name, value in probe.point.kwargs.items():
        if isinstance(value, (int, float, bool)):
            found[name] = float(value)
    return found


def _arrays(evidence: Evidence, probe: Probe) -> Iterator[tuple[str, Any]]:
    for name, x in zip(evidence.subject.names, probe.point.inputs):
        if isinstance(x, np.ndarray) and x.dtype.kind == "f":
            yield name, x


def _fits(shape: tuple[int, ...], into: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, into) == into
    except ValueError:
        return False


def _separated(evidence: Evidence, spots: list[Spot]) -> str | None:
    """The condition on one number that holds where the rule is wrong and nowhere else."""
    wrong = [s for s in spots if s.wrong]
    right = [s for s in spots if not s.wrong]
    if not wrong or len(right) < 1 or len(wrong) + len(right) < 3:
        return None
    names = [n for n in wrong[0].numbers if all(n in s.numbers for s in spots)]
    marks = landmarks(evidence.subject.codes)
    for kind in (_is_plain, _is_size, _is_total, lambda name: name == "the value"):
        there = [name for name in names if kind(name)]
        fits = [words for name in there if (words := _condition(name, wrong, right, marks)) is not None]
        if kind is _is_plain:
            fits += _pairs(there, wrong, right)
        if fits:  # if several conditions fit, it is not known which is right
            return fits[0] if len(fits) == 1 else None
    return None


def _is_size(name: str) -> bool:
    return name.startswith("len(") or name.endswith(".size")


def _is_total(name: str) -> bool:
    return name.startswith("the ") and name != "the value"


def _is_plain(name: str) -> bool:
    return not (_is_size(name) or name.startswith("the "))


def _condition(name: str, wrong: list[Spot], right: list[Spot], marks: tuple[float, ...]) -> str | None:
    """The condition on one of the numbers; None if none fits."""
    bad = np.array([s.numbers[name] for s in wrong])
    good = np.array([s.numbers[name] for s in right])
    if not (np.all(np.isfinite(bad)) and np.all(np.isfinite(good))):
        return None
    if name.endswith("equal"):
        return name if bad.all() and not good.any() else None
    return _by_mark(name, bad, good, marks) or _by_size(name, bad, good)


def _pairs(names: list[str], wrong: list[Spot], right: list[Spot]) -> list[str]:
    found = []
    for one, other in itertools.combinations([n for n in names if not n.endswith("equal")], 2):
        bad = np.array([s.numbers[one] - s.numbers[other] for s in wrong])
        good = np.array([s.numbers[one] - s.numbers[other] for s in right])
        found += [
            f"{one} {sign} {other}"
            for sign, holds in _SIGNS
            if np.all(holds(bad)) and not np.any(holds(good))
        ]
    return found


_SIGNS: tuple[tuple[str, Callable[[np.ndarray], np.ndarray]], ...] = (
    ("<", lambda d: d < 0),
    (">", lambda d: d > 0),
    ("==", lambda d: d == 0),
)


def _by_mark(name: str, bad: np.ndarray, good: np.ndarray, marks: tuple[float, ...]) -> str | None:
    for mark in marks:
        for sign, holds in _SIGNS:
            if np.all(holds(bad - mark)) and not np.any(holds(good - mark)):
                return f"{name} {sign} {mark:g}"
        if mark > 0 and not name.startswith("len("):
            if np.all(np.abs(bad) > mark) and not np.any(np.abs(good) > mark):
                return f"abs({name}) > {mark:g}"
            if np.all(np.abs(bad) < mark) and not np.any(np.abs(good) < mark):
                return f"abs({name}) < {mark:g}"
    return None


def _by_size(name: str, bad: np.ndarray, good: np.ndarray) -> str | None:
    """For sizes, which are few whole numbers: larger ones, smaller ones, or all but one."""
    if not _is_size(name):
        return None
    if bad.min() > good.max():
        return f"{name} > {good.max():g}"
    if bad.max() < good.min():
        return f"{name} < {good.min():g}"
    if np.ptp(good) == 0 and not np.any(bad == good[0]):
        return f"{name} is not {good[0]:g}"
    return None


def _line_of_wrong(evidence: Evidence, blocks: list[Block], argument: str) -> Place | None:
    """Of the lines of the rule that ran at all probes where it is wrong, and at none where it is right, the
    first that computes the cotangent of the argument, or the first of all.
    """
    codes = frozenset(evidence.subject.rule_codes)
    wrong = [b.look.probe.lines for b in blocks if not b.is_right]
    right = [b.look.probe.lines for b in blocks if b.is_right]
    if not wrong or not right:
        return None
    only = frozenset.intersection(*wrong) - frozenset.union(*right)
    own = sorted(((line, code) for code, line in only if code in codes), key=lambda pair: pair[0])
    if not own:
        return None
    of_argument = _lines_for(evidence.subject, argument)
    line, code = next((one for one in own if one[0] in of_argument), own[0])
    text = linecache.getline(code.co_filename, line).rstrip("\n")
    return Place(code.co_filename, line, function=code.co_name, text=text or None)


def _lines_for(subject: Subject, argument: str) -> set[int]:
    """The lines of a rule that assign what it returns as the cotangent of an argument."""
    if subject.rule is None or subject.rule.mode != "rrule":
        return set()
    try:
        anatomy = anatomy_of(subject.rule, subject.primal)
    except RuleLabError:  # its source is not available
        return set()
    root = re.split(r"[.[]", argument)[0]
    answers = itertools.chain.from_iterable(map(anatomy.answers, anatomy.pullbacks))
    nodes = (node for one in answers for of, node in one.cotangents if of == root)
    returned = set(itertools.chain.from_iterable(map(names_in, nodes)))
    assigned = (node for node in ast.walk(anatomy.node) if isinstance(node, (ast.Assign, ast.AugAssign)))
    return {
        node.lineno
        for node in assigned
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if not returned.isdisjoint(names_in(target))
    }
