"""The doctor names a mistake, points at its line, and offers no correction that is not right everywhere."""

import inspect
import itertools
import linecache
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking.calling.subjects import Written
from rulelab.checking.doctor import patching
from rulelab.checking.measuring.vectors import cotangent_like, cotangent_vec, to_vec
from rulelab.checking.testing.testers import report_of_check, rule_check
from rulelab.checking.testing.vjps import check_vjp, vjp_checking
from rulelab.rules.registry import Registry

sys.path.insert(0, str(Path(__file__).resolve().parent))
from spoilt_rules import BASES, HEAD, MISTAKES, Base, Mistake  # noqa: E402
from written_rules import corrected  # noqa: E402

GIVEN = {"n": 3, "m": 2, "p": 4, "k": 4}
SIZES = [
    dict(zip("nmpk", sizes))
    for sizes in ((1, 1, 1, 1), (2, 3, 5, 2), (3, 2, 4, 3), (8, 6, 7, 5), (13, 9, 2, 6), (0, 2, 3, 0))
]
files = itertools.count()


def drawn(word, sizes, rng, scale=1.0):
    """An argument of a kind, of these sizes."""
    kind, *letters = word.split()
    shape = tuple(sizes[letter] for letter in letters)
    signs = rng.choice([-1.0, 1.0], shape or ())
    numbers = scale * signs * rng.uniform(0.3, 2.0, shape or None)
    if kind == "positive":
        return float(rng.uniform(0.3, 2.0))
    if kind == "number":
        return float(numbers)
    if kind == "complex":
        made = numbers + 1j * scale * rng.uniform(0.3, 2.0, shape or None)
        return made if shape else complex(made)
    if kind == "pair":
        return float(numbers), scale * rng.normal(size=sizes["n"])
    if kind in ("spd", "regular"):
        half = rng.normal(size=shape * 2)
        one = np.eye(len(half))
        return half @ half.T + len(half) * one if kind == "spd" else half + 3 * one
    return numbers


def arguments(case, sizes, rng, scale=1.0):
    return tuple(drawn(word, sizes, rng, scale) for word in case.at)


def written(text):
    """The namespace of a text that states a rule, with its source where the doctor looks for it."""
    filename = f"<spoilt {next(files)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    space = {"np": np, "rl": rl, "NO": rl.NoTangent(), "registry": Registry(), "kept": {}}
    space["__name__"] = "written"
    exec(compile(text, filename, "exec"), space)
    return space


def slope(f, args, dots, step):
    """The derivative of a function along a direction by central differences of the sixth order."""
    vector, back = to_vec(args)
    away = to_vec(dots)[0]

    def along(t):
        return to_vec(f(*back(vector + t * away)))[0]

    weights = {1: 45, 2: -9, 3: 1}
    return sum(w * (along(k * step) - along(-k * step)) for k, w in weights.items()) / (60 * step)


def has_kink(f, args, dots, step=1e-6):
    """Whether the slopes on both sides differ."""
    vector, back = to_vec(args)
    away, here = to_vec(dots)[0], to_vec(f(*args))[0]
    ahead, behind = ((to_vec(f(*back(vector + t * away)))[0] - here) / t for t in (step, -step))
    return np.any(np.abs(ahead - behind) > 1e-3 * (1 + np.abs(ahead)))


def is_right(text, case):
    """Whether a text states a right rule, by differences of its function alone: at many sizes, argument by
    argument, at large, small and zero numbers, in other layouts; where the differences are sure."""
    space, rng = written(text), np.random.default_rng(11)
    f, rule = space["f"], space["registry"].entry(space["f"]).user[0].function
    for sizes, scale in itertools.product(SIZES, (1.0, 3.0, 0.25, 0.0)):
        args = arguments(case.base, sizes, rng, scale)
        if scale == 3.0:
            args = tuple(np.asfortranarray(x) if isinstance(x, np.ndarray) else x for x in args)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                if not is_right_at(f, rule, args, rng, case):
                    return False
            except Exception:
                try:
                    to_vec(f(*args))
                except Exception:
                    continue
                return False
    return True


