"""Names, texts and objects of others are data: nothing of them runs, none is taken for a constant, none acts
where it is shown."""

import ast
import json
import linecache
import math
import re
import types
import unicodedata
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import RuleLabError, printable
from rulelab.symbolic import Proved, Refuted, derive_rule, prove, scan_stability
from rulelab.tables import prose
from rulelab.tangents.zeros import NoTangent
from rulelab.verdicts import SIGNS

NOTHING = NoTangent()

# --- names of arguments -------------------------------------------------------------------------------------

SYMPYS = (
    "I E pi S N Q O C oo zoo nan inf e beta gamma zeta Lambda Symbol Integer Rational exp sin log sqrt Pow "
    "Add diff Integral E1 Si GoldenRatio Catalan EulerGamma true init_printing"
).split()
OURS = "y_bar x_bar back rl np_ f_rrule symbol angle one atom argument constant y0 args self".split()
ODD = [
    "_",
    "__",
    "__class__",
    "__builtins__",
    "__import__",
    "λ",
    "ﬁ",
    "ℯ",
    "π",
    "ª",
    "µ",
    "х",
    "𝐱",
    "ｘ",
    "ℐ",
]
NAMES = [*SYMPYS, *OURS, *ODD]


def sampled(every, some):
    """All as parameters, of which the default suite takes `some` and the campaign the rest."""
    return [pytest.param(one, marks=[pytest.mark.campaign] * (one not in some)) for one in every]


def with_argument(name, value, slope):
    """A function of one argument called `name` and its rule, by their texts; `{}` stands for the name."""
    text = f"""
def f({name}):
    return {value.replace("{}", name)}

def rule({name}):
    return f({name}), lambda seed: (NOTHING, {slope.replace("{}", name)})
"""
    namespace = {"math": math, "NOTHING": NOTHING}
    exec(text, namespace)
    return namespace["f"], namespace["rule"]


@pytest.mark.every(67)
@pytest.mark.parametrize("name", sampled(NAMES, {*NAMES[::5], "E", "pi", "I"}))
def test_a_right_rule_is_proved_whatever_the_name_of_its_argument(name):
    """An argument called E, pi or I is a number like any other."""
    value = "math.e * {} + {} ** 2 * math.pi"
    right = with_argument(name, value, "seed * (math.e + 2 * {} * math.pi)")
    assert isinstance(prove(*right).verdict, Proved)


@pytest.mark.every(13)
@pytest.mark.parametrize("name", NAMES)
def test_an_argument_is_no_constant_whatever_its_name(name):
    """A rule that holds only if the name were that constant is refuted."""
    constant = "math.e" if name.lower() == "e" else "math.pi"
    mixed = with_argument(name, f"{constant} * {{}} ** 2", f"seed * {{}} * ({constant} + {{}})")
    assert isinstance(prove(*mixed).verdict, Refuted)


@pytest.mark.parametrize("name", ["pi", "E"])
def test_an_argument_and_the_constant_of_its_name_are_told_apart(name):
    """In a formula that has both, the constant is spelt as the code spells it."""
    f, rule = with_argument(name, f"math.{name.lower()} * {{}}", f"seed * math.{name.lower()} * {{}}")
    report = prove(f, rule)
    assert report.arguments[0].rule.text in (
        f"{name}*math.{name.lower()}*y_bar",
        f"math.{name.lower()}*{name}*y_bar",
    )
    assert rf"\mathrm{{math.{name.lower()}}}" in report._repr_latex_()


SOME = ["I", "E", "pi", "gamma", "Symbol", "exp", "y_bar", "back", "f_rrule", "_", "__class__", "λ"]


@pytest.mark.every(67)
@pytest.mark.parametrize(
    "name", [*SOME, *(pytest.param(n, marks=pytest.mark.campaign) for n in NAMES if n not in SOME)]
)
def test_a_rule_is_derived_for_an_argument_of_any_name(name):
    """Names that SymPy or the text of a rule uses itself give the right rule, or a refusal."""
    f, _ = with_argument(name, "math.e * {} + {} ** 2 * math.pi", "0")
    try:
        derived = derive_rule(f, 2.0)
    except RuleLabError:
        return
    assert derived.is_proved and derived.is_checked


