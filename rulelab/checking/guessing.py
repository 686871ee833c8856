"""Which kinds of arguments a function takes and its rule is for, where nobody has said so."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..errors import RuleLabError, RuleShapeError
from ..rules.authoring import ask, rrule
from ..rules.registry import Found as FoundRule
from ..rules.registry import Registry
from ..rules.signatures import ANY, Accepts, accepts_from, meant_types
from ..rules.targets import name_of, resolve
from ..tangents.thunks import unthunk
from ..tangents.zeros import AbstractZero, NoTangent
from .budgets import Limit
from .findiff import fd_jvp
from .perturb import (
    MATRICES,
    Kind,
    are_as_named,
    dicts_of,
    draw_all,
    guesses,
    is_matrix_name,
    narrowed,
    objects_with,
    ordered_pairs,
    plainly,
    put_in_order,
    rand_tangent,
    revalued,
    scalar_names,
    special_names,
)
from .probes import quiet
from .subjects import author_of, codes_of, raw_pullback, rules_of
from .usage import attributes_read, keys_read, names_an_axis
from .vectors import cotangent_vec, leaves, to_vec

Kinds = tuple[Kind, ...]

TRIES = 400
"""Calls of the function that may be spent on finding arguments it takes."""
MOST_REFUSED = 24
"""Kinds that a rule may fail for before it is taken for wrong about all."""
MOST_TAKEN = 24
"""Kinds that a rule may be wrong for before it is taken for wrong about all."""
MOST_KINDS = 3
"""Kinds that are judged of a function that takes several."""
MOST_OTHERS = 4
"""Kinds besides those judged at which a correction is verified."""
DRAWS = 20
"""Arguments that are drawn to find some at which the function has a value."""
ROUGHLY = 1e-4
NOT_WRITTEN_FOR = (TypeError, ValueError, AttributeError, IndexError)
"""What a rule raises that gets an argument of a kind it was not written for."""
REFUSALS = (*NOT_WRITTEN_FOR, RuleShapeError)
"""The same, or what it raises where its answer has another shape than the argument."""
COUNTS = frozenset(
    ("k", "i", "j", "m", "d", "p", "q", "n", "count", "times", "steps", "degree", "power", "lag")
)
"""Parameters that may be whole numbers: they are where a rule says of them that they have no derivative."""


class NoInputsError(RuleLabError):
    """A check could not find arguments that the function takes."""


@dataclasses.dataclass
class Guesser:
    """A function whose rule is to be judged at arguments that nobody gave, and what is known of these.

    `domain` says the kinds of some; the search ends with the limit `end`.
    """

    f: Callable
    kwargs: Mapping[str, Any]
    domain: Mapping[str, Kind]
    rng: np.random.Generator
    mode: str
    config: Any
    registry: Registry
    end: Limit

    def __post_init__(self) -> None:
        self.target, self.bound = resolve(self.f)
        self.names = required_names(self.f)
        self.ordered = ordered_pairs(self.names)
        self.special = special_names(self.names)

    @cached_property
    def of_axes(self) -> bool:
        """Whether the function names an axis."""
        return names_an_axis(self.target)

    @cached_property
    def used(self) -> Mapping[str, tuple[Kind, ...]]:
        """The kinds of those parameters of which the function reads parts."""
        return kinds_used(self.target, self.registry)

    # -- what is asked of the function and of its rule -------------------------------------------------------

    def is_asked(self, index: int) -> bool:
        """Whether the caller named the kind of an argument."""
        name = self.names[index]
        return name in self.domain and self.domain[name].is_asked

    def value(self, args: tuple) -> Any:
        return plainly(self.f, args, self.kwargs)

    def drawn(self, kinds: Kinds) -> tuple:
        """Arguments of these kinds at which the function has a value: most have one."""
        args = put_in_order(draw_all(kinds, self.rng), self.ordered)
        for _ in range(DRAWS):
            with contextlib.suppress(Exception):
                if is_finite(self.value(args)):
                    return args
            args = put_in_order(draw_all(kinds, self.rng), self.ordered)
        return args

    def takes(self, kinds: Kinds) -> bool:
        """Whether most draws of these kinds are in the function's domain.

        A function of real numbers that gives complex ones here and there, as powers do, has left it there.
        """
        drawn = [draw_all(kinds, self.rng, number) for number in range(1, 5)]
        finite = list(self._finite(drawn))
        positive = self._finite([revalued(drawn[0], np.abs)])
        return len(finite) >= 3 and len({is_complex(y) for y in (*finite, *positive)}) == 1

    def _finite(self, drawn: list[tuple]) -> Iterator[Any]:
        """The values at those arguments at which there are some."""
        for args in drawn:
            with contextlib.suppress(Exception):
                y = self.value(args)
                if is_finite(y):
                    yield y

    def rule_for(self, args: tuple) -> Any:
        """The rule that is asked at these arguments; None where there is none."""
        found = ask(self.target, args, dict(self.kwargs), self.mode, self.config, self.registry)
        return found.rule if isinstance(found, FoundRule) else None

    def answer(self, args: tuple) -> tuple[Any, Callable]:
        """The value and the pullback that the rule gives."""
        with quiet():
            return rrule(
                self.f,
                *copy.deepcopy(args),
                config=self.config,
                registry=self.registry,
                **copy.deepcopy(dict(self.kwargs)),
            )

    def answered(self, args: tuple) -> tuple:
        """What the pullback itself returns at these arguments for a cotangent, that of the function included;
        nothing where it fails.
        """
        if self.mode != "rrule":
            return ()
        with quiet():
            try:
                y, back = self.answer(args)
                bars = raw_pullback(back)(rand_tangent(y, np.random.default_rng(0)))
            except Exception:
                return ()
        return bars if isinstance(bars, tuple) else ()

    def rule_runs(self, args: tuple, refusals: tuple[type[Exception], ...] = REFUSALS) -> bool:
        """Whether a rule runs through for these arguments: one written for arrays may not do so for a number.

        What is wrong with its answer is for the check to say.
        """
        if self.mode != "rrule":
            return True
        with quiet():
            try:
                y, back = self.answer(args)
                back(y)
            except Exception as error:
                return not isinstance(error, refusals)
        return True

    def seems_right(self, args: tuple) -> bool:
        """Whether a reverse rule goes with the difference in one direction, by the dot-product test; True of
        a forward rule, which does with broadcast arguments what its function does.
        """
        if self.mode != "rrule":
            return True
        bars = self.answered(args)
        held = [isinstance(bar, NoTangent) for bar in bars[1:]] or [False] * len(args)
        x_dots = tuple(NoTangent() if h else rand_tangent(x, self.rng) for x, h in zip(args, held))
        with quiet():
            try:
                y, back = self.answer(args)
                y_bar = rand_tangent(y, self.rng)
                x_bars = back(y_bar)[1:]
                y_dot = fd_jvp(lambda *xs: self.f(*xs, **self.kwargs), x_dots, *args)
                found = sum(_dot(x, x_bar, x_dot) for x, x_bar, x_dot in zip(args, x_bars, x_dots))
                wanted = _dot(y, y_bar, y_dot)
            except Exception:
                return False
        return bool(abs(found - wanted) <= ROUGHLY * max(abs(found), abs(wanted)))


def _dot(x: Any, x_bar: Any, x_dot: Any) -> float:
    return float(cotangent_vec(x, x_bar) @ cotangent_vec(x, x_dot))


class Found(NamedTuple):
    """The kinds at which a rule is judged that nobody gave arguments for, others of numbers and vectors for
    which it runs, and notes on those for which it is wrong and is not judged.
    """

    kinds: tuple[Kinds, ...]
    others: tuple[Kinds, ...] = ()
    notes: tuple[str, ...] = ()


def kinds_of(guesser: Guesser, several: bool) -> Found:
    """Where a rule is judged: at several kinds, if they are wanted or the function names an axis."""
    several = several or guesser.of_axes
    found = _taken(guesser, several)
    moving = _moved_integers(guesser, found.kinds[0])
    if moving:
        numbers = tuple(map(Kind, ("number", "vector", "matrix")))
        guesser.used = {**guesser.used, **dict.fromkeys(moving, numbers)}
        with contextlib.suppress(NoInputsError):
            again = _taken(guesser, several)
            if any(moving.values()) or guesser.seems_right(guesser.drawn(again.kinds[0])):
                found = again
    kinds = _with_vectors(guesser, found.kinds)
    return found._replace(kinds=_counting(guesser, (*kinds, *_of_unlike_lengths(guesser, kinds))))


def _moved_integers(guesser: Guesser, kinds: Kinds) -> dict[str, bool]:
    """The arguments guessed to be integers for which the rule has a cotangent, and whether that is not zero:
    who differentiates by an exponent means it to vary.
    """
    guessed = [i for i, kind in enumerate(kinds) if kind.form == "integer" and not guesser.is_asked(i)]
    bars = guesser.answered(draw_all(kinds, guesser.rng)) if guessed else ()
    if len(bars) != len(kinds) + 1:
        return {}
    moved = [i for i in guessed if not isinstance(bars[i + 1], AbstractZero)]
    return {guesser.names[i]: bool(np.any(to_vec(bars[i + 1])[0])) for i in moved}


def _taken(guesser: Guesser, several: bool) -> Found:
    """The first kinds that the function takes and for which the rule seems right; where it does for none, the
    first for which it runs, and where it does not run, the first that the function takes.

    A rule is written for some kinds of arguments, and those that nobody gave may be of others.
    """
    if guesser.bound:
        raise _none_found(guesser.f, "its object's numbers are not drawn")
    unknown = set(guesser.domain) - set(guesser.names) - set(all_names(guesser.target))
    if unknown:
        raise NoInputsError(f"{name_of(guesser.target)} has no parameter {sorted(unknown)[0]}")
    search = _Search(guesser, several)
    for kinds in search.candidates():
        if search.is_over(kinds):
            break
    found = search.found()
    if found:
        return Found(found, search.others(found), search.notes(found))
    sized = _of_own_lengths(guesser)
    if sized or search.refused and not guesser.end.is_over():  # else there may be kinds that the rule is for
        return Found((sized or search.refused[0],))
    raise _none_found(guesser.f, search.why())


class _Search:
    """What became of the kinds that were tried."""

    def __init__(self, guesser: Guesser, several: bool) -> None:
        self.guesser, self.several = guesser, several
        self.right: list[Kinds] = []  # the rule seems right there
        self.wrong: list[Kinds] = []  # it runs there
        self.refused: list[Kinds] = []  # the function runs there
        self.named: Kinds | None = None  # what the names speak of
        self.relation: tuple[bool, bool] | None = None
        self.tried, self.last = 0, "no kind of number suits them"

    def candidates(self) -> Iterator[Kinds]:
        """Each mixture of kinds once, the likeliest first: those that annotations speak of, others where the
        rule runs for none of these.
        """
        guesser, seen = self.guesser, set()
        rules = rules_of(guesser.target, guesser.registry)
        of_rules: list[Accepts | None] = [rule.accepts for rule in rules if rule.mode == guesser.mode]
        for accepted in (*(_as_annotated(a, guesser.target) for a in of_rules or [None]), None):
            if accepted is None and (self.right or self.wrong or self.named):
                return
            guessed = guesses(guesser.names, accepted, guesser.domain, guesser.used)
            for kinds in sorted(guessed, key=self._place):
                if kinds not in seen:
                    seen.add(kinds)
                    yield kinds

    def _place(self, kinds: Kinds) -> tuple[bool, bool, bool]:
        guesser = self.guesser
        of_numbers = all(kind.form in ("number", "integer") for kind in kinds)
        named = zip(guesser.names, kinds)
        is_other = any(name in guesser.special and k.form != guesser.special[name] for name, k in named)
        return not are_as_named(guesser.names, kinds), is_other, guesser.of_axes and of_numbers

    def is_over(self, guessed: Kinds) -> bool:
        """Try kinds over smaller and smaller intervals; whether nothing more is to be tried."""
        forms = _forms(guessed)
        taken = [_forms(kinds) for kinds in (*self.right, *self.wrong)]
        if any(_is_special_case(forms, others) for others in taken) or taken and "list" in forms:
            return False
        if self.guesser.of_axes and guessed[0].form in {kinds[0].form for kinds in self.right}:
            return False
        for kinds in narrowed(guessed):
            if self.tried >= TRIES or self.guesser.end.is_over() or len(self.refused) >= MOST_REFUSED:
                return True
            self.tried += 1
            if self._is_settled(kinds):
                break
        if self.named is not None or len(self.right) + len(self.wrong) >= MOST_TAKEN:
            return True
        return len(self.right) >= (MOST_KINDS if self.several else 1)

    def _is_settled(self, kinds: Kinds) -> bool:
        """Try some kinds; whether other intervals of them need not be tried."""
        guesser = self.guesser
        args = put_in_order(draw_all(kinds, guesser.rng), guesser.ordered)
        if guesser.rule_for(args) is None:
            return True
        try:
            y = guesser.value(args)
        except Exception as error:
            self.last = f"{type(error).__name__}: {' '.join(str(error).split())[:80]}"
            return _is_about_form(error)
        relation = _relation(args, y)
        if not is_finite(y) or not guesser.takes(kinds):
            return False
        if self.relation not in (None, relation):
            return True
        if not guesser.rule_runs(args):
            self._refuse(kinds, args, y)
        elif guesser.seems_right(args) and guesser.seems_right(guesser.drawn(kinds)):
            self.relation = relation
            self.right.append(kinds)
        else:
            self.wrong.append(kinds)
        return True

    def _refuse(self, kinds: Kinds, args: tuple, y: Any) -> None:
        if are_as_named(self.guesser.names, kinds) and self._lacks_sums(args, y):
            self.named = kinds  # broadcast: what the names say is meant, and to be judged
        elif not any(kind.made not in (None, dict) for kind in kinds):  # their arrays may be of any rank
            self.refused.append(kinds)

    def _lacks_sums(self, args: tuple, y: Any) -> bool:
        """Whether a value has rows like the vectors among the arguments, and the rule has cotangents of the
        right shapes for all but these.
        """
        if np.ndim(y) != 2 or np.shape(y)[1:] not in {np.shape(x) for x in args if np.ndim(x) == 1}:
            return False
        bars = self.guesser.answered(args)[1:]
        return len(bars) == len(args) and all(
            np.ndim(x) == 1 or isinstance(bar, AbstractZero) or np.shape(unthunk(bar)) == np.shape(x)
            for x, bar in zip(args, bars)
        )

    def found(self) -> tuple[Kinds, ...]:
        """What is to be judged; nothing where the rule runs nowhere."""
        if self.named is not None:
            return (self.named,)
        meant = list(filter(self._is_as_named, self.wrong))
        if meant and not any(map(self._is_as_named, self.right)):
            return tuple(meant[:1])  # of a vector, too, a transpose is right
        if not self.right:
            return tuple(self.wrong[:1])
        if not self.several:
            return tuple(self.right[:1])
        others = self._of_axes() if self.guesser.of_axes else ()
        return (*self.right, *others)[:MOST_KINDS]

    def _is_as_named(self, kinds: Kinds) -> bool:
        """Whether some arguments have the names of matrices, masks or indices, and all of these are such."""
        special, pairs = self.guesser.special, list(zip(self.guesser.names, kinds))
        named = [kind.form in MATRICES for name, kind in pairs if is_matrix_name(name)]
        named += [kind.form == special[name] for name, kind in pairs if name in special]
        return bool(named) and all(named)

    def _of_axes(self) -> Iterator[Kinds]:
        """Kinds for which the rule is wrong and that a function is meant for which names an axis: there the
        first argument has another number of axes than where it is right.
        """
        forms = {kinds[0].form for kinds in self.right}
        for kinds in self.wrong:
            if kinds[0].form not in forms:
                forms.add(kinds[0].form)
                yield kinds

    def others(self, found: tuple[Kinds, ...]) -> tuple[Kinds, ...]:
        """Numbers and vectors for which the rule runs, too: whoever mends it must not spoil it there."""
        run = [kinds for kinds in (*self.right, *self.wrong) if kinds not in found]
        plain = ("number", "vector", "integer", "mask", "indices")
        return tuple(kinds for kinds in run if all(kind.form in plain for kind in kinds))[:MOST_OTHERS]

    def notes(self, found: tuple[Kinds, ...]) -> tuple[str, ...]:
        """On kinds that a function takes without meaning anything by it, perhaps."""
        left = [kinds for kinds in self.wrong if kinds not in found] if self.right and self.several else []
        listed = (", ".join(f"{n}: {k}" for n, k in zip(self.guesser.names, kinds)) for kinds in left[:2])
        ending = "which may not be meant: --at judges it there"
        return tuple(f"not right for ({kinds}), {ending}" for kinds in listed)

    def why(self) -> str:
        """Why no arguments were found."""
        end = self.guesser.end
        return f"none in {end.seconds:g} s; {self.last}" if end.is_over() else self.last


def _forms(kinds: Kinds) -> tuple[str, ...]:
    """The forms of kinds, those of objects with all that is in them."""
    return tuple(kind.form if kind.made is None else repr(kind.parts) for kind in kinds)


_SPECIAL = {"integer": ("number",), "square": ("matrix",), "positive definite": ("matrix", "square")}


def _is_special_case(forms: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Whether some kinds are others, of a special form: nothing new is seen there."""
    return all(a == b or b in _SPECIAL.get(a, ()) for a, b in zip(forms, others))


