"""Judge a rule at one sample point: run the author's code plainly, then traced, and compare the two; then
compare the rule with difference quotients.

The plain run checks the tracer: if a value or cotangent differs between the two by more than 1e-9, the traced
program is a different one, and the verdict is "unsupported". The difference quotient checks the rule: the
traced primal at x + h and x - h with h = 1e-30 and 100 digits, computed by running the code or its graph,
without any table of derivatives.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import NotDifferentiableError, an
from ..raised import raised_words
from ..rules.lent import Lent
from .cells import Array, ComplexNumber, Static, complex_part, is_complex_sample, samples
from .complexes import is_complex
from .counterexamples import (
    code_to_paste,
    complex_diagnosis,
    counterexample_at,
    diagnosis,
    exact_arguments,
    position,
)
from .digits import MAX_DIGITS, VALUES, agreeing_digits, is_wrong
from .integrals import is_vague
from .moved_graphs import MovedGraph
from .outcomes import Misfit, Settled, Skipped
from .plain_values import (
    are_close_results,
    are_complex,
    argument_cotangents,
    entries_of,
    first_changed,
    flat_floats,
    is_zero,
    moved_by_rounding,
    numbers_in,
    padded_cotangents,
    parts_that_move,
    plain_argument,
    plain_number,
    seed_like,
    without_warnings_or_output,
)
from .scalars import CONTEXT, Scalar, Trace
from .small_slopes import wrong_though_small
from .tracing import (
    RESULT_OF_TYPE,
    as_real_as,
    difference_quotients,
    flat_numbers,
    is_equivalent_to_code,
    of_leaves,
    place_of,
    run_traced,
    skip_ties,
    trace_primal,
    traced_seed,
)
from .verdicts import A_RESULT, Counterexample, Refuted, Unsupported


@dataclass
class Visit:
    """What was found at a sample at which the rule is right."""

    sample: tuple
    trace: Trace
    y: list  # traced results, flat
    rule_y: list
    seeds: list  # traced cotangents of the results, flat
    leaves: list  # traced inputs, flat
    found: list  # traced cotangents by the rule, flat
    expected: list  # the same by difference quotients, as numbers
    digits: int
    path: tuple
    codes: frozenset  # the author's code objects that were run
    vague: bool = False  # fewer digits agree than for an identity, and no more digits of the slope are known
    underived: tuple = ()  # names of arguments whose cotangents are not implemented and were not judged


def visit_sample(question, sample, seed):
    """Return the Visit at `sample` with seeds made by `seed()`; raises Settled, Skipped or Misfit."""
    seeds: list[Any] = []
    sample = _with_uncovered_fixed(question.leading, sample)

    def seed_for(y):
        seeds.extend(ComplexNumber(seed(), seed()) if wide else seed() for wide in are_complex(y))
        left = iter(_plain_seeds(seeds))
        return seed_like(y, lambda shape: numbers_in(shape, left))

    plain_y, plain_rule_y, plain_found = plain_run(question, sample, seed_for)
    trace, swap, arguments, leaves, y = trace_primal(question, sample)
    wide = are_complex(plain_y)
    path, y_flat = trace.path(), flat_numbers(trace, y, wide)
    quadratures = tuple(trace.quadratures)
    moving = MovedGraph(trace, leaves, y_flat)
    skip_ties(trace)
    _same_program(question, "value", plain_y, y_flat, sample, question.primal)

    y_bar, seed_leaves = traced_seed(trace, question.names, plain_y, seeds)
    rule = question.rule_through(lambda f: swap.value(f, "rule"))

    places: list[int] = []

    def run_rule():
        rule_y, pullback = rule(*arguments)
        return rule_y, argument_cotangents(
            padded_cotangents(question, pullback(y_bar), len(sample)), sample, places
        )

    rule_y, cotangents = run_traced(trace, swap, question, run_rule)
    skip_ties(trace)
    _check_count(wide, rule_y)
    rule_y = flat_numbers(trace, rule_y, wide)
    _same_program(question, "rule's value", _widened(plain_rule_y, plain_y), rule_y)
    found = _found(trace, question, sample, cotangents, plain_found, _in_floats(question, plain_y, seeds))
    _check_value(question, sample, plain_y, seeds, _numbers(y_flat, wide), _numbers(rule_y, wide))
    quotients = functools.partial(
        difference_quotients, question, sample, leaves, seed_leaves, path, quadratures=quadratures, wide=wide,
        moving=moving if is_equivalent_to_code(moving, question, sample, path, wide) else None,
    )  # fmt: skip
    expected = quotients()
    if missing := tuple(question.names[i] for i in places):
        found = [
            _cotangent_or_right_one(leaf, missing, *pair)
            for leaf, *pair in zip(leaves, found, expected, strict=True)
        ]
    vague = bool(quadratures) and is_vague(quotients, quadratures, expected, [f.shadow for f in found])
    digits = _check_gradient(
        question, sample, plain_y, seeds, leaves, found, expected, y_flat, seed_leaves,
        None if quadratures else quotients, vague,
    )  # fmt: skip
    digits = min(digits, trace.known_digits) if len(missing) < _moving(sample) else 0
    return Visit(
        sample, trace, y_flat, rule_y, seed_leaves, leaves, found, expected, digits, trace.path(),
        frozenset(swap.codes), vague, missing,
    )  # fmt: skip


def _moving(sample):
    """The number of arguments that are not held fixed."""
    return sum(not isinstance(value, Static) for value in sample)


def not_derived(names):
    """The message for arguments for which a rule has no cotangent."""
    return f"the cotangent of {' and '.join(names)} is not implemented in the rule"


def _cotangent_or_right_one(leaf, missing, found, expected):
    """The cotangent of a leaf; the right number in its place if the rule has none."""
    name = leaf.args.partition("[")[0].removesuffix(".real").removesuffix(".imag")
    return leaf.trace.argument("not_implemented", expected) if name in missing else found


def _with_uncovered_fixed(leading, sample):
    """The sample with the arguments that a rule does not cover held fixed."""
    if leading is None:
        return sample
    held = [v if isinstance(v, Static) else Static(plain_argument(v)) for v in sample[leading:]]
    return (*sample[:leading], *held)


def _plain_seeds(seeds):
    return [complex(s) if isinstance(s, ComplexNumber) else float(s) for s in seeds]


# --- the plain run ------------------------------------------------------------------------------------------


def plain_value(question, sample):
    """The function's value in floats; a sample without a finite value is skipped."""
    with without_warnings_or_output():
        try:
            y = question.value_through(lambda f: f)(*map(plain_argument, sample))
        except (ArithmeticError, ValueError) as raised:
            raise Skipped(f"{type(raised).__name__}: {raised}") from raised
        except Exception as raised:
            raise Misfit(f"{type(raised).__name__}: {raised}") from raised
    kinds = {np.asarray(part).dtype.kind for part in parts_that_move(y)}
    if not kinds <= set("fiubc"):
        raise Settled(
            Unsupported(
                f"{RESULT_OF_TYPE} {type(y).__name__}",
                place_of(question.primal),
                "this check is for functions that return numbers",
            )
        )
    if not np.all(np.isfinite(flat_floats(y))):
        raise Skipped("the value is not finite")
    return y


