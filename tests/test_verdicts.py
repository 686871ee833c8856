"""One set of words for all verdicts, and headlines that fit on a line."""

import itertools
import re

import numpy as np
import pytest

from rulelab.checking import many
from rulelab.checking.batch.jobs import Job
from rulelab.checking.comparing.comparison import compare
from rulelab.checking.judgement.reports import PointShown, RuleCheck
from rulelab.checking.probing.findings import Diagnosis, Finding
from rulelab.errors import Place
from rulelab.symbolic import Agrees, Converges, Proved, Refuted, Undecided, Unsupported, prove
from rulelab.symbolic.derivative_report import DerivativeReport
from rulelab.symbolic.derive import DerivedRule
from rulelab.symbolic.report import SymbolicReport
from rulelab.symbolic.stability import Region, StabilityReport
from rulelab.tangents.zeros import NoTangent
from rulelab.verdicts import (
    CANNOT_TELL,
    HEADLINE,
    LOSES_DIGITS,
    NOT_JUDGED,
    RIGHT,
    SIGNS,
    WRONG,
    headed,
    said,
    word_of,
)

FOUR = {RIGHT, WRONG, CANNOT_TELL, NOT_JUDGED}
OTHER_WORDS = re.compile(
    r"inconclusive|undecided|unsupported|mismatch|\bpassed\b|\bfailed\b|\bok\b|neither confirmed|not checked",
    re.I,
)
NAMES = ("f", "a_function_with_a_rather_long_name_for_its_kind", f"package.module.{'part_of_a_name_' * 8}end")
ARGUMENTS = (("x",), tuple(f"argument_number_{i}" for i in range(12)))
LONG = "the number that comes out has nothing to do with what is expected of it, " * 3
VERDICTS = (
    Proved("all real arguments", "expansion", "none", "numbers and vectors of length 2, 3, 5; float64"),
    Proved("all real arguments", "expansion", "below 1e-100"),
    Refuted("gradient", LONG),
    Refuted("shape", "short"),
    Agrees(15, LONG),
    Undecided(40, LONG),
    Undecided(0, "short"),
    Unsupported(LONG, Place("cell", 3), "give sample arguments"),
    Converges(2.0, "n", (8, 16), (("a", (1e-2, 1e-3)),), 1e-9, 5),
)  # fmt: skip


def rule_checks(function, names):
    """Checks by numbers with each verdict."""
    made = {
        "right": {},
        "loses digits": {"loses": LONG},
        "wrong": {"findings": (Finding("cotangent", LONG),)},
        "named": {
            "findings": (Finding("value", "off"),),
            "diagnoses": (Diagnosis("factor", LONG, names[0]),),
        },
        "inconclusive": {"findings": (Finding("measurement", LONG, "inconclusive"),)},
        "stopped": {"interrupted": True},
    }
    for how in made.values():
        yield RuleCheck(
            function, "rrule", f"{function}_rrule", names, points=(PointShown("drawn", ("1.0",)),), **how
        )


def scans(function, names):
    region = Region(names[-1], "1e-10", "1e+10", "3.5", 1e9, "0.0", "1.0", LONG)
    for regions, points, cut in (((region,), 50, False), ((), 50, False), ((), 50, True), ((), 0, False)):
        yield StabilityReport(function, regions, (), points, 1.3, cut=cut)


def reports():
    """Reports of each kind, with short and with long names, few and many arguments."""
    for function, names in itertools.product(NAMES, ARGUMENTS):
        for verdict in VERDICTS:
            yield SymbolicReport(function, names, verdict)
            yield DerivativeReport(function, names, verdict, formula=f"{names[0]}*{function}({names[0]})")
            proof = SymbolicReport(function, names, verdict)
            yield DerivedRule(function, "def rule(): ...", "", proof, "checked", True)
        yield from rule_checks(function, names)
        yield from scans(function, names)


def headline_of(report):
    """The first line that a report shows, beside the text of a rule."""
    return next(line for line in str(report).splitlines() if line and not line.startswith("def "))


