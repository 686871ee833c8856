"""Hostile words, functions that carry them wherever a name can stand, and the reports made of those."""

from __future__ import annotations

import functools
import linecache
import types
from pathlib import Path

import numpy as np
from IPython.lib.pretty import pretty

import rulelab as rl
from rulelab.bench import (
    Duel,
    compare_records,
    first_gradient,
    gradient_duel,
    load,
    measure,
    profile,
    save,
    scaling,
)
from rulelab.checking import GradientCheck, RuleCheck
from rulelab.checking.advice.lint import rule_lint
from rulelab.checking.batch.jobs import Job
from rulelab.checking.comparing.comparison import compare, compare_without
from rulelab.checking.judgement.reports import CheckSummary, PointShown
from rulelab.checking.many import ManyChecks, Outcome
from rulelab.checking.probing.closeness import Worst
from rulelab.checking.probing.findings import WARNING, Diagnosis, Finding
from rulelab.errors import ForeignCallError, Place, register_cell_label
from rulelab.notebook import tabs
from rulelab.notebook.displays import (
    Defined,
    Gradient,
    Hessian,
    Jacobian,
    Refreshed,
    Rules,
    Source,
    Stub,
    Undone,
    WhichRules,
)
from rulelab.notebook.pair import Derived, Pair, Times
from rulelab.portability.exports import Exported
from rulelab.portability.running import Row
from rulelab.portability.stored_run import StoredRun
from rulelab.rules.registry import Registry
from rulelab.symbolic import DerivedRule, prove, sym_check
from rulelab.symbolic.stability import Better, Region, StabilityReport

WORDS = (
    "<script>window.ran=1</script>",
    "<img src=x onerror=window.ran=1>",
    '"><svg onload=window.ran=1>',
    "</td></table></pre></details><iframe src=javascript:window.ran=1>",
    "</style><style>*{display:none}</style>",
    r"$\href{javascript:window.ran=1}{x}$",
    r"$$\unicode{x}\require{html}\class{x}{y}$$",
    r"\(x\) \[y\] \input{x} \write18{x} }{",
    r"\end{verbatim}\input{x}\end{tabular}\end{document}",
    "[x](javascript:window.ran=1) ![y](https://example.org/z.png) `|` <https://example.org>",
    "&lt;script&gt; &#60;b&#62; {{ 7 * 7 }} {% raw %}",
    "\x1b[31m\x07\u202e\u2066 a\nb\rc",
)
"""What a name, a docstring, a unit, a key or an error may contain, all of it harmless as words."""


def carrying(word: str) -> tuple[types.FunctionType, types.FunctionType]:
    """A function of a dict and its twin with a rule, named and documented by `word`."""

    def f(p):
        return sum(np.sum(p[k] ** 2) for k in p)

    def f_rule(p):
        return f(p), lambda y_bar: (rl.NoTangent(), {k: 2 * p[k] * y_bar for k in p})

    for function in (f, f_rule):
        function.__name__ = function.__qualname__ = word
        function.__doc__ = word
    return f, f_rule


def reports(word: str, folder: Path) -> dict[str, object]:
    """One of everything that is shown, with `word` wherever words of others go."""
    f, f_rule = carrying(word)
    twin = rl.twin(lambda p: f(p), "other")
    twin.__name__ = word
    point = {word: 2.0, "plain": np.array([1.0, 2.0])}
    filename = f.__code__.co_filename
    register_cell_label(filename, word)
    try:
        return {
            **_of_rules(word, f, f_rule),
            "gradient": Gradient((rl.gradient(f, point)[0], None), word, (word,)),
            "jacobian": Jacobian((np.eye(2), None), word, (word, word), (np.ones(2), word), np.ones(2)),
            "hessian": Hessian(np.eye(2), word, word, np.ones(2)),
            "comparison": compare(f, twin, point),
            "without": compare_without(f, twin, point),
            "profile": profile(_with_source(word), 2.0, seconds=0.01),
            "symbolic": _proof(word),
            "derivative": _derivative(word),
            **_checks(word),
            **_measured(word, f, twin, point, folder),
            **_of_other_work(word, twin, point),
            "overview": overview(word),
        }
    finally:
        register_cell_label(filename, "payloads")


def _of_rules(word, f, f_rule):
    registry = Registry()
    rl.rrule_for(f, registry=registry)(f_rule)
    stale = types.SimpleNamespace(function=word, signature=(word,), reason=word)
    source = f"def f(x):\n    return {word!r}  # {word}\n"
    return {
        "rules": Rules(registry),
        "lint": rule_lint(f, registry=registry),
        "refreshed": Refreshed(types.SimpleNamespace(mode="auto", stale=[stale])),
        "source": Source(source),
        "stub": Stub(source, word),
        "defined": Defined(word, word, word, word, (word,)),
    }


def _checks(word):
    """Reports of a wrong rule and of a wrong gradient, the word in every field that holds words."""
    place = Place(word, 1, 0, 3, function=word, text=word)
    one = " ".join(word.split())
    diff = f"--- {one}\n+++ {one}\n@@ -1 +1 @@\n-    {one}\n+    {one}\n"
    parts = {
        "function": word,
        "mode": word,
        "names": (word,),
        "place": place,
        "checks": (CheckSummary(word, "wrong", 1, word),),
        "findings": (
            Finding(word, word, argument=word, worst=Worst(word, 1.0, 2.0, 0.1, (1.0,))),
            Finding(word, word + "!"),
            Finding(word, word, WARNING),
        ),
        "diagnoses": (Diagnosis(word, word, word, place, diff, word), Diagnosis(word, word, word)),
        "points": (PointShown(word, (word,)),),
        "notes": (word,),
    }
    checked = Defined(word, word, word)
    checked.check = RuleCheck(by=word, **parts)
    return {
        "check": RuleCheck(by=word, **parts),
        "gradient check": GradientCheck(by=word, rules=(word,), **parts),
        "checked": checked,
    }


