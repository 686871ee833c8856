"""Which points a check looks at: given or drawn, of several sizes and scales, with ties, on both sides of
branches.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import inspect
import itertools
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..errors import RuleLabError, RuleShapeError
from ..rules.authoring import ask, rrule
from ..rules.registry import Found, Registry
from ..rules.signatures import ANY, Accepts, accepts_from, meant_types
from ..rules.targets import name_of, resolve
from ..tangents.zeros import AbstractZero, NoTangent
from .budgets import Limit
from .findiff import fd_jvp
from .forms import SYMMETRIC, forms_read
from .perturb import (
    DRAWN_SCALES,
    Kind,
    WithTangent,
    all_equal,
    are_as_named,
    between,
    beyond,
    draw_all,
    exactly,
    guesses,
    is_matrix_name,
    jittered,
    landmarks,
    mirrored,
    narrow_gaps,
    narrowed,
    near,
    opposed,
    plainly,
    rand_tangent,
    scalar_names,
    tied,
    vouched,
    with_all_digits,
)
from .probes import Point, quiet, watched_lines
from .subjects import Subject, raw_pullback, rules_of
from .vectors import cotangent_vec, leaves, to_vec

TRIES = 400
"""Calls of the function that may be spent on finding arguments it takes."""


class NoInputsError(RuleLabError):
    """A check could not find arguments that the function takes."""


ATTEMPTS_APART = 7
"""By how much the numbers of two points differ of which the second is looked at if the first is refused."""
FAR = 4.0
"""How many times larger or smaller than usual arguments are drawn from where digits may be lost."""


class Source:
    """The points of one check: those the caller `given`, or drawn by the kinds that the function takes.

    `forms` says, by position, which arguments are symmetric matrices. `whole` are the arguments as they were
    given, where whole numbers among them were taken as floats.
    """

    def __init__(
        self,
        f: Callable,
        given: tuple | None,
        kwargs: Mapping[str, Any],
        domain: Mapping[str, Kind],
        rng: np.random.Generator,
        mode: str,
        config: Any,
        registry: Registry,
        several: bool = False,
        seconds: float = 5.0,
        names: tuple[str, ...] | None = None,
    ) -> None:
        self.f, self.kwargs, self.rng = f, kwargs, rng
        self.choices: tuple[tuple[Kind, ...], ...] = ()
        self.notes: tuple[str, ...] = ()
        self.whole: tuple | None = None
        self.is_guessed = True  # whether the arguments that nobody gave are of kinds that nobody asked for
        asked = (mode, config, registry)
        if given is not None:
            plain = tuple(x.value if isinstance(x, WithTangent) else x for x in given)
            held = frozenset(i for i, x in enumerate(given) if isinstance(x, WithTangent))
            self.args, self.notes = _movable(f, plain, kwargs, asked, held)
            self.whole = plain if self.args is not plain else None
            named = dict(zip(names or _all_names(resolve(f)[0]), plain))
            said = [domain[name].form if name in domain else None for name in named]
            self.forms = _forms(f, self.args, kwargs, rng, said, drawn=False)
            return
        end = Limit(seconds)
        self.is_guessed = not all(name in domain and domain[name].is_asked for name in required_names(f))
        found = _kinds_taken(f, kwargs, domain, rng, asked, several, end)
        found = _with_numbers(f, found, kwargs, domain, rng, asked, end)
        found, self.notes = self._meant(found, asked)
        found = _with_vectors(f, found, kwargs, domain, rng, asked, end)
        found = _counting(f, found, kwargs, rng, asked)
        args = draw_all(found[0], rng)
        self.forms = _forms(f, args, kwargs, rng, [kind.form for kind in found[0]], drawn=True)
        self.choices = tuple(_of_forms(kinds, self.forms) if kinds == found[0] else kinds for kinds in found)
        self.args = draw_all(self.choices[0], rng) if self.choices != found else args

    def _meant(
        self, found: tuple[tuple[Kind, ...], ...], asked: tuple[str, Any, Registry]
    ) -> tuple[tuple[tuple[Kind, ...], ...], tuple[str, ...]]:
        """The kinds found without those further ones for which the rule seems wrong, with a note of these: a
        function of vectors may take matrices, and mean nothing by it.
        """
        first, *others = found
        if not others or not _seems_right(self.f, draw_all(first, self.rng), self.kwargs, self.rng, asked):
            return found, ()
        meant, notes = [first], []
        for kinds in others:
            if _seems_right(self.f, draw_all(kinds, self.rng), self.kwargs, self.rng, asked):
                meant.append(kinds)
            elif any(kind.form != "integer" for kind in kinds):
                named = ", ".join(f"{n}: {k}" for n, k in zip(required_names(self.f), kinds))
                notes.append(f"not right for ({named}), which may not be meant: --at judges it there")
        return tuple(meant), tuple(notes)

    @property
    def drawn(self) -> bool:
        """Whether the arguments are ours and not the caller's."""
        return bool(self.choices)

    def args_at(self, number: int) -> tuple:
        """The arguments of the point of this number; the first are those the caller gave.

        Numbers have few digits, so that single precision holds them; but not all of them, or a rule that
        keeps its arguments in single precision would pass.
        """
        if number == 0:
            return self.args
        args = self._moved(number)
        return with_all_digits(args, self.rng) if number % 4 == 1 else args

    def _moved(self, number: int) -> tuple:
        if not self.choices:
            return self._near_those_given(number)
        size, choice = divmod(number, len(self.choices))
        kinds = self.choices[choice]
        drawn = draw_all(kinds, self.rng, size, self._scale(number))
        return opposed(drawn, self.args, kinds) if number == 1 else drawn

    def _near_those_given(self, number: int) -> tuple:
        """Those given, moved; at some points all change their signs, and where that is refused, or the time
        after, one of them does: `delta` may have to be positive, and `x` not.
        """
        attempt, turn = divmod(number, ATTEMPTS_APART)
        if turn % 3 != 2:
            return jittered(self.args, self.rng)
        flipped = jittered(self.args, self.rng, flips=True)
        if turn == 2 and not attempt:
            return flipped
        moving = [i for i, x in enumerate(self.args) if to_vec(x)[0].size]
        alone = moving[(attempt - (turn == 2)) % len(moving)] if moving else 0
        same = jittered(self.args, self.rng)
        return tuple(flipped[i] if i == alone else x for i, x in enumerate(same))

    def _scale(self, number: int) -> float:
        return DRAWN_SCALES[number % len(DRAWN_SCALES)] if self.choices else 1.0

    def is_far(self, number: int) -> bool:
        """Whether the point of this number has arguments of an unusual size, which nobody gave."""
        return not 1 / FAR <= self._scale(number) <= FAR

    def origin(self, number: int) -> str:
        """Where the numbers of that point come from, in words."""
        if self.choices:
            return "drawn"
        return "given" if number == 0 else "near those given"