@pytest.mark.parametrize("number", range(3))
def test_every_headline_fits_on_a_line_and_nothing_of_it_is_lost(number):
    """However long the names are, and however many arguments there are; in text, HTML and LaTeX alike."""
    for report in list(reports())[number::3]:
        head = headline_of(report)
        assert len(head) <= HEADLINE, head
        if head.endswith("…"):
            below = str(report).splitlines()[str(report).splitlines().index(head) + 1]
            assert LONG.strip()[-30:] in below or len(below) > HEADLINE or below.strip().startswith("…"), (
                below
            )
        if hasattr(report, "headlines") or isinstance(report, SymbolicReport):
            shown = re.search(r'class="rulelab-verdict[^>]*>(.*?)</p>', report._repr_html_(), re.DOTALL)[1]
            shown = re.sub(r'<span class="rulelab-sign".*?</span>', "", shown)  # it stands before the words
            assert len(re.sub(r"<[^>]*>|&#?\w+;", "", shown).strip()) <= HEADLINE


def test_every_verdict_is_called_by_one_of_four_words():
    """In its sentence, whoever gives it; PROVED and REFUTED say how it is known."""
    for verdict in VERDICTS:
        assert word_of(verdict.word) in FOUR and verdict.sentence().startswith(word_of(verdict.word))
        assert ("PROVED" in said(verdict.word)) == (verdict.word == "PROVED")
        assert ("REFUTED" in said(verdict.word)) == (verdict.word == "REFUTED")
    for report in reports():
        assert any(word in headline_of(report) for word in (*FOUR, "loses", "digit")), headline_of(report)
        assert not OTHER_WORDS.search(
            re.sub(r"class=\"[^\"]*\"|<style>.*?</style>", "", report._repr_html_(), flags=re.S)
        )


def test_every_verdict_has_one_symbol_and_one_colour_wherever_it_is_drawn():
    """Beside its headline in HTML, whoever gives it; white can be read on each colour."""
    for drawn in ({s.symbol for s in SIGNS.values()}, {s.colour for s in SIGNS.values()}):
        assert len(drawn) == len(SIGNS)
    for sign in SIGNS.values():
        assert contrast(sign.colour) > 4.5
    for report in reports():
        html = report._repr_html_()
        drawn = re.search(r'<p class="rulelab-verdict[^>]*>(<span class="rulelab-sign".*?</span>)', html)
        assert drawn, headline_of(report)
        word = next(word for word, sign in SIGNS.items() if sign.html() == drawn[1])
        assert word in (*FOUR, LOSES_DIGITS)
        assert word in headline_of(report) or word in ("right", LOSES_DIGITS), headline_of(report)
    same = compare(lambda x: x, lambda x: x, 2.0)
    assert same._repr_html_().count(SIGNS[RIGHT].html()) >= 3  # at the headline, the value, the gradient


def contrast(colour):
    """Of white on this colour, as WCAG counts it."""
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


def test_comparisons_and_many_checks_use_the_same_words():
    """A comparison says right or wrong before it says what agrees, and a report of many counts the words."""
    assert str(compare(lambda x: x, lambda x: x, 2.0)).startswith("Right: ")
    assert str(compare(lambda x: x, lambda x: 2 * x, 2.0)).startswith("Wrong: ")
    job = Job("np.sin", "rrule")
    outcomes = tuple(
        many.Outcome(job, verdict, "said") for verdict in ("wrong", "inconclusive", "error", "right")
    )
    told = many.ManyChecks(outcomes).sentence
    assert "1 wrong, 1 cannot tell, 1 not judged because of an error, 1 right" in told


def test_a_proof_and_a_check_of_one_rule_speak_alike():
    """Both call a wrong rule wrong and a right one right, in the first line."""
    import rulelab as rl

    for factor, word in ((2.0, "right"), (3.0, "wrong")):

        def square(x):
            return x**2

        def rule(x, factor=factor, square=square):
            return square(x), lambda y_bar: (NoTangent(), factor * x * y_bar)

        registry = rl.rules.registry.Registry()
        rl.rrule_for(square, registry=registry)(rule)
        assert word in headline_of(prove(square, registry=registry))
        assert word in headline_of(rl.rule_check(square, np.float64(2.0), registry=registry))


