"""What the panel shows of a pair, without widgets: complete, matched line by line, and honest about what is
missing."""

import ctypes
import json
import re
import time
import types

import numpy as np
import pytest

import rulelab as rl
from rulelab import pieces
from rulelab.advice import NO_SCALAR
from rulelab.checking import NoRuleError, RuleCheck
from rulelab.compiler.calls.cache import DEFAULT as CACHE
from rulelab.errors import MeasurementError, RuleLabError
from rulelab.notebook import lab, pair, tabs
from rulelab.pieces import percent, share_of
from rulelab.verdicts import sign_of


def mse(y, yh):
    total = 0.0
    for i in range(len(y)):
        total += (y[i] - yh[i]) ** 2
    return total / len(y)


mse_cr = rl.twin(mse, "mse_cr")


@rl.rrule_for(mse_cr)
def mse_cr_rrule(y, yh):
    def mse_cr_pullback(out_bar):
        g = 2 / len(y) * (y - yh) * out_bar
        return rl.NoTangent(), g, -g

    return mse(y, yh), mse_cr_pullback


Y, YH = np.arange(8.0) + 1.0, np.ones(8)


@pytest.fixture
def opened():
    return pair.Pair(mse, mse_cr, (Y, YH))


def text(parts):
    return "\n".join(map(str, parts))


def test_opening_a_pair_compares_it(opened):
    """Gradients are there at once; nothing is timed or proved before somebody asks."""
    assert opened.comparison.agree and opened.size == 8
    assert opened.times is None and opened.proof is None
    assert "Nothing timed yet" in text(pair.times(opened))
    assert "has not answered yet" in text(pair.symbolic(opened))


def test_an_error_of_the_function_is_raised_as_it_is():
    """The author's own error, not one of ours."""

    def broken(x):
        raise KeyError("the author's")

    with pytest.raises(KeyError, match="the author's"):
        pair.Pair(broken, broken, (1.0,))


def test_another_size_draws_new_arguments_and_compares(opened):
    """In the kinds and shapes of the old ones."""
    opened.resize(20)
    assert [a.shape for a in opened.args] == [(20,), (20,)] and opened.size == 20
    assert "float64[20]" in text(pair.gradients(opened)) and "N = 20" in text(pair.gradients(opened))


def test_a_size_that_fails_changes_nothing(opened):
    """What was compared before is still shown."""
    before = opened.comparison
    opened.make = lambda n: 1 / 0
    with pytest.raises(ZeroDivisionError):
        opened.resize(20)
    assert opened.comparison is before and opened.size == 8


def test_arguments_are_those_of_the_moment_it_was_opened():
    """What their owner writes into them later is not timed beside the gradients of what they were."""
    y = Y.copy()
    opened = pair.Pair(mse, mse_cr, (y, YH))
    y[:] = np.nan
    assert np.array_equal(opened.args[0], Y) and opened.kwargs == {}


def test_what_is_timed_has_the_size_it_began_with(opened, monkeypatch):
    """Also the first gradients, when another size is chosen in the middle of a run."""
    timing, seen = opened.timing(rounds=8), []
    monkeypatch.setattr(pair, "first_gradient_of", lambda f, args, kwargs: seen.append(len(args[0])))
    opened.resize(20)
    next(timing.pieces())
    assert timing.size == 8 and seen == [8]


def test_what_was_found_by_an_older_rule_says_so():
    """A rule that is stated anew shows in the code at once; what was measured of the old one does not."""

    def cube(x):
        return x * x * x

    def stated(factor):
        def cube_cr_rrule(x):
            return cube(x), lambda y_bar: (rl.NoTangent(), factor * x * x * y_bar)

        return cube_cr_rrule

    cube_cr = rl.twin(cube, "cube_cr")
    rl.rrule_for(cube_cr)(stated(3.0))
    opened = pair.Pair(cube, cube_cr, (2.0,))
    opened.time(rounds=8)
    opened.proof = pair.Words("proved")
    pieces.run(opened.checking())
    sections = pair.gradients, pair.times, pair.checks, pair.symbolic
    assert not any("before the rule of cube_cr was changed" in text(section(opened)) for section in sections)
    rl.rrule_for(cube_cr)(stated(4.0))
    assert all("before the rule of cube_cr was changed" in text(section(opened)) for section in sections)
    opened.time(rounds=8)
    assert "was changed" not in text(pair.times(opened)) and "was changed" in text(pair.gradients(opened))