def _forms(
    f: Callable,
    args: tuple,
    kwargs: Mapping[str, Any],
    rng: np.random.Generator,
    said: list[str | None],
    drawn: bool,
) -> tuple[str | None, ...]:
    """Which arguments are symmetric: those said to be, and those of which f looks at one triangle."""
    padded = [*said, *(None for _ in args[len(said) :])][: len(args)]
    seen = forms_read(f, args, kwargs, rng, drawn)
    found = tuple(form if form in SYMMETRIC else seen.get(i) for i, form in enumerate(padded))
    return found if any(found) else ()


def _of_forms(kinds: tuple[Kind, ...], forms: tuple[str | None, ...]) -> tuple[Kind, ...]:
    """The same kinds, those of symmetric arguments said to be."""
    if not forms:
        return kinds
    return tuple(
        kind if form is None or kind.form in SYMMETRIC else dataclasses.replace(kind, form=form)
        for kind, form in zip(kinds, forms)
    )


COUNTS = frozenset(
    ("k", "i", "j", "m", "d", "p", "q", "n", "count", "times", "steps", "degree", "power", "lag")
)
"""Parameters that may be whole numbers: they are where a rule says of them that they have no derivative."""


def _counting(
    f: Callable,
    found: tuple[tuple[Kind, ...], ...],
    kwargs: Mapping[str, Any],
    rng: np.random.Generator,
    asked: tuple[str, Any, Registry],
) -> tuple[tuple[Kind, ...], ...]:
    """The kinds found, with integers for numbers that are called as counts and that the rule holds fixed."""
    first = found[0]
    named = zip(required_names(f), first)
    those = [i for i, (name, kind) in enumerate(named) if name in COUNTS and kind.form == "number"]
    if not those or len(first) == 1 or asked[0] != "rrule":
        return found
    bars = _answered(f, draw_all(first, rng), kwargs, asked)
    bars = bars if isinstance(bars, tuple) else ()
    fixed = [i for i in those if i + 1 < len(bars) and isinstance(bars[i + 1], NoTangent)]
    if not fixed:
        return found
    counted = [tuple(Kind("integer") if i in fixed else k for i, k in enumerate(kinds)) for kinds in found]
    kept = [kinds for kinds in counted if _takes(f, kinds, kwargs, rng)]
    return tuple(dict.fromkeys(kept)) or found


