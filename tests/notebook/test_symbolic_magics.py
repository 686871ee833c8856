"""`%rule_symbolic`, `--prove` and `%rule_scan`: what they are asked, what they say, what stays whole."""

import ast
import types

import numpy as np
import pytest

import rulelab.notebook
import rulelab.symbolic
from rulelab.notebook import displays, option_values

FUNCTIONS = """\
def cube(x):
    return x**3
def mean(x):
    return np.sum(x) / len(x)
def matvec(A, b):
    return A @ b
def magnitude(x):
    return abs(x)
def sigmoid(x):
    return 1 / (1 + np.exp(-x))
"""
CUBE_RULE = """\
%%rrule cube --prove
def cube_rrule(x):
    def cube_pullback(y_bar):
        return rl.NoTangent(), 3 * x**2 * y_bar
    return x**3, cube_pullback
"""
RULES = """\
@rl.rrule_for(mean)
def mean_rrule(x):
    return mean(x), lambda y_bar: (rl.NoTangent(), np.full(len(x), y_bar / 3))
@rl.rrule_for(matvec)
def matvec_rrule(A, b):
    return A @ b, lambda y_bar: (rl.NoTangent(), np.outer(y_bar, b), A.T @ y_bar)
@rl.rrule_for(magnitude)
def magnitude_rrule(x):
    return abs(x), lambda y_bar: (rl.NoTangent(), y_bar)
"""
SLOW = """\
import os, signal, time
here = os.getpid()
def slow(x):
    time.sleep(0.2)  # the fork is over by then; an interrupt within it would be lost
    os.kill(here, signal.SIGINT)
    time.sleep(5.0)
    return x * x
"""
SLOW_RULE = """\
%%rrule slow --prove
def slow_rrule(x):
    return slow(x), lambda y_bar: (rl.NoTangent(), 2 * x * y_bar)
"""


@pytest.fixture
def judged(notebook):
    """A notebook in which three functions have rules, two of them right on a part of their arguments only."""
    notebook.ok(FUNCTIONS)
    notebook.ok(RULES)
    return notebook


# -- %rule_symbolic ------------------------------------------------------------------------------------------


def test_sizes_are_those_that_are_asked_for(judged):
    """With the scope in the verdict; a rule for one size is found at another."""
    alone = judged.ok("%rule_symbolic mean --sizes 3")
    assert alone.verdict.scope.endswith("for sizes (3,)") and "one size was tried" in str(alone)
    assert judged.ok("%rule_symbolic mean --sizes 3,4").verdict.word == "REFUTED"
    found = judged.ok('%rule_symbolic matvec --sizes "2x3 3, 4x2 2"')
    assert found.verdict.scope.endswith("for A: matrix 2x3, 4x2, b: vector of length 3, 2")


def test_a_domain_is_written_as_for_a_check(judged):
    """A word, an interval, or either for an argument by its name."""
    assert judged.ok("%rule_symbolic magnitude").verdict.word == "REFUTED"
    for domain in ("positive", '"(0, 10)"', '"x: positive"'):
        assert judged.ok(f"%rule_symbolic magnitude --domain {domain}").verdict.word == "PROVED"
    assert "with x between 0 and 10" in str(judged.ok('%rule_symbolic magnitude --domain "(0, 10)"'))


def test_the_seconds_are_a_limit(notebook):
    """A function that takes longer is undecided, and the time it took is told."""
    notebook.ok("import time\ndef late(x):\n    time.sleep(0.5)\n    return x * x\n")
    notebook.ok("rl.rrule_for(late)(lambda x: (late(x), lambda s: (rl.NoTangent(), 2 * x * s)))")
    found = notebook.ok("%rule_symbolic late --seconds 0.2")
    assert found.verdict.word == "UNDECIDED" and found.seconds < 30


