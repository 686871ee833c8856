"""Each advice is given for the bad form and not for the good one, with the author's own line and a caret."""

import importlib.util
import itertools
import linecache
import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.checking.advice.advices import ADVICES, KINDS
from rulelab.checking.advice.lint import Lint, is_written, rule_lint
from rulelab.checking.reading.anatomy import anatomy_of
from rulelab.rules.registry import DEFAULT, Registry
from rulelab.rules.rule import Rule

numbers = itertools.count()


def written(text, **space):
    """The namespace that a text makes, with its source where the finder looks; rules go into `registry`."""
    registry = Registry()
    filename = f"<lint {next(numbers)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    made = {"np": np, "math": math, "rl": rl, "registry": registry, "__name__": "written", **space}
    exec(compile(text, filename, "exec"), made)
    return made


def lint(text, name="f", **space):
    """The advices on the rule of `name` in a text that states it with `registry=registry`."""
    made = written(text, **space)
    return rule_lint(made[name], registry=made["registry"])


def kinds(text, name="f", **space):
    return [advice.kind for advice in lint(text, name, **space).advices]


def rule(pullback, before="", f="def f(x, w):\n    return np.sum(w @ x)\n", parameters="x, w"):
    """A text: a function of `parameters`, and a rule whose pullback has these lines."""
    lines = "".join(f"        {line}\n" for line in pullback.splitlines())
    inside = "".join(f"    {line}\n" for line in before.splitlines())
    return (
        f"{f}@rl.rrule_for(f, registry=registry)\ndef f_rrule({parameters}):\n{inside}"
        f"    def f_pullback(y_bar):\n{lines}    return f({parameters.split(':')[0]}), f_pullback\n"
    )


ONE = {"f": "def f(x):\n    return np.sum(np.fft.fft(x).real)\n", "parameters": "x"}
"""A function of one argument that is not elementwise."""

NO, LATE = "rl.NoTangent()", "rl.thunk(lambda: w.T @ y_bar)"