def is_right_at(f, rule, args, rng, case):
    y = f(*args)
    if not to_vec(y)[0].size or not np.all(np.isfinite(to_vec(y)[0])):
        return True
    y_rule, back = rule(*args)
    if not np.allclose(to_vec(y_rule)[0], to_vec(y)[0], rtol=1e-9, equal_nan=True):
        return False
    for which in range(len(args)):
        for _ in range(2):
            bar, dot = rng.normal(size=to_vec(y)[0].size), rng.normal(size=to_vec(args[which])[0].size)
            dots = tuple(
                to_vec(x)[1](dot if i == which else np.zeros(to_vec(x)[0].size)) for i, x in enumerate(args)
            )
            if case.base.at[which].startswith("spd"):  # of a symmetric matrix: moved among those
                dots = tuple(d + d.T if i == which else d for i, d in enumerate(dots))
            dot = to_vec(dots[which])[0]
            one, other = slope(f, args, dots, 1e-3), slope(f, args, dots, 4e-4)
            if has_kink(f, args, dots):
                continue
            bars = back(cotangent_like(y, bar))
            found, wanted = float(cotangent_vec(args[which], bars[1 + which]) @ dot), float(bar @ one)
            size = float(np.abs(bar) @ np.abs(one)) + 1e-9
            if abs(bar @ (one - other)) > 1e-7 * size or not np.isfinite(wanted):
                continue
            if not abs(found - wanted) <= 1e-5 * size:
                return False
    return True


def diagnosed(case, draws=False):
    """The report on a rule with one mistake, at arguments that are given or that the check draws."""
    space = written(case.text)
    args = () if draws else arguments(case.base, GIVEN, np.random.default_rng(3))
    domain = None
    if draws:
        names = space["f"].__code__.co_varnames[: space["f"].__code__.co_argcount]
        domain = {n: WORDS[w.split()[0]].format(*w.split()[1:]) for n, w in zip(names, case.base.at)}
    elif case.base.at[0].startswith("spd"):
        domain = {"A": "positive definite"}
    return rule_check(space["f"], *args, registry=space["registry"], domain=domain)


WORDS = {
    "number": "number", "positive": "positive", "vector": "vector ({})", "matrix": "matrix ({}, {})",
    "spd": "positive definite", "complex": "complex",
}  # fmt: skip


def can_be_drawn(case):
    """Whether the words of a domain say what the arguments are."""
    return all(
        word.split()[0] in WORDS and not (word.startswith(("complex ", "positive ")))
        and not word.startswith("spd")
        for word in case.base.at
    )


def outcome(case, draws=False):
    """What came of one mistake: whether it was caught, named, found on its line, and its correction right."""
    report = diagnosed(case, draws)
    first = report.diagnoses[0] if report.diagnoses else None
    diff = next((d.diff for d in report.diagnoses if d.diff), "")
    return {
        "caught": report.verdict == "wrong",
        "named": first is not None and first.mistake in case.names,
        "said": "" if first is None else f"{first.mistake}: {first.words}",
        "line": first is not None and first.place is not None and first.place.line == case.line,
        "fixed": is_right(corrected(case.text, diff), case) if diff else None,
        "diff": diff,
    }


@pytest.mark.campaign
@pytest.mark.parametrize("base", BASES, ids=lambda base: base.name)
def test_the_rules_that_are_spoilt_are_right_and_called_so(base):
    """What is spoilt was right before: by differences of the function, and by the check."""
    case = Mistake(base, "", base.text, 0, ())
    assert is_right(base.text, case)
    assert diagnosed(case).verdict != "wrong"


@pytest.mark.every(179)
@pytest.mark.parametrize("case", MISTAKES, ids=lambda case: case.name)
def test_a_correction_that_is_offered_is_right_at_other_sizes_at_zero_and_far_away(case):
    """Whoever takes a correction over has a right rule, wherever it is used."""
    found = outcome(case)
    assert found["caught"] and found["fixed"] is not False, found


@pytest.mark.campaign
@pytest.mark.parametrize("draws", [False, True])
def test_most_mistakes_are_named_and_found_on_their_line(draws):
    """Nine mistakes of ten are called by their name, four of five stand on the line that is shown."""
    cases = [case for case in MISTAKES if not draws or can_be_drawn(case)]
    found = [outcome(case, draws) for case in cases]
    offered = [one["fixed"] for one in found if one["diff"]]
    assert sum(one["named"] for one in found) >= 0.9 * len(found)
    assert sum(one["line"] for one in found) >= 0.8 * len(found)
    assert sum(offered) >= 0.97 * len(offered) and len(offered) >= 0.7 * len(found)


def spoilt(at, parameters, f, rule):
    """A mistake of its own, not one of the many."""
    indented = ["\n".join("    " + line for line in part.splitlines()) for part in (f, rule)]
    text = HEAD.format(parameters, *indented)
    return Mistake(Base("own", tuple(at.split(", ")), text), "", text, 0, ())


VARIANCE = spoilt("vector n", "x", "return np.var(x)", """n = x.size
m = np.mean(x)
def back(y_bar):
    return NO, y_bar * 2 * (x - m) / (n - 1)
return np.var(x), back""")


TURNED = spoilt("vector n", "x", "return np.cos(x)", """def back(y_bar):
    return NO, np.sin(x) * y_bar
return np.cos(x), back""")


@pytest.mark.slow
def test_a_correction_for_one_size_only_is_not_offered():
    """A rule that divides by one too few is not corrected by a quotient of the lengths looked at."""
    found = outcome(VARIANCE)
    assert found["fixed"] and "3" not in found["diff"].splitlines()[-1]