@pytest.mark.parametrize("line", ["%rule_symbolic -o kept cube", "%sym_check -o kept cube(2.0)"])
def test_ctrl_c_shows_what_was_known_by_then(judged, monkeypatch, line):
    """And the report says that it was stopped, is kept, and the cells that follow do not run."""
    magic, name = line.split()[0], "prove" if "rule" in line else "sym_check"
    asked = getattr(rulelab.symbolic, name)

    def interrupted(*args, heard, **options):
        """The question as it is, stopped once it has said that it agrees to 40 digits."""

        def hears(report):
            heard(report)
            if report.so_far:
                raise KeyboardInterrupt

        return asked(*args, heard=hears, **options)

    judged.ok("rl.rrule_for(cube)(lambda x: (cube(x), lambda s: (rl.NoTangent(), 3 * x**2 * s)))")
    monkeypatch.setattr(rulelab.symbolic, name, interrupted)
    shown = judged.fails(f"x = 0\n{line}\nx = 1\n")
    told = f"Interrupted: {magic} was stopped; the report shows what was known by then\n"
    assert told in shown and judged["x"] == 0
    kept = judged["kept"]
    assert kept is rulelab.notebook.last() and str(kept) in judged.text
    words = "agrees to 40 digits at every sample, not proved: it was stopped before it was decided"
    assert kept.verdict.word == "UNDECIDED" and kept.verdict.sentence() == f"cannot tell: it {words}"


def test_keywords_after_at_are_held(notebook):
    """They are handed on to the function and its rule, as the check by numbers does."""
    notebook.ok("def power(x, n=2):\n    return x**n\n")
    notebook.ok(
        "@rl.rrule_for(power)\ndef power_rrule(x, n=2):\n"
        "    return x**n, lambda y_bar: (rl.NoTangent(), 3 * x**2 * y_bar)\n"
    )
    for at in ("2.0, n=3", "n=3"):
        assert judged_word(notebook, f"%rule_symbolic power --at {at}") == "PROVED"
    assert judged_word(notebook, "%rule_symbolic power --at 2.0, n=4") == "REFUTED"


def test_advice_is_in_the_syntax_of_magics(notebook):
    """With the names of the function's own parameters: in a proof, a short one, and a derivation."""
    notebook.ok("def lookup_of(x, key):\n    return {}[key]\n")
    cotangents = "rl.NoTangent(), y_bar, rl.NoTangent()"
    rule = f"def lookup_of_rrule(x, key):\n    return x, lambda y_bar: ({cotangents})\n"
    notebook.ok(f"%%rrule lookup_of --prove\n{rule}")
    assert "give sample arguments: --at x, key" in notebook.text
    found = notebook.ok("%rule_symbolic lookup_of")
    assert found.verdict.advice == "give sample arguments: --at x, key"
    assert "give arguments: --at x, key" in notebook.fails("%rule_derive lookup_of")


def judged_word(notebook, line):
    return notebook.ok(line).verdict.word


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--sizes 3,4x", "MagicError: %rule_symbolic: --sizes: a size must be a length such as 3"),
        ("--sizes ,", '--sizes needs sizes such as 3,5 or "2x3, 4x2", not ,'),
        ("--sizes -3", "--sizes: a size must be a length such as 3, 2x5 or `number`, not -3"),
        ("--sizes 0", "RuleLabError: the lengths of a size must be at least 1, not (0,)"),
        ("--sizes number", "one size for all arguments must be a length or a shape"),
        ("--sizes 3 --at y", "either `at` gives the sizes of the arrays, or `sizes` does"),
        ("--domain positve", "'positve' is not a domain"),
        ('--domain "(1, 0)"', "low < high"),
        ('--domain "q: (0, 1)"', "DomainError: there is no argument q, only x"),
        ("--domain complex", "cannot choose arguments such as a complex number"),
        ("--seconds 0", "--seconds must be a positive number of seconds"),
        ("--seconds -1", "--seconds must be a positive number of seconds"),
        ("--seconds nan", "--seconds must be a positive number of seconds"),
        ("--seconds inf", "--seconds must be at most 3,600 seconds"),
        ("--seconds soon", "--seconds must be a positive number of seconds"),
    ],
)
def test_nonsense_is_told_in_a_line_or_few(judged, options, words):
    """And the last result stays."""
    judged.ok("%gradient mse(y, yh)")
    before = rulelab.notebook.last()
    shown = judged.fails(f"%rule_symbolic mean {options}")
    assert words in shown and len(shown.splitlines()) <= 6 and "Traceback" not in shown
    assert rulelab.notebook.last() is before