def _is_about_form(error: Exception) -> bool:
    """Whether a function refuses arguments for what they are, and not for the numbers in them."""
    if isinstance(error, ValueError):
        return any(word in str(error) for word in ("shape", "dimension"))
    return isinstance(error, (TypeError, AttributeError, IndexError, KeyError))


def kinds_used(target: Any, registry: Registry) -> Mapping[str, tuple[Kind, ...]]:
    """The kinds of those parameters of which a function reads keys or attributes: dicts, and objects of the
    classes that it or its rules name.
    """
    kinds = {name: dicts_of(keys) for name, keys in keys_read(target).items()}
    attributes = attributes_read(target)
    if not attributes:
        return kinds
    authors = [target, *(author_of(rule) for rule in rules_of(target, registry) if not rule.house)]
    classes = [cls for author in authors for cls in _classes_named(author)]
    return kinds | {name: objects_with(dict.fromkeys(classes), read) for name, read in attributes.items()}


def _classes_named(function: Any) -> Iterator[type]:
    space = getattr(function, "__globals__", {})
    names = dict.fromkeys(name for code in codes_of(function) for name in code.co_names)
    yield from (space[name] for name in names if isinstance(space.get(name), type))


def _as_annotated(accepted: Accepts | None, target: Any) -> Accepts | None:
    """What a rule accepts, and where it does not say, what the annotations of the function mean."""
    notes = meant_types(target)
    if not notes:
        return accepted
    parameters = []
    for i, name in enumerate(all_names(target)):
        said = ANY if accepted is None else accepted.at(i)
        if said == ANY and name in notes:
            with contextlib.suppress(RuleLabError):  # an annotation that says nothing of numbers
                said = accepts_from((notes[name],)).at(0)
        parameters.append(said)
    return Accepts(tuple(parameters), open_ended=True)