CASES = {
    "lambda-pullback": (
        [
            "def f(x):\n    return abs(x)\n@rl.rrule_for(f, registry=registry)\n"
            "def f_rrule(x):\n    return abs(x), lambda s: (rl.NoTangent(), abs(s))\n",
            "def f(x):\n    return abs(x)\n@rl.rrule_for(f, registry=registry)\n"
            "def f_rrule(x):\n    back = lambda s: (rl.NoTangent(), abs(s))\n    return abs(x), back\n",
        ],
        [
            rule("return rl.NoTangent(), abs(y_bar)", **ONE),
            rule("return rl.NoTangent(), k(y_bar)", "k = lambda v: abs(v)", **ONE),
            rule(f"return {NO}, {LATE}, rl.thunk(lambda: np.outer(y_bar, x))"),
        ],
    ),
    "thunk-of-variable": (
        [
            rule(f"x_bar = w.T @ y_bar\nreturn {NO}, rl.thunk(lambda: x_bar), {LATE}"),
            rule(f"return {NO}, rl.thunk(lambda: y_bar), {LATE}"),
            rule(f"def late():\n    return y_bar\nreturn {NO}, rl.thunk(late), {LATE}"),
        ],
        [
            rule(f"x_bar = rl.thunk(lambda: w.T @ y_bar)\nreturn {NO}, x_bar, {LATE}"),
            rule(f"shared = w @ y_bar\nreturn {NO}, rl.thunk(lambda: shared @ w), {LATE}"),
            rule(f"return {NO}, rl.thunk(lambda: -y_bar), {LATE}"),
        ],
    ),
    "thunk-of-constant": (
        [
            rule(f"return {NO}, rl.thunk(lambda: 1.0), {LATE}"),
            rule(f"return {NO}, rl.thunk(lambda: -2 * math.pi), {LATE}"),
            rule(f"return {NO}, rl.thunk(lambda: rl.ZeroTangent()), {LATE}"),
            rule(f"return {NO}, rl.Thunk(lambda: rl.NoTangent()), {LATE}"),
        ],
        [rule(f"return {NO}, rl.thunk(lambda: 2.0 * y_bar), {LATE}"), rule(f"return {NO}, 1.0, {LATE}")],
    ),
    "thunk-of-wrapper": (
        [
            rule(f"return {NO}, rl.thunk(lambda: y_bar.T), {LATE}"),
            rule(f"return {NO}, rl.thunk(lambda: np.broadcast_to(y_bar, x.shape)), {LATE}"),
            rule(f"return {NO}, rl.thunk(lambda: rl.Tangent(tuple, y_bar, y_bar)), {LATE}"),
            rule(f"return {NO}, rl.thunk(lambda: (y_bar, y_bar)), {LATE}"),
            rule(f"return {NO}, rl.thunk(lambda: y_bar.reshape(3, 1)), {LATE}"),
        ],
        [
            rule(f"return {NO}, rl.thunk(lambda: rl.Tangent(tuple, y_bar @ w, y_bar)), {LATE}"),
            rule(f"return {NO}, rl.thunk(lambda: np.diag(y_bar)), {LATE}"),
            rule(f"return {NO}, rl.thunk(lambda: (w @ y_bar).T), {LATE}"),
        ],
    ),
    "thunk-of-thunk": (
        [
            rule(f"return {NO}, rl.thunk(lambda: rl.thunk(lambda: w @ y_bar)), {LATE}"),
            rule(f"late = rl.thunk(lambda: w @ y_bar)\nreturn {NO}, rl.thunk(lambda: late), {LATE}"),
        ],
        [rule(f"late = rl.thunk(lambda: w @ y_bar)\nreturn {NO}, rl.thunk(lambda: 2.0 * late), {LATE}")],
    ),
    "thunk-of-rule": (
        [
            rule(f"return {NO}, rl.thunk(lambda: back(y_bar)[1]), {LATE}", "_, back = rl.rrule(np.sum, x)"),
            rule(
                f"_, x_bar = back(y_bar)\nreturn {NO}, rl.thunk(lambda: x_bar), {LATE}",
                "_, back = rl.rrule(np.sum, x)",
            ),
        ],
        [
            rule(f"return {NO}, back(y_bar)[1], {LATE}", "_, back = rl.rrule(np.sum, x)"),
            rule(f"return {NO}, rl.thunk(lambda: back(y_bar)[0]), {LATE}", "_, back = rl.pullback(np.sum, x)"),  # noqa: E501
            rule(f"return {NO}, rl.thunk(lambda: 3 * back(y_bar)[1]), {LATE}", "_, back = rl.rrule(np.sum, x)"),  # noqa: E501
        ],
    ),
    "thunk-of-the-only-one": (
        [
            rule("return rl.NoTangent(), rl.thunk(lambda: np.cos(y_bar))", **ONE),
            rule("x_bar = rl.thunk(lambda: np.cos(y_bar))\nreturn rl.NoTangent(), x_bar", **ONE),
            rule(f"return {NO}, {LATE}, {NO}"),
        ],
        [
            rule("return rl.NoTangent(), np.cos(y_bar)", **ONE),
            rule(f"return {NO}, {LATE}, rl.thunk(lambda: np.outer(y_bar, x))"),
            rule(
                "return rl.NoTangent(), rl.InplaceableThunk(lambda acc: np.add(acc, y_bar, out=acc), "
                "lambda: np.cos(y_bar))",
                **ONE,
            ),
        ],
    ),
    "missing-thunks": (
        [
            rule(f"return {NO}, w.T @ y_bar, np.outer(y_bar, x)"),
            rule(f"return {NO}, {LATE}, np.outer(y_bar, x)"),
            rule(f"return {NO}, y_bar, np.exp(x) * y_bar"),
            rule(f"x_bar = w.T @ y_bar\nreturn {NO}, x_bar, y_bar"),
        ],
        [
            rule(f"return {NO}, {LATE}, rl.thunk(lambda: np.outer(y_bar, x))"),
            rule(f"g = w.T @ y_bar\nreturn {NO}, g, -g"),
            rule(f"return {NO}, w * y_bar, x * y_bar"),
            rule(f"return {NO}, w.T @ y_bar, {NO}"),
            rule(f"return {NO}, math.cos(x) * y_bar, math.exp(w) * y_bar"),
            rule(f"return {NO}, np.exp(x) * y_bar, np.cos(w) * y_bar", parameters="x: float, w: float").replace(  # noqa: E501
                "return f(x), f_pullback", "return f(x, w), f_pullback"
            ),
            rule(f"return {NO}, rl.ProjectTo(x)(y_bar), rl.ProjectTo(w)(y_bar)"),
            "def bell(t):\n    return math.exp(-t * t)\n"
            + rule(f"return {NO}, -bell(x) * y_bar, bell(w) * y_bar"),
        ],
    ),
    "zeros": (
        [
            rule(f"return {NO}, np.zeros_like(x), {LATE}"),
            rule(f"x_bar = np.zeros(3)\nreturn {NO}, x_bar, {LATE}"),
            rule(f"return {NO}, 0.0, {LATE}"),
            rule(f"return {NO}, 0 * x, {LATE}"),
        ],
        [
            rule("return rl.NoTangent(), rl.ZeroTangent(), w.T @ y_bar"),
            rule(f"x_bar = np.zeros_like(x)\nx_bar[0] = y_bar\nreturn {NO}, x_bar, {LATE}"),
            rule(f"x_bar = np.zeros_like(x)\nnp.add.at(x_bar, 0, y_bar)\nreturn {NO}, x_bar, {LATE}"),
            rule(f"return {NO}, y_bar, {LATE}"),
        ],
    ),
    "none-for-zero": (
        [
            rule(f"if flat:\n    return {NO}, {NO}, y_bar\nreturn {NO}, {LATE}, y_bar"),
            rule(f"return {NO}, y_bar, {NO}", f="def f(x, w=0.5):\n    return np.sum(x)\n"),
            rule(f"return {NO}, y_bar, {NO}", parameters="x, w: float").replace("f(x, w)", "f(x, w)"),
        ],
        [
            rule(f"if flat:\n    return {NO}, rl.ZeroTangent(), y_bar\nreturn {NO}, {LATE}, y_bar"),
            rule(f"return {NO}, y_bar, {NO}", f="def f(x, w=None):\n    return np.sum(x)\n"),
            rule(f"return {NO}, y_bar, {NO}"),
            rule(f"if w is None:\n    return {NO}, y_bar, {NO}\nreturn {NO}, y_bar, {LATE}"),
        ],
    ),
    "zero-for-none": (
        [
            rule(f"return rl.ZeroTangent(), y_bar, {LATE}"),
            rule(f"return {NO}, np.sum(y_bar, axis=w), rl.ZeroTangent()"),
            rule(f"return {NO}, y_bar, rl.ZeroTangent()", f="def f(x, w='mean'):\n    return np.sum(x)\n"),
            rule(f"return {NO}, y_bar, rl.ZeroTangent()", parameters="x, w: bool"),
            rule(f"return {NO}, y_bar[w], rl.ZeroTangent()"),
        ],
        [
            rule(f"return {NO}, y_bar, rl.ZeroTangent()"),
            rule(f"return {NO}, np.sum(y_bar, axis=w), {NO}"),
            rule(f"return {NO}, w[y_bar], rl.ZeroTangent()"),
        ],
    ),
    "rule-on-type": (
        [
            "class Line:\n    def __init__(self, x): self.x = x\n    def __call__(self, x): return x\n"
            "f = Line(1.0)\n@rl.rrule_for(type(f), registry=registry)\ndef f_rrule(x):\n"
            "    def f_pullback(y_bar):\n        return rl.NoTangent(), y_bar.x\n    return "
            "Line(x), f_pullback\n"
            "f = Line\n",
        ],
        [
            "class f:\n    def __init__(self, x): self.x = x\n@rl.rrule_for(f, registry=registry)\n"
            "def f_rrule(x):\n    def f_pullback(y_bar):\n        return rl.NoTangent(), y_bar.x\n"
            "    return f(x), f_pullback\n",
        ],
    ),
    "scalar-rule": (
        [
            rule(
                "return rl.NoTangent(), 3 * x**2 * y_bar", f="def f(x):\n    return x**3\n", parameters="x"
            ),
            rule(
                f"return {NO}, y_bar * w / scale, -y_bar * np.sin(x)", "scale = 2.0 * x",
                f="def f(x, w):\n    a = np.cos(x)\n    return a * w\n",
            ),
            rule("return rl.NoTangent(), y_bar", f="f = np.exp\n", parameters="x").replace(
                "return f(x), ", "return np.exp(x), "
            ),
        ],
        [
            rule("return rl.NoTangent(), 2 * x * y_bar", f="def f(x):\n    return np.sum(x * x)\n", parameters="x"),  # noqa: E501
            rule("return rl.NoTangent(), 2 * x", f="def f(x):\n    return x * x\n", parameters="x"),
            rule("return rl.NoTangent(), x * y_bar * y_bar", f="def f(x):\n    return x**3\n", parameters="x"),  # noqa: E501
            rule("return rl.NoTangent(), np.sum(x) * y_bar", f="def f(x):\n    return x**3\n", parameters="x"),  # noqa: E501
            rule(
                "return rl.NoTangent(), a * y_bar",
                f="def make(a):\n    def f(x):\n        return a * x\n    return f\na = 2.0\nf = make(a)\n",
                parameters="x",
            ),
            rule("return rl.NoTangent(), w * y_bar, {NO}".replace("{NO}", NO)),
        ],
    ),
    "non-differentiable": (
        [
            rule(f"return {NO}, {NO}, {NO}"),
            "def f(*xs):\n    return len(xs)\n@rl.rrule_for(f, registry=registry)\ndef f_rrule(*xs):\n"
            "    def f_pullback(y_bar):\n        return rl.NoTangent(), *[rl.NoTangent()] * len(xs)\n"
            "    return len(xs), f_pullback\n",
            "def f(x):\n    return 1\n@rl.frule_for(f, registry=registry)\ndef f_frule(tangents, x):\n"
            "    return f(x), rl.NoTangent()\n",
        ],
        [
            rule(f"return {NO}, rl.ZeroTangent(), {NO}"),
            rule(f"if flat:\n    return {NO}, {NO}, {NO}\nreturn {NO}, y_bar, y_bar"),
            "def f(x):\n    return 1\n@rl.frule_for(f, registry=registry)\ndef f_frule(tangents, x):\n"
            "    tangents[1].clear()\n    return f(x), rl.NoTangent()\n",
        ],
    ),
}  # fmt: skip

