"""What a docstring says of each parameter in a section: in NumPy's style, in Google's, and in fields."""

import numpy as np
import pytest

from rulelab.checking.reading.docstrings import docstring_text, lists_said, types_said
from rulelab.checking.reading.relations import relations_of
from rulelab.checking.reading.stated_kinds import covariances_said, intervals_said, kinds_said, wholes_said
from rulelab.checking.reading.usage import shapes_said

from .written_rules import judged

pytestmark = pytest.mark.usefixtures("without_diagnoses")


def documented(doc, *names):
    made = {}
    exec(f"def f({', '.join(names)}): ...", made)
    made["f"].__doc__ = doc
    return made["f"]


NUMPY = documented(
    """Log-density of a normal distribution.

    Parameters
    ----------
    x, mu : ndarray, shape (n,)
        Where, and the mean.
    cov : (n, n) array_like
        Covariance, symmetric positive definite.
    weight : float, optional
        Positive weight.
    share : float
        A number between 0 and 1.
    z : complex ndarray
    keep : ndarray of bool
    bins : array of int
        Where each belongs.
    order : int
    offset : float
        Negative or positive.

    Returns
    -------
    float
        Positive.
    """,
    *"x mu cov weight share z keep bins order offset".split(),
)
GOOGLE = documented("Energy.\n\nArgs:\n    k (float): stiffness, > 0.5\n    x: displacement", "k", "x")
FIELDS = documented(":param rate: the rate, positive\n:type rate: float\n:param y: data", "rate", "y")


def test_what_is_said_in_sections_is_read_as_sentences_are():
    kinds = {name: str(each[0]) for name, each in kinds_said(NUMPY).items()}
    assert kinds["cov"] == "a positive definite matrix" and kinds["order"] == "an integer"
    assert kinds["z"] == "a complex vector" and kinds["keep"] == "a vector of booleans"
    assert kinds["bins"] == "a vector of indices" and kinds["weight"] == kinds["share"] == "a number"
    assert dict(intervals_said(NUMPY)) == {"weight": (0.0, float("inf")), "share": (0.0, 1.0)}
    assert dict(shapes_said(NUMPY)) == {"x": ("n",), "mu": ("n",), "cov": ("n", "n")}
    assert types_said(NUMPY)["order"] is int and "x" not in types_said(NUMPY)


@pytest.mark.parametrize(("f", "name", "low"), [(GOOGLE, "k", 0.5), (FIELDS, "rate", 0.0)])
def test_other_styles_are_read_too(f, name, low):
    assert intervals_said(f)[name][0] == low and types_said(f) == {name: float}


@pytest.mark.parametrize("doc", [None, "", "Ratio of a : b.", "Args:", "Parameters\n----------", "x : float"])
def test_a_docstring_without_such_a_section_stays_as_it_is(doc):
    assert docstring_text(documented(doc, "x")) == (doc or "")


DISTANCE = '''
def f(x, cov, scale):
    """Squared distance.

    Parameters
    ----------
    x : ndarray, shape (n,)
        Where.
    cov : ndarray, shape (n, n)
        Covariance, symmetric positive definite.
    scale : float
        Positive.
    """
    return np.log(scale) * x @ np.linalg.solve(cov, x)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, cov, scale):
    w = np.linalg.solve(cov, x)
    log = np.log(scale)

    def back(y_bar):
        return rl.NoTangent(), {} * y_bar * log * w, -y_bar * log * np.outer(w, w), y_bar * (x @ w) / scale

    return f(x, cov, scale), back
'''


@pytest.mark.slow
def test_a_rule_is_judged_at_what_the_sections_say_of_its_function():
    """It makes use of the symmetry, and there is no logarithm of a negative scale."""
    report = judged(DISTANCE.format(2))
    assert report.verdict == "right", report
    assert "cov: a positive definite matrix (n, n), scale: a number, positive" in str(report)
    assert judged(DISTANCE.format(1)).verdict == "wrong"