def test_two_arguments_never_share_a_name():
    """`x0, *x` has an x0 of its own among those of *x: exchanged cotangents are refuted, not merged."""

    def f(x0, *x):
        return x0**2 * x[0]

    def rule(x0, *x):
        return f(x0, *x), lambda b: (NOTHING, 2 * x0 * x[0] * b, x0**2 * b)

    def exchanged(x0, *x):
        return f(x0, *x), lambda b: (NOTHING, x0**2 * b, 2 * x0 * x[0] * b)

    proof = prove(f, rule, at=(2.0, 3.0))
    assert isinstance(proof.verdict, Proved) and len(set(proof.names)) == 2
    refutation = prove(f, exchanged, at=(2.0, 3.0))
    assert isinstance(refutation.verdict, Refuted)
    assert len(refutation.verdict.counterexample.arguments) == 2


def test_names_that_look_alike_are_two():
    """A Latin and a Cyrillic x are two arguments; a wide x is the Latin one, as in Python."""
    namespace = {"NOTHING": NOTHING}
    exec(
        "def f(x, х):\n    return x * x * х\n"
        "def rule(x, х):\n    return f(x, х), lambda b: (NOTHING, 2 * x * х * b, x * x * b)\n"
        "def wrong(x, х):\n    return f(x, х), lambda b: (NOTHING, 2 * x * x * b, x * x * b)\n",
        namespace,
    )
    assert isinstance(prove(namespace["f"], namespace["rule"]).verdict, Proved)
    assert isinstance(prove(namespace["f"], namespace["wrong"]).verdict, Refuted)
    assert unicodedata.normalize("NFKC", "ｘ") == "x"


# --- texts --------------------------------------------------------------------------------------------------

PAYLOADS = [
    # Python
    "__import__('os').system('touch {canary}')",
    "exec(\"open('{canary}', 'w')\")",
    "eval(\"open('{canary}', 'w')\")",
    "open('{canary}', 'w')",
    "(lambda: open('{canary}', 'w'))()",
    "[c for c in ().__class__.__base__.__subclasses__()]",
    "().__class__.__mro__[1].__subclasses__()",
    "{{().__class__}}",
    "{0.__class__.__init__.__globals__}",
    "{self.__init__.__globals__}",
    "%(canary)s %s %d %n",
    "x\nopen('{canary}', 'w')",
    "x; open('{canary}', 'w')",
    "x):\n    open('{canary}', 'w')\ndef g(",
    "'''\nopen('{canary}', 'w')\n'''",
    '"""\nopen(\'{canary}\', "w")\n"""',
    "# coding: utf-7\n+AG8-pen",
    "\\N{{LATIN SMALL LETTER X}}\\x00\\u0000",
    "$(touch {canary})",
    "`touch {canary}`",
    "!touch {canary}",
    "%system touch {canary}",
    "%%bash\ntouch {canary}",
    "get_ipython().system('touch {canary}')",
    "x | touch {canary} #",
    # SymPy
    "Symbol('x')",
    'S(\'open("{canary}", "w")\')',
    "lambdify(x, open('{canary}', 'w'))",
    "Integral(1/x, (x, 0, oo))",
    "9**9**9**9",
    "factorial(10**9)",
    "zoo",
    # HTML
    "<script>open('{canary}')</script>",
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "'\"><iframe src=javascript:alert(1)>",
    "</td></tr></table></div><h1>",
    "</style><style>*{{display:none}}",
    "<!-- --><a href=javascript:alert(1)>x</a>",
    "&lt;script&gt;&#x3c;b&#x3e;",
    "javascript:alert(1)",
    "<math><maction actiontype=statusline xlink:href=javascript:alert(1)>",
    "<details open ontoggle=alert(1)>",
    # LaTeX and MathJax
    "\\input{{/etc/passwd}}",
    "\\write18{{touch {canary}}}",
    "\\immediate\\write18{{touch {canary}}}",
    "\\href{{javascript:alert(1)}}{{x}}",
    "\\require{{html}}\\class{{x}}{{y}}",
    "\\unicode{{x3c}}script\\unicode{{x3e}}",
    "}}$$\\href{{javascript:alert(1)}}{{x}}$${{",
    "$$x$$ \\(x\\) \\[x\\]",
    "\\end{{aligned}}$$<b>x</b>$$\\begin{{aligned}}",
    "\\catcode`\\%=12 %",
    "\\def\\x{{\\x\\x}}\\x",
    "^^5cinput{{x}}",
    "{{}}}}{{{{",
    # terminals and other readers
    "\x1b[2J\x1b[31mred\x1b]0;title\x07",
    "\x9b31m\x90\x9c",
    "a\rb\x08c\x00d",
    "\u202egnp.exe\u2066\u2069",
    "\ud800 alone",
    "\u200b\ufeff\u2028\u2029",
    "a" * 20_000,
    "../../../../etc/passwd",
    "=cmd|' /C calc'!A0",
    "[x](javascript:alert(1)) ![y](http://example.org/z.png)",
]


