"""Check the rules of a function: `rule_check`, and the testers for a test suite."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ...errors import RuleLabError
from ...pieces import Limited, run
from ...rules.authoring import ask
from ...rules.binding import Binder
from ...rules.capabilities import RuleConfig
from ...rules.registry import DEFAULT, Found, Registry
from ...rules.targets import name_of, resolve
from ...shown_options import shows_options_of
from ...tangents.zeros import AbstractZero, NoTangent
from ..arguments.guesser import NoInputsError
from ..arguments.points import Source
from ..calling.subjects import NoRuleError, Subject, authors_of, require_rule, rules_of, subject_of
from ..judgement.reports import RuleCheck
from ..measuring.configs import ad_config
from ..measuring.difference_methods import FiniteDifferenceMethod
from ..measuring.shortening import shortened
from ..measuring.vectors import cotangent_vec, to_vec
from ..probing.findings import Finding
from ..probing.perturb import WithTangent, are_in_order, fresh
from ..probing.probes import Point, without_warnings
from ..reading.by_name import is_a_guard, ordered_pairs
from ..reading.kinds import DomainError, Kind, Lengths, kind_named
from ..reading.loops_read import zipped_parameters
from ..reading.parameters import options_to_try, required_names
from ..reading.relations import relations_of
from ..reading.shapes_read import lengths_held
from ..reading.stated_kinds import wholes_said
from .checks import FINDING, POINTS, Checking


def checking(
    f: Callable[..., Any],
    *args: Any,
    mode: str | None = None,
    depth: str = "normal",
    order: int = 1,
    domain: Any = None,
    output_tangent: Any = None,
    fdm: FiniteDifferenceMethod | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    fkwargs: Mapping[str, Any] | None = None,
    config: RuleConfig | None = None,
    seed: int = 0,
    rng: np.random.Generator | None = None,
    registry: Registry = DEFAULT,
    names: tuple[str, ...] | None = None,
) -> Checking:
    """The check of the rule of `f`, not begun: for whoever drives it in pieces, with a progress bar for
    example.

    Parameters
    ----------
    f : callable
        The function with the rule.
    *args
        Where to begin. Without any, arguments are drawn.
    mode : {"rrule", "frule"}, optional
        By default the reverse rule, if there is one.
    depth : {"quick", "normal", "deep"}
        How many points.
    order : {1, 2}
        2 to check second derivatives as well.
    domain : optional
        What to draw arguments from: an interval, words such as "positive", or a dict of these by parameter.
    output_tangent : optional
        One more cotangent to try.
    fdm : FiniteDifferenceMethod, optional
        A difference method that has to agree as well.
    rtol, atol : float, optional
        Tolerances; by dtype, 1e-9 for float64, unless given.
    fkwargs : dict, optional
        Keyword arguments of `f`.
    config : RuleConfig, optional
        For rules that ask for one; the AD's own by default.
    seed : int
        For the points.
    rng : numpy.random.Generator, optional
        For the points, instead of `seed`.
    registry : Registry
        Where to look for rules.
    names : tuple of str, optional
        What the arguments are called, if not as the parameters of `f`.

    Returns
    -------
    Checking
        A measurement: `pieces()` does the work, `result()` gives the report of what is there.

    Raises
    ------
    NoRuleError
        If no rule applies.
    NoInputsError
        If no arguments are found that `f` takes.
    DomainError
        If `domain` makes no sense.

    Examples
    --------
    >>> check = checking(np.sin, 1.0, depth="quick")
    >>> steps = [step.doing for step in check.pieces()]
    >>> check.result().verdict
    'right'
    """
    _check_options(depth, order, mode)
    rng = np.random.default_rng(seed) if rng is None else rng
    kwargs, config = dict(fkwargs or {}), ad_config() if config is None else config
    mode = _mode_of(f, registry) if mode is None else mode
    require_rule(f, mode, registry)
    args, kwargs = _by_place(f, args, kwargs, registry)
    kinds = _domain(f, domain, names)

    def begun(kwargs: Mapping[str, Any]) -> Source:
        several, seconds = depth == "deep", FINDING[depth]
        return Source(f, args or None, kwargs, kinds, rng, mode, config, registry, several, seconds, names)

    source, kwargs = (begun(kwargs), kwargs) if args else _begun_with_options(begun, f, kwargs)
    subject, inputs = subject_of(f, source.args, kwargs, mode, config, registry)
    shift = 1 if inputs and (not source.args or inputs[0] is not source.args[0]) else 0
    constants = (i + shift for i in _constants(args))
    unanswered = _unanswered(subject, inputs, config, registry)
    may_be_held = _guards(subject, inputs, len(source.args) + shift)
    may_be_held += _wholes(subject, inputs) if source.drawn else ()
    meant = (i for i in _held(subject, inputs, kwargs, may_be_held) if subject.names[i] not in kinds)
    held = frozenset((*constants, *unanswered, *meant))
    forms = (*(None for _ in range(shift)), *source.forms) if source.forms else ()
    bounds = _bounds(names or subject.names, inputs, {**source.bounds, **kinds})
    guessed = source.drawn and source.is_guessed
    pairs = source.ordered if source.drawn else ordered_pairs(names or subject.names)
    ordered = pairs if max(map(max, pairs), default=-1) < len(inputs) and are_in_order(inputs, pairs) else ()
    rules = authors_of(resolve(f)[0], registry)
    said = relations_of(subject.primal, names or subject.names, rules)
    said = said.holding(inputs)  # arguments given are as meant
    asked = {name: (kind.dims,) for name, kind in kinds.items() if kind.dims}
    listed = _held_by_lists(subject.primal, dict(zip(names or subject.names, inputs)))
    lengths = {**listed, **source.lengths, **lengths_held(subject.primal), **asked}
    first = Point(
        inputs,
        kwargs,
        source.origin(0),
        held,
        bounds,
        forms,
        guessed=guessed,
        ordered=ordered,
        related=said,
        lengths=tuple(lengths.get(name, ()) for name in names or subject.names),
    )
    if not first.is_inside():
        raise _outside(subject, first)
    return Checking(
        subject,
        source,
        first,
        f=subject.primal if registry is DEFAULT else None,
        depth=depth,
        order=order,
        rng=rng,
        rtol=rtol,
        atol=atol,
        output_tangent=output_tangent,
        fdm=fdm,
        other=_other_mode(f, source.args, kwargs, config, registry) if mode == "rrule" else None,
    )


def _held_by_lists(primal: Any, named: Mapping[str, Any]) -> Mapping[str, tuple[Lengths, ...]]:
    """The lengths of arrays over which a function iterates in parallel with a list or a tuple, whose length
    stays the same.
    """
    found: dict[str, tuple[Lengths, ...]] = {}
    for those in zipped_parameters(primal):
        beside = {name: named[name] for name in those if name in named}
        counts = {len(x) for x in beside.values() if isinstance(x, (list, tuple))}
        arrays = {name: x.shape for name, x in beside.items() if isinstance(x, np.ndarray) and x.ndim}
        rows = {name: (n, *map(str, more)) for name, (n, *more) in arrays.items() if {n} == counts}
        found |= {name: (lengths,) for name, lengths in rows.items()}
    return found


def _outside(subject: Subject, point: Point) -> DomainError:
    """The error that names the arguments outside a domain, and the domain."""
    said = []
    for name, x, (low, high) in zip(subject.names, point.floats, point.bounds):
        numbers = to_vec(x)[0]
        if not np.all((low < numbers) & (numbers < high)):
            said.append(f"{name} = {shortened(x)} (it reads {low:g} < {name} < {high:g})")
    words = f": {'; '.join(said)}" if said else ""
    return DomainError(
        f"the arguments of {subject.name} do not lie in the domain{words}", asked="a check of its rule"
    )


def _begun_with_options(
    begun: Callable[[Mapping[str, Any]], Source], f: Callable, kwargs: dict[str, Any]
) -> tuple[Source, dict[str, Any]]:
    """The source of points, and the keyword arguments including required ones that were not given: the first
    choice with which arguments are found. NoInputsError if there is none.
    """
    failure: NoInputsError | None = None
    for options in options_to_try(f, kwargs):
        try:
            source = begun({**kwargs, **options})
        except NoInputsError as error:
            failure = failure or error
            continue
        taken = (f"{name} = {value} was used, as it has no default" for name, value in options.items())
        source.notes = (*source.notes, *taken)
        return source, {**kwargs, **options}
    assert failure is not None  # there is at least one choice
    raise failure


def _check_options(depth: str, order: int, mode: str | None) -> None:
    if depth not in POINTS:
        raise RuleLabError(f"depth must be one of {', '.join(map(repr, POINTS))}, not {depth!r}")
    if order not in (1, 2):
        raise RuleLabError(f"order must be 1 or 2, not {order!r}")
    if mode not in (None, "rrule", "frule"):
        raise RuleLabError(f"mode must be 'rrule' or 'frule', not {mode!r}")


def _mode_of(f: Callable, registry: Registry) -> str:
    """Reverse, unless there are only forward rules."""
    modes = {rule.mode for rule in rules_of(resolve(f)[0], registry)}
    return "frule" if modes == {"frule"} else "rrule"


def _by_place(f: Callable, args: tuple, kwargs: dict[str, Any], registry: Registry) -> tuple[tuple, dict]:
    """The arguments as an author's rule takes them: by position, even if some were given by name."""
    target, bound = resolve(f)
    names = {name for name in kwargs if name in _names_by_place(target)}
    if not names or all(rule.built_in for rule in rules_of(target, registry)):
        return args, kwargs
    try:
        whole, keyword_only = Binder.of(target).bind((*bound, *args), kwargs)
    except TypeError as error:
        raise RuleLabError(
            f"the arguments of {name_of(target)} are not complete: {error}",
            asked="a check of its rule",
            fixes=(f"give the others too, since the rule takes {sorted(names)[0]} by position",),
        ) from None
    return whole[len(bound) :], keyword_only


