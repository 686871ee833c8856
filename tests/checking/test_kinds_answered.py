"""Kinds of arguments that code asks about, or that a rule's own answers tell: each is judged, and what nobody
gave condemns no rule that answers for another kind.
"""

import pytest

from rulelab.symbolic import prove

from .written_rules import judged, written

pytestmark = pytest.mark.usefixtures("without_diagnoses")

RANKS = {  # each with what makes the rule wrong in the branch for one of the ranks
    "a layer in a dict, for a vector or rows": (
        """
def f(p, x):
    return np.sin(x @ p["W"] + p["b"])


@rl.rrule_for(f, registry=registry)
def f_rrule(p, x):
    a = x @ p["W"] + p["b"]

    def back(y_bar):
        a_bar = np.cos(a) * y_bar
        if len(x.shape) == 1:
            return rl.NoTangent(), {"W": np.outer(x, a_bar), "b": a_bar}, p["W"] @ a_bar
        W_bar = x.T @ a_bar
        return rl.NoTangent(), {"W": W_bar, "b": a_bar.sum(axis=0)}, a_bar @ p["W"].T

    return np.sin(a), back
""",
        [("np.outer(x, a_bar)", "np.outer(a_bar, x)"), ("a_bar.sum(axis=0)", "a_bar.sum(axis=1)")],
    ),
    "a number or a vector in a NamedTuple": (
        """
import typing


class Line(typing.NamedTuple):
    slope: np.ndarray
    shift: np.ndarray


def f(line: Line, x: np.ndarray):
    return np.sum((line.slope * x + line.shift) ** 2)


@rl.rrule_for(f, registry=registry)
def f_rrule(line, x):
    r = line.slope * x + line.shift

    def back(y_bar):
        r_bar = 2 * y_bar * r
        shift_bar = r_bar if np.ndim(line.shift) > 0 else np.sum(r_bar)
        return rl.NoTangent(), rl.Tangent(Line, slope=r_bar * x, shift=shift_bar), r_bar * line.slope

    return np.sum(r**2), back
""",
        [("np.sum(r_bar)", "np.mean(r_bar)"), ("r_bar if np", "2 * r_bar if np")],
    ),
}
RIGHT = [text for text, _ in RANKS.values()]
WRONG = [text.replace(old, new) for text, changes in RANKS.values() for old, new in changes]


@pytest.mark.first(1)
@pytest.mark.parametrize("text", RIGHT, ids=list(RANKS))
def test_a_rule_that_tells_ranks_is_judged_at_each(text):
    report = judged(text)
    assert report.verdict == "right", report.sentence
    assert "no point reached" not in str(report)


@pytest.mark.first(1)
@pytest.mark.parametrize("text", WRONG)
def test_and_is_wrong_where_it_is_so_at_one_of_them(text):
    report = judged(text)
    assert report.verdict == "wrong", str(report)


@pytest.mark.slow
def test_a_proof_is_none_where_a_branch_for_another_rank_is_wrong():
    made = written(WRONG[0])
    assert prove(made["f"], registry=made["registry"]).verdict.word != "PROVED"


PATH_LENGTH = """
def f(points):
    return sum(np.linalg.norm(b - a) for a, b in zip(points[:-1], points[1:]))


@rl.rrule_for(f, registry=registry)
def f_rrule(points):
    steps = [b - a for a, b in zip(points[:-1], points[1:])]

    def back(y_bar):
        bars = list(np.zeros(np.shape(np.stack(points))))
        for k, step in enumerate(steps):
            unit = y_bar * step / np.linalg.norm(step)
            bars[k + 1] = bars[k + 1] + unit
            bars[k] = bars[k] - unit
        return rl.NoTangent(), bars

    return f(points), back
"""


@pytest.mark.slow
def test_a_rule_that_answers_with_a_list_is_judged_at_lists():
    """A matrix cannot have a list for its gradient, but it was we who drew one."""
    report = judged(PATH_LENGTH)
    assert report.verdict == "right" and "points: a list of " in str(report)
    made = written(PATH_LENGTH)
    assert prove(made["f"], registry=made["registry"]).verdict.word != "REFUTED"


def test_and_is_wrong_where_it_is_so_at_these():
    report = judged(PATH_LENGTH.replace("bars[k] - unit", "bars[k] + unit"))
    assert report.verdict == "wrong" and "list" not in report.sentence


def test_a_list_for_an_array_is_a_mistake_where_the_function_takes_no_list():
    text = PATH_LENGTH.replace("sum(np.linalg", "points.shape[0] * sum(np.linalg")
    text = text.replace(
        "return rl.NoTangent(), bars", "return rl.NoTangent(), [len(points) * b for b in bars]"
    )
    assert judged(text).verdict == "wrong"