MISSING = {"f": "def f(w):\n    return w * w\n", "parameters": "w"}
CASES["undefined-name"] = (
    [
        rule("return rlab.NoTangent(), 2 * w * y_bar", **MISSING),
        rule("return rl.NoTangent(), 2 * w * ybar", **MISSING),
        rule("return rl.NoTangent(), sum(jnp.cos(k) for k in w)", **MISSING),
        rule("class Late:\n    slope = slop * w\nreturn rl.NoTangent(), Late.slope * y_bar", **MISSING),
    ],
    [
        rule("return rl.NoTangent(), 2 * w * y_bar", **MISSING),
        rule("global slope\nslope = 2 * w\nreturn rl.NoTangent(), slope * y_bar", **MISSING),
        rule("return rl.NoTangent(), sum(k * int(y_bar) for k in range(3))", **MISSING),
        rule("import cmath\nreturn rl.NoTangent(), cmath.cos(w).real * y_bar", **MISSING),
        rule("try:\n    s = 2\nexcept ValueError as e:\n    s = str(e)\nreturn rl.NoTangent(), s", **MISSING),
        rule("class Late:\n    a = 2\n    b = a * 2\nreturn rl.NoTangent(), Late.b * y_bar", **MISSING),
    ],
)

SQUARE = rule("return rl.NoTangent(), 2 * w * y_bar", f="def f(w):\n    return w * w\n", parameters="w")
TESTS = {
    "test-repeats": (
        [
            "def test_f():\n    x = 3.0\n    assert rl.gradient(f, x)[0] == 2 * x\n",
            "def test_f():\n    for x in (1.0, 2.0):\n        (g,) = rl.gradient(f, x)\n"
            "        np.testing.assert_allclose(g, x * 2)\n",
            "def test_f():\n    assert rl.gradient(f, 3.0) == (2 * 3.0,)\n",
            "def test_f():\n    y, back = rl.pullback(f, 3.0)\n    expected = 2 * 3.0 * 0.5\n"
            "    assert np.allclose(back(0.5), expected)\n",
            "def test_f():\n    _, back = f_rrule(3.0)\n    assert rl.gradient(f, 3.0)[0] == back(1.0)[1]\n",
        ],
        [
            "def test_f():\n    assert rl.gradient(f, 3.0)[0] == 6.0\n",
            "def test_f():\n    assert f(3.0) == 3.0 * 3.0\n",
            "def test_f():\n    assert rl.gradient(f, 3.0)[0] == 3.0 + 3.0\n",
            "def test_f():\n    assert rl.gradient(f, 3.0)[0] == findiff.gradient(f, 3.0)[0]\n",
            "def test_f():\n    x = 3.0\n    assert rl.gradient(f, x)[0] == 2 * x\n"
            "    assert rl.compare(f, f, x).agree\n",
            "def test_other():\n    x = 3.0\n    assert rl.gradient(other, x)[0] == 2 * x\n",
        ],
    )
}