MIXED = '''
def f(parts, weights):
    """A weighted sum.

    Parameters
    ----------
    parts : list of ndarray
        All of one shape.
    weights : ndarray, shape (k,)
    """
    return sum(w * part**2 for w, part in zip(weights, parts))


@rl.rrule_for(f, registry=registry)
def f_rrule(parts, weights):
    squares = np.stack(parts) ** 2

    def back(y_bar):
        weights_bar = {}
        return rl.NoTangent(), [2 * w * part * y_bar for w, part in zip(weights, parts)], weights_bar

    return np.tensordot(weights, squares, axes=1), back
'''


@pytest.mark.slow
def test_a_list_of_arrays_is_one_and_a_vector_beside_it_has_a_number_for_each():
    """In a list of numbers there is nothing to sum."""
    assert judged(MIXED.format("np.tensordot(squares, y_bar, axes=np.ndim(y_bar))")).verdict == "right"
    assert judged(MIXED.format("np.ravel(squares * y_bar)[: len(parts)]")).verdict == "wrong"


RANGES = documented(
    "Args:\n    c: at least 2\n    share: between 0 and 1.\n    k: less than 4", "c", "share", "k"
)


def test_an_end_in_words_and_a_sign_both_count():
    """An end says nothing of the other one: masses less than 5, all positive."""
    f = documented("Glow.\n\nArgs:\n    m: mass (less than 5 suns), positive.\n", "m")
    assert dict(intervals_said(f)) == {"m": (0.0, 5.0)}
    f = documented("Glow.\n\nArgs:\n    m: a mass, non-negative, at most 5\n", "m")
    assert dict(intervals_said(f)) == {"m": (0.0, 5.0)}


@pytest.mark.parametrize(
    "doc, names, is_positive",
    [
        ("Spread of an array of positive incomes.", "y", True),
        ("Spread of a positive array.", "y", True),
        ("Spread of an array of incomes, positive or not.", "y", False),
        ("Spread of an array of positive incomes.", "y, w", False),
        ("Spread of a positive and a negative array.", "y", False),
    ],
)
def test_the_only_parameter_need_not_be_named(doc, names, is_positive):
    f = eval(f"lambda {names}: 0")
    f.__doc__ = doc
    assert dict(intervals_said(f)) == ({"y": (0.0, float("inf"))} if is_positive else {})


def test_ends_of_intervals_are_said_in_words():
    ends = {"c": (2.0, float("inf")), "share": (0.0, 1.0), "k": (-float("inf"), 4.0)}
    assert dict(intervals_said(RANGES)) == ends


HIGHLIGHT = """
def f(c, shininess=8.0):
    \"\"\"Highlight of cosines c; shininess: a number above 1.\"\"\"
    return np.maximum(c, 0) ** shininess


@rl.rrule_for(f, registry=registry)
def f_rrule(c, shininess=8.0):
    lit = np.maximum(c, 0)

    def back(y_bar):
        log = np.log(lit, where=lit > 0, out=np.zeros(np.shape(lit)))
        c_bar = {}shininess * y_bar * lit ** (shininess - 1)
        return rl.NoTangent(), c_bar, np.sum(y_bar * lit**shininess * log)

    return f(c, shininess), back
"""


@pytest.mark.slow
def test_a_default_stays_where_the_docstring_says_that_it_lies():
    """Below one the slope is infinite where a cosine is zero."""
    assert judged(HIGHLIGHT.format("")).verdict == "right"
    assert judged(HIGHLIGHT.format("2 * ")).verdict == "wrong"


COVARIANCE = documented("Args:\n    c: (d, d), positive definite; its symmetric part counts", "c")


def test_positive_definite_is_no_sign():
    assert str(kinds_said(COVARIANCE)["c"][0]) == "a positive definite matrix"
    assert not intervals_said(COVARIANCE)


def test_a_list_of_arrays_may_be_said_on_a_line_and_with_lengths():
    doc = """Moves.

    frames: list of (4, 4) matrices
    steps : a list of arrays of shape (n, 3)
    names: list of words
    """
    assert lists_said(documented(doc, "frames", "steps", "names")) == {"frames": (4, 4), "steps": ("n", 3)}


LENGTHS = documented(
    "Parameters\n----------\npoints : ndarray of shape (n, 2)\n    In order, n >= 3.\n"
    "grid : ndarray, shape (m, k)\n    With k > 1.\nrate : float\n    One with rate < 1.",
    "points", "grid", "rate",
)  # fmt: skip