def _answered(f: Callable, args: tuple, kwargs: Mapping[str, Any], asked: tuple[str, Any, Registry]) -> Any:
    """What the reverse rule returns at these arguments for a cotangent; None where it fails."""
    with quiet():
        try:
            y, back = rrule(
                f, *copy.deepcopy(args), config=asked[1], registry=asked[2], **copy.deepcopy(dict(kwargs))
            )
            return raw_pullback(back)(rand_tangent(y, np.random.default_rng(0)))
        except Exception:
            return None


def _kinds_taken(
    f: Callable,
    kwargs: Mapping[str, Any],
    domain: Mapping[str, Kind],
    rng: np.random.Generator,
    asked: tuple[str, Any, Registry],
    several: bool,
    end: Limit,
) -> tuple[tuple[Kind, ...], ...]:
    """The first kinds that the function, and a rule of it, take; up to three if `several` are wanted."""
    target, bound = resolve(f)
    if bound:
        raise _none_found(f, "its object's numbers are not drawn")
    names = required_names(f)
    unknown = set(domain) - set(names) - set(_all_names(target))
    if unknown:
        raise NoInputsError(f"{name_of(target)} has no parameter {sorted(unknown)[0]}")
    mode, config, registry = asked
    of_rules = [rule.accepts for rule in rules_of(target, registry) if rule.mode == mode]
    accepts = [_as_annotated(accepted, target) for accepted in (*of_rules, *([] if of_rules else [None]))]
    tried, last = 0, "no kind of number suits them"
    seen: set[tuple[Kind, ...]] = set()
    found: dict[tuple[str, ...], tuple[Kind, ...]] = {}
    relations: dict[str, tuple[bool, bool]] = {}
    refused: list[tuple[Kind, ...]] = []
    for accepted in [*accepts, None]:
        likeliest = sorted(guesses(names, accepted, domain), key=lambda ks: not are_as_named(names, ks))
        for guessed in likeliest:
            for kinds in narrowed(guessed):
                forms = tuple(kind.form for kind in kinds)
                if end.is_over():
                    break
                if kinds in seen or tried >= TRIES or forms in found or found and "list" in forms:
                    continue
                seen.add(kinds)
                tried += 1
                args = draw_all(kinds, rng)
                if not isinstance(ask(target, args, dict(kwargs), mode, config, registry), Found):
                    continue
                try:
                    y = plainly(f, args, kwargs)
                    relation = _relation(args, y)
                    if not _is_finite(y) or relation != relations.get("first", relation):
                        continue
                    if _takes(f, kinds, kwargs, rng):
                        if len(refused) < MOST_REFUSED and not _rule_takes(target, args, kwargs, asked):
                            largest = max(map(np.shape, args), key=len)
                            if are_as_named(names, kinds) and np.shape(y) == largest:
                                return (kinds,)  # broadcast: what the names say is meant, and to be judged
                            if not any(kind.made for kind in kinds):  # arrays in objects may be of any rank
                                refused.append(kinds)
                            continue
                        if len(refused) == MOST_REFUSED and not found:
                            break
                        relations["first"] = relation
                        found[forms] = kinds
                        if len(found) == 3 or not several:
                            return tuple(found.values())
                except Exception as error:
                    last = f"{type(error).__name__}: {' '.join(str(error).split())[:80]}"
    if end.is_over():
        last = f"none in {end.seconds:g} s; {last}"
    if found:
        return tuple(found.values())
    sized = _of_own_lengths(f, names, kwargs, domain, rng, asked, end)
    if sized or refused and not end.is_over():  # else there may be kinds that the rule is for
        return (sized or refused[0],)
    raise _none_found(f, last)


