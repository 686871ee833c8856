"""The questions for the checker: which arguments a function has, of which kinds, and which rule is to be
judged.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..advice import ACCEPTED, BY_NUMBERS, to_state
from ..annotations import signature_of_callable
from ..checking.calling.subjects import rules_of
from ..checking.probing.forms import is_of_form
from ..checking.reading.axes_read import multiplies_matrices, names_an_axis
from ..checking.reading.by_name import names_of_a_formula
from ..checking.reading.counts import counting_parameters
from ..checking.reading.kinds import DomainError
from ..checking.reading.shapes_read import lengths_held
from ..checking.reading.stated_kinds import symmetric_said
from ..errors import RuleError, RuleLabError
from ..rules.authoring import ask
from ..rules.registry import DEFAULT, Found, OptedOut
from ..rules.signatures import meant_types
from ..rules.targets import name_of, resolve
from ..rules.twins import is_twin, primal_of
from ..tangents import projection, zeros
from .cells import Array, ComplexNumber, ComplexNumbers, Static, Symmetric, shape_of
from .complexes import is_complex
from .convergence import TRIED_WITH, is_step_name, keyword_defaults
from .kinds import array_specs, solved_specs, vector_specs
from .limits import domains, is_inside_limits, limits_of, of_forms, sized_specs
from .swap import Swap

NUMBERS, VECTORS, ARRAYS = "numbers", "vectors", "arrays"


class Plan(NamedTuple):
    """One choice of kinds of arguments: `specs` to sample from (all of one kind), samples that were `given`,
    and `limits` of the numbers, (low, high) or None per argument, if there are any.

    `form` is NUMBERS, VECTORS or ARRAYS if the kinds are guessed, empty if they were given. `whole` is the
    given sample if ints in it vary like other numbers.
    """

    specs: tuple
    given: tuple = ()
    limits: tuple = ()
    form: str = ""
    whole: tuple = ()

    def admits(self, sample):
        """Whether the sample lies within the limits."""
        return is_inside_limits(sample, self.limits)

    def symmetric(self):
        """The plan with symmetric matrices in place of square ones; None if there are none."""
        specs = tuple(tuple(map(_symmetric, spec)) for spec in self.specs)
        return None if specs == self.specs else Plan(specs, (), self.limits, self.form)

    def ranks(self):
        """The number of axes of each argument."""
        return tuple(len(shape_of(kind)) for kind in self.specs[0])

    def has_fewer_axes(self, other):
        """Whether the arguments have fewer axes than those of another plan, and none has more."""
        ranks = self.ranks(), other.ranks()
        lower = all(here <= there for here, there in zip(*ranks, strict=True)) and ranks[0] != ranks[1]
        return lower and not any(isinstance(kind, Symmetric) for kind in self.specs[0])

    def is_of_one_shape(self):
        """Whether all arguments with guessed kinds have the same shape, so that nothing is broadcast."""
        guessed = [kind for kind in self.specs[0] if not isinstance(kind, Static)]
        shapes = {shape_of(kind) for kind in guessed if kind != "scalar"}
        return len(shapes) < 2 and not (shapes and "scalar" in guessed)

    def is_of_matrices(self):
        """Whether all arguments that vary are matrices."""
        return all(isinstance(k, Static) or isinstance(k, tuple) and len(k) == 2 for k in self.specs[0])

    def as_matrices(self):
        """The plan with matrices of several rows and columns, in different numbers."""
        return self._replace(specs=tuple(self._all_of(shape) for shape in ((2, 3), (3, 2))))

    def squares(self):
        """The sizes with a square matrix in place of a non-square one, for which a rule may behave
        differently; empty if the arguments are not all matrices, or include a square one.
        """
        shapes = [kind for kind in self.specs[0] if not isinstance(kind, Static)]
        if not self.is_of_matrices() or any(rows == columns for rows, columns in shapes):
            return ()
        return (self._all_of((2, 2)),)

    def with_complex(self, names, wide):
        """The plan with complex numbers in place of real ones for the names in `wide`."""
        specs = [tuple(_complex(*pair, wide) for pair in zip(names, spec)) for spec in self.specs]
        return self._replace(specs=tuple(specs))

    def _all_of(self, shape):
        return tuple(kind if isinstance(kind, Static) else shape for kind in self.specs[0])


def _complex(name, kind, wide):
    if name not in wide or kind != "scalar" and type(kind) is not tuple:
        return kind
    return ComplexNumbers() if kind == "scalar" else ComplexNumbers(kind)


def _symmetric(kind):
    if isinstance(kind, (Static, ComplexNumbers)):
        return kind
    square = len(shape_of(kind)) == 2 and len(set(shape_of(kind))) == 1
    return Symmetric(shape_of(kind)[0]) if square and shape_of(kind) != (1, 1) else kind


@dataclass(frozen=True)
class Question:
    """What is judged: `rule(*args) -> (y, pullback)`, or `partials(y, *args)`, for `primal`.

    `leading` is set if the rule only gives cotangents for the first `leading` arguments. `ask` is the source
    of the call that returns (y, pullback), up to the arguments.
    """

    primal: Callable
    rule: Callable | None
    partials: Callable | None
    names: tuple
    leading: int | None = None
    ask: str = "rl.rrule(f, "
    kwargs: dict = field(default_factory=dict)

    def swap(self, trace, stand_ins):
        """The replacement of namespaces for one trace."""
        return Swap(trace, stand_ins)

    def code(self, arguments, index, seed):
        """Code that shows what was found at `arguments`, if it differs from that for a rule; else None."""
        return None

    def spelled(self, texts):
        """The arguments as written in a call, with these texts for those that vary or are held."""
        return ", ".join(texts)

    def place(self, number):
        """The index of the cotangent of the argument `number` in the result of a pullback, as Python
        source.
        """
        return f"[{number}]"

    def defaults(self):
        """The defaults of the arguments, `NO_DEFAULT` if there is none."""
        return positional_parameters(self.primal, None)[1]

    def options(self):
        """The values of keyword-only arguments, which do not vary."""
        return keyword_defaults(self.primal) | self.kwargs

    def value_through(self, exchange):
        """The function passed through `exchange`, with its keyword arguments bound."""
        return _with_keywords(exchange(self.primal), self.kwargs)

    def rule_through(self, exchange):
        """The rule as a function that returns (y, pullback), with each of its parts passed through
        `exchange`.
        """
        if self.partials is None:
            return _with_keywords(exchange(self.rule), self.kwargs)
        primal, partials = exchange(self.primal), exchange(self.partials)
        fitted = exchange(projection.unbroadcast)

        def scalar_rule(*xs):
            y = primal(*xs)
            slopes = partials(y, *xs)
            slopes = slopes if isinstance(slopes, tuple) else (slopes,)
            return y, lambda y_bar: (
                zeros.NoTangent(),
                *(fitted(times(_conjugated(s), y_bar), x) for s, x in zip(slopes, xs, strict=True)),
            )

        return scalar_rule


def _with_keywords(function, kwargs):
    return functools.partial(function, **kwargs) if kwargs else function


def _conjugated(slope):
    return slope.conjugate() if is_complex(slope) else slope


def times(slope, y_bar):
    """A partial derivative of a scalar rule times the seed; zeros are returned unchanged."""
    return slope if isinstance(slope, zeros.AbstractZero) else slope * y_bar


class NoRuleFound(Exception):
    """The registry has no rule for arguments of this kind. `error` is for the user; if it `is_of_kinds`,
    there may be a rule for structured arguments.
    """

    def __init__(self, error, is_of_kinds=False):
        super().__init__(str(error))
        self.error, self.is_of_kinds = error, is_of_kinds


def judged_arguments(f, at, kwargs=(), sizes=None, domain=None, steps=None):
    """The names of `f`'s positional arguments, and the plans to try in order. Arguments in `kwargs`, and
    those after them, are not judged. The argument that holds the number of steps, called `steps` or having
    such a name, may have to be an int.
    """
    if at is not None:
        at = at if isinstance(at, tuple) else (at,)
    names, defaults = positional_parameters(f, None if at is None else len(at), kwargs)
    if at is not None:
        if sizes is not None:
            raise RuleLabError("either `at` gives the sizes of the arrays, or `sizes` does, not both")
        given = tuple(map(sample_of, at)) + tuple(map(sample_of, defaults[len(at) :]))
        names = names[: len(given)]
        plan = Plan((tuple(map(kind_of, given)),), (given,))
        held = tuple(v if isinstance(v, Static) else None for v in given)
        domain = _definite_as_said(f, names, at) if domain is None else domain
        return names, _within(names, [plan], domains(names, held, domain))
    whole = {name for name, meant in meant_types(f).items() if meant is int}
    supposed = {name: Static(TRIED_WITH if is_step_name(name, steps) else WHOLE) for name in whole}
    held = tuple(
        supposed.get(name) if default is NO_DEFAULT else _held(default)
        for name, default in zip(names, defaults, strict=True)
    )
    kinds = domains(names, held, domain)
    if sizes is not None:
        return names, _within(names, [Plan(specs) for specs in sized_specs(sizes, held)], kinds)
    scalar = tuple(h or "scalar" for h in held)
    if any(complex_ones := _meant_complex(f, names, defaults)):
        wide = zip(scalar, complex_ones, strict=True)
        return names, [Plan((tuple(ComplexNumbers() if is_one else kind for kind, is_one in wide),))]
    # An argument whose default is a number stays one beside arrays, too, and its cotangent is a sum.
    single = ("scalar" if isinstance(d, float) else None for d in defaults)
    apart = tuple(h or s for h, s in zip(held, single, strict=True))
    apart = held if all(apart) else apart
    called = tuple(names) if multiplies_matrices(f) or names_an_axis(f) else names_of_a_formula(tuple(names))
    vectors = [Plan(specs, form=VECTORS) for specs in vector_specs(called, apart)]
    of_called = _renamed(kinds, names, called)
    arrays = [Plan(specs, form=ARRAYS) for specs in array_specs(called, apart, of_called)]
    vectors, arrays = _of_held_lengths(names, vectors, f), _of_held_lengths(names, arrays, f)
    # Symmetric ones hide a transpose, so they come last.
    arrays.sort(key=lambda plan: any(isinstance(kind, Symmetric) for kind in plan.specs[0]))
    arrays += [Plan(specs, form=ARRAYS) for specs in solved_specs(f, names, apart)]
    wide_first = any(len(shape_of(kind)) == 2 for plan in arrays[:1] for kind in plan.specs[0])
    counts = {name for name in names if is_step_name(name, steps)} | counting_parameters(f)
    stepped = tuple(
        Static(TRIED_WITH) if default is NO_DEFAULT and name in counts else kind
        for name, default, kind in zip(names, defaults, scalar, strict=True)
    )
    numbers = [Plan((scalar,), form=NUMBERS)]
    if stepped != scalar and len(names) > 1:
        numbers.append(Plan((stepped,), form=NUMBERS))
    plans = [*numbers, *([*arrays, *vectors] if wide_first else [*vectors, *arrays])]
    unlike: dict[tuple, Plan] = {}
    for plan in _within(names, plans, kinds):
        unlike.setdefault(plan.specs, plan)  # a domain makes some of them equal
    return names, list(unlike.values())


def _held(default):
    """A default that does not vary; None for one that does."""
    return exact_sample(default) if isinstance(sample_of(default), Static) else None


def _within(names, plans, kinds):
    """The plans that a domain allows, with its limits."""
    if not kinds:
        return plans
    limits = limits_of(names, kinds)
    formed = [(plan, of_forms(plan.specs, names, kinds)) for plan in plans]
    allowed = [plan._replace(specs=specs, limits=limits) for plan, specs in formed if specs is not None]
    if not allowed:
        raise DomainError("the domain does not fit the kind or size of the arguments")
    if not all(plan.admits(sample) for plan in allowed for sample in plan.given):
        raise DomainError("the arguments given do not lie in the domain")
    return [p._replace(given=tuple(_as_symmetric(sample, p.specs[0]) for sample in p.given)) for p in allowed]


def _as_symmetric(sample, kinds):
    """A given sample that is perturbed as these kinds are; DomainError if it is not symmetric although the
    kind is.
    """
    pairs = list(zip(kinds, sample, strict=True))
    if any(isinstance(kind, Symmetric) and not _is_symmetric(value) for kind, value in pairs):
        raise DomainError("a matrix that was given is not symmetric, as the domain requires")
    return tuple(v._replace(symmetric=True) if isinstance(kind, Symmetric) else v for kind, v in pairs)


def _is_symmetric(value):
    entries = dict(zip(np.ndindex(value.shape), value.entries, strict=True))
    return all(entries[i] == entries[i[::-1]] for i in entries)


def _of_held_lengths(names, plans, f):
    """The plans without sizes that the function's source excludes: three columns for points in a plane, two
    numbers where a cross product takes three. If one size is left, its free lengths also get other values:
    with a single point, a missing sum over points goes unnoticed.
    """
    held = lengths_held(f)

    def is_meant(spec):
        return all(_has_length(shape_of(kind), held[n]) for n, kind in zip(names, spec) if n in held)

    def with_others(specs):
        others = [_of_other_lengths(names, spec, held) for spec in specs] if len(specs) == 1 else []
        return (*specs, *(spec for spec in others if spec not in specs))

    kept = (plan._replace(specs=with_others(tuple(filter(is_meant, plan.specs)))) for plan in plans)
    return [plan for plan in kept if plan.specs] or plans if held else plans


def _of_other_lengths(names, spec, held):
    """The same kinds with each length that the source does not fix replaced by another one, equal lengths by
    equal ones.
    """
    taken = {n for kind in spec for n in shape_of(kind)}
    fresh = (n for n in itertools.count(2) if n not in taken)
    other: dict[int, int] = {}

    def moved(name, kind):
        if type(kind) is not tuple:
            return kind
        fixed = [dims for dims in held.get(name, ()) if len(dims) == len(kind)]
        free = [all(isinstance(dims[i], str) for dims in fixed) for i in range(len(kind))]
        for n in (n for n, is_free in zip(kind, free) if is_free and n not in other):
            other[n] = next(fresh)
        return tuple(other[n] if is_free else n for n, is_free in zip(kind, free))

    return tuple(map(moved, names, spec))


def _has_length(shape, lengths):
    """Whether a shape agrees with one of these, as far as their lengths are numbers, or has a different rank
    from all.
    """
    alike = [dims for dims in lengths if len(dims) == len(shape)]
    fits = (all(n == d for n, d in zip(shape, dims) if isinstance(d, int)) for dims in alike)
    return not alike or any(fits)


def _definite_as_said(f, names, at):
    """The domain for given matrices that are positive definite, and called so in the docstring of `f`."""
    said = symmetric_said(f)
    given = [(name, x) for name, x in zip(names, at) if name in said and is_of_form("positive definite", x)]
    those = [name for name, x in given if np.array_equal(x, np.transpose(x))]
    return dict.fromkeys(those, "positive definite") or None


def _renamed(kinds, names, called):
    return {other: kinds[name] for name, other in zip(names, called, strict=True) if name in kinds}


WHOLE = 3  # the value for an argument annotated as int
NO_DEFAULT = object()  # for a parameter without default


def _meant_complex(f, names, defaults):
    """For each parameter, whether it is annotated as `complex` or has a complex default."""
    notes = meant_types(f)
    return [
        notes.get(name) in (complex, np.complex128) or isinstance(default, complex)
        for name, default in zip(names, defaults, strict=True)
    ]


def positional_parameters(f, count, kwargs=()):
    """(names, defaults) of the positional parameters before the first of `kwargs`; without a signature, as
    many as were given.

    Optional parameters of C functions (`out` of a ufunc) are left out: their rules are called with the
    arguments as written.
    """
    names, defaults = _all_parameters(f, count)
    if not hasattr(f, "__code__"):
        needed = max([i + 1 for i, d in enumerate(defaults) if d is NO_DEFAULT] + [count or 0])
        names, defaults = names[:needed], defaults[:needed]
    first = next((i for i, name in enumerate(names) if name in kwargs), len(names))
    return names[:first], defaults[:first]


def _all_parameters(f, count):
    try:
        parameters = signature_of_callable(f).parameters.values()
    except (TypeError, ValueError):
        parameters = None
    if parameters is None:
        count = count or getattr(f, "nin", 1)
        return tuple(_letters(count)), (NO_DEFAULT,) * count
    names: list[str] = []
    defaults: list[Any] = []
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            extra = max(0, (count or len(names) + 2) - len(names))
            names += [_free_name(f"{parameter.name}{i}", names) for i in range(extra)]
            defaults += [NO_DEFAULT] * extra
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
            defaults.append(NO_DEFAULT if parameter.default is parameter.empty else parameter.default)
    return tuple(names), tuple(defaults)


def _free_name(name, taken):
    """`name`, or a similar one if it is taken: two arguments with the same name would be one symbol."""
    while name in taken:
        name += "_"
    return name


def _letters(count):
    return ("x", "y", "z", "w")[:count] if count <= 4 else tuple(f"x{i}" for i in range(count))


def exact_sample(value):
    """A given argument as a sample: floats as exact fractions, float arrays entry by entry, everything else
    held fixed.
    """
    if isinstance(value, (float, np.floating)) and np.isfinite(value):
        return Fraction(repr(float(value)))
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return Array(tuple(Fraction(repr(float(v))) for v in value.ravel()), value.shape)
    return Static(value)


def sample_of(value):
    """The same, with complex numbers free to vary, too."""
    if isinstance(value, (complex, np.complexfloating)) and np.isfinite(value):
        return _exact_complex(value)
    if isinstance(value, np.ndarray) and value.dtype.kind == "c":
        return Array(tuple(map(_exact_complex, value.ravel())), value.shape)
    return exact_sample(value)


def _exact_complex(value):
    return ComplexNumber(Fraction(repr(float(value.real))), Fraction(repr(float(value.imag))))


def kind_of(sample):
    """The kind of a sample of one argument."""
    if isinstance(sample, ComplexNumber):
        return ComplexNumbers()
    if isinstance(sample, Array):
        return ComplexNumbers(sample.shape) if sample.is_complex else sample.shape
    return sample if isinstance(sample, Static) else "scalar"


def _copies_with_rules(target, book):
    """The names of the twins of a function that have rules of their own, the latest first."""
    copies = [entry.target() for entry in book.entries() if entry.user]
    return [c.__name__ for c in reversed(copies) if is_twin(c) and primal_of(c) is target]


def find_rule(f, rule, names, plan, registry, name=None, kwargs=None):
    """The Question for `f` under this plan; raises `NoRuleFound`."""
    kwargs = dict(kwargs or {})
    if rule is not None:
        return Question(f, rule, None, names, None, f"{_identifier(rule, 'rule')}(", kwargs)
    if isinstance(f, type) or not names:
        raise NoRuleFound(
            _error(
                f,
                "is a class" if isinstance(f, type) else "has no positional argument",
                "give a function of numbers",
            )
        )
    book = DEFAULT if registry is None else registry
    target, bound = resolve(f)
    if bound:
        raise NoRuleFound(
            _error(
                f,
                "is a bound method; this check takes functions",
                "pass the function, with the object as its first argument",
            )
        )
    answer = ask(target, tuple(map(_example, plan.specs[0])), kwargs, "rrule", registry=book)
    if not isinstance(answer, Found):
        rules = rules_of(target, book)
        if rules and all(one.mode == "frule" for one in rules):
            found = "has only a forward rule; proofs are for reverse rules"
            raise NoRuleFound(_error(f, found, BY_NUMBERS, name=name))
        if plan.form and not isinstance(answer, OptedOut) and rules:
            found = "has no rule for numbers or arrays, the kinds tried here"
            raise NoRuleFound(_error(f, found, BY_NUMBERS, ACCEPTED, name=name), is_of_kinds=True)
        opted = "is opted out of rules" if isinstance(answer, OptedOut) else "has no rule to judge"
        asked = name or name_of(target)
        copies = [f"try its copy: {copy}" for copy in _copies_with_rules(target, book)]
        raise NoRuleFound(_error(f, opted, *copies[:1], to_state("rrule", asked), name=name))
    stated = answer.rule
    if stated.requires:
        raise NoRuleFound(
            _error(
                f, "has a rule that asks for a RuleConfig, which a proof does not have", BY_NUMBERS, name=name
            )
        )
    call = f"rl.rrule({name or _identifier(f, 'f')}, "
    if stated.partials is not None:
        return Question(f, None, stated.partials, names, None, call, kwargs)
    leading = stated.leading if stated.built_in else None
    return Question(f, stated.function, None, names, leading, call, kwargs)


def _error(f, found, *fixes, name=None):
    name = name or name_of(f)
    return RuleError(f"{name} {found}", asked=f"a symbolic check of the rule of {name}", fixes=fixes)


def _example(kind):
    if isinstance(kind, Static):
        return kind.value
    if isinstance(kind, ComplexNumbers):
        return np.full(kind.shape, 0.5 + 0.5j) if kind.shape else 0.5 + 0.5j
    return 0.5 if kind == "scalar" else np.full(shape_of(kind), 0.5)


def _identifier(f, otherwise):
    name = getattr(f, "__name__", "")
    return name if isinstance(name, str) and name.isidentifier() else otherwise