def test_a_bound_on_a_length_is_none_on_numbers():
    assert "len(points) >= 3" in docstring_text(LENGTHS)
    assert dict(intervals_said(LENGTHS)) == {"rate": (-float("inf"), 1.0)}


def test_the_type_of_a_parameter_is_no_length():
    doc = "Args:\n    x (ndarray): Where.\n    parts (list): Which.\n    w (n,): Weights."
    assert dict(shapes_said(documented(doc, "x", "parts", "w"))) == {"w": ("n",)}


def test_what_is_said_on_one_line_is_not_said_of_the_next_parameter():
    doc = "Risk.\n\nvols: (n,) volatilities, positive\ncorr: (n, n) matrix\n"
    assert "corr" not in intervals_said(documented(doc, "vols", "corr"))


WORDS = documented(
    """Of a solution.

    charge: integer charges
    count : (n,) whole numbers of ions
    shift: integer or real shifts
    P, R: covariances of state and noise
    G : cross-covariance of both
    """,
    "charge", "count", "shift", "P", "R", "G",
)  # fmt: skip


def test_words_about_a_parameter_tell_whole_numbers_and_covariances():
    assert wholes_said(WORDS) == {"charge", "count"}
    assert covariances_said(WORDS) == {"P", "R"}


CHAIN = '''
def f(links, x):
    """links: list of (2, 2) matrices, the last of which comes first; x: (2,) array"""
    for link in reversed(links):
        x = link @ x
    return x


@rl.rrule_for(f, registry=registry)
def f_rrule(links, x):
    seen = [x]
    for link in reversed(links):
        seen.append(link @ seen[-1])

    def back(y_bar):
        bars = []
        for link, before in zip(links, seen[-2::-1]):
            bars.append(np.outer({0}))
            y_bar = link.T @ y_bar
        return rl.NoTangent(), bars, y_bar

    return seen[-1], back
'''
INNOVATION = '''
def f(P, z):
    """Distance of an innovation.

    P : (n, n) covariance of the innovation
    z : (n,) innovation
    """
    return z @ np.linalg.solve(P, z)


@rl.rrule_for(f, registry=registry)
def f_rrule(P, z):
    w = np.linalg.solve(P, z)
    return z @ w, lambda y_bar: (rl.NoTangent(), -y_bar * np.outer(w, w), {0} * y_bar * w)
'''
STRENGTH = '''
def f(amounts, charges):
    """Ionic strength.

    Args:
        amounts (ndarray): Amounts of the ions.
        charges (ndarray): Integer charges, one per ion.
    """
    return np.sqrt(1 + np.sum(amounts**2 * charges**2))


@rl.rrule_for(f, registry=registry)
def f_rrule(amounts, charges):
    y = f(amounts, charges)
    return y, lambda y_bar: (rl.NoTangent(), y_bar * {0} / y, rl.NoTangent())
'''
OUTLINE = '''
def f(corners):
    """Area of a polygon.

    Parameters
    ----------
    corners : ndarray of shape (n, 2)
        In order, n >= 3.
    """
    if len(corners) < 3:
        raise ValueError("no polygon")
    after = np.roll(corners, -1, axis=0)
    return 0.5 * np.sum(corners[:, 0] * after[:, 1] - corners[:, 1] * after[:, 0])


@rl.rrule_for(f, registry=registry)
def f_rrule(corners):
    def back(y_bar):
        across = np.roll(corners, -1, axis=0) - np.roll(corners, 1, axis=0)
        return rl.NoTangent(), 0.5 * y_bar * np.stack([across[:, 1], {0}across[:, 0]], axis=1)

    return f(corners), back
'''
JUDGED = {
    "a list from its end": (CHAIN, "y_bar, before", "before, y_bar"),
    "a covariance in words": (INNOVATION, "2", "1"),
    "integers in words": (STRENGTH, "amounts * charges**2", "amounts * charges"),
    "a length of at least three": (OUTLINE, "-", ""),
}


@pytest.mark.parametrize("case", JUDGED)
def test_rules_are_judged_at_what_words_about_their_parameters_say(case):
    text, right, wrong = JUDGED[case]
    assert judged(text.format(right), depth="quick").verdict == "right"
    assert judged(text.format(wrong), depth="quick").verdict == "wrong"


