"""Judge a rule symbolically, in a forked worker with a limit of processor time. How much is tried is counted
in operations, so that the load of the machine changes no verdict. A check that exceeds the limit is
undecided, with what was known by then.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy as sp

from ..advice import BY_NUMBERS
from ..checking.calling.budgets import took_more
from ..checking.testing.meant import IntendedArguments
from ..errors import RuleError
from ..rules.authoring import rrule_for
from ..rules.registry import DEFAULT, Registry
from . import worker
from .caveats import of_stability
from .convergence import find_steps
from .drawn_arguments import drawn_question
from .formulas import formula, shortest_form
from .integrals import precompute_nodes
from .judge import Judge
from .plan_judge import Inquiry
from .questions import NoRuleFound, Plan, find_rule, judged_arguments, kind_of, positional_parameters
from .refutations import Evidence
from .report import SymbolicReport
from .spelling import with_expressions_for_parts
from .structured import is_of_parts, structured
from .trials import number_rows
from .verdicts import Undecided, Unsupported
from .zerotest import is_identically_zero


def prove(
    f: Callable[..., Any],
    rule: Any = None,
    *,
    at: Any = None,
    kwargs: Any = None,
    sizes: Any = None,
    domain: Any = None,
    registry: Registry | None = None,
    time_limit: float = 5.0,
    rng: np.random.Generator | None = None,
    stop: Callable[[], bool] | None = None,
    name: str | None = None,
    steps: Any = None,
    stability: Any = None,
    heard: Callable[[Any], Any] | None = None,
) -> SymbolicReport:
    """Judge the rule of a function symbolically.

    Without `at`, numbers are tried, then vectors, then matrices: each kind that the function accepts, at two
    sizes or more. Complex numbers are tried if `at` contains some, or if a parameter is annotated `complex`:
    the cotangent of z is then dL/dRe(z) + i dL/dIm(z) for a real L, and both parts are judged.

    A wrong number for one kind refutes; an exception does so only for arguments that were given. A proof
    names the kinds and sizes that it covers, and covers the open cells; the points where these meet, and
    zeros, ones and ties, are tried afterwards, and what is not right there is in `warnings`.

    Parameters
    ----------
    f : callable
        It takes and returns numbers or small arrays, real or complex.
    rule : callable, optional
        A function `rule(*args) -> (y, pullback)`, instead of the registered rule.
    at : tuple, optional
        Sample arguments: they determine which arguments are arrays, and of which shape, and are tried first.
        Strings and flags in it are held fixed, and so are ints where the function does not accept fractions,
        or for which the rule returns `NoTangent()` or `not_implemented`.
    kwargs : dict, optional
        Keyword arguments, which are held fixed.
    sizes : list, optional
        The sizes of arrays to try instead: a list of lengths or shapes, `[3, 5]` or `[(2, 3), (4, 2)]`,
        or of tuples with one for each argument, `[((2, 3), 3), ((4, 2), 2)]`, in which `()` is a number.
    domain : optional
        The open interval from which all numbers are drawn, `(0, 1)` or a word such as "positive", or a dict
        of these by argument; words such as "square" or "positive definite" describe an argument. The verdict
        is for this domain and says so.
    registry : Registry, optional
        Where to look for rules.
    time_limit : float
        Seconds of processor time; a check that takes longer is Undecided.
    rng : numpy.random.Generator, optional
        For the sample points. The default one is seeded, so that a verdict is reproducible.
    stop : callable, optional
        Called repeatedly; says whether to end early, with the verdict Undecided.
    name : str, optional
        How the author writes `f`, for the report and the code to paste.
    steps : str, optional
        The parameter that is the number of steps of a sum that approximates an integral (see `Converges`); by
        default it is recognized by its name.
    stability : StabilityReport, optional
        A scan whose findings are added to the warnings.
    heard : callable, optional
        Called with each preliminary report, as soon as more is known.

    Returns
    -------
    SymbolicReport
        Its `verdict` is Proved, Refuted, Agrees, Converges, Undecided or Unsupported.

    Raises
    ------
    RuleError
        If `f` has no rule.
    RuleLabError
        If the sizes or the domain make no sense.

    Examples
    --------
    >>> def cube(x): return x**3
    >>> def cube_rrule(x):
    ...     return x**3, lambda y_bar: (None, 3 * x**2 * y_bar)
    >>> prove(cube, cube_rrule).verdict.word
    'PROVED'
    >>> prove(cube, cube_rrule, sizes=[2, (2, 3)], domain="positive").verdict.scope.split(", for ")[1]
    'sizes (2,) and (2, 3), with x positive'
    """
    started = time.monotonic()
    rng = np.random.default_rng(0) if rng is None else rng
    is_guessed = at is None and sizes is None and domain is None
    names, questions, not_found = _questions(f, rule, at, kwargs, sizes, domain, steps, registry, name)
    if not questions and not (is_guessed and not_found.is_of_kinds):
        raise not_found.error
    _check_steps(questions, steps)
    by_numbers = _intended_arguments(f, rule, registry, kwargs)
    meant = by_numbers if is_guessed else None
    evidence = Evidence(names, meant, by_numbers)
    shown = name or getattr(f, "__name__", None) or type(f).__name__
    inquiry = Inquiry(shown, names, questions, steps)
    preload()
    precompute_nodes()
    first = took_more("a call of the function and its rule", time_limit)
    empty = SymbolicReport(shown, names, Undecided(0, first))

    def drawn():
        return drawn_question(f, rule, meant, name, kwargs) if meant is not None and steps is None else None

    def in_words(report):
        return with_expressions_for_parts(report, questions[0][1]) if questions else report

    def timed(report):
        return dataclasses.replace(report, seconds=time.monotonic() - started)

    outcome = worker.run(
        lambda report: Judge(inquiry, rng, time_limit, report, evidence, drawn).judge(),
        time_limit,
        stop,
        heard and (lambda report: heard(timed(in_words(report)))),
    )
    report = in_words(finished(outcome, empty, started))
    if not questions and isinstance(report.verdict, Unsupported):
        raise not_found.error
    return dataclasses.replace(
        report,
        warnings=(*report.warnings, *(of_stability(stability) if stability is not None else ())),
    )


def _questions(f, rule, at, kwargs, sizes, domain, steps, registry, name):
    """Return (names, pairs of plans and questions, what was not found) for the given arguments, or for each
    kind that is tried.
    """
    given = at if isinstance(at, tuple) else (at,)
    if at is not None and sizes is None and domain is None and is_of_parts(f, given, kwargs or {}):
        _, defaults = positional_parameters(f, len(given), kwargs or ())
        whole = (*given, *defaults[len(given) :])
        names, (sample, *_), question = structured(f, rule, [whole], registry, name, kwargs)
        return names, [(Plan((tuple(map(kind_of, sample)),), (sample,)), question)], None
    names, plans = judged_arguments(f, at, kwargs or (), sizes, domain, steps)
    questions, not_found = [], None
    for plan in plans:
        try:
            questions.append((plan, find_rule(f, rule, names, plan, registry, name, kwargs)))
        except NoRuleFound as missing:
            not_found = missing
    return names, questions, not_found


def _intended_arguments(f, rule, registry, kwargs):
    """Return the arguments that a function is meant for, judged from its code and rule."""
    if rule is not None:
        own = Registry()
        rrule_for(f, registry=own)(rule)
        return IntendedArguments(f, kwargs or {}, own, is_registered=False)
    return IntendedArguments(f, kwargs or {}, DEFAULT if registry is None else registry)


def finished(outcome, empty, started):
    """Return the last report of a worker, or `empty`; if the worker failed, its verdict says so."""
    result = outcome.result or empty
    if outcome.failure and isinstance(result.verdict, Undecided):
        digits = result.verdict.digits
        known = digits or outcome.cut  # otherwise the check itself has failed, before any result
        advice = f"give shorter arrays or fewer steps; or {BY_NUMBERS}"
        advice = advice if outcome.failure == worker.TOO_DEEP else ""
        verdict = (
            Undecided(digits, outcome.failure) if known else Unsupported(outcome.failure, advice=advice)
        )
        result = dataclasses.replace(result, verdict=verdict)
    return dataclasses.replace(result, seconds=time.monotonic() - started)


@functools.cache
def preload():
    """Make SymPy and NumPy load what they load lazily (0.1 s), and compute what all proofs share (0.03 s),
    once here instead of in every worker.
    """
    number_rows()
    np.median([0.0])
    x, y = sp.symbols("x y")
    sp.diff(x**2 * y, x)
    shortest_form(sp.sin(x) ** 2 + sp.exp(y * x) / sp.sqrt(x))
    formula(sp.sin(x) / y)
    is_identically_zero(sp.exp(x + y) - sp.exp(x) * sp.exp(y) + sp.sqrt(x))


def _check_steps(questions, steps):
    """Raise RuleError if nothing is called `steps`."""
    if steps is None or any(find_steps(question, plan.specs[0], steps) for plan, question in questions):
        return
    raise RuleError(
        f"no integer called {steps} is an argument, a keyword or a global constant here",
        asked="a symbolic check in the limit of many steps",
        fixes=("name the number of steps with steps=",),
    )