def makes_a_number(question, spec, rng, limits=()):
    """Whether the function returns one number for arguments of these kinds, and not always the same one."""
    try:
        y, other = (plain_value(question, s) for s in itertools.islice(samples(spec, rng, limits), 2))
    except (Skipped, Misfit, Settled):
        return False
    return not isinstance(y, (tuple, list)) and np.ndim(y) == 0 and bool(y != other)


def plain_run(question, sample, seed_for):
    """(y, the rule's y, its cotangents) in floats, checked to be repeatable and to have the right form."""
    y = plain_value(question, sample)
    again = plain_value(question, sample)
    if not np.array_equal(flat_floats(y), flat_floats(again)):
        trace_primal(question, sample)  # if a C call is the cause, this names it
        raise Settled(
            Unsupported(
                "the function returns a different value at each call",
                place_of(question.primal),
                "pass in what varies as an argument",
            )
        )
    if any(are_complex(y)) and not any(map(is_complex_sample, sample)):
        trace_primal(question, sample)  # a power of a negative float becomes complex: skipped there
    y_bar = seed_for(y)
    with without_warnings_or_output():
        arguments = list(map(plain_argument, sample))
        rule_y, pullback = _plain_rule(question, sample, arguments)
        if (given := _shapes(rule_y)) != (wanted := _shapes(y)):
            words = f"the rule's value has shape {given}, the function's has {wanted}"
            verdict = Refuted("shape", words)
            raise Misfit(words, verdict)
        lent = Lent([("the cotangent it is given", y_bar)])
        try:
            first = padded_cotangents(question, pullback(y_bar), len(sample))
            _check_form(question, sample, first)
            kept = [np.array(plain_number(c), copy=True) for c in argument_cotangents(first, sample, [])]
            again = argument_cotangents(padded_cotangents(question, pullback(y_bar), len(sample)), sample, [])
        except (Settled, Misfit):
            raise
        except Exception as raised:
            _rule_raised(question, "pullback", raised, sample)
    if written := first_changed(arguments, map(plain_argument, sample), question.names):
        raise Settled(Refuted("effects", f"the rule writes to its argument {written}"))
    if written := lent.changed():
        raise Settled(Refuted("effects", f"the pullback writes to {written}"))
    if not all(are_close_results(k, plain_number(a)) for k, a in zip(kept, again, strict=True)):
        raise Settled(
            Refuted("effects", "the pullback gives a different answer when it is called a second time")
        )
    return y, rule_y, kept