SELLMEIER = """
def f(w, b, c):
    return np.sqrt(1 + sum(one * w**2 / (w**2 + two**2) for one, two in zip(b, c)))


@rl.rrule_for(f, registry=registry)
def f_rrule(w, b, c):
    y = f(w, b, c)

    def back(y_bar):
        s = y_bar / (2 * y)
        w_bar = s * sum(2 * w * one * two**2 / (w**2 + two**2) ** 2 for one, two in zip(b, c))
        b_bar = tuple(np.sum(s * w**2 / (w**2 + two**2)) for two in c)
        c_bar = tuple(np.sum(-2 * s * one * two * w**2 / (w**2 + two**2) ** 2) for one, two in zip(b, c))
        return rl.NoTangent(), w_bar, b_bar, c_bar

    return y, back
"""


@pytest.mark.first(1)
@pytest.mark.parametrize(("piece", "verdict"), [("-2 * s", "right"), ("2 * s", "wrong")])
def test_a_rule_that_answers_with_tuples_is_judged_at_tuples(piece, verdict):
    report = judged(SELLMEIER.replace("-2 * s", piece))
    assert report.verdict == verdict and "kind tuple" not in report.sentence


BAND = """
def f(x, gains):
    "Of a real signal, its frequencies weighted."
    return np.sum(gains * np.abs(np.fft.rfft(x)) ** 2)


@rl.rrule_for(f, registry=registry)
def f_rrule(x, gains):
    X = np.fft.rfft(x)

    def back(y_bar):
        full = np.zeros(len(x), complex)
        full[: len(X)] = gains * X
        return rl.NoTangent(), 2 * y_bar * len(x) * np.real(np.fft.ifft(full)), y_bar * np.abs(X) ** 2

    return np.sum(gains * np.abs(X) ** 2), back
"""


@pytest.mark.slow
def test_a_rule_that_is_right_at_one_length_by_chance_is_judged_at_others():
    """The transform of two real numbers is real."""
    assert judged(BAND).verdict == "right"
    assert judged(BAND.replace("gains * X", "gains * np.conj(X)")).verdict == "wrong"


