"""Run the author's code on traced numbers: the inputs, the resulting graphs, and where the trace stopped."""

from __future__ import annotations

import traceback

import numpy as np

from .. import ad, compiler
from ..advice import BY_NUMBERS
from ..errors import NotDifferentiableError, Place, RuleLabError
from ..rules.twins import written
from ..rulesets import array_likes, numpy_elementwise, python_math
from ..tangents import projection, thunks
from ..tangents.missing import NotImplementedTangent
from .arrays import summed_to, to_traced_arrays
from .cells import Array, ComplexNumber, Static, entry_name
from .complexes import Complex, as_complex, is_complex
from .field_graphs import is_identically_equal
from .functions import apply_elementary, apply_to, element_version, scalar_version
from .integrals import replacements
from .outcomes import Settled, Skipped, UntracedSample
from .plain_values import entries_of, is_zero, parts_that_move, seed_like, without_warnings_or_output
from .scalars import CONTEXT, CannotTrace, Scalar, Stop, Trace, quotient
from .swap import same_shape_object_array
from .verdicts import Unsupported
from .work_counter import COUNTER

STEP = CONTEXT.mpf(10) ** -30
_THE_AD = (f"{ad.__name__}.", f"{compiler.__name__}.")
THE_AD_CALLED = "the rule calls the AD"
_BY_NUMBERS = f"SymPy cannot follow it; {BY_NUMBERS}"


# --- replacements of rulelab's functions --------------------------------------------------------------------


def _unbroadcast(x_bar, x):
    if isinstance(x_bar, thunks.Thunk):
        return thunks.Thunk(lambda: _unbroadcast(thunks.unthunk(x_bar), x))
    if is_zero(x_bar) or isinstance(x_bar, NotImplementedTangent):
        return x_bar
    return as_real_as(x, summed_to(x_bar, np.shape(x)))


def as_real_as(x, x_bar):
    """The cotangent; its real part if the argument is real."""
    return x_bar if is_zero(x_bar) or is_complex(x) or not is_complex(x_bar) else x_bar.real


def _project_to(x):
    def project(x_bar):
        if isinstance(x_bar, thunks.Thunk):
            return thunks.Thunk(lambda: project(thunks.unthunk(x_bar)))
        return as_real_as(x, x_bar)

    return project


def _exactly(original, function):
    """Replace a function that a rule computes by a series by the exact `function`."""

    def on_scalar(x):
        x.trace.notes[f"{original.__name__} is treated as the exact function"] = None
        return function(x)

    def on_values(x):
        if isinstance(x, np.ndarray) and x.ndim:
            return to_traced_arrays(
                np.frompyfunc(element_version(original, on_scalar), 1, 1)(x.view(np.ndarray))
            )
        return on_scalar(x.view(np.ndarray).item() if isinstance(x, np.ndarray) else x)

    return original, scalar_version(original, on_values)


RESULT_OF_TYPE = "a result of type"  # neither a number nor a container of numbers
STAND_INS = (
    _exactly(python_math.digamma, lambda x: apply_elementary("digamma", x, False)),
    _exactly(numpy_elementwise.bessel_i1, lambda x: apply_to("besseli", x.trace.constant(1), x)),
    (projection.ProjectTo, _project_to),
    (projection.unbroadcast, _unbroadcast),
    (array_likes.check_plain, lambda items: None),
)


# --- inputs -------------------------------------------------------------------------------------------------


def traced_arguments(trace, names, sample, moved=None):
    """(arguments, leaves): traced inputs for `sample`; `moved` maps numbers of leaves to what is added to
    them.
    """
    leaves: list[Scalar] = []

    def leaf(name, value):
        if isinstance(value, ComplexNumber):
            return Complex(leaf(f"{name}.real", value.real), leaf(f"{name}.imag", value.imag))
        shadow = quotient(value, CONTEXT.prec)
        if moved and len(leaves) in moved:
            shadow += moved[len(leaves)]
        leaves.append(trace.argument(name, shadow))
        return leaves[-1]

    arguments = []
    for name, value in zip(names, sample, strict=True):
        if isinstance(value, Static):
            arguments.append(value.value)
        elif isinstance(value, Array):
            arguments.append(_traced_array(leaf, name, value))
        else:
            arguments.append(leaf(name, value))
    return arguments, leaves


def _traced_array(leaf, name, value):
    entries = np.empty(value.shape, dtype=object)
    numbers = np.reshape(np.array(value.entries, dtype=object), value.shape)
    for index in value.leaf_indices():
        entries[index] = leaf(entry_name(name, index), numbers[index])
        if value.symmetric:
            entries[index[::-1]] = entries[index]
    return to_traced_arrays(entries)