def _relation(args: tuple, y: Any) -> tuple[bool, bool]:
    """How a value goes with its arguments: whether it is one number, whether it has the rank of the first.

    A function that takes vectors to a number is another function where it takes matrices to vectors.
    """
    return to_vec(y)[0].size == 1, _rank(y) == _rank(args[0])


def _rank(x: Any) -> int:
    return x.ndim if isinstance(x, np.ndarray) else 0


OWN_LENGTHS = (6, 3, 4, 2, 5)
"""Lengths of vectors that are tried, each vector's its own, where a function or its rule insists on some; one
with several divisors comes first, for functions that take parts of a vector together."""
MOST_SIZED = 600
RELATED = {"vector": (("n",), ("m",), ("p",)), "matrix": (("m", "n"), ("n", "m"), ("n", "p"), ("n", "n"))}
"""Lengths by letters: matrices and vectors that go together."""


def _own_lengths(name: str, said: Kind | None, used: tuple[Kind, ...]) -> list[Kind]:
    """The kinds of one argument with lengths of their own."""
    if used and used[0].made is not None:
        return [one for kind in used for one in _of_own_parts(kind)]
    if said is not None and said.is_asked:
        of_letters = [dataclasses.replace(said, dims=dims) for dims in RELATED.get(said.form, ())]
        fixed = [dataclasses.replace(said, dims=(n,)) for n in OWN_LENGTHS] if said.form == "vector" else []
        return [said] if said.dims or not of_letters else [*of_letters, *fixed]
    matrices, vectors = ([Kind(form, dims=dims) for dims in RELATED[form]] for form in ("matrix", "vector"))
    kinds = [Kind(), *vectors, *(Kind("vector", dims=(n,)) for n in OWN_LENGTHS)]
    if name in COUNTS:
        kinds.insert(1, Kind("integer"))
    if is_matrix_name(name):
        kinds = [*matrices, *vectors]
    elif len(name) == 1 and name.isupper():
        kinds += matrices
    low, high = (said.low, said.high) if said is not None else (-np.inf, np.inf)
    return [dataclasses.replace(kind, low=low, high=high) for kind in kinds]


