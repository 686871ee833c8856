"""Why a function of a library has no rule stands in the error of its call."""

import colorsys
import importlib
import subprocess
import sys
import types

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import ForeignCallError
from rulelab.rules.refusals import object_name, reason_for, state_reasons

X = np.array([0.3, 1.2, 0.7])
CALLS = [
    ("numpy", lambda np, x: np.poly(x), "multiply the factors `x - root`"),
    ("scipy.special", lambda special, x: special.kolmogorov(x), "its density is not among the functions"),
    ("scipy.linalg", lambda linalg, x: linalg.schur(np.diag(x))[0], "a Schur or Hessenberg form"),
    ("scipy.signal", lambda signal, x: signal.medfilt(x), "depends on the order of the values"),
    ("scipy.fft", lambda fft, x: fft.fht(x, 0.1, 0.5), "on a logarithmic scale"),
    ("scipy.integrate", lambda integrate, x: integrate.newton_cotes(x)[0], "weights that depend on"),
    ("scipy.optimize", lambda optimize, x: optimize.leastsq(lambda p: p - x, X)[0], "use least_squares"),
    ("scipy.stats", lambda stats, x: stats.tmean(x), "use np.mean"),
]


@pytest.mark.parametrize(("module", "f", "reason"), CALLS, ids=[module for module, _, _ in CALLS])
def test_the_reason_is_in_the_error(module, f, reason):
    """In both modes, after the call that is refused: what to use instead, or what is missing."""
    library = importlib.import_module(module) if module == "numpy" else pytest.importorskip(module)
    with pytest.raises(ForeignCallError, match=rf"foreign call expression .*\): .*({reason})"):
        rl.gradient(lambda x: np.sum(f(library, x)), X)
    with pytest.raises(ForeignCallError, match=rf"foreign call expression .*\): .*({reason})"):
        rl.pushforward(lambda x: np.sum(f(library, x)), X)(X)


def test_a_method_has_the_reason_of_what_it_overrides_or_of_its_object():
    """By the name under which a library has the object; a method of its own has its own reason."""

    class Base:
        def fit(self, x): ...

        def draw(self, x): ...

        def __call__(self, x): ...

    class Derived(Base):
        def fit(self, x): ...

        def shown(self, x): ...

    library = types.SimpleNamespace(known=Derived(), other=Derived())
    state_reasons(Base, {"fit": "found by a solver"})
    state_reasons(library, {"known": "of a kind that is not followed"})
    known, other = library.known, library.other
    assert reason_for(Derived.fit, known, 0.7) == reason_for(Derived.fit, other) == "found by a solver"
    assert reason_for(Derived.shown, known) == reason_for(Base.__call__, known, 0.7)
    assert reason_for(Derived.shown, known) == "of a kind that is not followed"
    assert reason_for(Derived.shown, other) is None is reason_for(Base.draw, other)
    assert reason_for(np.poly1d, known) != "of a kind that is not followed"
    assert object_name(Derived.shown, (known,)) == "known"
    assert object_name(Derived.shown, (other,)) is None is object_name(print, (known,))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda stats, x: stats.wishart.logpdf(np.diag(x), 5, np.eye(3)), r" wishart\.logpdf\(.*\): a mult"),
        (lambda stats, x: stats.norm.fit(x)[0], r"norm_gen\.fit\(.*\): found by a solver"),
        (lambda stats, x: stats.norm.interval(0.9, x)[0], r"interval\(.*\): use ppf"),
        (lambda stats, x: stats.multivariate_normal.cdf(x, np.zeros(3)), r"\): an integral over random"),
        (lambda stats, x: stats.norm(x[0], 1.0).expect(lambda t: t), r"\): use scipy.integrate.quad"),
    ],
)
def test_methods_of_distributions(call, said):
    """Those of the base class, those that override them, and those of objects without a rule."""
    stats = pytest.importorskip("scipy.stats")
    with pytest.raises(ForeignCallError, match=said):
        rl.gradient(lambda x: np.sum(call(stats, x)), X)
    with pytest.raises(ForeignCallError, match=said):
        rl.pushforward(lambda x: np.sum(call(stats, x)), X)(X)


SESSION = """
import numpy as np
import rulelab as rl
from scipy import stats

try:
    rl.gradient(lambda x: stats.norm.fit(x)[0], np.ones(3))
except rl.RuleLabError as error:
    print(error)
"""


@pytest.mark.slow
def test_a_method_that_is_met_first(tmp_path):
    """The reasons of a library are read for the object, though nothing is stated of the method."""
    pytest.importorskip("scipy.stats")
    script = tmp_path / "session.py"
    script.write_text(SESSION, encoding="utf-8")
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert "found by a solver" in run.stdout, run.stdout + run.stderr


def test_an_exception_has_a_reason():
    """Which is made of what varies."""
    with pytest.raises(ForeignCallError, match="give it text"):
        rl.gradient(lambda x: UserWarning(x).args[0], 0.7)


def test_a_function_without_a_reason_has_none():
    """Nor has another object in its place; what a library has not is passed over."""
    state_reasons(colorsys, {"rgb_to_hls": "by cases", "no_such_function": "there is none"})
    assert reason_for(colorsys.rgb_to_hls) == "by cases"
    assert reason_for(colorsys.hls_to_rgb) is None and reason_for([]) is None
    with pytest.raises(ForeignCallError) as caught:
        rl.gradient(lambda x: np.sum(np.asarray(memoryview(x))), X)
    assert "): " not in str(caught.value).splitlines()[0]