def test_in_manual_mode_the_old_rule_still_counts(manual, capsys):
    """So what was found by it is not called older, and nobody is told of that at each look."""

    def cube(x):
        return x * x * x

    def cube_cr_rrule(x):
        return cube(x), lambda y_bar: (rl.NoTangent(), 3.0 * x * x * y_bar)

    cube_cr = rl.twin(cube, "cube_cr")
    rl.rrule_for(cube_cr)(cube_cr_rrule)
    opened = pair.Pair(cube, cube_cr, (2.0,), {})
    rl.rrule_for(cube_cr)(lambda x: (cube(x), lambda y_bar: (rl.NoTangent(), 0.0)))
    manual.clear()
    assert "was changed" not in text(pair.gradients(opened)) and not manual


@pytest.fixture
def manual():
    """The refresh mode is manual; gives the notices."""
    notices = []
    rl.refresh("manual")
    CACHE.on_notice.append(notices.append)
    yield notices
    CACHE.on_notice.pop()
    rl.refresh("auto")


def test_keywords_that_the_bench_has_too_are_the_functions():
    """A function may call its own keyword `clock`."""

    def paced(x, clock=1.0, mode="slow"):
        return x * clock

    opened = pair.Pair(paced, paced, (2.0,), {"clock": 3.0, "mode": "fast"})
    opened.time(rounds=8)
    assert opened.comparison.gradients[0].left == 3.0 and len(opened.times.first) == 2


def test_a_generator_of_ones_own_may_give_keywords():
    """`make(n)` gives a tuple, or positional arguments and keywords."""

    def power(x, *, k=2):
        return float(np.sum(x**k))

    opened = pair.Pair(power, power, (np.ones(3),), {"k": 3}, make=lambda n: ((np.ones(n),), {"k": 1}))
    opened.resize(5)
    assert opened.kwargs == {"k": 1} and opened.args[0].shape == (5,)


def test_pictures_show_what_is_wrong():
    """Where gradients agree, because their seed is 1, and pullbacks do not, a picture of the gradients would
    speak for the rule.
    """

    def energy(w, x):
        return np.sum(w * w) + np.sum(x * x)

    energy_cr = rl.twin(energy, "energy_cr")

    @rl.rrule_for(energy_cr)
    def energy_cr_rrule(w, x):
        def energy_cr_pullback(y_bar):
            return rl.NoTangent(), 2 * w, 2 * x * y_bar

        return energy(w, x), energy_cr_pullback

    shown = text(pair.gradients(pair.Pair(energy, energy_cr, (np.arange(20.0), np.arange(24.0)))))
    drawn = re.findall(r"\[picture: The (\S+ \S+ \S+) of .*? (\d+) of", shown)
    assert drawn == [("pullback to w", "19"), ("gradient of x", "0")]


def test_numbers_have_no_size():
    """Then the size cannot be changed, and the times against N are left out."""

    def square(x):
        return x * x

    opened = pair.Pair(square, square, (3.0,))
    assert opened.size is None and opened.make is None
    with pytest.raises(MeasurementError):
        opened.resize(3)
    opened.time(rounds=8, sizes=(10, 20))
    assert opened.times.scaling is None


def test_times_are_a_duel_first_gradients_and_sizes(opened):
    """With a figure, and each part's own words."""
    opened.time(rounds=8, sizes=(4, 8))
    shown = text(pair.times(opened))
    assert "Time of one call" in shown and "Time to the first gradient" in shown
    assert "against N" in shown and "[picture: " in shown and "At the size N = 8" in shown
    assert opened.times.sentence.startswith("Done: 8 of 8 rounds and 2 of 2 sizes.")
    json.dumps(opened.times.to_dict(), default=str)


