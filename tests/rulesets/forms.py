"""Every rule of the tables with its arrays in other forms: short floats, strided, empty, lists, read-only,
with one more axis, whole numbers beside floats.

What NumPy or SciPy takes in such a form is differentiated in it, and cotangents have the form of their
arguments. The numbers are those of the usual form where the form alone is another; where some of them are
left out, those of differences of the function itself; and of short floats, those of the same numbers in
double precision, as far as the short ones have digits.
"""

import copy
import functools
import warnings

import numpy as np
from library_calls import STEP, cotangents_at, difference, flat, flat_of_tangent, parts, seed_of, shifted
from rule_points import Case, at_path, by_function, inner, leaves, put_at, widen_all

import rulelab as rl
from rulelab.errors import NotDifferentiableError, NotImplementedTangentError
from rulelab.rulesets.catalogue import special_tables, tables

REFUSED = (NotDifferentiableError, NotImplementedTangentError)
SHORT = {np.dtype(float): np.float32, np.dtype(complex): np.complex64}


def strided(x):
    """The same numbers, with gaps between them, and in the opposite direction."""
    apart = np.zeros([2 * n for n in x.shape], x.dtype)
    found = apart[(slice(None, None, -2),) * x.ndim]
    found[...] = x
    return found


def turned(x):
    """The same with imaginary parts: no two alike, and none near the cuts of logarithms and roots."""
    above = 0.11 + 0.04 * np.cos(np.arange(np.size(x)) + 0.7)
    kind = np.asarray(x).dtype
    if kind.kind != "f":
        return x
    found = np.asarray(x + 1j * above.reshape(np.shape(x)).astype(kind))
    return found if isinstance(x, np.ndarray) else found[()]


FORMS = {
    "short": lambda x: x.astype(SHORT.get(x.dtype, x.dtype)),
    "strided": strided,
    "turned": lambda x: np.asfortranarray(x),
    "empty": lambda x: x[:0],
    "empty last": lambda x: x[..., :0],
    "empty throughout": lambda x: x[(slice(0),) * x.ndim],
    "single": lambda x: x[(slice(1),) * x.ndim],
    "no axis": lambda x: np.array(x.flat[0]),
    "half": lambda x: x.astype(np.float16) if x.dtype.kind == "f" else x,
    "list": lambda x: x.tolist(),
    "read only": lambda x: np.frombuffer(x.tobytes(), x.dtype).reshape(x.shape),
    "one more axis": lambda x: x[None],
    "stack": lambda x: np.stack([x * (1 + 0.0931 * k) for k in range(len(x))]),  # its axes could be confused
    "whole": lambda x: np.rint(x.real).astype(int),
    "complex": turned,
}
SAME = {"strided", "turned", "read only"}
SHORT_FORMS = {"short", "half"}
ALONE = (  # one array in this form beside others that are not
    "short",
    "empty",
    "empty throughout",
    "no axis",
    "one more axis",
    "stack",
    "whole",
    "complex",
)
BESIDE = {"whole"}  # a form in which nothing varies: only beside what does


def arrays_at(args):
    """Where in the arguments arrays of floats are."""
    return [
        path
        for path, leaf in leaves(args)
        if isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc" and leaf.size and leaf.ndim
    ]


def in_form(args, change, paths):
    """The arguments with the arrays at these places changed."""
    for path in paths:
        args = put_at(args, path, change(at_path(args, path)))
    return args


def forms_of(args):
    """The arguments in each form, and its name: all arrays in it, and where there are several, each alone."""
    paths = arrays_at(args)
    for name, change in FORMS.items():
        changed = in_form(args, change, paths)
        if name not in BESIDE or floats_in(changed):
            yield name, changed
    for name in ALONE if len(paths) > 1 else ():
        for path in paths:
            yield name, in_form(args, FORMS[name], [path])
    numbers = [path for path in floats_in(args) if path not in paths]
    for path in numbers:
        yield "a complex number", in_form(args, turned, [path])
    if numbers and paths:
        yield "complex throughout", in_form(args, turned, [*paths, *numbers])


def floats_in(args):
    """Where in the arguments numbers and arrays are that can vary."""
    return [path for path, leaf in leaves(args) if np.asarray(leaf).dtype.kind in "fc"]


def usual_points():
    """The check points of all tables, function by function."""
    every = [
        Case(table, "rrule", target, args, kwargs)
        for table in (*tables(), *special_tables())
        for target, args, kwargs in table.points
    ]
    return by_function(every)


def check_forms(points):
    """The first three points of a function with arrays, in each form that the function itself takes."""
    wrong, seen = [], 0
    for case in points.cases:
        if seen == 3 or not arrays_at(case.args):
            continue
        seen += 1
        f = functools.partial(_called, case.target, case.kwargs)
        wrong += [f"{found} of {case}" for found in faults_in_forms(f, case.args)]
    assert not wrong, "\n".join(wrong)


