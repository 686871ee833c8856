"""Assess a refutation by exact numbers: whether floats confirm it, and whether the function is meant for the
arguments at which the rule is wrong.
"""

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
from ..checking.testing.witness import numeric_evidence
from .cells import shape_of
from .plain_values import plain_argument
from .verdicts import Refuted, Undecided

LEFT_BY_CANCELLING = 8  # minimal number of matching digits if the only difference is a rounded constant
EPSILON = 2.0**-52
NOT_MEANT = "which may not be intended"
ALIKE = 2
"""The number of matching digits from which on differences in floats no longer decide."""
BY_DECISIONS = (
    "finite differences agree with the rule, but the formula of the steps that ran has a different "
    "derivative: as in a bisection, comparisons decide each step"
)
GOES_ON = (
    "the rule is for the limit to which the function's loop converges; where the two differ, the loop has "
    "not converged"
)


def wrong_at(refuted):
    """The reason of a refutation, with the point."""
    example = refuted.counterexample
    if example is None or " at " in refuted.reason:
        return refuted.reason
    return f"{refuted.reason} at {', '.join(f'{n} = {value}' for n, value in example.arguments.items())}"


def of_not_meant(refuted):
    """The verdict on a rule that is refuted only by arguments that may not be intended."""
    return Undecided(0, f"{wrong_at(refuted)}, {NOT_MEANT}: {THOSE_MEANT}")


def is_of_shape(verdict):
    return isinstance(verdict, Refuted) and verdict.kind == "shape"


def is_of_constants(verdict, question):
    """Whether the error can be explained by floats in the code: products of decimals that Python has rounded,
    and large numbers that cancel.
    """
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
    """Whether a number is zero up to cancellation, compared with another."""
    with contextlib.suppress(ValueError):  # complex
        return abs(float(number)) <= EPSILON**2 * abs(float(beside))
    return False


CONVERGED = 8
"""The least number of matching digits in the slope of a loop whose value has converged to twelve digits."""
_NAMED = {"pi": math.pi, "tau": math.tau, "e": math.e}
_OF_FLOATS = frozenset(("ones", "ones_like", "full", "full_like", "eye", "identity", "linspace", "arange"))
"""Functions that make arrays of floats, which are then divided: `np.ones((n, n)) / n`."""