def test_sizes_read_as_they_are_written():
    """Spaces stand between arguments, commas between sizes."""
    assert option_values.parse_sizes(' " 2x3  3 ,4x2 number" ') == [((2, 3), (3,)), ((4, 2), ())]
    assert option_values.parse_sizes("2x3x4") == [(2, 3, 4)]


# -- --prove -------------------------------------------------------------------------------------------------


def lines_of(beginning, text):
    return [line for line in text.splitlines() if line.startswith(beginning)]


def test_a_rule_is_proved_where_it_is_defined(judged):
    """In one line, with its scope; after the check, where both are asked for."""
    defined = judged.ok(CUBE_RULE)
    (line,) = lines_of("Proof:", judged.text)
    assert line.startswith("Proof: right, PROVED for numbers and vectors of length 2, 3, 5")
    assert defined.proof.verdict.word == defined.to_dict()["proof"]["verdict"] == "PROVED"
    judged.ok(CUBE_RULE.replace("--prove", "--prove --check"))
    assert judged.text.index("Check: right at ") < judged.text.index("Proof: right, PROVED")


PROOFS = {
    "PROVED": rulelab.symbolic.Proved("all", "expansion", "none", "numbers; float64"),
    "REFUTED": rulelab.symbolic.Refuted("gradient", "wrong sign"),
}


class Checked:
    """As much of the report of a check as its line needs."""

    def __init__(self, verdict):
        self.verdict, self.in_short = verdict, f"{verdict}: as it is"

    def __bool__(self):
        return self.verdict == "right"


@pytest.mark.parametrize(
    ("verdict", "word"), [("wrong", "PROVED"), ("right", "REFUTED"), ("inconclusive", "REFUTED")]
)
def test_a_check_and_a_proof_that_differ_are_one_answer(verdict, word):
    """It is "wrong", whichever of them says so, and each line says why it is not the last word."""
    defined = displays.Defined("f", "f_rrule", "cell")
    defined.check, defined.proof = Checked(verdict), types.SimpleNamespace(verdict=PROOFS[word])
    checked, proved = defined.page().lead[1:]
    assert defined.verdict == "wrong"
    assert checked.startswith("Check: wrong: ") and f"{verdict}: as it is" in checked
    assert ("refuted by the proof" in checked) == (word == "REFUTED")
    assert ("beyond that the rule is wrong" in proved) == (word == "PROVED") and word in proved


def test_nothing_is_said_to_be_named_below_where_nothing_stands_below():
    """The line of a proof is the last one: it names the magic that shows the kinds."""
    kinds = "one kind of arguments (named below); float64"
    defined = displays.Defined("f", "f_rrule", "cell")
    defined.proof = types.SimpleNamespace(verdict=rulelab.symbolic.Proved("a, b", "expansion", "none", kinds))
    assert defined.page().lead[1] == (
        "Proof: right, PROVED for one kind of arguments; float64. %rule_symbolic f shows which."
    )
    defined.check = Checked("wrong")
    assert "PROVED for a, b (by expansion); beyond that" in " ".join(defined.page().lead)


def test_the_command_that_says_more_is_named_once():
    """A reason that names the command has no second sentence with it."""
    defined = displays.Defined("f", "f_rrule", "cell")
    for words, count in (("give your own: %rule_check f --at x", 1), ("off by a factor of 2", 1)):
        defined.check = Checked("inconclusive")
        defined.check.in_short = f"cannot tell: {words}"
        assert " ".join(defined.page().lead).count("%rule_check f") == count