LABELLED = {  # each with what makes the rule wrong
    "rows of a table, but for one": (
        """
def f(table, word, blank=0):
    keep = (word != blank)[:, None]
    return np.sum(np.sin(table[word]) * keep, axis=0)


@rl.rrule_for(f, registry=registry)
def f_rrule(table, word, blank=0):
    keep = (word != blank)[:, None]

    def back(y_bar):
        table_bar = np.zeros(table.shape)
        np.add.at(table_bar, word, np.cos(table[word]) * keep * y_bar)
        return rl.NoTangent(), table_bar, rl.NoTangent(), rl.NoTangent()

    return np.sum(np.sin(table[word]) * keep, axis=0), back
""",
        ("keep * y_bar", "y_bar"),
    ),
    "what arrives at each node": (
        """
def f(x, tail, head, nodes):
    total = np.zeros(nodes)
    for n in range(nodes):
        arriving = tail[head == n]
        total[n] = np.sum(x[arriving]) ** 2
    return total


@rl.rrule_for(f, registry=registry)
def f_rrule(x, tail, head, nodes):
    sums = np.bincount(head, x[tail], nodes)

    def back(y_bar):
        x_bar = np.zeros(len(x))
        np.add.at(x_bar, tail, (2 * sums * y_bar)[head])
        return rl.NoTangent(), x_bar, rl.NoTangent(), rl.NoTangent(), rl.NoTangent()

    return sums**2, back
""",
        ("(2 * sums", "(sums"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("text, change", LABELLED.values(), ids=LABELLED)
def test_labels_and_what_they_pick_are_whole_numbers(text, change):
    """No booleans, of which `word != blank` tells nothing, and no floats, which are equal to no node."""
    report = judged(text)
    assert report.verdict == "right" and "indices" in str(report), str(report)
    assert judged(text.replace(*change)).verdict == "wrong"
    made = written(text)
    assert prove(made["f"], registry=made["registry"]).verdict.word != "REFUTED"


SUMMED = """
def f(x, shape, rate):
    return np.sum(rate * x**2 - shape * np.log(rate))


@rl.rrule_for(f, registry=registry)
def f_rrule(x, shape: float, rate: float):
    n = np.size(x)

    def back(y_bar):
        rate_bar = np.sum(x**2) - n * shape / rate
        return rl.NoTangent(), 2 * y_bar * rate * x, -y_bar * n * np.log(rate), y_bar * rate_bar

    return f(x, shape, rate), back
"""


@pytest.mark.slow
def test_an_array_is_tried_for_what_a_rule_does_not_annotate_as_a_number():
    """It is the only one that may be an array, and the function sums it."""
    assert judged(SUMMED).verdict == "right"
    assert judged(SUMMED.replace("n * shape / rate", "shape / rate")).verdict == "wrong"


UNSUMMED = """
def f(a, b, scale=2.0):
    return scale * np.hypot(a, b)


@rl.rrule_for(f, registry=registry)
def f_rrule(a, b, scale=2.0):
    r = np.hypot(a, b)

    def back(y_bar):
        return rl.NoTangent(), scale * y_bar * a / r, scale * y_bar * b / r, {}

    return scale * r, back
"""


def test_the_headline_says_that_a_rule_is_not_for_vectors_that_its_function_takes():
    """A number by default beside them is not summed for."""
    report = judged(UNSUMMED.format("y_bar * r"))
    words = "for vectors in place of all numbers its cotangents have a different shape"
    assert report.verdict == "wrong" or words in report.sentence
    assert "for vectors" not in judged(UNSUMMED.format("np.sum(y_bar * r)")).sentence

WEIGHTED = """
def f(x, w=1.0):
    return np.log(np.sum(w * np.exp(x)))


@rl.rrule_for(f, registry=registry)
def f_rrule(x, w=1.0):
    share = np.exp(x) / np.sum(w * np.exp(x))

    def back(y_bar):
        w_bar = y_bar * {}
        return rl.NoTangent(), y_bar * w * share, w_bar if np.ndim(w) else np.sum(w_bar)

    return f(x, w), back
"""


@pytest.mark.slow
def test_a_default_of_which_a_rule_asks_whether_it_is_a_number_is_tried_as_an_array():
    """Among its numbers is a zero, where a quotient has none."""
    assert judged(WEIGHTED.format("share")).verdict == "right"
    assert judged(WEIGHTED.format("share / np.mean(w)")).verdict == "wrong"
    report = judged(WEIGHTED.format("(share * w) / w"))
    assert report.verdict != "right" and " 0" in report.sentence

MIXED = """
def f(shares, *parts):
    return sum(s * part for s, part in zip(shares, parts, strict=True)) / np.sum(shares)


@rl.rrule_for(f, registry=registry)
def f_rrule(shares, *parts):
    total, y = np.sum(shares), f(shares, *parts)

    def back(y_bar):
        bars = [np.sum(y_bar * (part - y)) / total for part in parts]
        return rl.NoTangent(), np.array(bars), *(s / total * y_bar for s in shares)

    return y, back
"""


@pytest.mark.slow
def test_some_arguments_are_found_where_a_function_takes_any_number_of_them():
    """As many as it has shares."""
    report = judged(MIXED)
    assert report.verdict == "right" and "parts[1]" in str(report)
    assert judged(MIXED.replace("(part - y)", "part")).verdict == "wrong"


WINDOWED = """
def f(x, width=3):
    total = np.concatenate([[0.0], np.cumsum(x)])
    return (total[width:] - total[:-width]) / width


@rl.rrule_for(f, registry=registry)
def f_rrule(x, width=3):
    starts = np.arange(len(x) - width + 1)[:, None]
    places = np.arange(len(x))
    window = ((places >= starts) & (places < starts + width)) / width
    return window @ x, lambda y_bar: (rl.NoTangent(), {}, rl.NoTangent())
"""


@pytest.mark.slow
def test_a_window_longer_than_its_vector_leaves_the_vector_meant():
    """At short lengths its value has no elements, and a matrix is flattened."""
    assert judged(WINDOWED.format("window.T @ y_bar")).verdict == "right"
    assert judged(WINDOWED.format("2 * window.T @ y_bar")).verdict == "wrong"


NEARLY_SINGULAR = """
def f(A, B):
    return np.trace(np.linalg.solve(A, B))


@rl.rrule_for(f, registry=registry)
def f_rrule(A, B):
    P = {}

    def back(y_bar):
        return rl.NoTangent(), -y_bar * (P @ B @ P).T, y_bar * P.T

    return np.einsum("ij,ji->", P, B), back
"""


@pytest.mark.slow
def test_a_value_that_rounding_makes_is_not_that_of_another_call():
    """Where all elements are equal a matrix is singular, and what solves with it is far from its inverse."""
    assert judged(NEARLY_SINGULAR.format("np.linalg.inv(A)")).verdict == "right"
    text = NEARLY_SINGULAR.format("np.linalg.inv(A)")
    kept = text.replace("    P =", "    B = KEPT.setdefault(A.tobytes(), B)\n    P =")
    assert judged("KEPT = {}\n" + kept).verdict == "wrong"


COVARIANCES = """
def f(F, P, Q):
    return F @ P @ F.T + Q


@rl.rrule_for(f, registry=registry)
def f_rrule(F, P, Q):
    def back(y_bar):
        return rl.NoTangent(), y_bar @ F @ P.T + y_bar.T @ F @ P, F.T @ y_bar @ F, y_bar

    return f(F, P, Q), back
"""


def test_what_is_added_to_a_square_matrix_is_a_matrix_if_the_rule_answers_with_one():
    """A vector would be added to each row, and the cotangent of a covariance be condemned for its shape."""
    assert judged(COVARIANCES).verdict == "right"
    assert judged(COVARIANCES.replace("@ F, y_bar", "@ F, 2 * y_bar")).verdict == "wrong"