def test_a_check_is_kept_with_the_rule_it_was_of(opened):
    """At the arguments of the pair; what it says is on the page."""
    assert "Not checked yet" in text(pair.checks(opened))
    rule = opened.rule
    steps = list(opened.checking().pieces())
    assert steps[-1].done == steps[-1].total and opened.check is None
    check = opened.checking()
    list(check.pieces())
    report = check.result()
    assert opened.check is report and opened.checked_by is rule
    assert report.verdict == "right" and report.points[0].origin == "given"
    assert "mse_cr_rrule of mse_cr is right" in text(pair.checks(opened))


def test_a_twin_without_a_rule_cannot_be_checked():
    """The error says so; a lab without widgets has it on the page, and its other pages."""

    def square(x):
        return x * x

    opened = pair.Pair(square, square, (3.0,))
    with pytest.raises(NoRuleError, match="square has no rrule"):
        opened.checking()
    opened.measure_all()
    assert "square has no rrule" in text(pair.checks(opened)) and opened.proof is not None


def test_a_glance_is_a_duel_of_a_second(opened):
    """First gradients too; sizes wait for Run."""
    opened.quick_duel()
    assert len(opened.times.duel.ratios) > 0 and opened.times.scaling is None
    assert not opened.times.interrupted


def test_slow_functions_are_not_timed_at_a_glance():
    """The panel opens at once, and says that nothing is timed yet."""
    seconds = iter(np.arange(0.0, 1e4, 0.3))

    def square(x):
        return x * x

    opened = pair.Pair(square, square, (3.0,), clock=lambda: next(seconds))
    opened.quick_duel()
    assert opened.times is None and "Nothing timed yet" in text(pair.times(opened))


@pytest.mark.every(2)
@pytest.mark.parametrize("pieces", [0, 1, 2, 5, 40])
def test_times_stopped_anywhere_are_what_is_whole(opened, pieces):
    """The report says after how many rounds; before the first one the old times stay."""
    opened.time(rounds=8)
    before = opened.times
    run = opened.timing(rounds=1000, sizes=(4, 8))
    steps = run.pieces()
    for _ in range(pieces):
        next(steps)
    times = run.result(interrupted=True)
    assert times.interrupted and re.match(r"Stopped after \d+ of 1,000 rounds", times.sentence)
    assert (opened.times is before) == (pieces <= 2)


def test_progress_goes_from_nothing_to_the_whole(opened):
    """Never back, so that a bar can show it."""
    done = [percent(step) for step in opened.timing(rounds=4, sizes=(4, 8)).pieces()]
    assert done == sorted(done) and 0 <= done[0] and done[-1] <= 100


def test_a_refused_function_is_shown_all_the_same():
    """Its column is finite differences with the reason, and its plain call is timed."""

    def addone(x):
        b = np.empty_like(x)
        b[:] = x + 1
        return float(np.sum(b))

    addone_cr = rl.twin(addone, "addone_cr")
    rl.rrule_for(addone_cr)(lambda x: (addone(x), lambda s: (rl.NoTangent(), s * np.ones(len(x)))))
    opened = pair.Pair(addone, addone_cr, (np.ones(5),))
    opened.time(rounds=8, sizes=(4, 8))
    shown = str(tabs.overview(opened))
    assert "addone (finite differences)" in shown and "MutationError" in shown
    assert "addone has no gradient without a rule" in shown