def test_a_refuted_rule_is_defined_all_the_same(judged):
    """The line says what is wrong, and which magic shows more."""
    judged.ok(CUBE_RULE.replace("3 * x**2", "2 * x**2"))
    head, below = judged.text[judged.text.index("Proof:") :].splitlines()[:2]
    assert head.startswith("Proof: wrong, REFUTED (gradient): ") and len(head) <= 110
    assert "but 2/3 times that" in f"{head} {below}" and below.endswith("%rule_symbolic cube shows more.")
    assert judged.ok("rl.gradient(cube, 3.0)") == (18.0,)


def test_scalar_rules_are_proved_too(judged):
    """In a line and in a cell; forward rules have no such option."""
    judged.ok("%scalar_rule --prove cube(x): 3*x**2")
    assert "Proof: right, PROVED" in judged.text
    judged.ok("%%scalar_rule cube --prove\ndef cube_partials(out, x):\n    return x\n")
    assert "Proof: wrong, REFUTED" in judged.text and judged.ok("rl.gradient(cube, 3.0)") == (3.0,)
    shown = judged.fails("%%frule cube --prove\ndef cube_frule(tangents, x):\n    return x**3, 0.0\n")
    assert "there is no option --prove" in shown


def test_what_cannot_be_judged_is_said(notebook):
    """The rule is there, and the line says why it was not judged."""
    notebook.ok("def one():\n    return 1.0\n")
    notebook.ok("%%rrule one --prove\ndef one_rrule():\n    return 1.0, None\n")
    assert "Proof: not judged: " in notebook.text
    notebook.ok("def texts(name):\n    return name.upper()\n")
    notebook.ok("%%rrule texts --prove\ndef texts_rrule(name):\n    return name, None\n")
    assert "Proof: not judged: " in notebook.text and notebook.ok("rl.has_rrule(texts, 'a')")


def test_ctrl_c_in_the_proof_leaves_the_rule_whole(notebook):
    """The definition is shown; the cells that follow do not run."""
    notebook.ok(SLOW)
    shown = notebook.fails(SLOW_RULE)
    assert "slow now has the rule slow_rrule" in shown and "Proof: stopped." in shown
    assert shown.rstrip().endswith("%%rrule: the proof was stopped; the rule is in place")
    assert notebook.ok("rl.which_rule(slow, 1.0).rule.function") is notebook["slow_rrule"]


# -- %rule_scan ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_right_rule_that_loses_digits_is_found(judged):
    """Where, how many, why, and a formula that keeps them, on one screen."""
    judged.ok("%scalar_rule sigmoid(x): out * (1 - out)")
    assert judged_word(judged, "%rule_symbolic sigmoid") == "PROVED"
    found = judged.ok("%rule_scan sigmoid -o kept")
    assert not found and judged["kept"] is found
    for face in (str(found), found._repr_html_()):
        assert "cancellation in 1 - y" in face and "no digit is right" in face
        assert found.better[0].formula.replace(" ", "")[:5] in face.replace(" ", "")
    assert len(str(found).splitlines()) <= 25 and found.better[0].worst < 8


def test_a_rule_that_keeps_its_digits_is_true(judged):
    """At points that can be given, for several arguments, and in the complex plane."""
    judged.ok("%scalar_rule cube(x): 3*x**2")
    assert judged.ok("%rule_scan cube --seconds 5")
    assert judged.ok("%rule_scan cube --plane --seconds 5")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("mean --at np.ones(80)", "RuleError: the scan takes numbers, and real arrays of up to 64"),
        ("sigmoid", "sigmoid has no rule to judge"),
        ("cube --at x=2.0", "MagicError: %rule_scan: after --at, give positional arguments only"),
        ("cube --seconds 0", "MagicError: %rule_scan: --seconds must be a positive number"),
        ("nothing", "MagicError: %rule_scan: there is no function nothing"),
    ],
)
def test_what_cannot_be_scanned_is_told(judged, line, words):
    """In a few lines."""
    assert words in judged.fails(f"%rule_scan {line}")