def test_a_long_sentence_goes_on_below_where_a_part_of_it_ends():
    """As it was written, with its marks; dots stand only where it is cut within a part."""
    told = "rule of an_update: wrong, REFUTED (arity): the pullback returned 7 cotangents; 8 are needed:"
    rest = "one for the function itself, then one for each argument"
    assert headed(f"{told} {rest}", "an_update") == (told, rest)
    found = "Check: wrong: returned 7 cotangents, expected 8: for an_update itself, x, P, F, H, Q, R, z"
    place = "(cell In [13], line 20, in an_update_rrule)"
    assert headed(f"{found} {place}") == (found, place)


def test_a_headline_is_abbreviated_in_the_kinds_of_arguments_alone():
    """A length in other words keeps them."""
    refuted = "rule of its_distances: wrong, REFUTED (numbers): the cotangent of y is wrong for arguments"
    assert "arguments of length 7" in " ".join(headed(f"{refuted} of length 7 instead of 3"))
    proved = "rule of its_distances: right, PROVED for vectors of length 2, 3, 5 (all alike); float64"
    assert "for vectors 2, 3, 5" in headed(f"{proved}; not at some of its points")[0]


def test_what_is_said_in_fewer_words_is_not_said_twice():
    """A proof is one line if its kinds of arguments in fewer words fit it, and never without its layout; what
    does not fit goes on below.
    """
    proved = "rule of squares: right, PROVED for c: vectors of length 2, 3, 5, x: vectors of length 2, 3, 5"
    line = "rule of squares: right, PROVED for c: vectors 2, 3, 5, x: vectors 2, 3, 5; contiguous float64; 8"
    assert headed(f"{proved}; contiguous float64; 8", "squares") == (line,)
    proved = "rule derived for bilinear: right, PROVED for image: matrix 5x6, row: number, column: number;"
    rest = "contiguous float64; 8 cases"
    assert headed(f"{proved} {rest}", "bilinear") == (proved, rest)
    reason = "the function returns a different value at each call, so its derivative cannot be measured."
    first = f"Check: cannot tell: {reason}"
    assert len(first) == HEADLINE
    assert headed(f"{first} %rule_check noise shows more.") == (first, "%rule_check noise shows more.")


def test_a_short_sentence_is_its_own_headline():
    """Nothing is abbreviated without need."""
    sentence = "rule of f: right, PROVED for vectors of length 2, 3; contiguous float64"
    assert headed(sentence, "f") == (sentence,)


def test_the_reason_stands_below_where_it_fills_a_line_of_its_own():
    """And is neither cut after a comma nor within its words; a name with a colon in it is no verdict."""
    for told, why in (
        (
            "rule of mse_wrong: wrong, REFUTED (numbers):",
            "the cotangent of y is wrong for arguments of length 7 instead of 3",
        ),
        (
            "rule of area_wrong: wrong, REFUTED (gradient):",
            "the cotangent of r is not y_bar times the derivative, but 1/2 times that",
        ),
        (
            "noisy_cr_rrule of noisy_cr: cannot tell:",
            "the function returns a different value at each call, so its derivative cannot be measured.",
        ),
    ):
        assert headed(f"{told} {why}") == (told, why)
    wrong = "softmax_rrule of softmax is wrong:"
    mistake = "has `y * (y_bar - y_bar @ x)` where `(y_bar - np.sum(y_bar * y)) * y` belongs."
    assert headed(f"{wrong} {mistake}", "softmax") == (wrong, mistake)
    named = f"lambda x: x as the derivative of {'a' * 60} and of what comes of it in the end, and refuted"
    assert headed(named)[0] != "lambda x:"


def test_a_headline_does_not_end_within_code():
    """What is read as a whole goes on below as a whole, if there is room for it."""
    code = "`weights[0, 1].astype(float) @ shares, 1 - event`"
    end = f"{code} belongs, in the cotangents of weights and shares."
    begin = "f_rrule of f is wrong: lacks a term: has `weights @ shares` in the place of"
    first, second = headed(f"{begin} {end}")
    assert first == f"{begin} …"
    assert second == f"… {end}"
    wide = headed("f is wrong: has " + "`" + "x + " * 40 + "x`")
    assert len(wide[0]) <= 110  # code that has no room anywhere is broken all the same