@pytest.mark.first(1)
@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda y_bar: 2 * y_bar * np.ones(3), "must return a tuple of cotangents"),
        (lambda y_bar: (2 * y_bar * np.ones(3),), "returned 1 cotangents, expected 2"),
        (lambda y_bar: (rl.NoTangent(), 2 * y_bar * np.ones(4)), "shape"),
    ],
)
@pytest.mark.parametrize("live", [True, False])
def test_a_rule_whose_answer_is_none_opens_all_the_same(answer, told, live):
    """Its page says what is wrong with the answer, and the check calls the rule wrong."""

    def doubled(x):
        return 2 * np.sum(x)

    doubled_cr = rl.twin(doubled, "doubled_cr")
    rl.rrule_for(doubled_cr)(lambda x: (doubled(x), answer))
    opened = pair.Pair(doubled, doubled_cr, (np.array([1.0, 2.0, 3.0]),))
    (opened.quick_duel if live else opened.measure_all)()
    verdicts = {tab.name: tabs.judged(tab, opened) for tab in tabs.registered()}
    assert verdicts["Gradients"] == ("error", "not judged because of an error")
    shown = dict(tabs.overview(opened).sections)
    assert told in str(shown["Gradients"][-1]) and "yet" not in str(shown["Times"])
    assert "white-space: pre-line" in shown["Gradients"][-1]._repr_html_()  # the lines of an error stay lines
    assert sign_of("error").html() in shown["Gradients"][-1]._repr_html_()  # as on the tab
    if not live:
        assert verdicts["Check"][0] == "wrong" and verdicts["Symbolic"][0] == "REFUTED"


def test_code_has_the_authors_lines_beside_the_pass(opened):
    """A line of the pass bears the number that the line it came from has in the author's text."""
    (listings,) = pair.code(opened)
    written, rule, compiled = listings.parts
    of = {line.strip(): number for number, line in written.rows()}
    loop = next(number for number, line in compiled.rows() if line.strip().startswith("for i in range"))
    assert loop == of["for i in range(len(y)):"] != ""
    assert ("", "def mse(y, yh):") in compiled.rows()
    assert rule.heading == "mse_cr, by its rule" and "mse_cr_pullback" in rule.source
    assert re.search(r"^ *\d+ \|     for i in range", str(written), re.MULTILINE)


def test_code_that_is_not_taken_says_why():
    """In the place of the pass."""

    foreign = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: 2 * x)
    foreign.__name__ = "foreign"

    def f_cr(x):
        return 2 * x

    (listings,) = pair.code(pair.Pair(foreign, f_cr, (3.0,)))
    assert "There is no pass: ForeignCallError" in str(listings)


def test_code_without_a_source_says_so():
    """A function that was not written in Python, or not in a file."""
    (listings,) = pair.code(pair.Pair(np.sin, np.sin, (1.0,)))
    assert "cannot be found" in str(listings)


def test_shapes_are_named_and_so_is_their_difference():
    """Argument, value and gradient on both sides."""

    def f(x):
        return float(np.sum(x))

    opened = pair.Pair(f, f, (np.ones((2, 3), np.float32),))
    shapes = pair.Shapes(opened.args, opened.comparison)
    assert shapes.same and shapes.rows[0] == ("argument 1", "float32[2, 3]", "float32[2, 3]")


def test_sizes_stand_in_equal_ratios():
    """Each once, from the smallest to the largest; the wrong way round is refused in words."""
    assert pair.sizes_between(1, 3, 10) == (1, 2, 3)
    assert pair.sizes_between(7, 7, 4) == (7,)
    with pytest.raises(MeasurementError, match=r"smallest N, 1,000, is larger than the largest, 10"):
        pair.sizes_between(1000, 10, 3)


@pytest.mark.parametrize(
    ("asked", "advice", "fix"),
    [
        (None, "give arguments to judge it there", "leave out scalar=True"),
        (("mse", "mse_cr", "y, yh"), "give --at to judge it there", "leave out --scalar"),
    ],
)
def test_advice_is_in_the_syntax_of_what_opened_the_panel(asked, advice, fix):
    """In the report of a check as in what SymPy answers and refuses."""
    opened = pair.Pair(mse, mse_cr, (Y, YH), asked=asked)
    report = RuleCheck("mse_cr", "rrule", "mse_cr_rrule", notes=("give arguments to judge it there",))
    measured = opened.checking()
    measured.check = types.SimpleNamespace(result=lambda interrupted: report)
    assert measured.result().notes == opened.told(lambda: report).notes == (advice,)

    def refusing():
        raise RuleLabError("no", fixes=NO_SCALAR)

    with pytest.raises(RuleLabError) as refused:
        opened.told(refusing)
    assert refused.value.fixes == (fix,)