def traced_seed(trace, names, plain_y, seeds):
    """(y_bar, leaves): the seeds as traced numbers, in the form of the plain result."""
    name, left = seed_name(names), iter(seeds)
    leaves: list[Scalar] = []
    several = isinstance(plain_y, (tuple, list))

    def leaf(index):
        place = (sum_of[0], *index) if several else index
        return one(entry_name(name, place), next(left))

    def one(called, value):
        if isinstance(value, ComplexNumber):
            return Complex(one(f"{called}.real", value.real), one(f"{called}.imag", value.imag))
        leaves.append(trace.argument(called, value))
        return leaves[-1]

    sum_of = [-1]  # the number of the result that is being seeded

    def numbers(shape):
        sum_of[0] += 1
        entries = [leaf(index) for index in np.ndindex(shape)]
        return to_traced_arrays(same_shape_object_array(entries, shape)) if shape else entries[0]

    return seed_like(plain_y, numbers), leaves


def seed_name(names):
    """A name for the seed that differs from those of the arguments."""
    name = "y_bar"
    while name in names:
        name += "_"
    return name


# --- outputs ------------------------------------------------------------------------------------------------


def flat_numbers(trace, value, wide=None):
    """The traced real numbers in a result or cotangent, in C order; ints in a tuple are left out.

    `wide` says for each number whether it is treated as complex, which gives two numbers; by default, those
    that are complex are.
    """
    lifted = [trace.constant(v) for part in parts_that_move(value) for v in entries_of(part)]
    if any(v is None for v in lifted):
        trace.halt(CannotTrace(f"{RESULT_OF_TYPE} {type(value).__name__}"))
    wide = map(is_complex, lifted) if wide is None else wide
    return [part for number, pair in zip(lifted, wide, strict=True) for part in _real_parts(number, pair)]


def _real_parts(number, pair):
    if pair:
        return as_complex(number).args
    if is_complex(number):
        number.trace.halt(CannotTrace("a complex number where the plain run has a real one"))
    return (number,)


def of_leaves(value, entries):
    """The cotangents of the free entries of an argument; in a symmetric one both positions of an entry
    count.
    """
    if not isinstance(value, Array) or not value.symmetric:
        return entries
    square = same_shape_object_array(entries, value.shape)
    return [square[i] if i[0] == i[1] else square[i] + square[i[::-1]] for i in value.leaf_indices()]


def leaf_values(value, numbers):
    """Like `of_leaves`, for plain numbers."""
    if not isinstance(value, Array) or not value.symmetric:
        return numbers
    square = np.reshape(np.array(numbers), value.shape)
    return [square[i] if i[0] == i[1] else square[i] + square[i[::-1]] for i in value.leaf_indices()]


def depends_on(node, leaves):
    """Whether a traced number depends on one of `leaves`."""
    wanted, seen, stack = {id(leaf) for leaf in leaves}, set(), [node]
    while stack:
        top = stack.pop()
        if id(top) in wanted:
            return True
        if id(top) not in seen and top.op not in ("argument", "constant"):
            seen.add(id(top))
            stack.extend(top.args)
    return False


def reads_one_triangle(leaves, y):
    """Whether the results are independent of all entries above the diagonal, or of all below it, of the
    matrices.
    """
    above: list[Scalar] = []
    below: list[Scalar] = []
    for leaf in leaves:
        index = leaf.args.rpartition("[")[2].partition("]")[0].split(",")
        if len(index) == 2 and index[0] != index[1]:
            (above if int(index[0]) < int(index[1]) else below).append(leaf)
    return any(side and not any(depends_on(v, side) for v in y) for side in (above, below))


def skip_ties(trace):
    """Raise Skipped for a sample on the border of a cell: a tie, or expressions that are equal at this sample
    only.
    """
    if trace.tie or not all(is_identically_equal(left, right) for left, right in trace.equal):
        raise Skipped("on the border between two cases")


# --- runs ---------------------------------------------------------------------------------------------------


def trace_primal(question, sample, moved=None, quadratures=()):
    """(trace, swap, arguments, leaves, result) of a run of the primal alone."""
    trace = Trace()
    trace.follows = list(quadratures)
    swap = question.swap(trace, (*STAND_INS, *replacements(trace)))
    arguments, leaves = traced_arguments(trace, question.names, sample, moved)
    arguments = [swap.value(a, "an argument") if callable(a) else a for a in arguments]
    primal = question.value_through(lambda f: swap.value(f, "f"))
    y = run_traced(trace, swap, question, lambda: primal(*arguments))
    return trace, swap, arguments, leaves, y