def _of_own_parts(kind: Kind) -> Iterator[Kind]:
    """An object with its vectors of each length in turn."""
    for n in OWN_LENGTHS:
        sized = ((k, dataclasses.replace(p, dims=(n,)) if p.form == "vector" else p) for k, p in kind.parts)
        yield dataclasses.replace(kind, parts=tuple(sized))


def _of_own_lengths(guesser: Guesser) -> Kinds | None:
    """Numbers, and arrays each of a length of its own, that the function takes and for which its rule runs:
    a polynomial wants three coefficients, a rotation a quaternion. None where there are none.
    """
    tried, domain, used = 0, guesser.domain, guesser.used
    choices = [_own_lengths(name, domain.get(name), used.get(name, ())) for name in guesser.names]
    combined = itertools.islice(itertools.product(*choices), MOST_SIZED**2)
    for guessed in sorted(combined, key=lambda kinds: sum(k.form != "number" for k in kinds)):
        for kinds in narrowed(guessed):
            if tried >= MOST_SIZED or guesser.end.is_over():
                return None
            tried += 1
            args = draw_all(kinds, guesser.rng)
            try:
                if guesser.rule_for(args) is None:
                    continue
                y = guesser.value(args)
            except Exception as error:
                numbers = isinstance(error, (ArithmeticError, np.linalg.LinAlgError))
                if not _is_about_form(error) and (numbers or "domain" in str(error)):
                    continue
                break  # not for want of another interval
            if is_finite(y) and guesser.takes(kinds) and guesser.rule_runs(args):
                return kinds
            if is_finite(y):
                break
    return None