def params(table, which, before=""):
    return [
        pytest.param(kind, before + text, id=f"{kind}-{n}")
        for kind, forms in table.items()
        for n, text in enumerate(forms[which])
    ]


@pytest.mark.parametrize(("kind", "text"), params(CASES, 0) + params(TESTS, 0, SQUARE))
def test_the_bad_form_gets_the_advice(kind, text):
    """Once, at a line of the author's, with a caret, and with a better line."""
    found = lint(text, flat=False)
    (advice,) = [a for a in found.advices if a.kind == kind]
    line, caret = advice.place.lines()
    assert "^" in caret and line.split(": ", 1)[1].strip() in text
    assert advice.why.endswith(".") and advice.better
    assert advice.read == f"howto/write-good-rules#{kind}"


@pytest.mark.parametrize(("kind", "text"), params(CASES, 1) + params(TESTS, 1, SQUARE))
def test_the_good_form_gets_none(kind, text):
    """No false alarm."""
    from rulelab.checking import findiff

    assert kind not in kinds(text, flat=False, findiff=findiff, other=lambda x: x)


@pytest.mark.parametrize(("kind", "text"), [p for p in params(CASES, 0) if "thunk-of" in p.values[0]])
def test_of_a_thunk_there_is_one_advice(kind, text):
    """What is wrong with one is said once."""
    places = [a.place for a in lint(text).advices if a.kind.startswith("thunk-of")]
    assert len(places) == len(set(places))


