"""What a refutation by exact numbers means of a rule: whether floats say the same, and whether its function
is meant for the arguments at which it is wrong."""

from __future__ import annotations

import ast
import contextlib
import math
import re
from fractions import Fraction

import numpy as np

from ..advice import THOSE_MEANT
from ..checking.calling.subjects import codes_of
from ..checking.reading.texts import decides_in_a_loop
from ..checking.testing.witness import seen_by_numbers
from .cells import shape_of
from .plain import plain_argument
from .verdicts import Refuted, Undecided

LEFT_BY_CANCELLING = 8  # digits that agree at least where only the rounding of a constant is seen
EPSILON = 2.0**-52
NOT_MEANT = "which may not be intended"
ALIKE = 2
"""Digits in which what a rule gives is like what is expected, so that differences in floats tell no more."""
BY_DECISIONS = (
    "finite differences agree with the rule, but the formula of the steps that ran has a different "
    "derivative: as in a bisection, comparisons decide each step"
)
GOES_ON = (
    "the rule is that of the number to which the function's loop converges, and where it differs from the "
    "function the loop has not converged"
)


def wrong_at(refuted):
    """What a refutation says, and where."""
    example = refuted.counterexample
    if example is None or " at " in refuted.reason:
        return refuted.reason
    return f"{refuted.reason} at {', '.join(f'{n} = {value}' for n, value in example.arguments.items())}"


def of_not_meant(refuted):
    """What is known of a rule where nothing but arguments that may not be meant refutes it."""
    return Undecided(0, f"{wrong_at(refuted)}, {NOT_MEANT}: {THOSE_MEANT}")


def is_of_shape(verdict):
    return isinstance(verdict, Refuted) and verdict.kind == "shape"


def is_of_constants(verdict, question):
    """Whether all that is wrong is what floats in the code may be off by: products of decimals that Python
    has rounded, of which little is left where large numbers cancel."""
    shown = verdict.counterexample
    if verdict.kind != "gradient" or shown is None:
        return False
    if shown.digits < LEFT_BY_CANCELLING and not _is_nothing(shown.expected, shown.found):
        return False
    codes = (*codes_of(question.primal), *codes_of(question.rule))
    constants = [c for code in codes for c in code.co_consts if isinstance(c, float) and c % 1]
    constants += [x for name, x in _NAMED.items() if any(name in code.co_names for code in codes)]
    constants += [1.0 for code in codes if not _OF_FLOATS.isdisjoint(code.co_names)]
    seeds = [float(Fraction(one)) for one in re.findall(r"\d+(?:/\d+)?", shown.y_bar)]
    try:
        off = abs(float(shown.expected) - float(shown.found))
    except ValueError:  # complex
        return False
    return bool(constants) and off <= 4 * EPSILON * max([1.0, *map(abs, constants)]) * max([1.0, *seeds])


def _is_nothing(number, beside):
    """Whether a number is what is left of some that cancel in a hundred digits."""
    with contextlib.suppress(ValueError):  # complex
        return abs(float(number)) <= EPSILON**2 * abs(float(beside))
    return False


CONVERGED = 8
"""Digits of a slope that are right of a loop of which twelve digits of the value have converged, at least."""
_NAMED = {"pi": math.pi, "tau": math.tau, "e": math.e}
_OF_FLOATS = frozenset(("ones", "ones_like", "full", "full_like", "eye", "identity", "linspace", "arange"))
"""What makes arrays of floats, by which others are divided: `np.ones((n, n)) / n`."""