# --- kinds beside those that were found ---------------------------------------------------------------------


def _with_vectors(guesser: Guesser, found: tuple[Kinds, ...]) -> tuple[Kinds, ...]:
    """The kinds found, and where these are numbers alone, vectors too if the function and its rule take them:
    first where the function makes one number of them.

    A rule that lacks a sum, or has one too many, is right for numbers. Of several arguments some may be meant
    to be numbers: the rule is looked at with those vectors for which it seems right, else with all that it
    has an answer for. There are none where the function does not broadcast, as one that puts its arguments in
    a list, and where the time was too short to find out.
    """
    first = found[0]
    free = [kind.form == "number" and not guesser.is_asked(i) for i, kind in enumerate(first)]
    if not all(kind.form in ("number", "integer") for kind in first):
        return found
    meant = _meant_numbers(guesser, first, free)
    free = [is_free and i not in meant for i, is_free in enumerate(free)]
    taken: list[tuple[Kinds, tuple]] = []
    for kinds in _some_as(first, free, "vector"):
        if guesser.end.is_over():
            return found
        args = _vectors_taken(guesser, first, kinds)
        if args is None:
            continue
        if sum(free) == 1 or guesser.seems_right(args):
            taken = [(kinds, args)]
            break
        taken.append((kinds, args))
    else:
        if len(taken) < 2:  # no share, or all arguments but not some: it does not broadcast
            return found
        taken = [one for one in taken if _answers_for(guesser, one[1])]
        if not taken:
            return found
    kinds, args = taken[0]
    return tuple(dict.fromkeys((kinds, *found) if _is_one_number(guesser.value(args)) else (*found, kinds)))