def _measured(word, f, twin, point, folder):
    duel = gradient_duel(f, twin, point, rounds=1)
    saved = {**duel.to_dict(), "refused": word, "environment": {word: word, "blas": [{"library": word}]}}
    stamped = Duel.from_dict(saved)
    save(stamped, folder / "duel.json")
    return {
        "timings": measure(lambda: None, name=word, rounds=1),
        "duel": duel,
        "loaded": load(folder / "duel.json"),
        "records": compare_records(stamped, duel),
        "first": first_gradient(f, point),
        "scaling": scaling(f, twin, lambda n: (point,), sizes=[1, 2], rounds=1),
    }


def _of_other_work(word, twin, point):
    """Reports of exports, of many checks, of scans and derived rules, of what is found and undone."""
    row = Row(word, word, word, word, 1, 0.1, 0.2, "wrong", word)
    gathered = types.SimpleNamespace(target=word, name=word)
    check = RuleCheck(word, word, word, notes=(word,), points=(PointShown(word, (word,)),))
    checked = types.SimpleNamespace(gathered=gathered, checks=((word, check),))
    one = " ".join(word.split())
    rule = f"def f_rrule(x):\n    return x, lambda y_bar: (None, {word!r})  # {one}\n"
    derived = DerivedRule(word, rule, f"%%rrule f\n{rule}", _proof(word), word, True, (word,))
    region = Region(word, word, word, word, 1e9, word, word, word)
    outcome = Outcome(Job(word, word), "wrong", word, (word,), {word: word})
    return {
        "exported": Exported(word, (word,), (Path(one),), (checked,), (word,), (row,), (word,)),
        "stored run": StoredRun(word, word, word, {word: word}, word, (row,)),
        "many checks": ManyChecks((outcome,), (Job(word, word),), (word,)),
        "scan": StabilityReport(word, (region,), (Better(word, word, 9.0, 1.0, 9.0, 1.0),), 5, 1e9, (word,)),
        "derived rule": derived,
        "derived in a panel": Derived(derived),
        "undone": Undone(word, (word,), (word,)),
        "which rules": WhichRules(word, word, rl.which_rule(twin, point), word),
    }


def pair(word: str) -> Pair:
    """What a panel is opened on: a function and its wrong twin, both called by the word, their source too."""
    f = _with_source(word)
    twin = rl.twin(f, "other")
    twin.__name__ = twin.__qualname__ = f.__name__ = f.__qualname__ = word

    def wrong(x):
        return f(x), lambda y_bar: (rl.NoTangent(), 2.5 * x * y_bar)

    wrong.__name__ = wrong.__qualname__ = wrong.__doc__ = word
    rl.rrule_for(twin)(wrong)
    return Pair(f, twin, (np.arange(16.0),), rounds=1)  # as many as are drawn over each other


def overview(word: str):
    """All pages of a panel, with a picture and what SymPy says."""
    opened = pair(word)
    f, f_cr, args = opened.f, opened.f_cr, opened.args
    opened.times = Times(
        gradient_duel(f, f_cr, *args, rounds=8),  # as many as are drawn as a distribution
        (first_gradient(f, *args),),
        scaling(f, f_cr, opened.make, sizes=[8, 16], rounds=1),
    )
    opened.proof = _proof(word)
    return tabs.overview(opened)


def _with_source(word):
    """A function whose lines hold the word, as in somebody's cell."""
    text = f"def f(x):\n    y = x * x  # {' '.join(word.split())}\n    return np.sum(y if {word!r} else x)\n"
    filename = f"<{' '.join(word.split())}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names: dict = {"np": np}
    exec(compile(text, filename, "exec"), names)
    return names["f"]


def _about_numbers(word):
    def squared(x):
        return x**2

    squared.__name__ = word
    return squared, lambda x: (x**2, lambda y_bar: (rl.NoTangent(), 2 * x))


@functools.lru_cache(1)  # asked for by three reports of each word
def _proof(word):
    return prove(*_about_numbers(word))


def _derivative(word):
    squared, _ = _about_numbers(word)
    return sym_check(squared, 2.0, formula=lambda x: 3 * x, name=word, written=word)


def error(word: str) -> rl.RuleLabError:
    """An error with the word in each of its parts."""
    place = Place(word, 1, 0, 3, function=word, text=word)
    return ForeignCallError(word, asked=word, place=place, fixes=(word,), read=word, chain=(place,))


def faces(report) -> dict[str, str]:
    """Every face of a report by its media type."""
    return {
        "text/plain": pretty(report),
        "text/html": report._repr_html_(),
        "text/markdown": report.to_markdown(),
        "text/latex": report.to_latex(),
    }


def show(words, folder: Path) -> None:
    """Display the page of a panel with each of the words in it, and every face by itself of a third of the
    reports: of each report with some of the words.
    """
    from IPython.display import display

    for number, word in enumerate(words):
        shown: dict[str, list[str]] = {}
        made = reports(word, folder)
        display(made["overview"])
        for report in [*made.values()][number % 3 :: 3]:
            for kind, face in faces(report).items():
                shown.setdefault(kind, []).append(face)
        for kind, each in shown.items():
            display({kind: "\n\n".join(each)}, raw=True)