def faults_in_forms(f, args):
    """What is wrong in each form of the arguments that a function takes."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            usual = answers(f, args)
        except REFUSED:
            return
        for name, changed in forms_of(args):
            try:
                check_form(f, args, changed, name, usual)
            except REFUSED:
                if name in SAME:
                    yield f"{name}: refused"
            except Exception as error:
                yield f"{name}: {type(error).__name__}: {' '.join(str(error).split())[:300]}"


def _called(target, kwargs, *args):
    return target(*args, **kwargs)


def answers(f, args):
    """The value, the cotangents and the tangent, with the same numbers for the same shapes."""
    args = copy.deepcopy(args)
    y, back = rl.pullback(f, *args)
    bars, dots = back(seed_of(y, np.random.default_rng(3))), directed(args)
    varying = {path[0] for path in floats_in(args)}
    tangent = rl.pushforward(f, *args)(*[dot if i in varying else None for i, dot in enumerate(dots)])
    return y, bars, flat_of_tangent(tangent, y)


def directed(args):
    """The direction of the tangent: the same for an array in two places, none for whole numbers."""
    dots = args
    for path, leaf in list(leaves(args)):
        dots = put_at(dots, path, _one_direction(np.asarray(leaf)))
    return dots


def _one_direction(x):
    if x.dtype.kind not in "fc":
        return None
    angles = np.arange(x.size).reshape(x.shape) + 0.3
    turned = np.cos(angles) + 1j * np.sin(2 * angles) if x.dtype.kind == "c" else np.cos(angles)
    return np.asarray(turned).astype(x.dtype)[()]


def check_form(f, args, changed, name, usual):
    """What the function takes in this form has derivatives in it."""
    try:
        found = answers(f, changed)
    except REFUSED:  # before the function is called, which ends the process in some forms
        raise
    except Exception:
        if numbers_of(f, changed) is None:
            return
        raise
    plain = numbers_of(f, changed)
    if plain is None:
        return
    y, bars, tangent = found
    assert [p.dtype for p in parts(y)] == [p.dtype for p in plain], "the kind of the value"
    assert [p.shape for p in parts(y)] == [p.shape for p in plain], "the shape of the value"
    for path, bar in cotangents_at(changed, bars):
        leaf = at_path(changed, path)
        if isinstance(leaf, np.ndarray):
            kind = leaf.dtype if leaf.dtype.kind in "fc" else np.dtype(float)
            assert np.shape(bar) == leaf.shape, f"a cotangent of the shape {np.shape(bar)} for {leaf.shape}"
            assert np.asarray(bar).dtype == kind, f"a cotangent of {np.asarray(bar).dtype}"
    if name in SAME:
        check_same(changed, found, args, usual, 1e-9)
    elif name == "list":
        wide = widen_all(args)  # numbers of Python are double
        check_bars(changed, found, wide, answers(f, wide), max(1e-9, tolerance_in(args)))
    elif name in SHORT_FORMS:
        wide = widen_all(changed)
        check_same(changed, found, wide, answers(f, wide), tolerance_in(changed))
    else:
        check_by_differences(f, changed, found, name == "whole")
        if name == "whole":
            check_whole(f, args, changed, found)


def check_whole(f, args, changed, found):
    """Whole numbers have the cotangents of the same numbers as floats, where these have the same value."""
    floats = changed
    for path in arrays_at(args):
        if at_path(changed, path).dtype.kind == "i":
            floats = put_at(floats, path, at_path(changed, path).astype(float))
    try:
        y, bars, _ = answers(f, floats)
    except REFUSED:
        return
    one, other = flat(found[0]), flat(y)
    if one.shape == other.shape and np.all(np.isfinite(one)) and np.allclose(one, other, rtol=1e-6, atol=0):
        near(flat_bars(changed, found[1]), flat_bars(floats, bars), max(1e-9, tolerance_in(floats)))


def check_same(args, found, others, wanted, within):
    """The same numbers, in arguments of another form; half floats end where others go on."""
    if not np.all(np.isfinite(flat(found[0]))):
        return
    if is_ordered_anew(flat(found[0]), flat(wanted[0]), within):
        one, other = np.argsort(flat(found[0])), np.argsort(flat(wanted[0]))
        near(flat(found[0])[one], flat(wanted[0])[other], within)
        near(found[2][one], wanted[2][other], within)
        return
    near(flat(found[0]), flat(wanted[0]), within)
    near(found[2], wanted[2], within)
    near(flat_bars(args, found[1]), flat_bars(others, wanted[1]), within)


def is_ordered_anew(found, wanted, within):
    """Whether two results hold the same numbers in another order: NumPy parts short floats by another
    algorithm. The cotangents of places then say nothing of one another.
    """
    if found.shape != wanted.shape or found.dtype.kind == "c" or not found.size:
        return False
    size = 1 + np.max(np.abs(wanted))
    apart = np.max(np.abs(found - wanted)), np.max(np.abs(np.sort(found) - np.sort(wanted)))
    return bool(apart[0] > within * size >= apart[1])


def check_bars(args, found, others, wanted, within):
    """The same cotangents, where a function makes the same of lists: `+` joins them."""
    one, other = flat_bars(args, found[1]), flat_bars(others, wanted[1])
    if np.size(flat(found[0])) == np.size(flat(wanted[0])) and one.size == other.size:
        near(flat(found[0]), flat(wanted[0]), within)
        near(one, other, within)


def flat_bars(args, bars):
    """All numbers of the cotangents, in order."""
    return np.concatenate([np.zeros(0), *[np.ravel(bar) for _, bar in cotangents_at(args, bars)]])


def tolerance_in(args):
    """What the shortest floats in the arguments allow."""
    kinds = [np.asarray(leaf).dtype for _, leaf in leaves(args) if np.asarray(leaf).dtype.kind in "fc"]
    return 60 * max(np.finfo(kind).eps for kind in kinds)


def check_by_differences(f, args, found, among_ties=False):
    """Along the direction of the tangent, in both modes."""
    y, bars, tangent = found
    along, varying = directed(args), set(floats_in(args))
    wanted, settled = slopes_along(lambda *xs: flat(f(*xs)), args, along)
    if wanted is None or wanted.shape != tangent.shape:
        return
    if among_ties:
        known = settled & ~_kinks(lambda *xs: flat(f(*xs)), args, along) & ~np.isnan(tangent)
        wanted = np.where(known, wanted, tangent)
    elif not np.all(np.isfinite(wanted)):  # a mean of nothing
        return
    within = max(1e-6, tolerance_in(args))
    near(tangent, wanted, within)
    pairs = [(bar, at_path(along, path)) for path, bar in cotangents_at(args, bars) if path in varying]
    left = sum(inner(np.asarray(bar), dot) for bar, dot in pairs)
    near(left, inner(flat(seed_of(y, np.random.default_rng(3))), wanted), within)


def slopes_along(f, args, along):
    """Differences of a function along a direction: by a tenth of the usual step where a vector changes its
    sign within reach, as those of LAPACK do; and whether smaller steps agree. None where a value is no
    number, or their number changes.
    """
    here = f(*shifted(args, along, 0.0))
    usual, *finer = [difference(f, args, along, STEP / times) for times in (1, 10, 100)]
    if not np.all(np.isfinite(here)) or usual.shape != here.shape:
        return None, None
    agree = np.isclose(*finer, rtol=1e-7, atol=1e-8)
    wanted = np.where(agree, finer[0], usual)
    if tolerance_in(args) < 1e-12:
        wanted = _by_finer_steps(f, args, along, wanted, agree | np.isclose(usual, finer[0], rtol=1e-6))
    return wanted, np.isclose(*finer, rtol=1e-6, atol=1e-6)


def _by_finer_steps(f, args, along, wanted, settled):
    """What no two of the usual steps agree about, by the first two smaller ones that do: a quotient changes
    within the usual steps where its denominator all but vanishes, as the power of a frequency may.
    """
    coarse = None
    for times in () if np.all(settled) else (1e3, 1e4, 1e5):
        fine = difference(f, args, along, STEP / times)
        if coarse is not None:
            agree = ~settled & np.isclose(coarse, fine, rtol=1e-6, atol=1e-6)
            wanted, settled = np.where(agree, coarse, wanted), settled | agree
        coarse = fine
    return wanted


def _kinks(f, args, along):
    """Where differences say nothing, because whole numbers tie with others: the slopes on both sides differ
    as much by a tenth of a step as by the whole of it. There the modes have to say the same; and where there
    is NaN, which claims nothing. Ties and poles have tests of their own.
    """
    here = f(*shifted(args, along, 0.0))
    apart = [
        np.abs(f(*shifted(args, along, step)) - 2 * here + f(*shifted(args, along, -step))) / step
        for step in (STEP, STEP / 10)
    ]
    return (apart[1] > 1e-6 * (1 + np.abs(here))) & (apart[1] > 0.5 * apart[0])


def numbers_of(f, args):
    """What NumPy or SciPy gives for these arguments; None if that is an error, or no numbers."""
    try:
        return parts(f(*copy.deepcopy(args))) or None
    except Exception:
        return None


def near(found, wanted, within):
    size = max(1.0, float(np.max(np.abs(np.nan_to_num(wanted)), initial=0.0)))
    np.testing.assert_allclose(found, wanted, rtol=within, atol=within * size)