def _names_by_place(target: Any) -> tuple[str, ...]:
    """The parameters of a Python function that may be passed by position or by name."""
    code = getattr(target, "__code__", None)
    return () if code is None else code.co_varnames[code.co_posonlyargcount : code.co_argcount]


def _constants(args: tuple) -> Iterator[int]:
    for i, x in enumerate(args):
        if isinstance(x, WithTangent) and isinstance(x.tangent, AbstractZero):
            yield i


def _unanswered(subject: Subject, inputs: tuple, config: Any, registry: Registry) -> Iterator[int]:
    """The inputs that a built-in rule treats as constants: the AD refuses calls in which they vary."""
    found = ask(subject.primal, inputs, {}, "rrule", config, registry)
    if isinstance(found, Found) and found.rule.built_in and found.rule.leading is not None:
        yield from range(found.rule.leading, len(inputs))


def _guards(subject: Subject, inputs: tuple, given: int) -> tuple[int, ...]:
    """The inputs that were not given and only keep a formula from failing."""
    return tuple(i for i in range(given, len(inputs)) if is_a_guard(subject.names[i], inputs[i]))


def _wholes(subject: Subject, inputs: tuple) -> tuple[int, ...]:
    """The inputs whose numbers are whole according to the function."""
    said = wholes_said(subject.primal)
    return tuple(i for i, name in enumerate(subject.names[: len(inputs)]) if name in said)