def _of_unlike_lengths(guesser: Guesser, found: tuple[Kinds, ...]) -> Iterator[Kinds]:
    """Vectors of a length of their own each, where there are several and the function and its rule take them:
    of two vectors of one length a convolution makes a single number.
    """
    for kinds in found:
        vectors = [i for i, kind in enumerate(kinds) if kind.form == "vector" and not kind.dims]
        free = [i for i in vectors if not guesser.is_asked(i)]
        if 2 <= len(free) <= 3:
            lengths = iter(UNLIKE)
            unlike = tuple(
                dataclasses.replace(k, dims=(next(lengths),)) if i in free else k for i, k in enumerate(kinds)
            )
            if guesser.takes(unlike) and guesser.rule_runs(guesser.drawn(unlike)):
                yield unlike
            return


UNLIKE = (5, 3, 2)
"""Lengths of vectors that need not be of one length."""


def _is_one_number(y: Any) -> bool:
    return to_vec(y)[0].size == 1


def _answers_for(guesser: Guesser, args: tuple) -> bool:
    """Whether a rule has cotangents of the right shapes for some numbers and some vectors, or the function
    makes one number of these.

    What is an array in place of a number was broadcast by us, if the value has the shape of the vectors: a
    rule for arrays of one shape (`a * x**n`) is no wrong rule for that. In a sum over vectors it is one.
    """
    return _is_one_number(guesser.value(args)) or guesser.rule_runs(args)


