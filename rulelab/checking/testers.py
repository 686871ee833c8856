"""Is this rule right? What an author calls: `rule_check`, and the testers for a test suite."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..errors import RuleLabError
from ..rules.authoring import ask
from ..rules.capabilities import RuleConfig
from ..rules.registry import DEFAULT, Found, Registry
from ..rules.targets import resolve
from ..tangents.zeros import AbstractZero, NoTangent
from .checks import FINDING, POINTS, Checking
from .comparison import shortened
from .configs import ad_config
from .findiff import FiniteDifferenceMethod
from .findings import Finding
from .parameters import required_names
from .perturb import (
    DomainError,
    Kind,
    WithTangent,
    are_in_order,
    fresh,
    is_a_guard,
    kind_named,
    ordered_pairs,
)
from .points import Source
from .probes import Point, quiet
from .relations import related
from .reports import RuleCheck
from .shapes_read import lengths_held
from .subjects import NoRuleError, Subject, require_rule, rules_of, subject_of
from .vectors import cotangent_vec, to_vec


def checking(
    f: Callable,
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
    """The check of the rule of `f`, not begun: for whoever drives it in pieces. See `rule_check`."""
    _check_options(depth, order, mode)
    rng = np.random.default_rng(seed) if rng is None else rng
    kwargs, config = dict(fkwargs or {}), ad_config() if config is None else config
    mode = _mode_of(f, registry) if mode is None else mode
    require_rule(f, mode, registry)
    kinds = _domain(f, domain, names)
    source = Source(
        f, args or None, kwargs, kinds, rng, mode, config, registry, depth == "deep", FINDING[depth], names
    )
    subject, inputs = subject_of(f, source.args, kwargs, mode, config, registry)
    shift = 1 if inputs and (not source.args or inputs[0] is not source.args[0]) else 0
    constants = (i + shift for i in _constants(args))
    unanswered = _unanswered(subject, inputs, config, registry)
    guards = _guards_held(subject, inputs, kwargs, len(source.args) + shift)
    meant = (i for i in guards if subject.names[i] not in kinds)
    held = frozenset((*constants, *unanswered, *meant))
    forms = (*(None for _ in range(shift)), *source.forms) if source.forms else ()
    bounds = _bounds(names or subject.names, inputs, {**source.bounds, **kinds})
    guessed = source.drawn and source.is_guessed
    pairs = source.ordered if source.drawn else ordered_pairs(names or subject.names)
    ordered = pairs if max(map(max, pairs), default=-1) < len(inputs) and are_in_order(inputs, pairs) else ()
    said = related(subject.primal, names or subject.names).holding(inputs)  # arguments given are as meant
    lengths = lengths_held(subject.primal)
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


def _outside(subject: Subject, point: Point) -> DomainError:
    """The arguments that a domain does not have, and what it has."""
    said = []
    for name, x, (low, high) in zip(subject.names, point.floats, point.bounds):
        numbers = to_vec(x)[0]
        if not np.all((low < numbers) & (numbers < high)):
            said.append(f"{name} = {shortened(x)} (it reads {low:g} < {name} < {high:g})")
    words = f": {'; '.join(said)}" if said else ""
    return DomainError(
        f"the arguments of {subject.name} do not lie in the domain{words}", asked="a check of its rule"
    )


def _check_options(depth: str, order: int, mode: str | None) -> None:
    if depth not in POINTS:
        raise RuleLabError(f"depth is one of {', '.join(map(repr, POINTS))}, not {depth!r}")
    if order not in (1, 2):
        raise RuleLabError(f"order is 1 or 2, not {order!r}")
    if mode not in (None, "rrule", "frule"):
        raise RuleLabError(f"mode is 'rrule' or 'frule', not {mode!r}")


def _mode_of(f: Callable, registry: Registry) -> str:
    """Reverse, unless there are forward rules only."""
    modes = {rule.mode for rule in rules_of(resolve(f)[0], registry)}
    return "frule" if modes == {"frule"} else "rrule"


def _constants(args: tuple) -> Iterator[int]:
    for i, x in enumerate(args):
        if isinstance(x, WithTangent) and isinstance(x.tangent, AbstractZero):
            yield i


def _unanswered(subject: Subject, inputs: tuple, config: Any, registry: Registry) -> Iterator[int]:
    """The inputs that a built-in rule takes as constants: the AD refuses calls in which they vary."""
    found = ask(subject.primal, inputs, {}, "rrule", config, registry)
    if isinstance(found, Found) and found.rule.built_in and found.rule.leading is not None:
        yield from range(found.rule.leading, len(inputs))


def _guards_held(subject: Subject, inputs: tuple, kwargs: Mapping[str, Any], given: int) -> tuple[int, ...]:
    """The inputs that nobody gave, that are there for a formula not to fail, and that the rule holds."""
    those = [i for i in range(given, len(inputs)) if is_a_guard(subject.names[i], inputs[i])]
    if not those or subject.reverse is None:
        return ()
    with contextlib.suppress(Exception), quiet():
        y, back = subject.reverse(*fresh(inputs), **kwargs)
        bars = back(y)
        return tuple(i for i in those if isinstance(bars[i], NoTangent))
    return ()


def _other_mode(f: Callable, args: tuple, kwargs: dict, config: Any, registry: Registry) -> Subject | None:
    try:
        return subject_of(f, args, kwargs, "frule", config, registry)[0]
    except NoRuleError:
        return None


def _domain(f: Callable, domain: Any, names: tuple[str, ...] | None) -> dict[str, Kind]:
    """The kinds that a domain names, by parameter."""
    if domain is None:
        return {}
    if isinstance(domain, Mapping):
        return {name: kind_named(words) for name, words in domain.items()}
    return dict.fromkeys(names or required_names(f), kind_named(domain))


def _bounds(names: tuple[str, ...], inputs: tuple, kinds: dict[str, Kind]) -> tuple[tuple[float, float], ...]:
    """The interval of each input; none at all where no kind limits one."""
    anywhere = Kind()
    found = tuple(
        (kind.low, kind.high) for kind in (kinds.get(name, anywhere) for name in names[: len(inputs)])
    )
    return found if any(bound != (anywhere.low, anywhere.high) for bound in found) else ()


def finished(check: Checking) -> RuleCheck:
    """The report of a check that is driven to its end; Ctrl-C gives a partial one."""
    try:
        for _ in check.pieces():
            pass
    except KeyboardInterrupt:
        return check.result(interrupted=True)
    return check.result()


def rule_check(f: Callable, *args: Any, **options: Any) -> RuleCheck:
    """Whether the reverse rule of `f` is right, as far as numbers can say.

    The rule is asked at points around `args`, or where none are given at points drawn by its annotations and
    the names of the parameters; every cotangent is compared with two families of differences of `f`, and
    what the rule does besides is watched. The report, a `RuleCheck`, says right, wrong (with the mistake) or
    cannot tell; it is true where the rule is right.

    Options: `mode` "rrule" or "frule" (by default the reverse rule, if there is one); `depth` "quick",
    "normal" or "deep"; `order=2` for second derivatives too; `domain`, an interval, words such as "positive"
    or a dict of them by parameter; `output_tangent`, one more cotangent to ask about;
    `fdm`, a difference method that has to agree as well; `rtol` and `atol` (by
    dtype: 1e-9 for float64); `fkwargs`, keyword arguments of `f`; `config`, for rules that ask for one (the
    AD's own by default); `registry`; `seed` or `rng` for the points. An argument given by `with_tangent(x,
    NoTangent())` is held fixed. NoRuleError where no rule
    applies, NoInputsError where no arguments are found.

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
    return finished(checking(f, *args, **options))


def test_rrule(f: Callable, *args: Any, **options: Any) -> RuleCheck:
    """Passes if the reverse rule of `f` is right at points around `args`; the report.

    For test suites: WrongRuleError or InconclusiveCheckError (both are AssertionErrors) otherwise, with the
    mistake and the report in them. Options as for `rule_check`.
    """
    return rule_check(f, *args, mode="rrule", **options).raise_unless_right()


def test_frule(f: Callable, *args: Any, **options: Any) -> RuleCheck:
    """Passes if the forward rule of `f` is right at points around `args`; else as `test_rrule`."""
    return rule_check(f, *args, mode="frule", **options).raise_unless_right()


def test_scalar(f: Callable, z: complex, **options: Any) -> RuleCheck:
    """Passes if both rules of `f`, a function of one number, are right around `z`; the report of the rrule.

    A real cotangent and the same number as a complex one must give the same. NoRuleError where one of the
    rules is missing; all else as for `test_rrule`.
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
    _tester.__test__ = False  # pytest takes whatever is called test… for a test
check_rrule, check_frule, check_scalar = test_rrule, test_frule, test_scalar