def _as_annotated(accepted: Accepts | None, target: Any) -> Accepts | None:
    """What a rule accepts, and where it does not say, what the annotations of the function mean."""
    notes = meant_types(target)
    if not notes:
        return accepted
    parameters = []
    for i, name in enumerate(_all_names(target)):
        said = ANY if accepted is None else accepted.at(i)
        if said == ANY and name in notes:
            with contextlib.suppress(RuleLabError):  # an annotation that says nothing of numbers
                said = accepts_from((notes[name],)).at(0)
        parameters.append(said)
    return Accepts(tuple(parameters), open_ended=True)


def _with_numbers(
    f: Callable,
    found: tuple[tuple[Kind, ...], ...],
    kwargs: Mapping[str, Any],
    domain: Mapping[str, Kind],
    rng: np.random.Generator,
    asked: tuple[str, Any, Registry],
    end: Limit,
) -> tuple[tuple[Kind, ...], ...]:
    """Kinds with numbers for some of several vectors, where the rule does not seem right with the vectors and
    does with these: a polynomial is asked at one point. Those found otherwise.
    """
    kinds = found[0]
    free = [
        kind.form == "vector" and not (name in domain and domain[name].is_asked)
        for kind, name in zip(kinds, required_names(f))
    ]
    if sum(free) < 2 or _seems_right(f, draw_all(kinds, rng), kwargs, rng, asked):
        return found
    for fewer in _some_as(kinds, free, "number"):
        if end.is_over():
            return found
        args = draw_all(fewer, rng)
        try:
            is_taken = _is_finite(plainly(f, args, kwargs)) and _takes(f, fewer, kwargs, rng)
        except Exception:
            continue
        if is_taken and any(k.form != "number" for k in fewer) and _seems_right(f, args, kwargs, rng, asked):
            return (fewer,)
    return found


OWN_LENGTHS = (3, 4, 2, 5, 6)
"""Lengths of vectors that are tried, each vector's its own, where a function or its rule insists on some."""
MOST_SIZED = 400
RELATED = {"vector": (("n",), ("m",)), "matrix": (("m", "n"), ("n", "m"), ("n", "p"), ("n", "n"))}
"""Lengths by letters: matrices and vectors that go together."""


def _own_lengths(name: str, said: Kind | None) -> list[Kind]:
    """The kinds of one argument with lengths of their own."""
    if said is not None and said.is_asked:
        of_letters = [dataclasses.replace(said, dims=dims) for dims in RELATED.get(said.form, ())]
        fixed = [dataclasses.replace(said, dims=(n,)) for n in OWN_LENGTHS] if said.form == "vector" else []
        return [said] if said.dims or not of_letters else [*of_letters, *fixed]
    kinds = [Kind(), *(Kind("vector", dims=(n,)) for n in OWN_LENGTHS)]
    if is_matrix_name(name):
        kinds = [Kind(form, dims=dims) for form in ("matrix", "vector") for dims in RELATED[form]]
    elif len(name) == 1:
        kinds.insert(1, Kind("vector", dims=("n",)))
    low, high = (said.low, said.high) if said is not None else (-np.inf, np.inf)
    return [dataclasses.replace(kind, low=low, high=high) for kind in kinds]