BIG = """
import numpy as np
def energy(X):
    return np.sum(X @ X.T)
"""
RULE = """%%rrule energy_cr --of energy
def energy_cr_rrule(X):
    y = energy(X)
    return y, lambda y_bar: (rl.NoTangent(), y_bar * 2 * np.ones((len(X), len(X))) @ X)
"""


def test_it_begins_at_the_arguments_that_were_compared(notebook):
    """A matrix of a dozen numbers is among what the prover takes."""
    notebook.ok(BIG)
    notebook.ok(RULE)
    notebook.ok("%grad_compare energy energy_cr --at np.arange(12.0).reshape(4, 3)")
    shown = notebook.ok("%rule_symbolic energy_cr")
    assert "right, PROVED" in str(shown)


def test_where_a_function_has_no_rule_its_copy_is_named(notebook):
    """For who left out _cr."""
    notebook.ok(BIG)
    notebook.ok(RULE)
    assert "do: try its copy: energy_cr; or state one with %%rrule energy" in notebook.fails(
        "%rule_symbolic energy"
    )


COUNTED = """\
def weighted(X, b, w):
    return np.sum(w * (X @ b))
def folded(x):
    return np.sum(np.reshape(x, (20, 4)) ** 2)
"""
COUNTED_RULES = """\
@rl.rrule_for(weighted)
def weighted_rrule(X, b, w):
    def weighted_pullback(y_bar):
        return rl.NoTangent(), np.outer(w, b) * y_bar, w @ X * y_bar, rl.NoTangent()
    return weighted(X, b, w), weighted_pullback
@rl.rrule_for(folded)
def folded_rrule(x):
    return folded(x), lambda y_bar: (rl.NoTangent(), 2 * x * y_bar)
"""


@pytest.fixture
def counted(notebook):
    """A notebook in which rules take whole numbers, as the author's last commands say."""
    notebook.ok(COUNTED)
    notebook.ok(COUNTED_RULES)
    return notebook


@pytest.mark.slow
def test_whole_numbers_of_the_last_command_are_not_floats_to_a_proof(counted):
    """A rule without a derivative by a count is not refuted at fractions where counts were given."""
    alone = counted.ok("%rule_symbolic weighted")
    assert alone.verdict.word == "REFUTED"
    counted.ok("%rule_check weighted --at np.eye(3, 2), np.array([0.7, -0.4]), np.array([1, 0, 2])")
    found = counted.ok("%rule_symbolic weighted")
    assert found.verdict.word == "PROVED" and "w = [1, 0, 2]" in found.verdict.sentence()
    assert found.notes[0].startswith("the arguments are those of %rule_check")
    assert any("with floats in place of whole numbers: wrong, REFUTED" in note for note in found.notes)
    refuted = counted.ok('%rule_symbolic weighted --sizes "3x2 2 3"')
    assert refuted.verdict.word == "REFUTED"  # who names sizes asks for these


def test_arguments_that_are_too_many_are_named_and_not_replaced_in_silence(counted):
    """What was guessed says nothing of a function that takes matrices: the report says what to give."""
    counted.ok("%rule_check folded --at np.arange(80.0)")
    for magic in ("%rule_symbolic folded", "%rule_scan folded"):
        text = str(counted.ok(magic))
        assert "the arguments of %rule_check in cell In [4] hold 80 numbers, more than" in text
        assert "give smaller ones after --at" in text and "Scalar" not in text