def test_there_are_sixty_of_them():
    """As many as were promised."""
    assert len(set(PAYLOADS)) >= 60


class _Odd:
    """An object that shows itself by a payload."""

    def __init__(self, word):
        self.word = word

    def __repr__(self):
        return self.word


def carrying(word):
    """A function, and a wrong rule of it, that carry a payload wherever a text can stand."""
    module = types.ModuleType("somewhere")
    module.__name__ = word
    module.scale = 2.0

    def squared(x, mode=word, thing=_Odd(word)):
        return module.scale * x**2 if mode == word else x

    def rule(x, mode=word, thing=None):
        return squared(x, mode), lambda y_bar: (NOTHING, 2 * x, NOTHING, NOTHING)

    for function in (squared, rule):
        function.__name__ = function.__qualname__ = function.__doc__ = word
        function.__module__ = word
        function.__code__ = function.__code__.replace(co_name=word, co_qualname=word, co_filename=word)
    return squared, rule


def reading(word):
    """A function with a proper name that reads the payload, from a default, a global and a dict's key."""

    def squared(x, mode=word):
        return x**2 * table[text] if mode == text else math.sin(x)

    table, text = {word: 2.0}, word
    somewhere = {"text": word, "scale": 2.0}
    exec("def chosen(x):\n    return scale * x**2 if text else x\n", somewhere)
    return squared, somewhere["chosen"]


def of_arrays(word):
    """Functions of arrays whose rule is derived statement by statement, the payload as a key, as an option
    that NumPy refuses, and as the name of a helper."""
    names = {"np": np, "scales": {word: 2.0}}
    source = f"""
def keyed(x):
    e = np.exp(x - np.max(x)) * scales[{word!r}]
    return np.sum(e * x) / np.sum(e)

def refused(x):
    return np.sum(np.linalg.norm(x, ord={word!r}) * x)

def helped(x):
    return np.sum(helper(x) * np.cumsum(x))
"""
    filename = f"<{printable(word)}>"  # as of somebody's cell, whose lines are kept
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    exec(compile(source, filename, "exec"), names)
    names["helper"] = rl.twin(lambda x: x * x, "other")
    names["helper"].__name__ = names["helper"].__qualname__ = word
    functions = [names[name] for name in ("keyed", "refused", "helped")]
    for function in functions:
        function.__doc__ = function.__module__ = word
    return functions


def raising(word):
    """A rule whose pullback raises an error that says the payload."""

    def rule(x):
        def pullback(y_bar):
            raise ValueError(word)

        return x, pullback

    return lambda x: x, rule


def unfollowed(word):
    """A function with a call of an object that cannot be followed and is called as the payload says."""
    table = {word: iter}
    mystery = np.vectorize(lambda x: x)
    mystery.__name__ = word

    def f(x):
        return mystery(x) * len(table)

    f.__code__ = f.__code__.replace(co_name=word, co_filename=word)
    return f, lambda x: (f(x), lambda b: (NOTHING, b))


ACTING = re.compile("[\x00-\x09\x0b-\x1f\x7f\x80-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029\ud800-\udfff]")
TAGS = set("div style p code table caption thead tbody tr th td pre details summary span strong".split())
TAGS |= set("math mrow mi mn mo mtext mspace mphantom mover msup msub msubsup mfrac msqrt".split())
TAGS |= set("mtable mtr mtd".split())
ATTRIBUTES = set("class scope tabindex role aria-label data-label style".split())
ATTRIBUTES |= set("xmlns display form fence stretchy width mathvariant columnalign".split())
NOT_OURS = re.compile(r"\\(input|write|immediate|href|require|unicode|class|def|catcode|end\{document)")

STYLES = {re.search('style="(.*?)"', sign.html())[1] for sign in SIGNS.values()}
HANGING = re.compile(r"padding-left: (\d+)ch; text-indent: -\1ch")  # of a line of code that may be broken
STYLES |= {"display: none", "white-space: nowrap", re.search('style="(.*?)"', prose("`code`"))[1]}


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes = set(), set()

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}
        styles = {value for name, value in attributes if name == "style"} - STYLES
        assert all(map(HANGING.fullmatch, styles))