def _of_own_lengths(
    f: Callable,
    names: tuple[str, ...],
    kwargs: Mapping[str, Any],
    domain: Mapping[str, Kind],
    rng: np.random.Generator,
    asked: tuple[str, Any, Registry],
    end: Limit,
) -> tuple[Kind, ...] | None:
    """Numbers, and arrays each of a length of its own, that the function takes and for which its rule runs:
    a polynomial wants three coefficients, a rotation a quaternion. None where there are none.
    """
    target, tried = resolve(f)[0], 0
    choices = [_own_lengths(name, domain.get(name)) for name in names]
    combined = itertools.islice(itertools.product(*choices), MOST_SIZED**2)
    for guessed in sorted(combined, key=lambda kinds: sum(k.form != "number" for k in kinds)):
        for kinds in narrowed(guessed):
            if tried >= MOST_SIZED or end.is_over():
                return None
            tried += 1
            args = draw_all(kinds, rng)
            try:
                if not isinstance(ask(target, args, dict(kwargs), *asked), Found):
                    continue
                y = plainly(f, args, kwargs)
            except (ArithmeticError, np.linalg.LinAlgError):
                continue
            except Exception as error:
                if "domain" in str(error):
                    continue
                break  # not for want of another interval
            if _is_finite(y) and _takes(f, kinds, kwargs, rng) and _rule_takes(target, args, kwargs, asked):
                return kinds
            if _is_finite(y):
                break
    return None


def _with_vectors(
    f: Callable,
    found: tuple[tuple[Kind, ...], ...],
    kwargs: Mapping[str, Any],
    domain: Mapping[str, Kind],
    rng: np.random.Generator,
    asked: tuple[str, Any, Registry],
    end: Limit,
) -> tuple[tuple[Kind, ...], ...]:
    """The kinds found, and where these are numbers alone, vectors too if the function and its rule take them:
    first where the function makes one number of them.

    A rule that lacks a sum, or has one too many, is right for numbers. Of several arguments some may be meant
    to be numbers: the rule is looked at with those vectors for which it seems right, else with all that it
    has an answer for. There are none where the function does not broadcast, as one that puts its arguments in
    a list, and where the time until `end` was too short to find out.
    """
    first, names = found[0], required_names(f)
    free = [
        kind.form == "number" and not (name in domain and domain[name].is_asked)
        for kind, name in zip(first, names)
    ]
    if not all(kind.form in ("number", "integer") for kind in first):
        return found
    meant = _meant_numbers(f, first, free, kwargs, rng)
    free = [is_free and i not in meant for i, is_free in enumerate(free)]
    taken: list[tuple[tuple[Kind, ...], tuple]] = []
    for kinds in _some_as(first, free, "vector"):
        if end.is_over():
            return found
        args = _vectors_taken(f, first, kinds, kwargs, rng, asked)
        if args is None:
            continue
        if sum(free) == 1 or _seems_right(f, args, kwargs, rng, asked):
            taken = [(kinds, args)]
            break
        taken.append((kinds, args))
    else:
        if len(taken) < 2:  # no share, or all arguments but not some: it does not broadcast
            return found
        taken = [one for one in taken if _answers_for(f, one[1], kwargs, asked)]
        if not taken:
            return found
    kinds, args = taken[0]
    is_one_number = to_vec(plainly(f, args, kwargs))[0].size == 1
    return tuple(dict.fromkeys((kinds, *found) if is_one_number else (*found, kinds)))


def _answers_for(
    f: Callable, args: tuple, kwargs: Mapping[str, Any], asked: tuple[str, Any, Registry]
) -> bool:
    """Whether a rule has cotangents of the right shapes for some numbers and some vectors, or the function
    makes one number of these.

    What is an array in place of a number was broadcast by us, if the value has the shape of the vectors: a
    rule for arrays of one shape (`a * x**n`) is no wrong rule for that. In a sum over vectors it is one.
    """
    target, _ = resolve(f)
    if to_vec(plainly(f, args, kwargs))[0].size == 1:
        return True
    return _rule_takes(target, args, kwargs, asked)


def _meant_numbers(
    f: Callable,
    first: tuple[Kind, ...],
    free: list[bool],
    kwargs: Mapping[str, Any],
    rng: np.random.Generator,
) -> frozenset[int]:
    """The positions of the arguments that mean numbers by their names and are broadcast against vectors: the
    value has the same shape as with vectors for all.

    Where no other name speaks of an array this is so only if the function makes one number of the vectors,
    for then they are meant: else all may be numbers.
    """
    names = required_names(f)
    known, likely = scalar_names(names)
    those = frozenset(i for i, name in enumerate(names) if free[i] and name in known | likely)
    if not those or len(those) == sum(free):
        return frozenset()
    shares = ([i in those for i in range(len(free))], [not is_free for is_free in free])
    values = []
    for numbers in shares:
        vectors = (dataclasses.replace(kind, form="vector", dims=()) for kind in first)
        kinds = tuple(k if is_number else v for k, v, is_number in zip(first, vectors, numbers))
        try:
            values.append(plainly(f, draw_all(kinds, rng), kwargs))
        except Exception:  # it does not broadcast
            return frozenset()
    is_one_number = to_vec(values[0])[0].size == 1
    alike = _shapes(values[0]) == _shapes(values[1])
    return those if alike and _is_finite(values[0]) and (known or is_one_number) else frozenset()