@pytest.mark.slow
def test_what_would_be_right_at_the_points_of_the_check_alone_is_told():
    """A change that does not do everywhere is no correction: it is said where it fails."""
    case = spoilt("number", "x", "return np.expm1(x) / x if x else 1.0", """y = f(x)
def back(y_bar):
    return NO, y_bar * (np.exp(x) * x - np.expm1(x)) / x
return y, back""")
    diagnosis = diagnosed(case).diagnoses[0]
    assert diagnosis.words == "off by a factor of x" and not diagnosis.diff
    assert "would be right at the points of the check, but wrong elsewhere (at zero)" in diagnosis.advice


@pytest.mark.slow
def test_no_branch_is_blamed_where_there_is_none():
    """A rule without branches, of a function without, is not said to be wrong on one side of a branch."""
    case = spoilt("matrix m n", "X", "return X - np.mean(X, axis=1, keepdims=True)", """def back(y_bar):
    return NO, y_bar - 0.7 * np.cosh(np.mean(X)) * y_bar.mean(axis=0)
return f(X), back""")
    for diagnosis in diagnosed(case).diagnoses:
        assert diagnosis.mistake != "branch" and "branch" not in diagnosis.advice


def test_what_is_kept_between_calls_is_called_that():
    """A slope that is kept from the first call is no matter of branches."""
    case = spoilt("number", "x", "return np.sin(x)", """slope = kept.setdefault("slope", np.cos(x))
def back(y_bar):
    return NO, slope * y_bar
return np.sin(x), back""")
    assert diagnosed(case).diagnoses[0].mistake == "stateful"


@pytest.mark.slow
def test_of_large_arrays_the_argument_that_is_wrong_is_named():
    """With too many numbers for a matrix each argument is moved by itself, and right ones are not blamed."""
    f = "return X * gain + shift"
    case = spoilt("matrix m n, vector n, vector n", "X, gain, shift", f, """def back(y_bar):
    return NO, rl.ZeroTangent(), np.sum(y_bar * X, axis=0), np.sum(y_bar, axis=0)
return X * gain + shift, back""")
    space, rng = written(case.text), np.random.default_rng(5)
    args = rng.normal(size=(12, 9)), rng.normal(size=9), rng.normal(size=9)
    (diagnosis,) = rule_check(space["f"], *args, registry=space["registry"]).diagnoses
    assert diagnosis.mistake == "dropped_argument" and diagnosis.argument == "X"


def test_a_search_that_takes_too_long_offers_nothing_and_changes_no_diagnosis(monkeypatch):
    """The mistake that the numbers show is the same whether or not a correction could be looked for."""
    first = diagnosed(TURNED).diagnoses[0]
    monkeypatch.setattr(patching, "SECONDS", -1.0)
    late = diagnosed(TURNED).diagnoses[0]
    assert (late.mistake, late.words) == (first.mistake, first.words) and late.place and not late.diff


# --- texts of others ----------------------------------------------------------------------------------------


def product(a, b):
    return a * np.sin(b)


def product_vjp(a, b):
    slope = a * np.cos(b)

    def pullback(y_bar):
        return y_bar * np.sin(b), -y_bar * slope

    return product(a, b), pullback


def backward(context, y_bar):
    a, b = context
    b_bar = -y_bar * a * np.cos(b)
    return y_bar * np.sin(b), None, b_bar


def makes_b(ans, a, b):
    return lambda g: -g * a * np.cos(b)


def line_of(function, text):
    lines, first = inspect.getsourcelines(function)
    return next(number for number, line in enumerate(lines, first) if text in line)


def test_a_vjp_is_shown_with_the_line_of_the_mistake():
    """Of a vjp that is no rule of ours the line is shown, too."""
    (diagnosis,) = check_vjp(product, product_vjp, 2.0, 0.5).diagnoses
    assert diagnosis.mistake == "sign" and diagnosis.place.line == line_of(product_vjp, "-y_bar * slope")


@pytest.mark.parametrize(
    ("author", "text"),
    [
        (Written(backward, (("a", 0), ("b", 2))), "b_bar = -y_bar"),
        (Written(makes_b, (("b", 0),), 1, True), "lambda g: -g"),
    ],
    ids=["what is returned itself", "what is made by another"],
)
def test_the_texts_of_other_frameworks_are_read(author, text):
    """A `backward` or `bwd` returns all cotangents, with those of arguments held fixed; in autograd each has
    a maker of its own.
    """
    check = vjp_checking(product, product_vjp, 2.0, 0.5)
    check.subject = replace(check.subject, written=(author,))
    assert report_of_check(check).diagnoses[0].place.line == line_of(author.function, text)