def test_the_proof_is_kept(opened):
    """And shown as %rule_symbolic shows it."""
    opened.prove()
    assert opened.proof.verdict.word == "PROVED"
    assert "PROVED" in text(pair.symbolic(opened))


def test_a_proof_is_about_the_call_of_the_pair():
    """Whole numbers and keywords of the pair are held, as they were in the comparison."""

    def power(x, n, *, k=1.0):
        return k * x**n

    def rule(x, n, *, k=1.0):
        return k * x**n, lambda y_bar: (rl.NoTangent(), 6 * x**2 * y_bar, rl.NoTangent())

    twin = rl.twin(power, "power_cr")
    rl.rrule_for(twin)(rule)
    right = pair.Pair(power, twin, (2.0, 3), {"k": 2.0})
    assert right.prove().verdict.word == "PROVED" and "n = 3" in right.proof.verdict.scope
    right.kwargs = {"k": 3.0}
    assert right.prove().verdict.word == "REFUTED"


def test_a_proof_goes_to_the_arguments_of_the_pair_where_there_is_no_other_way():
    """A function that takes vectors of four numbers only."""

    def four(x):
        a, b, c, d = x
        return a * b + c * d

    def rule(x):
        return four(x), lambda y_bar: (rl.NoTangent(), y_bar * x[[1, 0, 3, 2]])

    twin = rl.twin(four, "four_cr")
    rl.rrule_for(twin)(rule)
    proof = pair.Pair(four, twin, (np.arange(4.0),)).prove()
    assert proof.verdict.word == "PROVED" and "(4,)" in proof.verdict.scope


def test_an_example_against_a_rule_has_the_shapes_of_the_pair():
    """A softmax takes numbers, too, but a user who looks at vectors learns nothing from one number."""

    def softmax(z):
        e = np.exp(z - np.max(z))
        return e / e.sum()

    twin = rl.twin(softmax, "softmax_cr")
    rl.rrule_for(twin)(lambda z: (softmax(z), lambda y_bar: (rl.NoTangent(), softmax(z) * y_bar)))
    proof = pair.Pair(softmax, twin, (np.arange(3.0),)).prove()
    assert proof.verdict.word == "REFUTED"
    assert str(proof.verdict.counterexample.arguments["z"]).startswith("[")


def test_waiting_hands_on_what_the_question_raised():
    """And what is known so far, and tells a stopped one to end."""

    def failing(stop, heard):
        raise ValueError("not today")

    with pytest.raises(ValueError, match="not today"):
        list(pair.Waiting(failing, print, 1.0).pieces())
    kept = []

    def asked(stop, heard):
        heard(types.SimpleNamespace(so_far="wrong, REFUTED"))
        return "found" if wait_for(stop) else None

    waiting = pair.Waiting(asked, lambda *k: kept.append(k), 1.0)
    steps = waiting.pieces()
    assert next(steps).doing == "0 s of 1 s at most; so far: wrong, REFUTED"
    steps.close()
    assert waiting.result(interrupted=True) == "found" and kept == [("found", True)]


def wait_for(stop):
    deadline = time.monotonic() + 300
    while not stop() and time.monotonic() < deadline:
        time.sleep(0.01)
    return stop()


@pytest.mark.slow
def test_a_lab_without_widgets_measures_everything_at_once():
    """Text, HTML, Markdown and JSON have the same sections; nothing in the HTML is run."""
    shown = lab(mse, mse_cr, (Y, YH), widgets=False)
    for face in (str(shown), shown._repr_html_(), shown.to_markdown()):
        for words in ("Gradients", "Values and gradients", "Time of one call", "mse_pullback", "PROVED"):
            assert words in face and "is right at" in face
    html = shown._repr_html_()
    assert "<script" not in html and "What the panel showed" not in html
    assert html.count("<img alt=") == html.count("<img") == 2  # the spread of the times, and their growth
    assert set(json.loads(shown.to_json())) == {"gradients", "times", "check", "code", "symbolic"}
    assert shown.to_latex() and not shown.interrupted