def _shapes(y: Any) -> list[tuple[int, ...]]:
    return [leaf.shape for leaf in leaves(y)]


MOST_SHARES = 8
"""Ways to make vectors of some of several numbers that are looked at."""


def _some_as(kinds: tuple[Kind, ...], free: list[bool], form: str) -> Iterator[tuple[Kind, ...]]:
    """The same kinds in another form, where that is `free`: for all of them first, then for some."""
    shares = itertools.product(*[(True, False) if is_free else (False,) for is_free in free])
    for share in itertools.islice((s for s in shares if any(s)), MOST_SHARES):
        yield tuple(
            dataclasses.replace(kind, form=form, dims=()) if is_other else kind
            for kind, is_other in zip(kinds, share)
        )


def _vectors_taken(
    f: Callable,
    numbers: tuple[Kind, ...],
    kinds: tuple[Kind, ...],
    kwargs: Mapping[str, Any],
    rng: np.random.Generator,
    asked: tuple[str, Any, Registry],
) -> tuple | None:
    """Arguments of these kinds, which have vectors where others are `numbers`; None where the function, or
    the rule that it has for the numbers, does not take them.
    """
    target, _ = resolve(f)
    drawn = [draw_all(every, rng) for every in (numbers, kinds)]
    mode, config, registry = asked
    answers = [ask(target, args, dict(kwargs), mode, config, registry) for args in drawn]
    rules = [answer.rule for answer in answers if isinstance(answer, Found)]
    if len(rules) < 2 or rules[0] is not rules[1]:
        return None
    try:
        y = plainly(f, drawn[1], kwargs)
    except Exception:
        return None
    if not _is_finite(y) or not _takes(f, kinds, kwargs, rng):
        return None
    return drawn[1] if _rule_takes(target, drawn[1], kwargs, asked, NOT_WRITTEN_FOR) else None


def _seems_right(
    f: Callable,
    args: tuple,
    kwargs: Mapping[str, Any],
    rng: np.random.Generator,
    asked: tuple[str, Any, Registry],
) -> bool:
    """Whether a reverse rule goes with the difference in one direction, by the dot-product test; True of a
    forward rule, which does with broadcast arguments what its function does.
    """
    mode, config, registry = asked
    if mode != "rrule":
        return True
    x_dots = tuple(rand_tangent(x, rng) for x in args)
    with quiet():
        try:
            y, back = rrule(f, *copy.deepcopy(args), config=config, registry=registry, **dict(kwargs))
            y_bar = rand_tangent(y, rng)
            x_bars = back(y_bar)[1:]
            y_dot = fd_jvp(lambda *xs: f(*xs, **kwargs), x_dots, *args)
            found = sum(_dot(x, x_bar, x_dot) for x, x_bar, x_dot in zip(args, x_bars, x_dots))
            wanted = _dot(y, y_bar, y_dot)
        except Exception:
            return False
    return bool(abs(found - wanted) <= ROUGHLY * max(abs(found), abs(wanted)))


ROUGHLY = 1e-4


def _dot(x: Any, x_bar: Any, x_dot: Any) -> float:
    return float(cotangent_vec(x, x_bar) @ cotangent_vec(x, x_dot))


MOST_REFUSED = 8
"""Kinds that a rule may fail for before it is taken for wrong about all."""


NOT_WRITTEN_FOR = (TypeError, ValueError, AttributeError, IndexError)
"""What a rule raises that gets an argument of a kind it was not written for."""