def test_every_kind_is_tried_here():
    """None is added without its good and bad forms."""
    assert {*CASES, *TESTS} == set(KINDS)


def better(text, kind):
    return next(a.better for a in lint(text).advices if a.kind == kind)


def test_the_better_line_can_be_pasted():
    """It has the author's own names in it, and is Python."""
    assert better(CASES["thunk-of-variable"][0][0], "thunk-of-variable") == (
        "x_bar = rl.thunk(lambda: w.T @ y_bar)"
    )
    assert better(CASES["missing-thunks"][0][0], "missing-thunks") == (
        "x_bar = rl.thunk(lambda: w.T @ y_bar)\nw_bar = rl.thunk(lambda: np.outer(y_bar, x))"
    )
    assert better(CASES["lambda-pullback"][0][0], "lambda-pullback") == (
        "def f_pullback(s):\n    return rl.NoTangent(), abs(s)"
    )
    assert better(CASES["non-differentiable"][0][0], "non-differentiable") == "rl.non_differentiable(f)"
    assert better(CASES["scalar-rule"][0][1], "scalar-rule") == (
        "rl.scalar_rule(f, lambda y, x, w: (w / (2.0 * x), -np.sin(x)))"
    )


def test_a_better_line_takes_no_name_that_is_taken():
    """`y_bar` is what arrives; the cotangent of an argument y cannot be called so."""
    text = rule(
        "return rl.NoTangent(), y_bar @ w, w @ y_bar", f="def f(y, w):\n    return np.sum(w @ y)\n",
        parameters="y, w",
    )  # fmt: skip
    assert better(text, "missing-thunks").splitlines()[0] == "rl.thunk(lambda: y_bar @ w)"