def _shapes(y):
    """The shape of a value; for a list or tuple the shapes of its parts."""
    return [_shapes(part) for part in y] if isinstance(y, (tuple, list)) else np.shape(y)


def _plain_rule(question, sample, arguments):
    rule = question.rule_through(lambda function: function)
    try:
        result = rule(*arguments)
    except Settled:
        raise
    except Exception as raised:
        _rule_raised(question, "rule", raised, sample)
    if not isinstance(result, tuple) or len(result) != 2 or not callable(result[1]):
        raise Settled(
            Refuted(
                "arity", f"the rule must return a pair (y, pullback), not {an(type(result).__name__)}"
            )
        )
    return result


def _rule_raised(question, part, raised, sample):
    if isinstance(raised, NotDifferentiableError):
        raise Skipped.by_refusal(raised) from raised
    verdict = Refuted(
        "effects",
        f"the {part} raised {raised_words(raised)}",
        Counterexample(
            exact_arguments(question, sample),
            "1",
            f"the {part}",
            A_RESULT,
            f"{type(raised).__name__}",
            0,
            code_to_paste(question, sample, Fraction(1), None, None),
        ),
    )
    raise Misfit(verdict.reason, verdict, raised=True) from raised


def _check_form(question, sample, returned):
    for name, cotangent in zip(question.names, returned[1:], strict=True):
        if cotangent is None:
            raise Settled(
                Refuted(
                    "arity", f"the cotangent of {name} is None; give NoTangent() or ZeroTangent() instead"
                )
            )
    for name, value, cotangent in zip(
        question.names, sample, argument_cotangents(returned, sample, []), strict=True
    ):
        if isinstance(value, Static) or is_zero(cotangent):
            continue
        shape = value.shape if isinstance(value, Array) else ()
        if np.shape(cotangent) != shape:
            verdict = Refuted(
                "shape", f"the cotangent of {name} has shape {np.shape(cotangent)}, but {name} has {shape}"
            )
            raise Misfit(verdict.reason, verdict)


# --- the traced run -----------------------------------------------------------------------------------------


def _check_count(wide, rule_y):
    theirs = [is_complex(entry) for part in parts_that_move(rule_y) for entry in entries_of(part)]
    if len(theirs) != len(wide):
        raise Settled(
            Refuted("shape", f"the rule's value has {len(theirs)} entries, but that of f has {len(wide)}")
        )
    if any(theirs) and not any(wide):  # a rule for complex arguments splits them, and puts its value together
        verdict = Refuted("value", "the rule's y is complex, but f of the arguments is real")
        raise Misfit(verdict.reason, verdict)


def _widened(rule_y, y):
    """The rule's plain value, converted to complex if the function's is complex."""
    if isinstance(y, (tuple, list)) or np.asarray(y).dtype.kind != "c":
        return rule_y
    return np.asarray(rule_y, complex)


def _found(trace, question, sample, cotangents, plain_found, again):
    flat: list[Scalar] = []
    for i, (value, cotangent, plain) in enumerate(zip(sample, cotangents, plain_found, strict=True)):
        name = question.names[i]
        if isinstance(value, Static):
            continue
        count = len(value.entries) if isinstance(value, Array) else 1
        pairs = is_complex_sample(value)
        if not pairs and (is_complex(cotangent) or is_complex(plain)):
            note = f"the cotangent of {name} is complex, but {name} is real: its real part is used"
            trace.notes[note] = None
            cotangent, plain = as_real_as(0.0, cotangent), plain.real
        zero = is_zero(cotangent)
        wide = [pairs] * count
        entries = flat_numbers(trace, [0.0] * count if zero else cotangent, wide)
        plain = np.asarray(plain, complex if pairs else float)
        _same_program(
            question,
            f"cotangent of {name}",
            np.broadcast_to(plain, (count,)) if plain.ndim == 0 else plain,
            entries,
            sample,
            lambda *arguments, i=i: again(*arguments)[i],
        )
        flat.extend(of_leaves(value, entries))
    return flat