def _rule_takes(
    target: Any,
    args: tuple,
    kwargs: Mapping[str, Any],
    asked: tuple[str, Any, Registry],
    refusals: tuple[type[Exception], ...] = (*NOT_WRITTEN_FOR, RuleShapeError),
) -> bool:
    """Whether a rule runs through for these arguments: one written for arrays may not do so for a number.

    What is wrong with its answer is for the check to say.
    """
    mode, config, registry = asked
    if mode != "rrule":
        return True
    with quiet():
        try:
            y, back = rrule(target, *copy.deepcopy(args), config=config, registry=registry, **dict(kwargs))
            back(y)
        except refusals:
            return False
        except Exception:
            return True
    return True


def _relation(args: tuple, y: Any) -> tuple[bool, bool]:
    """How a value goes with its arguments: whether it is one number, whether it has the rank of the first.

    A function that takes vectors to a number is another function where it takes matrices to vectors.
    """
    return to_vec(y)[0].size == 1, _rank(y) == _rank(args[0])


def _rank(x: Any) -> int:
    return x.ndim if isinstance(x, np.ndarray) else 0


def _movable(
    f: Callable,
    args: tuple,
    kwargs: Mapping[str, Any],
    asked: tuple[str, Any, Registry],
    fixed: frozenset[int],
) -> tuple[tuple, tuple[str, ...]]:
    """Arguments with something to move: whole numbers become floats where there is nothing else, or where the
    rule has a cotangent for them, and f gives the same.
    """
    counts = [i for i, x in enumerate(args) if isinstance(x, (int, np.integer)) and not isinstance(x, bool)]
    if not to_vec(args)[0].size:
        wide = tuple(x if i in fixed else _as_float(x) for i, x in enumerate(args))
        if to_vec(wide)[0].size and _gives_the_same(f, args, wide, kwargs):
            return wide, ("integers were taken as floats",)
    bars = _answered(f, args, kwargs, asked) if counts and asked[0] == "rrule" else None
    shift = len(bars) - len(args) if isinstance(bars, tuple) else 0
    bars = bars if isinstance(bars, tuple) else ()
    varied = [
        i for i in counts if i not in fixed and shift > 0 and not isinstance(bars[i + shift], AbstractZero)
    ]
    wide = tuple(float(x) if i in varied else x for i, x in enumerate(args))
    if varied and _gives_the_same(f, args, wide, kwargs) and _rule_takes(resolve(f)[0], wide, kwargs, asked):
        counts = [i for i in counts if i not in varied]
        args, notes = wide, [f"{', '.join(repr(args[i]) for i in varied)}: taken as floats"]
    else:
        notes = []
    if counts and to_vec(args)[0].size:
        notes.append(f"{', '.join(repr(args[i]) for i in counts)}: integers are held fixed")
    return args, tuple(notes)


def _gives_the_same(f: Callable, args: tuple, wide: tuple, kwargs: Mapping[str, Any]) -> bool:
    try:
        return bool(np.allclose(plainly(f, wide, kwargs), plainly(f, args, kwargs), equal_nan=True))
    except Exception:
        return False


def _as_float(x: Any) -> Any:
    if isinstance(x, (int, np.integer)) and not isinstance(x, bool):
        return float(x)
    if isinstance(x, np.ndarray) and x.dtype.kind in "iu":
        return x.astype(float)
    return [_as_float(part) for part in x] if type(x) is list else x


def _takes(f: Callable, kinds: tuple[Kind, ...], kwargs: Mapping[str, Any], rng: np.random.Generator) -> bool:
    """Whether most draws of these kinds are in the function's domain.

    A function of real numbers that gives complex ones here and there, as powers do, has left it there.
    """
    values = []
    for number in range(1, 5):
        try:
            y = plainly(f, draw_all(kinds, rng, number), kwargs)
        except Exception:
            continue
        values += [y] if _is_finite(y) else []
    return len(values) >= 3 and len({_is_complex(y) for y in values}) == 1


def _none_found(f: Callable, why: str) -> NoInputsError:
    name = getattr(f, "__name__", "the function")
    return NoInputsError(
        f"no arguments were found that {name} takes: {why}",
        asked=f"a check of the rule of {name}",
        fixes=(
            "give them: %rule_check f --at 2.0, [1.0, 2.0]",
            'their kinds: domain={"x": "positive vector"}',
        ),
        read="howto/check-a-rule",
    )