@pytest.mark.parametrize("text", CASES["scalar-rule"][0])
def test_the_scalar_rule_that_is_advised_gives_the_same(text):
    """Partials that were read from a rule are its partials."""
    if "f = np.exp" in text:
        return
    made = written(text)
    (advice,) = [
        a for a in rule_lint(made["f"], registry=made["registry"]).advices if a.kind == "scalar-rule"
    ]
    point = (1.3, 0.7)[: made["f"].__code__.co_argcount]
    before = rl.rrule(made["f"], *point, registry=made["registry"])[1](0.5)[1:]
    registry = Registry()
    exec(advice.better.removesuffix(")") + ", registry=fresh)", made, {"fresh": registry})
    assert rl.rrule(made["f"], *point, registry=registry)[1](0.5)[1:] == pytest.approx(before, rel=1e-14)


def test_names_are_looked_up_not_guessed():
    """Whatever thunk is called where the rule stands, it is known; and what is only called so is none."""
    text = rule("return NO, late(lambda: 1.0), late(lambda: w @ y_bar)").replace("NO", "rl.NoTangent()")
    assert kinds(text, late=rl.thunk) == ["thunk-of-constant"]
    assert "thunk-of-constant" not in kinds(text, late=lambda f: f())


def test_nothing_is_run():
    """Neither the rule nor what it calls, nor the properties of what it names."""

    class Trap:
        def __getattr__(self, name):
            raise AssertionError(name)

    text = rule("return trap.no(), trap.thunk(lambda: 1 / 0), trap.T @ y_bar", "1 / 0")
    assert isinstance(lint(text, trap=Trap()), Lint)


def test_older_names_are_known():
    """A rule in the words of the old text is read, and no warning is given."""
    text = rule("return rl.NO_FIELDS, rl.DoesNotExist(), rl.DoesNotExist()")
    assert kinds(text) == ["non-differentiable"]


def test_the_function_that_states_a_rule_will_do():
    """Of several rules of a function one may be meant."""
    made = written(SQUARE)
    assert [a.kind for a in rule_lint(made["f_rrule"], registry=made["registry"]).advices] == ["scalar-rule"]


def test_a_function_without_a_rule():
    """Is told, with what to do."""

    def lonely(x):
        return x

    said = r"lonely has no rule with code to judge\ndo: write one: rl.rule_stub\(lonely\) gives a skeleton"
    with pytest.raises(rl.RuleLabError, match=said):
        rule_lint(lonely)
    registry = Registry()
    rl.scalar_rule(lonely, lambda y, x: 1.0, registry=registry)
    with pytest.raises(rl.RuleLabError, match="has no rule with code to judge: its rule was generated"):
        rule_lint(lonely, registry=registry)


def test_a_rule_whose_text_is_gone_is_no_good_rule():
    """It is said that it could not be read, not that there is nothing to advise."""
    space = {"rl": rl}
    exec("def g(x):\n    return x\ndef g_rrule(x):\n    return x, lambda s: (rl.NoTangent(), s)\n", space)
    registry = Registry()
    rl.rrule_for(space["g"], registry=registry)(space["g_rrule"])
    report = rule_lint(space["g"], registry=registry)
    assert str(report) == (
        "No rule of g could be read.\n"
        "note: The source of g_rrule() cannot be found: there is no text for <string>"
    )