def test_a_lab_stopped_by_ctrl_c_shows_what_there_is(monkeypatch):
    """And does not go on to SymPy."""
    real = pair.Timing.pieces

    def stopped(self):
        for number, step in enumerate(real(self)):
            if number == 60:
                raise KeyboardInterrupt
            yield step

    monkeypatch.setattr(pair.Timing, "pieces", stopped)
    shown = lab(mse, mse_cr, (Y, YH), widgets=False)
    assert shown.interrupted and "has not answered yet" in str(shown)
    assert re.search(r"Stopped after \d+ of 60 rounds", str(shown))


HOSTILE = "<img src=x onerror=alert(1)>$x$"


ACTING = "\x1b[31m\x07\u202e"


def test_nothing_acts_on_the_terminal_or_turns_the_text_around():
    """A sign stands for each character of a name, of a source or of an error that would."""

    def f(x):
        return x * x  # ‮

    f.__name__ = ACTING
    opened = pair.Pair(f, f, (2.0,))
    opened.proof = pair.Words(ACTING)
    shown = tabs.overview(opened, folded=True)
    for face in (str(shown), shown._repr_html_(), shown.to_markdown()):
        assert "␛[31m" in face and not set(ACTING) & set(face) - set("[31m")


def test_hostile_names_are_words():
    """Whatever a function is called, in every face."""

    def f(x):
        return x * x

    f.__name__ = HOSTILE
    opened = pair.Pair(f, f, (2.0,))
    opened.time(rounds=8)
    html = tabs.overview(opened, folded=True)._repr_html_()
    assert "<img src=x" not in html and "&lt;img src=x" in html
    assert "<img src=x" in (markdown := tabs.overview(opened).to_markdown())
    markdown = re.sub("`[^`\n]*<img[^`\n]*`", "", markdown)
    assert re.sub(r"^(`{3,})\n.*?^\1$", "", markdown.replace("\\<", ""), flags=re.S | re.M).count("<img") == 0


def scores_of(x, table):
    return x[0] * table[len(x)]


def test_arguments_that_were_drawn_and_do_not_fit_lose_nothing_else():
    """A table of as many entries as there were at hand has none at any other size: no sizes, and all else."""
    args = (np.arange(3.0), np.arange(5.0))
    opened = pair.Pair(scores_of, rl.twin(scores_of, "scores_cr"), args)
    opened.time(rounds=4, sizes=(10, 20))
    assert opened.times.duel.ratios and opened.times.scaling.sizes == ()
    said = text(pair.times(opened))
    assert "Not timed against N: IndexError at the arguments drawn for N = 10: index 10 is out of" in said
    with pytest.raises(IndexError):
        pair.Pair(
            scores_of, rl.twin(scores_of, "scores_cr"), args, make=lambda n: (np.ones(n), np.ones(5))
        ).time(rounds=4, sizes=(10, 20))


def test_the_distribution_stands_beside_its_table(opened):
    """In one group with the table of the times that it shows; the first gradients come after them."""
    opened.time(rounds=8)
    kinds = [type(part).__name__ for part in pair.times(opened)]
    at = kinds.index("Picture")
    assert kinds[at + 1] == "FirstGradients" and pair.times(opened)[at - 1] is opened.times.duel
    html = pair.html_of("Times", pair.times(opened))
    group = html[html.index('<div class="rulelab-beside">') :]
    assert html.count('<div class="rulelab-beside">') == 1
    parts = [group.index(part) for part in ("Time of one call", "<figure", "Time to the first gradient")]
    assert parts == sorted(parts)


def test_progress_begins_at_the_beginning(opened):
    """The first gradients, which take a moment, are no third of a run; it ends at its end."""
    shares = [share_of(step) for step in opened.timing(rounds=8, seconds=600.0, sizes=(4, 8)).pieces()]
    assert shares[1] < 0.05 and shares[2] < 0.1 and shares == sorted(shares) and shares[-1] == 1.0