INF = float("inf")
OF_SEVERAL = [
    ("attack, decay are lengths (> 0), sustain is any level.", {"attack": (0.0, INF), "decay": (0.0, INF)}),
    ("With coefficients 0 <= attack, decay < 1.", {"attack": (0.0, 1.0), "decay": (0.0, 1.0)}),
    ("While alive, over the years of attack (0 <= attack < 1).", {"attack": (0.0, 1.0)}),
    ("Levels that last for the (positive) decay.", {"decay": (0.0, INF)}),
    ("attack : array\n        Positive and increasing; decay too.", {"attack": (0.0, INF)}),
    ("While attack > 1 it rises.", {}),
    ("A gain, positive and negative attack.", {}),
]


@pytest.mark.parametrize(("said", "wanted"), OF_SEVERAL)
def test_what_is_said_of_several_names_is_said_of_each(said, wanted):
    def f(attack, decay, sustain): ...

    f.__doc__ = f"An envelope.\n\n    Parameters\n    ----------\n    {said}" if " : " in said else said
    assert {name: tuple(ends) for name, ends in intervals_said(f).items()} == wanted


@pytest.mark.parametrize(("said", "gate", "holds"), [
    ("The key is let go at `gate` >= attack + decay.", 2.0, True),
    ("The key is let go at `gate` >= attack + decay.", 1.0, False),
    ("For attack + decay < gate.", 1.0, False),
    ("For attack + decay < gate * 2.", 1.0, True),
])  # fmt: skip
def test_sums_of_two_are_compared(said, gate, holds):
    def f(attack, decay, gate): ...

    f.__doc__ = said
    assert relations_of(f, ("attack", "decay", "gate")).hold((1.0, 0.5, gate)) is holds
    assert relations_of(f, ("attack", "decay", "gate")).hold(
        (np.ones(2), np.ones(3), gate)
    )  # of no one shape


GUARDED = """
import math


def f(kv: float, opening: float, p_in: float, p_out: float) -> float:
    if not p_in > p_out > 0:
        raise ValueError("need p_in > p_out > 0")
    return kv * opening * math.sqrt(p_in - p_out)


@rl.rrule_for(f, registry=registry)
def f_rrule(kv, opening, p_in, p_out):
    root = math.sqrt(p_in - p_out)

    def back(q_bar):
        drop_bar = q_bar * kv * opening / (2 * root)
        return rl.NoTangent(), q_bar * opening * root, q_bar * kv * root, drop_bar, -drop_bar

    return kv * opening * root, back
"""


def test_an_order_that_a_function_insists_on_is_kept():
    """Else numbers seem not to be taken, and vectors for some of them are."""
    assert judged(GUARDED).verdict == "right"
    assert judged(GUARDED.replace("-drop_bar", "drop_bar")).verdict == "wrong"


@pytest.mark.parametrize(
    ("doc", "names", "bounds"),
    [
        ("Voltage under load; state of charge between 0 and 1.", ("soc", "current"), {"soc": (0.0, 1.0)}),
        ("The state of charge is positive.", ("soc",), {"soc": (0.0, np.inf)}),
        ("Friction, 4000 <= Re <= 1e8.", ("reynolds", "roughness"), {"reynolds": (4000.0, 1e8)}),
        ("Friction, 0 <= roughness < 0.05.", ("re", "wall_roughness"), {"wall_roughness": (0.0, 0.05)}),
        ("Sum of costs; t < 0 is before the start.", ("soc", "time"), {}),  # what it says of no parameter
        ("For Re < 2000 it is laminar.", ("reynolds", "relative"), {}),  # either may be meant
        ("soc is the state of charge (0 to 1), in percent above 1.", ("soc",), {}),  # it has its own name
    ],
)
def test_a_docstring_may_call_a_parameter_otherwise(doc, names, bounds):
    function = documented(doc, *names)
    found = dict(intervals_said(function))
    for name, low, high in relations_of(function, names).intervals:
        least, most = found.get(name, (-np.inf, np.inf))
        found[name] = max(least, low), min(most, high)
    assert found == bounds