def _held(subject: Subject, inputs: tuple, kwargs: Mapping[str, Any], those: tuple[int, ...]) -> list[int]:
    """Those inputs for which the rule returns NoTangent()."""
    if not those or subject.reverse is None:
        return []
    with contextlib.suppress(Exception), without_warnings():
        y, back = subject.reverse(*fresh(inputs), **kwargs)
        bars = back(y)
        return [i for i in those if isinstance(bars[i], NoTangent)]
    return []


def _other_mode(f: Callable, args: tuple, kwargs: dict, config: Any, registry: Registry) -> Subject | None:
    try:
        return subject_of(f, args, kwargs, "frule", config, registry)[0]
    except NoRuleError:
        return None


def _domain(f: Callable, domain: Any, names: tuple[str, ...] | None) -> dict[str, Kind]:
    """The kinds that a domain gives, by parameter."""
    if domain is None:
        return {}
    if isinstance(domain, Mapping):
        return {name: kind_named(words) for name, words in domain.items()}
    return dict.fromkeys(names or required_names(f), kind_named(domain))


def _bounds(names: tuple[str, ...], inputs: tuple, kinds: dict[str, Kind]) -> tuple[tuple[float, float], ...]:
    """The interval of each input; empty if no kind limits any."""
    anywhere = Kind()
    found = tuple(
        (kind.low, kind.high) for kind in (kinds.get(name, anywhere) for name in names[: len(inputs)])
    )
    return found if any(bound != (anywhere.low, anywhere.high) for bound in found) else ()


def report_of_check(check: Checking, seconds: float | None = None) -> RuleCheck:
    """The report of a check run to its end; Ctrl-C or the end of `seconds` gives a partial one."""
    return run(Limited(check, seconds))