def test_a_rule_that_is_a_lambda_is_read():
    """Not a form that anybody should choose, but one that can be stated."""
    text = (
        "def f(x):\n    return np.sum(x)\n"
        "rl.rrule_for(f, registry=registry)(lambda x: (f(x), lambda s: (s, s)))\n"
    )
    assert kinds(text) == ["lambda-pullback"]


def test_tests_of_another_module_can_be_handed_in():
    """Tests seldom stand beside the rule."""
    made = written(SQUARE)
    elsewhere = written("def test_it():\n    assert rl.gradient(f, 3.0)[0] == 2 * 3.0\n", f=made["f"])
    report = rule_lint(made["f"], tests=[elsewhere["test_it"]], registry=made["registry"])
    assert [a.kind for a in report.advices] == ["scalar-rule", "test-repeats"]


def test_the_report_has_line_caret_reason_and_remedy():
    """As a person reads it in a terminal."""
    text = "# a comment\n" + rule(
        "x_bar = np.cos(y_bar)\nreturn rl.NoTangent(), rl.thunk(lambda: x_bar)", **ONE
    )
    report = lint(text)
    (advice,) = report.advices
    filename = advice.place.filename
    assert str(report).splitlines() == [
        "f_rrule of f: 1 suggestion.",
        "1. A thunk is wrapped around a variable, x_bar.",
        f"   {filename}, line 8, in f_rrule: return rl.NoTangent(), rl.thunk(lambda: x_bar)",
        " " * len(f"   {filename}, line 8, in f_rrule: return rl.NoTangent(), ") + "^" * 23,
        "   why: x_bar is computed before the thunk is made, so nothing is saved, and the thunk adds a call.",
        "   better: x_bar = rl.thunk(lambda: np.cos(y_bar))",
        "   read: howto/write-good-rules#thunk-of-variable",
    ]
    assert report and report.to_dict()["advices"][0]["kind"] == "thunk-of-variable"


def test_a_good_rule_gets_a_word_too():
    """Silence would leave one in doubt."""
    report = lint(rule("return rl.NoTangent(), np.cos(y_bar)", **ONE))
    assert not report and str(report) == "f_rrule of f: no suggestions."


def test_hostile_names_are_words_in_the_page():
    """A text that is HTML is shown, not obeyed."""
    text = rule(
        "x_bar = np.cos(y_bar)\nreturn rl.NoTangent(), rl.thunk(lambda: x_bar)  # <script>alert(1)</script>",
        **ONE,
    )
    page = lint(text)._repr_html_()
    assert "<script>" not in page and "&lt;script&gt;" in page


