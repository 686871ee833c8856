"""A rule written automatically: SymPy's derivative of the author's own function, printed as a cell and
checked before it is shown.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import itertools
import linecache
import time
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from ..advice import MORE_TIME, NO_SCALAR, with_arguments
from ..checking.calling.budgets import took_more
from ..checking.reading.axes_read import sums
from ..checking.testing.testers import rule_check
from ..errors import DerivationError, RuleError, RuleLabError, an, printable
from ..rules.authoring import rrule, rrule_for, scalar_rule
from ..rules.registry import Registry
from ..rules.stub import written_name
from ..rules.twins import written
from ..tables import Page, Report, Table
from ..tangents.thunks import unthunk
from ..verdicts import BELOW, CANNOT_TELL, NOT_JUDGED, headed, word_of
from . import worker
from .branches import (
    Branch,
    Held,
    Leaf,
    global_names,
    is_literal,
    is_name,
    literal_tree,
    read_function,
    refusal,
)
from .by_steps import draft_by_steps
from .cells import Array, Static, entry_name
from .check import preload, prove
from .drafts import Draft, delegating_lines
from .drawn_arguments import drawn_arguments
from .forms import SimplificationBudget, best_form, points_of
from .plain_values import plain_argument, without_warnings_or_output
from .printers import SEED, Printer, Spelling, Unprintable, name_tree, plain_scope, text
from .questions import NO_DEFAULT, exact_sample, kind_of, positional_parameters
from .report import SymbolicReport
from .specials import works_on_arrays
from .stability import scan_stability
from .verdicts import Proved, Refuted, Undecided

MAX_ENTRIES = 12
PATIENCE = 400  # operations in a derivative up to which all its forms are tried
# Shares of the time limit: for the draft, for the proof of the derived rule, for the numerical check, and for
# the search for lost digits. None of them depends on how long another one took.
DRAFT_SHARE, PROOF_SHARE, CHECK_SHARE, SCAN_SHARE = 0.4, 0.2, 0.25, 0.15
LEAST_SECONDS = 1.0  # for each of them
MOST_REMARKS = 2
WORTH_A_REMARK = 2.0**26  # ulps: half of the digits are lost
SHORTER = 2 / 3  # of the text of a formula: if a rule by statements is at most this long, it is preferred
WIDTH = 100  # columns of a line beyond which its parts get names


@dataclass(frozen=True, repr=False)
class DerivedRule(Report):
    """A rule derived from its function, with the results of its checks.

    Attributes
    ----------
    function : str
        The function that the rule is for.
    source, cell : str
        Plain Python that states the rule, and the same as a cell with a magic.
    proof : SymbolicReport
        The report of the symbolic check; `is_proved` says whether the rule was proved.
    checked : str
        What the numerical check says about the rule.
    is_checked : bool
        Whether that check found the rule right.
    notes : tuple of str
        Further remarks for the reader.
    seconds : float
        The time it took.
    """

    function: str
    source: str
    cell: str
    proof: SymbolicReport
    checked: str
    is_checked: bool
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def is_proved(self) -> bool:
        return isinstance(self.proof.verdict, Proved)

    @property
    def rests_on_numbers(self) -> bool:
        """Whether no proof was found, but the numerical check found the rule right."""
        return self.is_checked and word_of(self.proof.verdict.word) in (CANNOT_TELL, NOT_JUDGED)

    def page(self) -> Page:
        """The verdicts, the rule line by line, the notes."""
        lines = tuple((str(i), line) for i, line in enumerate(self.source.splitlines(), 1))
        table = Table("The rule", ("line", "text"), lines, verbatim=("text",))
        lead = headed(self.sentence, self.function)
        verdict = "right" if self.rests_on_numbers else self.proof.verdict.word
        return Page(lead, (table,), (self.checked, *self._closing()), verdict)

    def _closing(self):
        if BELOW in self.sentence:
            yield from self.proof.scope_lines()
        yield from (f"warning: {warning.sentence()}" for warning in self.proof.warnings)
        yield from (f"note: {n}" for n in self.notes)

    @property
    def sentence(self) -> str:
        """What was derived and how it is verified, in one sentence."""
        verdict: Any = self.proof.verdict
        how = verdict.sentence()
        if self.rests_on_numbers:
            why = verdict.why if isinstance(verdict, Undecided) else verdict.construct
            how = f"right by numbers; not proved: {why}"
        return f"rule derived for {self.function}: {how}"

    def __str__(self):
        return "\n".join(
            [
                *self.code_lines(),
                "",
                *map(printable, (*headed(self.sentence, self.function), self.checked, *self._closing())),
            ]
        )

    def code_lines(self) -> list[str]:
        """The lines of the rule, unwrapped for a terminal: a wrapped line would not be valid Python."""
        return [*map(printable, self.source.splitlines())]

    def to_dict(self) -> dict[str, Any]:
        """The rule and the verdicts as JSON-ready data."""
        return {
            "function": self.function,
            "source": self.source,
            "cell": self.cell,
            "proof": self.proof.to_dict(),
            "checked": self.checked,
            "is_checked": self.is_checked,
            "notes": list(self.notes),
            "seconds": self.seconds,
        }


def derive_rule(
    f: Callable[..., Any],
    *args: Any,
    name: str | None = None,
    scalar: bool = False,
    time_limit: float = 40.0,
    rng: np.random.Generator | None = None,
    stop: Callable[[], bool] | None = None,
) -> DerivedRule:
    """Return the rule of `f`, derived from its own code and checked.

    The rule calls `f` and uses its value. Functions are spelled as `f` spells them, with `math` or NumPy. If
    the rule loses digits, as found by `scan_stability`, a comment in it says so. Nothing is registered: the
    text is in `.source` and `.cell`.

    Parameters
    ----------
    f : callable
        A Python function of numbers, elementwise or with branches, or of short arrays.
    *args
        Arrays of the shapes that the rule is for; for other shapes the AD is used. Not needed for numbers. If
        they are not given, and the function takes no numbers, arrays are drawn.
    name : str, optional
        How `f` is written where the rule will be used.
    scalar : bool
        Whether to state a `scalar_rule`, which also provides the forward rule.
    time_limit : float
        Seconds of processor time: two fifths for deriving the rule, the rest for its checks.
    rng : numpy.random.Generator, optional
        Generator for the sample points.
    stop : callable, optional
        Called at intervals; returns whether to stop early.

    Returns
    -------
    DerivedRule
        The rule as text, and the results of the checks.

    Raises
    ------
    DerivationError
        With the line, if no rule can be derived in that time, or if it did not pass the checks.

    Examples
    --------
    >>> import math
    >>> import rulelab as rl
    >>> def logistic(x): return 1 / (1 + math.exp(-x))
    >>> print(derive_rule(logistic).source)
    # loses digits for x from 6.30957 to 630.957 (no digit is right): cancellation in 1 - y
    @rl.rrule_for(logistic)
    def logistic_rrule(x):
        y = logistic(x)
        def logistic_pullback(y_bar):
            return rl.NoTangent(), y * (1 - y) * y_bar
        return y, logistic_pullback
    <BLANKLINE>
    """
    rng = np.random.default_rng(0) if rng is None else rng
    return _derived(f, args, name or written_name(f), scalar, time_limit, rng, stop).rule


class _Derived(NamedTuple):
    """A derived rule, and whether it is for arrays of any length."""

    rule: DerivedRule
    of_any_length: bool


def _derived(f, args, name, scalar, time_limit, rng, stop):
    started = time.monotonic()
    _need_function(f, name)
    preload()
    plain_scope()  # loads SciPy once here, instead of in every worker
    draft = _found(f, lambda: _drafted(f, args, name, scalar, rng), time_limit, stop)
    formula = draft
    if not scalar and any(isinstance(a, np.ndarray) for a in args):
        steps = _found(f, lambda: _drafted_by_steps(f, args, name, rng), time_limit, stop)
        draft = _preferred(formula, steps)
    if isinstance(draft, DerivationError):
        options = (name, scalar, time_limit, rng, stop)
        for_drawn = None if args else _derived_at_drawn(f, *options)
        if for_drawn is None:
            raise _with_another_start(draft, name, f)
        return for_drawn
    judged = _draft_result(f, draft, time_limit, stop)
    if draft.by_steps and not judged.is_right:  # nothing else supports it
        if isinstance(formula, DerivationError):
            fixes = (MORE_TIME,) if judged.ran_out else ()
            failed = refusal(f, f"a rule was derived, but not checked: {judged.checked}", *fixes)
            raise _with_another_start(failed, name, f)
        draft = formula
        judged = _draft_result(f, draft, time_limit, stop)
    seconds = max(LEAST_SECONDS, SCAN_SHARE * time_limit)
    # The scan needs all of the code.
    remarks, notes = ((), ()) if draft.left else _scanned(f, draft, seconds, stop)
    source, cell = _with_remarks(draft, remarks)
    if not args and sums(f):
        for_arrays = with_arguments("for arrays", f)
        notes = (f"derived for numbers, because no arguments were given; {for_arrays}", *notes)
    notes = (*draft.notes, *notes)
    seconds = time.monotonic() - started
    rule = DerivedRule(name, source, cell, judged.proof, judged.checked, judged.is_right, notes, seconds)
    return _Derived(rule, draft.by_steps)


def _derived_at_drawn(f, *options):
    """The rule for arguments that are drawn, if some of these are arrays; None where there is none, and where
    it is for arrays of one length only, which happened to be drawn. It is asked for where no arguments were
    given, and there is no rule for numbers.
    """
    drawn = drawn_arguments(f)
    if not any(isinstance(x, np.ndarray) for x in drawn.args):
        return None
    try:
        rule, of_any_length = found = _derived(f, drawn.args, *options)
    except DerivationError:
        return None
    if drawn.has_free_lengths and not of_any_length:
        return None
    note = f"derived for arguments that were drawn ({drawn.kinds}); {with_arguments('for others', f)}"
    return found._replace(rule=dataclasses.replace(rule, notes=(note, *rule.notes)))


def _found(f, drafted, time_limit, stop):
    """The draft, if it is finished within its share of the limit, else the error that says why there is
    none.
    """
    seconds = DRAFT_SHARE * time_limit
    outcome = worker.run(lambda report: report(drafted()), seconds, stop)
    if outcome.result is not None:
        return outcome.result
    share = f"{seconds:g} s of processor time, its share of the limit of {time_limit:g} s"
    why = outcome.failure or f"it took more than {share}"
    fixes: tuple[str, ...] = (MORE_TIME,)
    if outcome.failure:
        fixes = ("give shorter arrays, or fewer steps",) if outcome.failure == worker.TOO_DEEP else ()
    return refusal(f, f"no rule was found: {why}", *fixes)


def _preferred(formula, steps):
    """The formula of two drafts, unless the other one is much shorter and complete; the reasons of both if
    neither exists.
    """
    if isinstance(steps, DerivationError):
        if not isinstance(formula, DerivationError):
            return formula
        found = f"no formula: {formula.found}"
        also = f"no rule statement by statement: {steps.found}"
        place = steps.place or formula.place
        return DerivationError(found, also=also, asked=formula.asked, place=place, fixes=formula.fixes)
    if isinstance(formula, DerivationError):
        return steps
    return steps if not steps.left and len(steps.body) < SHORTER * len(formula.body) else formula


def _with_another_start(refused, name, f):
    """The refusal, with advice on writing the rule by hand."""
    author = written(f)
    derived = name if author is f else author.__name__  # a twin's pullback is its rule
    call = f"{derived}({', '.join(positional_parameters(f, None)[0])})"
    start = f"write it by hand: %adjoint {call} shows the AD's own pullback, %rule_stub {name} a skeleton"
    fixes = (*refused.fixes, start)
    return DerivationError(
        refused.found, also=refused.also, asked=refused.asked, place=refused.place, fixes=fixes
    )


def _scanned(f, draft, seconds, stop):
    """(comments, notes): where the rule loses digits, as comments for the cell and in more detail for the
    report.
    """
    registry = Registry()
    _stated(f, draft, registry)
    at = draft.at or draft.points[0]
    try:
        found = scan_stability(f, at=at, registry=registry, time_limit=seconds, stop=stop, name=f.__name__)
    except RuleError as refused:
        return (), (f"it was not scanned for lost digits: {str(refused).splitlines()[0]}",)
    lost = {(r.argument, r.cause): r for r in reversed(found.regions) if not r.own}.values()
    worst = sorted(lost, key=lambda r: -r.ulps)[:MOST_REMARKS]
    remarks = [_remark(r) for r in worst if r.ulps >= WORTH_A_REMARK]
    better = [f"a formula that loses fewer digits for {b.argument}: {b.formula}" for b in found.better]
    return tuple(remarks), (*(f"{r.where}; at {r.example}" for r in worst), *better, *found.notes)


def _remark(region):
    """A comment of at most one line."""
    words = f"# {printable(region.where)}"
    return f"{words}: {printable(region.cause)}" if len(words) + len(region.cause) < WIDTH else words


def _with_remarks(draft, remarks):
    """The rule and its cell with comments at the top."""
    text = "".join(f"{remark}\n" for remark in remarks)
    magic, line, rest = draft.cell.partition("\n") if draft.cell.startswith("%%") else ("", "", draft.cell)
    return text + draft.source, magic + line + text + rest


def _need_function(f, name):
    if not isinstance(f, types.FunctionType):
        kind = "a bound method" if isinstance(f, types.MethodType) else f"{an(type(f).__name__)}"
        raise DerivationError(
            f"{name} is {kind}; rules are derived for Python functions",
            asked=f"a rule derived for {name}",
            fixes=("wrap it in a `def` of your own",),
        )
    if f.__code__.co_flags & 0x0C:
        raise refusal(f, "it takes *args or **kwargs", "give its arguments names")
    if not all(map(is_name, f.__code__.co_varnames[: f.__code__.co_argcount + f.__code__.co_kwonlyargcount])):
        raise refusal(f, "it has an argument whose name is not an identifier")
    if not all(map(is_name, name.split("."))):
        raise refusal(f, f"{name} is not a name that a cell can call it by")


# --- the draft ----------------------------------------------------------------------------------------------


def _drafted(f, args, name, scalar, rng):
    try:
        return _Writer(f, args, name, scalar, rng).draft()
    except DerivationError as error:
        return error
    except Unprintable as lacking:
        return refusal(f, f"its derivative needs {lacking}")


def _drafted_by_steps(f, args, name, rng):
    names, defaults = positional_parameters(f, len(args))
    values = [*args, *defaults[len(args) :]]
    if f.__code__.co_kwonlyargcount:
        return refusal(f, "it has keyword arguments")
    if any(v is NO_DEFAULT for v in values):
        return refusal(f, "an argument is missing")
    try:
        return draft_by_steps(f, names, tuple(values), name, rng)
    except DerivationError as error:
        return error
    except Unprintable as lacking:
        return refusal(f, f"its derivative needs {lacking}")


def _spec(f, args):
    """(names, spec, given, whether there are `args`): what each positional parameter is treated as, and the
    sample made of `args` and the defaults.
    """
    names, defaults = positional_parameters(f, len(args) or None)
    values = [*args, *defaults[len(args) :]] if args else list(defaults)
    spec = tuple(_kind(value) for value in values)
    given = () if any(v is NO_DEFAULT for v in values) else (tuple(map(_sampled, values)),)
    return names, spec, given, bool(args)


def _lists_as_arrays(f, args):
    """The classes of those arguments that are lists or tuples of numbers, by position, and the arguments with
    arrays in place of these. None of them is one for a function to which an array is something else: a sum of
    lists is a list.
    """
    those = {i: type(x) for i, x in enumerate(args) if type(x) in (list, tuple) and _are_numbers(x)}
    arrays = tuple(np.array(x, dtype=float) if i in those else x for i, x in enumerate(args))
    if not those:
        return {}, args
    try:
        with without_warnings_or_output():
            found, wanted = (np.asarray(f(*one), dtype=float) for one in (arrays, args))
    except Exception:
        return {}, args
    is_same = found.shape == wanted.shape and np.allclose(found, wanted, equal_nan=True)
    return (those, arrays) if is_same else ({}, args)


def _are_numbers(values):
    return bool(values) and all(type(x) in (int, float, np.float64) for x in values)


def _kind(value):
    if value is NO_DEFAULT:
        return "scalar"
    if type(value) in (int, np.int64):
        return Held(int(value))
    return kind_of(exact_sample(value))


def _sampled(value):
    return Held(int(value)) if type(value) in (int, np.int64) else exact_sample(value)


class _Writer:
    """Writes the rule of one function."""

    def __init__(self, f, args, name, scalar, rng):
        self.f, self.name, self.scalar, self.rng = f, name, scalar, rng
        self.lists, arrays = _lists_as_arrays(f, args)
        self.names, self.spec, self.given, self.was_given = _spec(f, arrays)
        self.root = name.partition(".")[0]
        self.keywords = tuple(f.__kwdefaults__ or ())
        if len(self.keywords) < f.__code__.co_kwonlyargcount:
            raise refusal(f, "it has a keyword argument without a default")
        self.notes: dict[str, None] = {}
        self.prelude: list[str] = []
        self.patience = SimplificationBudget(PATIENCE)
        if not self.names:
            raise refusal(f, "it has no positional argument")
        self.lists = {self.names[i]: made for i, made in self.lists.items()}
        if self.root in self.names:
            raise refusal(f, f"it has an argument with its own name, {self.root}")
        if args and all(isinstance(k, Static) and not isinstance(k, Held) for k in self.spec):
            what = "no argument is a number or an array of numbers"
            raise refusal(f, what, "put the numbers into an array")

    def draft(self):
        self.reading = self.read()
        self.notes.update(self.reading.notes)
        self.elementwise = self.is_elementwise()
        self.numpy = self.writes_numpy()
        # A scalar rule takes care of broadcasting.
        if self.numpy and self.elementwise and len(self.names) > 1:
            self.scalar = self.scalar or (self.has_partials() and not self.reading.fixed)
        self.prepare_names()
        for leaf in _leaves(self.reading.tree):
            self.need_shape(leaf)
        self.tree = self.slopes(self.reading.tree)
        return self.written()

    def read(self):
        """The function as formulas: ints as symbols if possible, else fixed; arrays entry by entry."""
        size = sum(int(np.prod(k)) for k in self.spec if isinstance(k, tuple) and not isinstance(k, Static))
        arrays = [i for i, k in enumerate(self.spec) if isinstance(k, tuple) and not isinstance(k, Static)]
        if arrays and self.takes_numbers(arrays):
            self.spec = tuple("scalar" if i in arrays else k for i, k in enumerate(self.spec))
            self.given = tuple(
                tuple(v.entries[0] if isinstance(v, Array) else v for v in sample) for sample in self.given
            )
        elif size > MAX_ENTRIES:
            raise refusal(
                self.f,
                f"its arrays hold {size} numbers; formulas are derived for at most {MAX_ENTRIES}",
                "give shorter arrays",
            )
        try:
            return read_function(self.f, self.names, self.spec, self.given, self.rng)
        except DerivationError:
            held = [k for k in self.spec if isinstance(k, Held)]
            if not held:
                raise
        fixed = tuple(Static(k.value) if isinstance(k, Held) else k for k in self.spec)
        given = tuple(
            tuple(Static(v.value) if isinstance(v, Held) else v for v in sample) for sample in self.given
        )
        self.spec = fixed
        return read_function(self.f, self.names, fixed, given, self.rng)

    def takes_numbers(self, arrays):
        """Whether the function works element by element: its result for arrays agrees with that for their
        entries.
        """
        (sample,) = self.given
        shapes = {self.spec[i] for i in arrays}
        if len(shapes) != 1 or not all(sample[i].entries for i in arrays):
            return False
        try:
            whole = np.asarray(self.f(*map(plain_argument, sample)))
            first = self.f(
                *(float(v.entries[0]) if isinstance(v, Array) else plain_argument(v) for v in sample)
            )
        except Exception:
            return False
        return (
            whole.shape == shapes.pop() and bool(np.isclose(whole.ravel()[0], first)) and np.ndim(first) == 0
        )

    def is_elementwise(self):
        """Whether arrays may be passed to the function: three of its points at once give its three values."""
        free = [i for i, kind in enumerate(self.spec) if kind == "scalar"]
        points = [r.sample for r in self.reading.runs[:3]]
        if len(free) + sum(isinstance(k, Static) for k in self.spec) < len(self.spec) or not points:
            return False
        columns = [
            np.array([float(p[i]) for p in points]) if i in free else points[0][i].value
            for i in range(len(self.spec))
        ]
        with np.errstate(all="ignore"):
            try:
                found = np.asarray(self.f(*columns), dtype=float)
                single = [float(self.f(*map(plain_argument, p))) for p in points]
            except Exception:
                return False
        return found.shape == (len(points),) and bool(np.allclose(found, single))

    def writes_numpy(self):
        """Whether the rule uses NumPy's functions, as the author does, and not those of `math`, for an author
        who uses `math` or neither.
        """
        scope, words = self.f.__globals__, set(global_names(self.f.__code__))
        found = [scope.get(word) for word in words]
        array_code = any(map(works_on_arrays, found))
        math_code = any(v is __import__("math").exp or getattr(v, "__name__", "") == "math" for v in found)
        math_code = math_code or any(callable(v) and getattr(v, "__module__", "") == "math" for v in found)
        if array_code and math_code:
            return self.elementwise
        helpers = [v for v in found if isinstance(v, types.FunctionType)]
        deep = any(works_on_arrays(v) for h in helpers for v in _globals_used(h))
        return array_code or (
            not math_code and (deep or (self.elementwise and self.was_given and self.has_arrays()))
        )

    def has_partials(self):
        """Whether every argument is a number that the function depends on smoothly."""
        return not self.keywords and all(k == "scalar" or isinstance(k, Held) for k in self.spec)

    def has_arrays(self):
        return any(isinstance(v, Array) for sample in self.given for v in sample)

    def need_shape(self, leaf):
        if len(leaf.values) > MAX_ENTRIES:
            count = len(leaf.values)
            limit = f"formulas are derived for at most {MAX_ENTRIES}"
            raise refusal(self.f, f"its result holds {count} numbers; {limit}")

    # --- names ---

    def prepare_names(self):
        """Names for what the rule binds, none of which its text reads with another meaning."""
        reading = self.reading
        read = {*reading.constants, *(n for n in reading.fixed if n not in self.names), self.root}
        taken = {*self.names, *self.keywords, *(f"{n}_bar" for n in self.names)}
        bound = [n for n in ("y", "out", "result", "value", "y_") if not {n, f"{n}_bar"} & (taken | read)]
        self.y = "out" if self.scalar and "out" in bound else bound[0]
        taken |= {self.y, f"{self.y}_bar"}
        self.spelling = Spelling(self.f.__globals__, self.numpy, taken | read, global_names(self.f.__code__))
        self.fresh = (
            n for n in (f"t{i}" for i in itertools.count(1)) if n not in taken | read | self.spelling.read
        )
        self.symbols = {s: name_tree(s.name) for s in reading.constants.values()}
        self.unpacked: list[str] = []
        for name, symbol in reading.arguments.items():
            if isinstance(symbol, sp.Symbol):
                self.symbols[symbol] = name_tree(name)
            elif symbol is not None:
                self.unpack(name, symbol)
        self.seeds, self.values = self.seed_symbols()
        self.printer = Printer(self.spelling, self.symbols)

    def unpack(self, name, symbols):
        """Add a line that gives each entry of an array a name."""
        words = np.empty(symbols.shape, dtype=object)
        taken = {*self.names, self.y, f"{self.y}_bar", self.root, *self.reading.constants}
        for index in np.ndindex(symbols.shape):
            word = f"{name}_{'_'.join(map(str, index))}"
            while word in taken:
                word += "_"
            words[index] = word
            self.symbols[symbols[index]] = name_tree(word)
        self.unpacked.append(f"{_targets(words)} = {name}")

    def seed_symbols(self):
        shapes = {leaf.shape for leaf in _leaves(self.reading.tree)}
        if len(shapes) != 1:
            raise refusal(self.f, f"its results have different shapes: {sorted(shapes)}")
        (shape,) = shapes
        y, seed = sp.Symbol(f"{self.y} value"), sp.Symbol(f"{self.y}{SEED}")
        if shape == ():
            self.symbols[y], self.symbols[seed] = name_tree(self.y), name_tree(f"{self.y}_bar")
            return [seed], [y]
        if self.scalar:
            raise refusal(self.f, "it gives an array", NO_SCALAR)
        seeds, values = np.empty(shape, dtype=object), np.empty(shape, dtype=object)
        for index in np.ndindex(shape):
            entry = entry_name(self.y, index)
            seeds[index], values[index] = sp.Symbol(f"{entry}{SEED}"), sp.Symbol(f"{entry} value")
        self.unpack(f"{self.y}_bar", seeds)
        self.unpack(self.y, values)
        return list(seeds.ravel()), list(values.ravel())

    # --- derivatives ---

    def free(self):
        """(parameter, its symbols) for each parameter that gets a cotangent."""
        for name, kind in zip(self.names, self.spec, strict=True):
            if not isinstance(kind, Static) or isinstance(kind, Held):
                yield name, np.atleast_1d(np.asarray(self.reading.arguments[name], dtype=object)).ravel()

    def slopes(self, tree):
        """The tree with derivatives in place of values; branches with equal derivatives are merged."""
        if isinstance(tree, Leaf):
            return self.leaf_slopes(tree)
        no = self.slopes(tree.no)
        yes = self.point_slopes(tree, no) if tree.yes is None else self.slopes(tree.yes)
        if yes is None or yes == no:
            return no
        return dataclasses.replace(tree, yes=yes, no=no)

    def leaf_slopes(self, leaf):
        known = {s.name for v in leaf.values for s in v.free_symbols}
        points = list(points_of(leaf.runs, known))
        values = {v: s for v, s in zip(leaf.values, self.values, strict=True) if not v.is_Atom}
        found = []
        for _, symbols in self.free():
            for symbol in symbols:
                if len(self.seeds) == 1:
                    slope = best_form(
                        sp.diff(leaf.values[0], symbol), values, points, self.numpy, self.patience
                    )
                else:
                    slope = sum(
                        s * best_form(sp.diff(v, symbol), values, points, self.numpy, self.patience)
                        for s, v in zip(self.seeds, leaf.values, strict=True)
                    )
                found.append(slope)
        return tuple(found)

    def point_slopes(self, branch, no):
        """The derivative at a single point that the function treats separately: the limit there, if it
        exists.
        """
        leaf = branch.no
        symbols = [s for _, ss in self.free() for s in ss]
        if (
            not isinstance(leaf, Leaf)
            or len(symbols) != 1
            or branch.left != symbols[0]
            or not branch.right.is_Rational
        ):
            where = f"{sp.sstr(branch.left)} == {sp.sstr(branch.right)}"
            self.notes[f"where {where} the formula for nearby points is used"] = None
            return None
        (x,), at = symbols, branch.right
        value, slope = (_limit(e, x, at) for e in (leaf.values[0], sp.diff(leaf.values[0], x)))
        if value is None or slope is None or abs(float(value) - self.f(float(at))) > 1e-12:
            self.notes[f"at {x} == {at} there is no derivative; the formula for nearby points is used"] = (
                None
            )
            return None
        return (slope,)

    # --- text ---

    def written(self):
        short = self.name.rpartition(".")[2]
        lines = self.scalar_lines(short) if self.scalar else self.rrule_lines(short)
        imports = list(self.spelling.imports)
        remarks = [f"# {words}" for words in self.printer.remarks]
        rule = f"{short}_partials" if self.scalar else f"{short}_rrule"
        body = "\n".join([*imports, *([""] if imports else []), *remarks, *self.prelude, *lines, ""])
        source, cell = (self.scalar_texts if self.scalar else self.rrule_texts)(imports, remarks, lines)
        points = tuple(self.with_lists(map(_as_float, p)) for p in self.check_points())
        at = (
            self.with_lists(map(plain_argument, next(iter(self.check_points()))))
            if self.was_given or any(isinstance(k, Held) for k in self.spec)
            else None
        )
        beyond = tuple(
            self.with_lists(map(plain_argument, p)) for p in _ordinary_first(self.reading.beyond)
        )
        return Draft(source, cell, body, rule, self.root, self.scalar, at, points, beyond, tuple(self.notes))

    def with_lists(self, point):
        """A point with lists and tuples for the arrays that stand for them."""
        pairs = zip(self.names, point)
        return tuple(self.lists[name](x.tolist()) if name in self.lists else x for name, x in pairs)

    def rrule_texts(self, imports, remarks, lines):
        rl = text(self.spelling.word("rulelab", "rrule_for"))
        imports = list(self.spelling.imports)
        head = [*imports, *([""] if imports else []), *remarks, *self.prelude]
        source = "\n".join([*head, f"@{rl}({self.name})", *lines, ""])
        return source, "\n".join([f"%%rrule {self.name}", *head, *lines, ""])

    def scalar_texts(self, imports, remarks, lines):
        rl = text(self.spelling.word("rulelab", "scalar_rule"))
        imports = list(self.spelling.imports)
        head = [*imports, *([""] if imports else []), *remarks]
        short = lines[0].split("(")[0].removeprefix("def ")
        if len(lines) == 2:
            partials = lines[1].strip().removeprefix("return ")
            parameters = ", ".join(self.names)
            plain = [
                *head,
                f"{rl}({self.name}, lambda {self.y}, {parameters}: {_packed(partials, len(self.names))})",
                "",
            ]
            if not imports and self.y == "out":
                return "\n".join(plain), "\n".join(
                    [f"%scalar_rule {self.name}({parameters}): {partials}", ""]
                )
        else:
            plain = [*head, *lines, "", f"{rl}({self.name}, {short})", ""]
        return "\n".join(plain), "\n".join([f"%%scalar_rule {self.name}", *head, *lines, ""])

    def scalar_lines(self, short):
        """`def f_partials(out, x): return …`, with all partial derivatives in one tuple."""
        if not self.has_partials():
            raise refusal(
                self.f,
                "a scalar rule has a partial derivative for every argument, and some have none",
                NO_SCALAR,
            )
        if any(True for _ in self.conditions()):
            read = next(iter(self.reading.fixed))
            raise refusal(
                self.f,
                f"partial derivatives cannot fall back on the AD where {read} has a different value",
                NO_SCALAR,
            )
        head = [f"def {short}_partials({self.y}, {', '.join(self.annotated())}):"]
        return [*head, *self.branched(self.tree, "    ", self.partials)]

    def rrule_lines(self, short):
        parameters = ", ".join([*self.annotated(), *(["*"] if self.keywords else []), *self.keywords])
        passed = ", ".join([*self.names, *(f"{k}={k}" for k in self.keywords)])
        lines = [f"def {short}_rrule({parameters}):", *self.handed_on(passed)]
        lines += [f"    {self.y} = {self.name}({passed})", f"    def {short}_pullback({self.y}_bar):"]
        lines += [f"        {line}" for line in self.unpacked if self.is_needed(line)]
        lines += self.branched(self.tree, "        ", self.cotangents)
        return [*lines, f"    return {self.y}, {short}_pullback"]

    def is_needed(self, line):
        name = line.rpartition(" = ")[2]
        wanted = {s for formula in _formulas(self.tree) for s in formula.free_symbols}
        if name == f"{self.y}_bar":
            return True
        if name == self.y:
            return bool(wanted & set(self.values))
        return bool(wanted & set(np.ravel(self.reading.arguments[name])))

    def annotated(self):
        """The parameters, annotated with the types that the formula holds for if the function takes others:
        those never reach the rule.
        """
        numbers = self.types_of_numbers()
        for name, kind in zip(self.names, self.spec, strict=True):
            if isinstance(kind, Static) and not isinstance(kind, Held) or name in self.lists:
                yield name
            elif isinstance(kind, tuple) and not isinstance(kind, Held):
                yield f"{name}: {self.real_arrays()}"
            else:
                yield f"{name}: {numbers}" if numbers else name

    def real_arrays(self):
        words = [("numpy.typing", "NDArray"), ("numpy", "floating")]
        return "{}[{}]".format(*(text(self.spelling.word(*pair)) for pair in words))

    def types_of_numbers(self):
        """The annotation of a parameter that is a number; empty if the function takes nothing else, or if the
        rule is right for everything it takes.
        """
        takes_arrays = self.goes_with(lambda x: np.full(2, float(x)))
        takes_complex = self.goes_with(lambda x: x + 0.125j, lambda x: np.full(2, x + 0.125j))
        by_entry = self.elementwise and self.goes_by_entry()
        if not takes_complex or (self.scalar and self.is_holomorphic()):
            return "" if by_entry or not takes_arrays else "float"
        return f"float | {self.real_arrays()}" if by_entry else "float"

    def goes_with(self, *makers):
        """Whether the function accepts what one of `makers` makes of a float, in place of the numbers."""
        free = [isinstance(k, Held) or k == "scalar" for k in self.spec]
        points = [list(map(plain_argument, run.sample)) for run in self.reading.runs[:3]]
        for point, made in itertools.product(points, makers):
            with contextlib.suppress(Exception), without_warnings_or_output():
                self.f(*(made(x) if f else x for x, f in zip(point, free, strict=True)))
                return True
        return False

    def goes_by_entry(self):
        """Whether the text works on arrays: NumPy's functions or none, and `np.where` for branches."""
        if self.numpy:
            return self.scalar or len(self.names) == 1
        plain = not any(e.atoms(sp.Function) for part in _leaves(self.tree, tuple) for e in part)
        return plain and isinstance(self.tree, tuple) and (self.scalar or len(self.names) == 1)

    def is_holomorphic(self):
        """Whether the formulas also hold for complex numbers."""
        parts = [e for part in _leaves(self.tree, tuple) for e in part]
        return isinstance(self.tree, tuple) and not any(e.atoms(sp.Abs, sp.sign, sp.atan2) for e in parts)

    def handed_on(self, passed):
        """Lines that delegate to the AD where the rule does not hold: changed constants, other shapes."""
        tests = list(self.conditions())
        if not tests:
            return
        self.prelude, lines = delegating_lines(
            self.spelling, self.f, self.name, f"{self.y}_bar", tests, passed
        )
        yield from lines

    def conditions(self):
        """The tests for cases in which the rule does not hold: changed constants, other shapes."""
        for name, value in self.reading.fixed.items():
            if not is_literal(value):
                kind = an(type(value).__name__)
                raise refusal(self.f, f"{name} is {kind}, for which no rule can be derived")
            shown = ast.unparse(literal_tree(value))
            by_identity = value is None or isinstance(value, bool)
            yield f"{name} is not {shown}" if by_identity else f"{name} != {shown}"
        for name, symbols in self.reading.arguments.items():
            if name in self.lists:
                made = self.lists[name]
                is_hidden = made.__name__ in {*self.f.__globals__, *self.names}
                word = f"type({made()!r})" if is_hidden else made.__name__
                yield f"type({name}) is not {word} or len({name}) != {symbols.size}"
            elif isinstance(symbols, np.ndarray):
                yield f"{text(self.spelling.word('numpy', 'shape'))}({name}) != {symbols.shape}"

    def branched(self, tree, indent, finish):
        """The lines for a tree: `if` where numbers decide, `np.where` where arrays do."""
        if isinstance(tree, Branch) and not (self.numpy and self.elementwise):
            test = self.condition(tree)
            yes = list(self.branched(tree.yes, indent + "    ", finish))
            return [f"{indent}if {text(test)}:", *yes, *self.branched(tree.no, indent, finish)]
        return finish(tree, indent)

    def condition(self, branch):
        sides = [self.printer.tree(side) for side in (branch.left, branch.right)]
        operations = {"<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE, "==": ast.Eq, "!=": ast.NotEq}
        return ast.Compare(sides[0], [operations[branch.relation]()], sides[1:])

    def shared(self, tree, factor):
        """(lines of named subexpressions, the syntax trees of the cotangents)."""
        parts = list(_leaves(tree, tuple))
        flat = [self.printer.folded(factor * e) for part in parts for e in part]
        temporaries, reduced = sp.cse(flat, symbols=(sp.Symbol(f"t{i} shared") for i in itertools.count(1)))
        temporaries, reduced = _without_trifles(temporaries, reduced)
        named = []
        for symbol, expr in temporaries:
            word = next(self.fresh)
            self.symbols[symbol] = name_tree(word)
            named.append(f"{word} = {text(self.printer.tree(expr))}")
        width = len(parts[0])
        rows = iter([reduced[i * width : (i + 1) * width] for i in range(len(parts))])
        return named, self.joined(tree, rows)

    def joined(self, tree, rows):
        if isinstance(tree, tuple):
            return [self.printer.tree(e) if e != 0 else self.nothing(tree) for e in next(rows)]
        where = self.spelling.word("numpy", "where")
        yes = self.joined(tree.yes, rows)
        no = self.joined(tree.no, rows)
        return [ast.Call(where, [self.condition(tree), a, b], []) for a, b in zip(yes, no, strict=True)]

    def nothing(self, tree):
        """Zero, with the shape of the incoming cotangent if that may be an array."""
        zero = ast.Constant(0.0)
        if not (self.numpy and self.elementwise) or isinstance(self.tree, Branch) or self.scalar:
            return zero
        return ast.BinOp(zero, ast.Mult(), self.symbols[self.seeds[0]])

    def partials(self, tree, indent):
        named, trees = self.shared(tree, sp.Integer(1))
        return [*(indent + line for line in named), f"{indent}return {', '.join(map(text, trees))}"]

    def cotangents(self, tree, indent):
        seed = self.seeds[0] if len(self.seeds) == 1 else sp.Integer(1)
        named, trees = self.shared(tree, seed)
        lines = [indent + line for line in named]
        parts, left = [], iter(trees)
        for name, kind in zip(self.names, self.spec, strict=True):
            if isinstance(kind, Static) and not isinstance(kind, Held):
                parts.append((name, self.without_tangent(name, kind.value)))
                continue
            symbols = self.reading.arguments[name]
            if name in self.lists:
                sequence = ast.List if self.lists[name] is list else ast.Tuple
                trees_there = [next(left) for _ in range(symbols.size)]
                parts.append((name, text(sequence(trees_there, ast.Load()))))
            elif isinstance(symbols, np.ndarray):
                array = text(self.spelling.word("numpy", "array"))
                entries = np.array([text(next(left)) for _ in range(symbols.size)], dtype=object)
                made = f"{array}({_nested(entries.reshape(symbols.shape))})"
                if len(indent + made) > WIDTH and symbols.ndim == 1:
                    made = "\n".join([f"{array}([", *(f"{indent}    {e}," for e in entries), f"{indent}])"])
                parts.append((name, made))
            else:
                made = text(next(left))
                if isinstance(kind, Held):  # usually an int: its cotangent is seldom used
                    made = f"{text(self.spelling.word('rulelab', 'thunk'))}(lambda: {made})"
                parts.append((name, made))
        nothing = text(self.spelling.word("rulelab", "NoTangent")) + "()"
        line = f"{indent}return {', '.join([nothing, *(p for _, p in parts)])}"
        if len(line) <= WIDTH or len(parts) == 1:
            return [*lines, line]
        named = [(f"{n}_bar", p) for n, p in parts]
        return [
            *lines,
            *(f"{indent}{n} = {p}" for n, p in named),
            f"{indent}return {', '.join([nothing, *(n for n, _ in named)])}",
        ]

    def without_tangent(self, name, value):
        """The cotangent of an argument that was fixed: if it is a number, the cotangent may be needed after
        all.
        """
        if isinstance(value, (bool, str, bytes, type(None))):
            return text(self.spelling.word("rulelab", "NoTangent")) + "()"
        reason = f"this rule was derived for {name} = {value!r}"
        return f"{text(self.spelling.word('rulelab', 'not_implemented'))}({reason!r})"

    def check_points(self):
        """A few points of every branch, for the numerical check."""
        for leaf in _leaves(self.reading.tree):
            yield from _ordinary_first([r.sample for r in leaf.runs])


def _ordinary_first(samples):
    """Two of the samples, of ordinary size if there are any."""
    return ([s for s in samples if all(map(_is_ordinary, s))] or samples)[:2]


def _as_float(value):
    return float(int(value.value)) if isinstance(value, Held) else plain_argument(value)


def _is_ordinary(value):
    if isinstance(value, Static):
        return True
    return all(0.01 < abs(v) < 20 for v in (value.entries if isinstance(value, Array) else (value,)))


def _globals_used(function):
    return [function.__globals__.get(word) for word in global_names(function.__code__)]


def _leaves(tree, kind=Leaf):
    """The ends of a tree, those of `yes` before those of `no`."""
    if isinstance(tree, kind):
        yield tree
    elif tree is not None:
        yield from _leaves(tree.yes, kind)
        yield from _leaves(tree.no, kind)


def _formulas(tree):
    """All that a tree computes: what its branches compare, and the formulas at its ends."""
    if isinstance(tree, Branch):
        yield from (tree.left, tree.right)
        for side in (tree.yes, tree.no):
            yield from _formulas(side)
    elif tree is not None:
        yield from tree


def _targets(words):
    """`(a_0_0, a_0_1), (a_1_0, a_1_1)`: the targets that an array is unpacked into."""
    if words.ndim == 1:
        return ", ".join(words) + ("," if len(words) == 1 else "")
    inner = ", ".join(f"({_targets(row)})" for row in words)
    return inner + ("," if len(words) == 1 else "")


def _nested(entries):
    if entries.ndim == 0:
        return entries.item()
    return f"[{', '.join(_nested(e) if isinstance(e, np.ndarray) else e for e in entries)}]"


def _packed(partials, count):
    return f"({partials})" if count > 1 else partials


def _without_trifles(temporaries, reduced):
    """Inline shared negations and reciprocals of a name again: a name costs more than they do."""
    kept: list[Any] = []
    put: dict[Any, Any] = {}
    for symbol, expr in temporaries:
        expr = expr.xreplace(put)
        if (-expr).is_Symbol or expr.is_Symbol:
            put[symbol] = expr
        else:
            kept.append((symbol, expr))
    return kept, [e.xreplace(put) for e in reduced]


def _limit(expr, x, at):
    """The two-sided limit if it is a finite real number, else None."""
    try:
        left, right = (sp.limit(expr, x, at, side) for side in "-+")
    except Exception:  # SymPy's limits fail in many ways
        return None
    return left if left == right and left.is_finite and left.is_real and not left.free_symbols else None


# --- the checks ---------------------------------------------------------------------------------------------


class _DraftResult(NamedTuple):
    """The proof of a derived rule, the result of the numerical check, and whether its time was too short."""

    proof: SymbolicReport
    checked: str
    is_right: bool
    ran_out: bool


def _draft_result(f, draft, time_limit, stop):
    """What the proof and the numerical check say about the text itself; DerivationError if it is wrong."""
    registry = Registry()
    _stated(f, draft, registry)
    seconds = max(LEAST_SECONDS, PROOF_SHARE * time_limit)
    proof = prove(f, at=draft.at, registry=registry, time_limit=seconds, stop=stop, name=f.__name__)
    if isinstance(proof.verdict, Refuted):
        raise refusal(f, f"the rule that was derived did not pass: {proof.verdict.sentence()}")
    seconds = max(LEAST_SECONDS, CHECK_SHARE * time_limit)
    outcome = worker.run(lambda report: _checked(f, draft, registry, report), seconds, stop)
    verdict, sentence = outcome.result or ("inconclusive", "")
    if outcome.failure or outcome.cut:
        why = outcome.failure or took_more("the check by numbers", seconds)
        verdict, sentence = ("wrong", sentence) if verdict == "wrong" else ("inconclusive", why)
    if verdict == "wrong":
        raise refusal(f, f"the rule that was derived did not pass: {sentence}")
    return _DraftResult(proof, sentence, verdict == "right", outcome.cut)


def _stated(f, draft, registry):
    """Run the text of the rule, and state the rule in a registry of its own."""
    filename = f"<derived rule of {f.__name__}>"
    linecache.cache[filename] = (len(draft.body), None, draft.body.splitlines(True), filename)
    scope = {**f.__globals__, "__name__": f.__globals__.get("__name__", "__main__")}
    if "." not in draft.root and draft.root not in scope:
        scope[draft.root] = f
    if scope.get(draft.root) is not f and draft.root == f.__name__:
        scope[draft.root] = f
    exec(compile(ast.parse(draft.body), filename, "exec"), scope)
    if draft.scalar:
        scalar_rule(f, scope[draft.rule], registry=registry)
    else:
        scope[draft.rule].__kwdefaults__ = f.__kwdefaults__  # the proof calls it without keywords
        rrule_for(f, registry=registry)(scope[draft.rule])


def _checked(f, draft, registry, report):
    """Report (verdict, sentence) over a few points of every branch."""
    right, sentences = 0, []
    for point in draft.points:
        try:
            found = rule_check(f, *point, registry=registry, mode="rrule", depth="quick")
        except RuleLabError as error:
            sentences.append(str(error).splitlines()[0])
            continue
        if found.verdict == "wrong":
            report(("wrong", found.sentence))
            return
        right += found.verdict == "right"
        if found.verdict != "right":
            sentences.append(found.sentence)
        off = next((p for p in draft.beyond if _is_off(f, p, registry)), None)
        if off is not None:
            report(("wrong", f"at {off} it does not give the slope of the function"))
            return
        if right and not sentences:
            report(("right", f"checked with differences around {right} of {len(draft.points)} points: right"))
        else:
            report(("inconclusive", f"checked with differences: {sentences[0]}"))


def _is_off(f, point, registry):
    """Whether a cotangent differs from the slope that floats show, compared to four digits. What raises an
    error reports itself.
    """
    try:
        found = rrule(f, *point, registry=registry)[1](1.0)[1:]
    except Exception:
        return False
    for i, (x, x_bar) in enumerate(zip(point, found, strict=True)):
        if not isinstance(x, float):
            continue
        step = 1e-6 * max(1.0, abs(x))
        high, low = (f(*(x + s if j == i else v for j, v in enumerate(point))) for s in (step, -step))
        slope = (high - low) / (2 * step)
        if not abs(unthunk(x_bar) - slope) <= 1e-4 * max(1.0, abs(slope)):
            return True
    return False