@shows_options_of(checking, but=("names",))
def rule_check(f: Callable[..., Any], *args: Any, seconds: float | None = None, **options: Any) -> RuleCheck:
    """Whether the reverse rule of `f` is right, as far as numbers can say.

    The rule is called at points around `args` or, without any, at points drawn according to its annotations
    and the names of the parameters; every cotangent is compared with two families of differences of `f`,
    and its side effects are watched.

    Parameters
    ----------
    f : callable
        The function with the rule.
    *args
        Where to begin. An argument given as `with_tangent(x, NoTangent())` is held fixed.
    seconds : float, optional
        When to stop, and report what was seen by then.
    **options
        - `mode`: "rrule" or "frule"; by default the reverse rule, if there is one.
        - `depth`: "quick", "normal" or "deep".
        - `order`: 2 to check second derivatives as well.
        - `domain`: what to draw arguments from: an interval, words such as "positive", or a dict of these by
          parameter.
        - `output_tangent`: one more cotangent to try.
        - `fdm`: a difference method that has to agree as well.
        - `rtol`, `atol`: tolerances; by dtype, 1e-9 for float64, unless given.
        - `fkwargs`: keyword arguments of `f`.
        - `config`: for rules that ask for one; the AD's own by default.
        - `registry`: where to look for rules.
        - `seed` or `rng`: for the points.

    Returns
    -------
    RuleCheck
        A report that says right, wrong (with the mistake) or cannot tell. It is true where the rule is right.

    Raises
    ------
    NoRuleError
        If no rule applies.
    NoInputsError
        If no arguments are found that `f` takes.
    DomainError
        If `domain` makes no sense.

    Examples
    --------
    >>> import rulelab as rl
    >>> def cube(x): return x**3
    >>> @rl.rrule_for(cube)
    ... def cube_rrule(x):
    ...     def cube_pullback(y_bar):
    ...         return rl.NoTangent(), 3 * x**2 * y_bar
    ...     return x**3, cube_pullback
    >>> bool(rule_check(cube, 2.0))
    True
    """
    return report_of_check(checking(f, *args, **options), seconds)


@shows_options_of(rule_check, but=("mode",))
def test_rrule(f: Callable[..., Any], *args: Any, **options: Any) -> RuleCheck:
    """Passes if the reverse rule of `f` is right at points around `args`.

    Parameters
    ----------
    f : callable
        The function with the rule.
    *args
        Where to begin.
    **options
        Those of `rule_check`.

    Returns
    -------
    RuleCheck
        The report.

    Raises
    ------
    WrongRuleError, InconclusiveCheckError
        Unless the rule is right; both are AssertionErrors, and hold the mistake and the report.

    Examples
    --------
    >>> bool(test_rrule(np.sin, 1.0))
    True
    """
    return rule_check(f, *args, mode="rrule", **options).raise_unless_right()


@shows_options_of(rule_check, but=("mode",))
def test_frule(f: Callable[..., Any], *args: Any, **options: Any) -> RuleCheck:
    """Passes if the forward rule of `f` is right at points around `args`; otherwise fails as `test_rrule`
    does.

    Parameters
    ----------
    f : callable
        The function with the rule.
    *args
        Where to begin.
    **options
        Those of `rule_check`.

    Returns
    -------
    RuleCheck
        The report.

    Raises
    ------
    WrongRuleError, InconclusiveCheckError
        Unless the rule is right; both are AssertionErrors.

    Examples
    --------
    >>> bool(test_frule(np.sin, 1.0))
    True
    """
    return rule_check(f, *args, mode="frule", **options).raise_unless_right()


@shows_options_of(rule_check, but=("mode",))
def test_scalar(f: Callable[..., Any], z: complex, **options: Any) -> RuleCheck:
    """Passes if both rules of `f`, a function of one number, are right around `z`.

    A real cotangent and the same number as a complex one must give the same.

    Parameters
    ----------
    f : callable
        The function with the rules.
    z : complex
        Where to begin.
    **options
        Those of `rule_check`.

    Returns
    -------
    RuleCheck
        The report of the reverse rule.

    Raises
    ------
    NoRuleError
        If one of the rules is missing.
    WrongRuleError, InconclusiveCheckError
        Unless both rules are right; both are AssertionErrors.

    Examples
    --------
    >>> bool(test_scalar(np.sin, 1.0))
    True
    """
    test_frule(f, z, **options)
    report = test_rrule(f, z, **options)
    _same_for_complex_cotangents(f, z, report, options)
    return report


def _same_for_complex_cotangents(f: Callable, z: Any, report: RuleCheck, options: dict[str, Any]) -> None:
    registry, config = options.get("registry", DEFAULT), options.get("config") or ad_config()
    subject, inputs = subject_of(f, (z,), dict(options.get("fkwargs") or {}), "rrule", config, registry)
    assert subject.reverse is not None
    _, back = subject.reverse(*inputs)
    real, wide = (cotangent_vec(inputs[0], back(seed)[0]) for seed in (1.25, 1.25 + 0j))
    if not np.allclose(real, wide, rtol=1e-12, equal_nan=True):
        found = Finding("cotangent", "the cotangents 1.25 and 1.25+0j give different answers")
        dataclasses.replace(report, findings=(*report.findings, found)).raise_unless_right()


_TESTERS: tuple[Any, ...] = (test_rrule, test_frule, test_scalar)
for _tester in _TESTERS:
    _tester.__test__ = False  # pytest collects whatever is named test…
check_rrule, check_frule, check_scalar = test_rrule, test_frule, test_scalar