@pytest.mark.slow
def test_a_rule_is_derived_from_the_arguments_of_the_last_command(counted):
    """However many numbers these hold; the report says where they are from, and the cell has the rule."""
    counted.ok("%grad_check weighted(np.ones((5, 4)), np.ones(4), np.arange(5))")
    counted.ok("%rule_check weighted --at np.eye(5, 4), np.linspace(0.5, 2.0, 4), np.arange(5)")
    found = counted.ok("%rule_derive weighted")
    assert found.is_checked and "X.T @" in found.source and "w: NDArray[np.integer]" in found.source
    assert found.notes[-1] == "the arguments are those of %rule_check in cell In [5]"


@pytest.mark.slow
def test_a_function_has_the_arguments_of_its_copy(notebook):
    """A rule was checked on a copy: one for the function itself is derived at the same arguments."""
    notebook.ok("def scaled(A, x):\n    return A @ x * 2.0\n")
    notebook.ok(
        "%%rrule scaled_cr --of scaled\n"
        "def scaled_cr_rrule(A, x):\n"
        "    return scaled(A, x), lambda y_bar: (rl.NoTangent(), 2 * np.outer(y_bar, x), 2 * A.T @ y_bar)\n"
    )
    notebook.ok("%rule_check scaled_cr --at np.eye(5, 4), np.ones(4)")
    found = notebook.ok("%rule_derive scaled")
    assert "A.T @" in found.source and found.notes[-1].startswith("the arguments are those of %rule_check")


SCALED = """\
def scaled(A, x):
    return A @ x * 2.0
def unit(x):
    return x / np.sqrt(np.sum(x * x))"""
SCALED_RULES = """\
@rl.rrule_for(scaled)
def scaled_rrule(A, x):
    return scaled(A, x), lambda y_bar: (rl.NoTangent(), 2 * np.outer(y_bar, x), A.T @ y_bar)
@rl.rrule_for(unit)
def unit_rrule(x):
    return unit(x), lambda y_bar: (rl.NoTangent(), y_bar / np.sqrt(np.sum(x * x)))"""


def shapes_of(report):
    """Of the arguments in the counterexample, by name."""
    given = report.verdict.counterexample.arguments.items()
    return {name: np.shape(ast.literal_eval(str(x))) if "[" in str(x) else () for name, x in given}


@pytest.mark.slow
def test_a_wrong_rule_is_shown_at_arguments_like_the_last_ones(notebook):
    """A vector function is not refuted at a number, if its author has called it with vectors."""
    notebook.ok(SCALED)
    notebook.ok(SCALED_RULES)
    alone = notebook.ok("%rule_symbolic unit")
    assert alone.verdict.word == "REFUTED" and shapes_of(alone) == {"x": ()}
    assert "Output is an array" in notebook.fails("%gradient unit(np.array([0.5, -1.0, 2.0]))")
    found = notebook.ok("%rule_symbolic unit")
    assert found.verdict.word == "REFUTED" and shapes_of(found) == {"x": (3,)}
    assert found.notes[0].startswith("the arguments are those of %gradient")
    notebook.ok("%rule_check scaled --at np.ones((2, 3)), np.arange(3.0)")
    found = notebook.ok("%rule_symbolic scaled")
    assert shapes_of(found) == {"A": (2, 3), "x": (3,)}


def test_a_refutation_stands_where_the_last_arguments_show_none(notebook):
    """At these the rule is right: the others, at which it is wrong, are shown."""
    notebook.ok("def cut(x):\n    return np.sum(np.where(x > 0, x * x, 3.0 * x))")
    notebook.ok(
        "@rl.rrule_for(cut)\ndef cut_rrule(x):\n"
        "    slope = 2 * x if np.ndim(x) else np.where(x > 0, 2 * x, 1.0)\n"
        "    return cut(x), lambda b: (rl.NoTangent(), b * slope)"
    )
    notebook.ok("%gradient cut(np.array([1.5]))")
    assert notebook.ok("%rule_symbolic cut").verdict.word == "REFUTED"