def _parameters(target: Any) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(target).parameters.values())
    except (TypeError, ValueError):
        return []


def required_names(f: Any) -> tuple[str, ...]:
    """The names of the arguments that a check has to find for a function: those without a default."""
    target = resolve(f)[0]
    if isinstance(target, np.ufunc):
        return tuple("xyzw"[: target.nin])
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    found = [p for p in _parameters(target) if p.kind in positional]
    names = [p.name for p in found if p.default is p.empty]
    if not names:
        names = [p.name for p in found[:1]]
    return tuple(names) or ("x",)


def _all_names(target: Any) -> tuple[str, ...]:
    return tuple(p.name for p in _parameters(target))


def _is_finite(y: Any) -> bool:
    vector = to_vec(y)[0]
    return bool(vector.size) and bool(np.all(np.isfinite(vector)))


def usable(subject: Subject, point: Point, like: Any, heed: bool = True) -> Any:
    """The value at a point, or None where the function refuses it, gives something not finite, warns that it
    is no good (if that is to be heeded), or gives complex numbers where it gave real ones (`like`).
    """
    if not point.is_inside():
        return None
    try:
        y = (vouched if heed else plainly)(subject.primal, point.floats, point.kwargs)
    except Exception:
        return None
    largest = np.abs(to_vec(y)[0]).max(initial=0.0)
    if _is_single(point.inputs) and largest > np.finfo(np.float32).max:
        return None  # the function counts in doubles, but a cotangent of its dtype would overflow
    return y if _is_finite(y) and _is_complex(y) == _is_complex(like) else None


def _is_single(inputs: tuple) -> bool:
    return any(leaf.dtype in (np.float32, np.complex64, np.float16) for leaf in leaves(inputs))


def _is_complex(y: Any) -> bool:
    return any(leaf.dtype.kind == "c" for leaf in leaves(y))


EXACT = 6
"""Numbers of the code that a point lies exactly on."""


def odd_points(subject: Subject, point: Point, rng: np.random.Generator) -> Iterator[Point]:
    """Points with ties, with zeros, and around the numbers that stand in the code."""
    yield point.moved(all_equal(point.inputs), "all equal")
    for _ in range(2):
        yield point.moved(tied(point.inputs, rng), "with ties")
    marks = landmarks((*subject.codes, *subject.helpers))
    for mark in marks[:EXACT]:
        for inputs in exactly(point.inputs, mark):
            yield point.moved(inputs, f"exactly {mark:g}", edge=True)
    for low, high in narrow_gaps(marks):
        yield point.moved(between(point.inputs, low, high, rng), f"between {low:g} and {high:g}")
    for inputs in mirrored(point.inputs):
        yield point.moved(inputs, "with another sign")
    for mark in marks[:8]:
        for inputs in near(point.inputs, mark, rng):
            yield point.moved(inputs, f"around {mark:g}")
        if mark > 0 and -mark not in marks:  # abs(x) <= mark parts there, too
            yield point.moved(beyond(point.inputs, mark, rng), f"around {-mark:g}")


def reaching(
    subject: Subject,
    candidates: Iterator[Point],
    reached: set[tuple[types.CodeType, int]],
    most: int,
    is_usable: Callable[[Point], bool],
) -> Iterator[Point]:
    """Those among the candidates at which the function and its rule run lines that were not run before."""
    for point in candidates:
        if most <= 0:
            return
        if not is_usable(point):
            continue
        lines = _lines_at(subject, point)
        if not lines <= reached:
            reached |= lines
            most -= 1
            yield point


def _lines_at(subject: Subject, point: Point) -> set[tuple[types.CodeType, int]]:
    with watched_lines(subject) as lines, quiet():
        try:
            y = plainly(subject.primal, point.inputs, point.kwargs)
            if subject.reverse is not None:
                _, back = subject.reverse(*point.inputs, **point.kwargs)
                back(y)
        except Exception:
            pass
    return lines


def lines_of(codes: tuple[types.CodeType, ...]) -> set[tuple[types.CodeType, int]]:
    """The lines of some code that can be run: those of statements, without the `def` that begins it."""
    return {
        (code, line)
        for code in codes
        for _, _, line in code.co_lines()
        if line is not None and line != code.co_firstlineno
    }