def _same_program(question, what, plain, traced, sample=None, again=None):
    """Raise Skipped or Settled if plain and traced numbers differ. If a rounding error in the `sample`
    changes what `again` returns in floats, as after many steps of a chaotic equation, this says nothing about
    the program.
    """
    plain = flat_floats(plain)
    integrals = any(t.trace.integrands for t in traced)
    untraced = all(t.is_constant for t in traced)
    traced = np.array([float(CONTEXT.nstr(t.shadow, 20)) for t in traced])
    if not are_close_results(traced, plain):
        if integrals:
            raise Skipped("SciPy's quad gives fewer than nine digits of the integral")
        if again is not None and _is_lost_to_rounding(sample, again):
            raise Skipped("rounding dominates its value there")
        # Numbers that depend on no traced ones may come from uninitialized memory, and differ in each run.
        against = "" if untraced else f"{traced.tolist()[:3]}, not "
        raise Settled(
            Unsupported(
                f"the {what} in exact arithmetic differs from that in floats ({against}{plain.tolist()[:3]})",
                place_of(question.primal),
                "rounding dominates the result, or the code treats floats specially",
            )
        )


def _is_lost_to_rounding(sample, again):
    """Whether the result in floats changes when the arguments change in the last digit."""

    def numbers(arguments):
        with without_warnings_or_output():
            return flat_floats(again(*arguments))

    given = list(map(plain_argument, sample))
    try:
        here = numbers(given)
        return not all(are_close_results(numbers(beside), here) for beside in moved_by_rounding(given))
    except Exception:
        return False


def _in_floats(question, y, seeds):
    """The rule's cotangents in floats, as a function of the arguments."""

    def cotangents(*arguments):
        left = iter(_plain_seeds(seeds))
        _, pullback = question.rule_through(lambda f: f)(*arguments)
        bars = pullback(seed_like(y, lambda shape: numbers_in(shape, left)))
        return [plain_number(bar) for bar in padded_cotangents(question, bars, len(arguments))[1:]]

    return cotangents


# --- judging the numbers ------------------------------------------------------------------------------------


def _numbers(parts, wide):
    """The 100-digit numbers whose real and imaginary parts are these traced numbers."""
    left = iter(parts)
    return [CONTEXT.mpc(next(left).shadow, next(left).shadow) if w else next(left).shadow for w in wide]


def _check_value(question, sample, plain_y, seeds, y, rule_y):
    for value, given in zip(y, rule_y, strict=True):
        if is_wrong(value, given, VALUES):
            raise Settled(
                Refuted(
                    "value",
                    "the rule's y is not f of the arguments",
                    counterexample_at(question, sample, plain_y, seeds, "y", value, given, "value"),
                )
            )


def _check_gradient(
    question, sample, plain_y, seeds, leaves, found, expected, y, seed_leaves, quotients, vague=False
):
    scale = 1 + sum(abs(s.shadow * v.shadow) for s, v in zip(seed_leaves, y, strict=True))
    numbers = [f.shadow for f in found]
    digits = [agreeing_digits(e, n, scale) for e, n in zip(expected, numbers, strict=True)]
    wrong = [i for i, (e, n) in enumerate(zip(expected, numbers, strict=True)) if is_wrong(e, n, scale)]
    if vague:
        return min(digits)
    if not wrong and quotients:
        wrong = wrong_though_small(expected, numbers, quotients, scale)
    if wrong:
        i = wrong[0]
        name, should, given = leaves[i].args, expected[i], numbers[i]
        if (part := complex_part(name)) is not None:
            name, first = name.rpartition(".")[0], i - part
            should = CONTEXT.mpc(*expected[first : first + 2])
            given = CONTEXT.mpc(*numbers[first : first + 2])
        reason = (
            diagnosis(i, leaves, found, expected, seed_leaves)
            if part is None
            else complex_diagnosis(name, should, given, found[first : first + 2], seed_leaves)
        )
        counterexample = counterexample_at(
            question,
            sample,
            plain_y,
            seeds,
            f"the cotangent of {name}",
            should,
            given,
            position(sample, i),
        )
        settled = Settled(Refuted("gradient", reason, counterexample))
        settled.wrong = i
        settled.graphs = (leaves, found, y, seed_leaves)
        settled.expected = expected
        raise settled
    return min(digits, default=MAX_DIGITS)