BUILT_IN = {
    # Numbers, or a few of them: a thunk would cost more than it saves.
    ("missing-thunks", "power_rrule"),
    ("missing-thunks", "sum_rrule"),
    ("missing-thunks", "fmean_rrule"),
    ("missing-thunks", "arange_rrule"),
    # A copy, a view or a sum of what is there, beside shared work.
    ("missing-thunks", "correlate_rrule"),
    ("missing-thunks", "insert_rrule"),
    ("missing-thunks", "logsumexp_rrule"),
    ("missing-thunks", "paired_rrule"),
    ("missing-thunks", "past_kink_rrule"),
    ("missing-thunks", "placed_rrule"),
    ("missing-thunks", "polyadd_rrule"),
    ("missing-thunks", "polydiv_rrule"),
    ("missing-thunks", "polyval_rrule"),
    ("missing-thunks", "power_partial_exponent_rrule"),
    ("missing-thunks", "tensorsolve_rrule"),
    # A solution with the transposed matrix or an array turned round, from which each cotangent is made.
    ("missing-thunks", "along_axes_rrule"),
    ("missing-thunks", "hermitian_pairs_rrule"),
    ("missing-thunks", "hermitian_values_rrule"),
    ("missing-thunks", "filtered_rrule"),
    ("missing-thunks", "hermitian_pencil_rrule"),
    ("missing-thunks", "solve_banded_rrule"),
    ("missing-thunks", "solve_continuous_lyapunov_rrule"),
    ("missing-thunks", "solve_discrete_lyapunov_rrule"),
    ("missing-thunks", "solve_rrule"),
    ("missing-thunks", "solve_sylvester_rrule"),
    ("missing-thunks", "solve_triangular_rrule"),
    ("missing-thunks", "solveh_banded_rrule"),
    # Two cotangents, of which nearly always both are wanted.
    ("missing-thunks", "beside_rrule"),
    ("missing-thunks", "convolve_rrule"),
    ("missing-thunks", "fractional_matrix_power_rrule"),
    # Of constants of these types alone; a table of ours has no shorter way to say so.
    ("non-differentiable", "constant_frule"),
    ("non-differentiable", "zeros_frule"),
    ("non-differentiable", "zeros_rule"),
    # Work that all cotangents share, beside one that is a thunk; where nothing flows back, nothing is told.
    ("missing-thunks", "trajectory_rrule"),
    ("missing-thunks", "integral_rrule"),
    ("none-for-zero", "trajectory_rrule"),
    ("none-for-zero", "integral_rrule"),
    ("non-differentiable", "unanswered_rrule"),  # it refuses cotangents, and does not drop them
    # The cotangent is handed on, as it is or turned; a name would say no more.
    ("lambda-pullback", "in_other_digits_rrule"),
    ("scalar-rule", "in_other_digits_rrule"),  # of arrays
    ("lambda-pullback", "zero_left_rule"),
    ("lambda-pullback", "zero_right_rule"),
    ("lambda-pullback", "zeros_rule"),
    ("non-differentiable", "range_item_frule"),
    # Whether phases matter shows in the cotangents of a reverse sweep; how vectors move besides has none.
    ("lambda-pullback", "motion_of_rrule"),
    ("lambda-pullback", "by_missing_rrule"),
    ("non-differentiable", "motion_of_rrule"),
    ("non-differentiable", "motion_of_frule"),
    # `none` there is a tangent that is missing, which raises for who needs it.
    ("none-for-zero", "window_rrule"),
    # Backwards the keys of a dict have a rule, for the loop that reads them refuses numbers that vary.
    ("non-differentiable", "keys_frule"),
}
"""What the lint says of the built-in rules, each looked at."""


@pytest.mark.slow
def test_built_in_rules_keep_to_our_own_advice():
    """But for what stands above; a rule that comes tomorrow is read, too, and those that wait for SciPy."""
    if importlib.util.find_spec("scipy") is not None:
        for lazy in DEFAULT.snapshot.lazy_rules:
            there = vars(importlib.import_module(lazy.module)).values()
            DEFAULT.entry(next(value for value in there if callable(value) and lazy.holds(value)))
        assert not DEFAULT.snapshot.lazy_rules
    found = set()
    for entry in DEFAULT.entries():
        for rule in entry.built_in:
            if isinstance(rule, Rule) and rule.partials is None and is_written(rule):
                taken_apart = anatomy_of(rule, entry.target())
                found |= {(a.kind, a.rule) for advise in ADVICES for a in advise(taken_apart)}
    assert found <= BUILT_IN, found - BUILT_IN


def test_the_import_that_is_missing_is_named():
    """In a rule that was stated before it, and of which nothing else can be said until then."""
    text = rule("return jnp.NoTangent(), w @ y_bar, itertools.chain(w)")
    assert [a.found for a in lint(text).advices] == [
        "jnp is not defined: import jax.numpy as jnp", "itertools is not defined: import itertools",
    ]
    made = written(text)
    made["jnp"], made["itertools"] = rl, itertools
    assert "undefined-name" not in [a.kind for a in rule_lint(made["f"], registry=made["registry"]).advices]


def test_a_name_that_was_misspelt_is_named():
    """The one that was meant, where there is one that is like it."""
    text = rule("return rl.NoTangent(), 2 * w * y_bar", before="wheight = 1\nprint(weight)", **MISSING)
    (advice,) = lint(text).advices
    assert advice.found == "weight is not defined: wheight"