def difference_quotients(
    question, sample, leaves, seeds, path, quadratures=(), wide=None, width=STEP, moving=None
):
    """d(sum of y_bar * y)/d(leaf) for every leaf, by central differences with 100 digits.

    The code is run for each of them, unless `moving`, a graph that is equivalent to the code, gives the
    values.
    """
    slopes = []
    for i, leaf in enumerate(leaves):
        step = _step(leaf, width)
        sides = []
        for moved in ({i: step}, {i: -step}):
            told = moving.moved(moved) if moving is not None else None
            if told is None:
                told = _values_at(question, sample, moved, path, quadratures, wide)
            sides.append(told)
        # Result by result, so that a large one that does not change costs the others no digits.
        total = sum(s.shadow * (high - low) for s, high, low in zip(seeds, *sides, strict=True))
        slopes.append(total / (2 * step))
    return slopes


def _step(leaf, width):
    return width * max(1, abs(leaf.shadow))


def _values_at(question, sample, moved, path, quadratures=(), wide=None):
    """The results of the code with leaves moved; the sample is skipped if the code takes another path
    there.
    """
    trace, _, _, _, y = trace_primal(question, sample, moved, quadratures)
    if trace.path() != path:
        raise Skipped("on the border between two cases")
    return [number.shadow for number in flat_numbers(trace, y, wide)]


def is_equivalent_to_code(moving, question, sample, path, wide):
    """Whether a graph gives exactly what the code gives when all leaves are moved: the graph does not know
    what else the code depends on, such as a counter or state kept between calls. This run is not counted as
    work, since an equivalent graph saves more.
    """
    moved = {i: _step(leaf, STEP) for i, leaf in enumerate(moving.leaves)}
    told = moving.moved(moved)
    if told is None:
        return False
    before = COUNTER.done - moving.work
    try:
        return told == _values_at(question, sample, moved, path, (), wide)
    except (Skipped, Settled, Stop):
        return False
    finally:
        COUNTER.done = before


def run_traced(trace, swap, question, work):
    """Return `work()`; every failure becomes a verdict about the tracing, not about the rule."""

    def unsupported(construct, raised, advice=""):
        return Settled(Unsupported(construct, users_place(raised, swap.codes, question.primal), advice))

    with without_warnings_or_output():
        try:
            result = work()
        except Settled:
            raise
        except CannotTrace as stop:
            raise unsupported(stop.construct, stop, stop.advice or stop.why) from stop
        except Stop as stop:
            raise UntracedSample(str(stop)) from stop
        except NotDifferentiableError as refusal:
            if comes_from_the_ad(refusal):
                raise unsupported(THE_AD_CALLED, refusal, _BY_NUMBERS) from refusal
            raise Skipped.by_refusal(refusal) from refusal
        except Exception as raised:
            if isinstance(trace.stop, CannotTrace):  # C code has replaced the exception
                remark = trace.stop.advice or trace.stop.why
                raise unsupported(trace.stop.construct, raised, remark) from raised
            # Its advice is not for this case.
            said = raised.found if isinstance(raised, RuleLabError) else raised
            raise unsupported(
                f"{type(raised).__name__} on SymPy's symbols: {said}",
                raised,
                "it runs on floats: the code needs something that only floats have",
            ) from raised
    if isinstance(trace.stop, CannotTrace):  # a bare except has caught it
        raise unsupported(trace.stop.construct, trace.stop)
    if trace.stop is not None:
        raise UntracedSample(str(trace.stop))
    return result


def comes_from_the_ad(raised):
    """Whether an exception comes from a derivative that the author's code asked for."""
    frames = traceback.walk_tb(raised.__traceback__)
    return any(frame.f_globals.get("__name__", "").startswith(_THE_AD) for frame, _ in frames)


def users_place(raised, codes, function):
    """The innermost line in the code objects `codes` that `raised` passed through; else where `function` is
    defined.
    """
    place, walk = None, raised.__traceback__
    while walk is not None:
        if walk.tb_frame.f_code in codes:
            place = Place.of_step(walk)
        walk = walk.tb_next
    return place or place_of(function)


def place_of(function):
    """Where a function is defined; for a twin, where its original is; None for a C function."""
    function = written(function)
    return Place.of_function(function) if getattr(function, "__code__", None) else None