class Evidence:
    """What is known about a rule beside its traces, for arguments of these names: the arguments that its
    function is `meant` for, if none were given, and its numeric `differences`.
    """

    def __init__(self, names, meant=None, differences=None):
        self.names, self.meant, self.differences = names, meant, differences
        self.no_number_at = ""  # where floats have no value, by the last numeric check

    def wrong_by_numbers(self, in_doubt):
        """What a numeric check finds wrong with the rule, with the arguments; None if nothing."""
        seen = self._seen_by_numbers(in_doubt)
        self.no_number_at = seen.no_number_at
        return seen.wrong

    def finds_nothing(self, refuted):
        """Whether a rule is refuted where its function fails to find what it searches for, such as a root."""
        args = None if self.meant is None else self._values_of(refuted)
        return args is not None and self.meant.finds_nothing(args)

    def goes_on(self, refuted):
        """Whether a rule is refuted where its function, which iterates, has not finished, or only by digits
        that more iterations would change.
        """
        args, steps = self._values_of(refuted), self.differences and self.differences.guesser.iterated
        if not args:
            return False
        is_near = refuted.kind == "gradient" and refuted.counterexample.digits >= CONVERGED
        if not steps:  # it may end when two iterates differ by rounding only
            return is_near and self.differences is not None and decides_in_a_loop(self.differences.f)
        return is_near or not steps.has_ended(args, self.differences.guesser.kwargs)

    def set_aside(self):
        """Errors that a numeric check found and ignored, at arguments that may not be intended; "" if there
        are none.
        """
        seen = self._seen_by_numbers(in_doubt=True)
        return "" if seen.wrong else seen.set_aside

    def _seen_by_numbers(self, in_doubt):
        meant = self.meant
        return numeric_evidence(
            meant.f, meant.kwargs, meant.registry, of_form=meant.is_registered, in_doubt=in_doubt
        )

    def intervals(self):
        """The intervals of the arguments that the function is meant for, by name."""
        return (self.meant or self.differences).intervals()

    def contradicts(self, refuted):
        """Whether numeric differences of the function agree with the rule although its traced derivative is
        far from it: the trace is no formula if each iteration is decided by comparisons of values that vary.
        An argument that the rule drops varies, too, since it may be what the refutation is about.
        """
        args = self._shown_by(refuted)
        if args is None or refuted.kind != "gradient" or refuted.counterexample.digits >= ALIKE:
            return False
        if not decides_in_a_loop(self.differences.f):
            return False
        return all(self.differences.guesser.seems_right(args, of_all=True) for _ in range(3))

    def excludes(self, refuted):
        """Whether a rule is refuted by arguments that its function is not meant for, and seems right for
        those that it is meant for.
        """
        args = None if self.meant is None else self._values_of(refuted)
        return args is not None and self.meant.excludes(args)

    def excludes_ranks(self, plan):
        """Whether the arguments of a plan have other ranks than those that the function is meant for, and its
        rule seems right for the latter.
        """
        if self.meant is None or not plan.form:
            return False
        return self.meant.excludes_ranks(tuple(len(shape_of(kind)) for kind in plan.specs[0]))

    def excludes_beyond_given(self, refuted, plan):
        """Whether a rule is refuted by numbers of other signs than the given ones, for which its function is
        not meant.
        """
        args = self._shown_by(refuted)
        if args is None or len(plan.given) != 1 or len(args) != len(plan.given[0]):
            return False
        given = tuple(map(plain_argument, plan.given[0]))
        signs = [np.sign(x) if isinstance(x, (int, float)) else None for x in given]
        if all(sign is None or sign == np.sign(x) for sign, x in zip(signs, args)):
            return False
        return not self.differences.excludes(given) and self.differences.excludes(args)

    def _shown_by(self, refuted):
        """The arguments of a counterexample, if the numeric differences have the same arguments; None if not,
        or if some cannot be read.
        """
        args = None if self.differences is None else self._values_of(refuted)
        is_same = args is not None and tuple(self.names) == self.differences.guesser.names
        return args if is_same else None

    def _values_of(self, refuted):
        """The arguments of a counterexample: floats, arrays of them, and what is held fixed, if it is None, a
        flag or a string; None if some are something else.
        """
        example = refuted.counterexample
        if example is None:
            return None
        try:
            return tuple(_value_of(example.arguments[name]) for name in self.names)
        except (KeyError, ValueError, SyntaxError):  # of another kind, or not in the report
            return None


class MeantOfParts:
    """Adapts `meant` for a judge whose arguments are the numbers and arrays in the real arguments."""

    def __init__(self, meant, question):
        self.f, self.kwargs, self.registry = meant.f, meant.kwargs, meant.registry
        self.is_registered, self._meant, self._question = meant.is_registered, meant, question

    def excludes(self, args):
        return self._meant.excludes(self._question.arguments(args))

    def finds_nothing(self, args):
        return self._meant.finds_nothing(self._question.arguments(args))

    def excludes_ranks(self, ranks):
        return False  # the ranks are those that are drawn

    def intervals(self):
        return {}  # they are limits of the plan already


def _value_of(shown):
    """The number or array that a counterexample shows as exact fractions, or the constant that it shows as
    Python writes it. ValueError for anything else.
    """
    if isinstance(shown, str) and shown.startswith("["):
        shown = ast.literal_eval(shown)  # our own text
    if isinstance(shown, list):
        return np.array([_value_of(one) for one in shown])
    with contextlib.suppress(ValueError):
        return float(Fraction(shown))
    constant = ast.literal_eval(shown)
    if constant is None or isinstance(constant, (bool, str)):
        return constant
    raise ValueError(f"no argument: {shown}")