def harmless(report):
    """Every face of a report shows the words of others as words."""
    text, html, latex = str(report), report._repr_html_(), report.to_latex()
    assert not ACTING.search(text), ACTING.search(text)
    assert not ACTING.search(html.replace("\t", "")), ACTING.search(html)
    reader = _Reader()
    reader.feed(html)
    assert reader.tags <= TAGS and reader.attributes <= ATTRIBUTES
    for tex in filter(None, (latex, getattr(report, "_repr_latex_", lambda: "")())):
        bare = re.sub(r"\\textbackslash(\{\})?", "", tex)
        assert not NOT_OURS.search(bare), NOT_OURS.search(bare)
        braces = re.sub(r"\\[\\{}$]", "", tex)
        assert braces.count("{") == braces.count("}")
        assert braces.count("$") % 2 == 0
    assert json.loads(json.dumps(report.to_dict()))


@pytest.fixture
def nothing_runs(tmp_path, monkeypatch):
    """Where a payload would leave its mark; afterwards there must be none."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "ran"
    assert not list(tmp_path.iterdir())


def _written(payload, canary):
    return payload.replace("{canary}", str(canary)).replace("{{", "{").replace("}}", "}")


@pytest.mark.every(11)
@pytest.mark.parametrize("payload", PAYLOADS, ids=range(len(PAYLOADS)))
def test_payloads_are_words(payload, nothing_runs):
    """A payload as name, docstring, module, file, default, object, error and title: nothing runs, and every
    face of a report shows it as a word or not at all."""
    word = _written(payload, nothing_runs)
    f, rule = carrying(word)
    refuted = prove(f, rule, at=(2.0, word, _Odd(word)), name=word)
    assert isinstance(refuted.verdict, Refuted) and refuted.arguments
    harmless(refuted)


@pytest.mark.every(23)
@pytest.mark.parametrize("payload", sampled(PAYLOADS, PAYLOADS[::4]), ids=range(len(PAYLOADS)))
def test_payloads_in_errors_are_words(payload, nothing_runs):
    """A payload in what a function raises, and in one that cannot be followed."""
    word = _written(payload, nothing_runs)
    harmless(prove(*raising(word)))
    harmless(prove(*unfollowed(word)))


@pytest.mark.every(37)
@pytest.mark.parametrize(
    "payload",
    [
        *PAYLOADS[::9],
        *(pytest.param(p, marks=pytest.mark.campaign) for p in PAYLOADS if p not in PAYLOADS[::9]),
    ],
    ids=lambda payload: str(PAYLOADS.index(payload)),
)
def test_payloads_are_words_in_derived_rules_and_scans(payload, nothing_runs):
    """The same for the text of a derived rule, where they are literals, for scans and for errors."""
    word = _written(payload, nothing_runs)
    f, rule = carrying(word)
    for ask in (
        *(lambda g=g: derive_rule(g, 2.0) for g in (f, *reading(word))),
        lambda: derive_rule(f, 2.0, name=word),
        lambda: scan_stability(f, rule, time_limit=2.0),
        lambda: prove(f, name=word),
    ):
        try:
            harmless(ask())
        except RuleLabError as refused:
            assert not ACTING.search(str(refused)), str(refused)


@pytest.mark.every(37, slow=True)
@pytest.mark.parametrize("payload", sampled(PAYLOADS, PAYLOADS[::9]), ids=range(len(PAYLOADS)))
def test_payloads_are_words_in_rules_by_statements(payload, nothing_runs):
    """The text of such a rule has the author's statements again, and its notes quote them."""
    word = _written(payload, nothing_runs)
    x = np.linspace(0.3, 1.9, 15)  # more than formulas have entries
    found = []
    for f in of_arrays(word):
        try:
            derived = derive_rule(f, x)
        except RuleLabError as refused:
            assert not ACTING.search(str(refused)), str(refused)
        else:
            found.append(f.__name__)
            harmless(derived)
            harmless(replace(derived, notes=(*derived.notes, word), checked=word))
            constants = (n.value for n in ast.walk(ast.parse(derived.source)) if isinstance(n, ast.Constant))
            assert {c for c in constants if isinstance(c, str)} <= {word}
    assert found == ["keyed", "helped"]