def _meant_numbers(guesser: Guesser, first: Kinds, free: list[bool]) -> frozenset[int]:
    """The positions of the arguments that mean numbers by their names and are broadcast against vectors: the
    value has the same shape as with vectors for all.

    Where no other name speaks of an array this is so only if the function makes one number of the vectors,
    for then they are meant: else all may be numbers.
    """
    known, likely = scalar_names(guesser.names)
    those = frozenset(i for i, name in enumerate(guesser.names) if free[i] and name in known | likely)
    if not those or len(those) == sum(free):
        return frozenset()
    shares = ([i in those for i in range(len(free))], [not is_free for is_free in free])
    values = []
    for numbers in shares:
        vectors = (dataclasses.replace(kind, form="vector", dims=()) for kind in first)
        kinds = tuple(k if is_number else v for k, v, is_number in zip(first, vectors, numbers))
        try:
            values.append(guesser.value(draw_all(kinds, guesser.rng)))
        except Exception:  # it does not broadcast
            return frozenset()
    alike = _shapes(values[0]) == _shapes(values[1])
    is_meant = known or _is_one_number(values[0])
    return those if alike and is_finite(values[0]) and is_meant else frozenset()


def _shapes(y: Any) -> list[tuple[int, ...]]:
    return [leaf.shape for leaf in leaves(y)]


MOST_SHARES = 32
"""Ways to make vectors of some of several numbers that are looked at."""


def _some_as(kinds: Kinds, free: list[bool], form: str) -> Iterator[Kinds]:
    """The same kinds in another form, where that is `free`: for all of them first, then for some."""
    shares = itertools.product(*[(True, False) if is_free else (False,) for is_free in free])
    for share in itertools.islice((s for s in shares if any(s)), MOST_SHARES):
        yield tuple(
            dataclasses.replace(kind, form=form, dims=()) if is_other else kind
            for kind, is_other in zip(kinds, share)
        )


def _vectors_taken(guesser: Guesser, numbers: Kinds, kinds: Kinds) -> tuple | None:
    """Arguments of these kinds, which have vectors where others are `numbers`; None where the function, or
    the rule that it has for the numbers, does not take them.
    """
    drawn = [draw_all(every, guesser.rng) for every in (numbers, kinds)]
    rules = [guesser.rule_for(args) for args in drawn]
    if None in rules or rules[0] is not rules[1]:
        return None
    try:
        y = guesser.value(drawn[1])
    except Exception:
        return None
    if not is_finite(y) or not guesser.takes(kinds):
        return None
    return drawn[1] if guesser.rule_runs(drawn[1], NOT_WRITTEN_FOR) else None


def _counting(guesser: Guesser, found: tuple[Kinds, ...]) -> tuple[Kinds, ...]:
    """The kinds found, with integers for numbers that are called as counts and that the rule holds fixed."""
    first = found[0]
    named = zip(guesser.names, first)
    those = [i for i, (name, kind) in enumerate(named) if name in COUNTS and kind.form == "number"]
    if not those or len(first) == 1:
        return found
    bars = guesser.answered(draw_all(first, guesser.rng))
    fixed = [i for i in those if i + 1 < len(bars) and isinstance(bars[i + 1], NoTangent)]
    if not fixed:
        return found
    counted = [tuple(Kind("integer") if i in fixed else k for i, k in enumerate(kinds)) for kinds in found]
    return tuple(dict.fromkeys(filter(guesser.takes, counted))) or found


# --- names --------------------------------------------------------------------------------------------------


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


def all_names(target: Any) -> tuple[str, ...]:
    return tuple(p.name for p in _parameters(target))


def is_finite(y: Any) -> bool:
    vector = to_vec(y)[0]
    return bool(vector.size) and bool(np.all(np.isfinite(vector)))


def is_complex(y: Any) -> bool:
    return any(leaf.dtype.kind == "c" for leaf in leaves(y))