class Evidence:
    """What is known of a rule beside its traces, for arguments of these names: the arguments that its
    function is `meant` for, where nobody gave any, and what `differences` in floats say of it.
    """

    def __init__(self, names, meant=None, differences=None):
        self.names, self.meant, self.differences = names, meant, differences
        self.no_number_at = ""  # where floats give none, by the last look at numbers

    def wrong_by_numbers(self, in_doubt):
        """What numbers find wrong with the rule, and at which arguments; None for nothing."""
        seen = self._seen_by_numbers(in_doubt)
        self.no_number_at = seen.no_number_at
        return seen.wrong

    def finds_nothing(self, refuted):
        """Whether a rule is refuted where its function does not find what it looks for, such as a root."""
        args = None if self.meant is None else self._floats_of(refuted)
        return args is not None and self.meant.finds_nothing(args)

    def goes_on(self, refuted):
        """Whether a rule is refuted where its function, which repeats a step, has not come to its end, or by
        digits that more steps would change."""
        args, steps = self._floats_of(refuted), self.differences and self.differences.guesser.iterated
        if not args:
            return False
        is_near = refuted.kind == "gradient" and refuted.counterexample.digits >= CONVERGED
        if not steps:  # it may end where two steps are as near to each other as floats can be
            return is_near and self.differences is not None and decides_in_a_loop(self.differences.f)
        return is_near or not steps.has_ended(args, self.differences.guesser.kwargs)

    def set_aside(self):
        """What numbers find wrong at arguments that may not be meant, and set aside; "" for nothing."""
        seen = self._seen_by_numbers(in_doubt=True)
        return "" if seen.wrong else seen.set_aside

    def _seen_by_numbers(self, in_doubt):
        meant = self.meant
        return seen_by_numbers(
            meant.f, meant.kwargs, meant.registry, of_form=meant.is_registered, in_doubt=in_doubt
        )

    def intervals(self):
        """The intervals of the arguments that the function is meant for, by name."""
        return (self.meant or self.differences).intervals()

    def contradicts(self, refuted):
        """Whether differences of the function in floats agree with the rule where its derivative by the trace
        is far from what the rule gives: what decides each of its steps by what varies is no formula.
        """
        args = self._shown_by(refuted)
        if args is None or refuted.kind != "gradient" or refuted.counterexample.digits >= ALIKE:
            return False
        if not decides_in_a_loop(self.differences.f):
            return False
        return all(self.differences.guesser.seems_right(args) for _ in range(3))

    def excludes(self, refuted):
        """Whether a rule is refuted by arguments that its function is not meant for, and seems right for
        those that it is."""
        args = None if self.meant is None else self._floats_of(refuted)
        return args is not None and self.meant.excludes(args)

    def excludes_ranks(self, plan):
        """Whether the arguments of a plan have other axes than those that the function is meant for, and its
        rule seems right for these."""
        if self.meant is None or not plan.form:
            return False
        return self.meant.excludes_ranks(tuple(len(shape_of(kind)) for kind in plan.specs[0]))

    def excludes_beyond_given(self, refuted, plan):
        """Whether a rule is refuted by numbers of other signs than those that were given, which its function
        is not meant for.
        """
        args = self._shown_by(refuted)
        if args is None or len(plan.given) != 1 or len(args) != len(plan.given[0]):
            return False
        given = tuple(map(plain_argument, plan.given[0]))
        signs = [np.sign(x) if np.shape(x) == () else None for x in given]
        if all(sign is None or sign == np.sign(x) for sign, x in zip(signs, args)):
            return False
        return not self.differences.excludes(given) and self.differences.excludes(args)

    def _shown_by(self, refuted):
        """The arguments of a counterexample in floats, where differences are of the same; None where they are
        not, or not all are numbers or arrays of such.
        """
        args = None if self.differences is None else self._floats_of(refuted)
        is_same = args is not None and tuple(self.names) == self.differences.guesser.names
        return args if is_same else None

    def _floats_of(self, refuted):
        """The arguments of a counterexample in floats; None if not all are numbers or arrays of such."""
        example = refuted.counterexample
        if example is None:
            return None
        try:
            return tuple(_number_of(example.arguments[name]) for name in self.names)
        except (KeyError, ValueError):  # what is not a number, or is not shown
            return None


class MeantOfParts:
    """What is `meant`, for a judge that has the numbers and arrays in the arguments for these."""

    def __init__(self, meant, question):
        self.f, self.kwargs, self.registry = meant.f, meant.kwargs, meant.registry
        self.is_registered, self._meant, self._question = meant.is_registered, meant, question

    def excludes(self, args):
        return self._meant.excludes(self._question.arguments(args))

    def finds_nothing(self, args):
        return self._meant.finds_nothing(self._question.arguments(args))

    def excludes_ranks(self, ranks):
        return False  # they are those that are drawn

    def intervals(self):
        return {}  # they are limits of the plan


def _number_of(shown):
    """The number, or the array, of which a counterexample shows the exact fractions."""
    if isinstance(shown, str) and shown.startswith("["):
        shown = ast.literal_eval(shown)  # our own text
    return np.array([_number_of(one) for one in shown]) if isinstance(shown, list) else float(Fraction(shown))
