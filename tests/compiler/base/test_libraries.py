"""A function's file tells whose it is: a module of mine may be called like one of the standard library."""

import colorsys
import contextlib
import functools
import linecache
import operator
import random
import statistics
import subprocess
import sys
import textwrap
import types
import typing
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from numpy.polynomial import (
    Chebyshev,
    Polynomial,
    chebyshev,
    hermite,
    hermite_e,
    laguerre,
    legendre,
    polynomial,
)

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from corpus.harness import finite_differences, flat  # noqa: E402

import rulelab as rl  # noqa: E402
from rulelab.compiler.base.libraries import COMPILED, compiled_function, is_library  # noqa: E402

BODY = "def cubed(x):\n    return x * x * x\n"


@pytest.mark.parametrize(
    "function",
    [
        colorsys.rgb_to_hsv, random.Random.gauss, contextlib.contextmanager(len), functools.total_ordering,
        np.vander.__wrapped__, np.linalg.norm.__wrapped__, np.polynomial.Polynomial.fit.__func__,
        rl.gradient, rl.ProjectTo.__call__, types.FunctionType(compile("0", "<frozen os>", "eval"), {}),
    ],
)  # fmt: skip
def test_what_goes_by_rule(function):
    """NumPy, the standard library, frozen or not, and this package."""
    assert is_library(function)


def test_scipy_by_its_folder(tmp_path):
    """A function of SciPy is told by its module and folder."""
    namespace = {"__name__": "scipy.linalg._misc"}
    exec(compile(BODY, str(tmp_path / "site-packages" / "scipy" / "linalg" / "_misc.py"), "exec"), namespace)
    assert is_library(namespace["cubed"])


def test_the_libraries_that_are_installed_beside():
    """SciPy goes by rule, what else lies in site-packages is compiled."""
    linalg = pytest.importorskip("scipy.linalg")
    assert is_library(linalg.norm)
    assert not is_library(pytest.approx)


@pytest.mark.parametrize("name", ["queue", "types", "random", "numpy", "scipy", "cmd.mine", "rulelab"])
def test_modules_of_mine_with_known_names(tmp_path, name):
    """My own queue.py, random.py or numpy.py is mine."""
    file = tmp_path / f"{name.partition('.')[0]}.py"
    file.write_text(BODY)
    namespace = {"__name__": name}
    exec(compile(BODY, str(file), "exec"), namespace)
    assert not is_library(namespace["cubed"])
    assert rl.gradient(namespace["cubed"], 2.0) == (12.0,)


def test_a_folder_beside_the_package(tmp_path):
    """A folder whose name begins like this package's is not this package."""
    file = rl.__file__.replace("rulelab/__init__.py", "rulelab_extras/model.py")
    namespace = {"__name__": "rulelab_extras.model"}
    exec(compile(BODY, file, "exec"), namespace)
    assert not is_library(namespace["cubed"])


@pytest.mark.parametrize("name", ["<doctest queue[3]>", "<cell 7 of libraries>", "/tmp/ipykernel_7/3521.py"])
def test_doctests_and_cells(name):
    """Examples in docstrings and cells of a notebook are an author's, whatever the module is called."""
    linecache.cache[name] = (len(BODY), None, BODY.splitlines(keepends=True), name)
    namespace = {"__name__": "queue"}
    exec(compile(BODY, name, "exec"), namespace)
    assert rl.gradient(namespace["cubed"], 2.0) == (12.0,)


def test_a_script(tmp_path):
    """`python colorsys.py` differentiates its own functions, and those of its neighbour `wave.py`."""
    (tmp_path / "wave.py").write_text(BODY)
    script = tmp_path / "colorsys.py"
    text = """
        import rulelab as rl
        import wave
        def squared(x):
            return x * x
        print(rl.gradient(squared, 3.0), rl.gradient(wave.cubed, 2.0), wave.__file__)
        """
    script.write_text(textwrap.dedent(text))
    root = rl.__file__.rsplit("/rulelab/", 1)[0]
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=300,
        env={"PYTHONPATH": root}, cwd="/",
    )  # fmt: skip
    assert done.stdout.split()[:2] == ["(6.0,)", "(12.0,)"], done.stderr
    assert str(tmp_path) in done.stdout


V, W = np.array([2.1, 0.4, -1.3, 0.7]), np.array([0.3, -0.8, 1.9, 1.1])
NORMAL = statistics.NormalDist(1.0, 2.0)


def series(evaluate):
    """A series in its coefficients, in a number and in an array of them."""
    return [
        (lambda c: np.sum(evaluate(W, c) * V), V),
        (lambda x: evaluate(x, V), 0.7),
        (lambda x: np.sum(evaluate(x, W) * V), V),
    ]


def colours(convert):
    """Each of the three channels, on either side of the branches."""
    points = [(0.3, 0.4, 0.2), (0.8, 0.3, 0.5), (0.2, 0.35, 0.9)]
    return [(lambda c, k=k: convert(c[0], c[1], c[2])[k], point) for point in points for k in range(3)]


def handed_out(x):
    with contextlib.nullcontext([x, 2.0]) as items:
        items.append(items[0] * x)
    return items[2] * items[1]


def counted(change):
    """Two counters, changed or put together, and all that is in the result."""

    def program(x):
        one, other = Counter(a=x, b=2.0 * x, c=-x), Counter({"a": x * x, "d": 1.0})
        made = change(one, other)
        return sum(k * v for k, v in enumerate((made if made is not None else one).values(), 1))

    return [(program, 0.7), (program, 1.9)]


def without(one, other):
    del one["a"], one["nothing"]


COUNTERS = {
    "__init__": lambda one, other: one,
    "update": lambda one, other: one.update(other, b=3.0),
    "subtract": lambda one, other: one.subtract(other),
    "most_common": lambda one, other: Counter(dict(one.most_common(2))),
    "total": lambda one, other: Counter(a=one.total() * other.total()),
    "copy": lambda one, other: one.copy(),
    "_keep_positive": lambda one, other: one.__iadd__(other) and None,
    "__missing__": lambda one, other: Counter(a=one["a"] * (1 + one["nothing"])),
    "__add__": operator.add,
    "__sub__": operator.sub,
    "__or__": operator.or_,
    "__and__": operator.and_,
    "__pos__": lambda one, other: +one,
    "__neg__": lambda one, other: -one,
    "__iadd__": lambda one, other: one.__iadd__(other) and None,
    "__isub__": lambda one, other: one.__isub__(other) and None,
    "__ior__": lambda one, other: one.__ior__(other) and None,
    "__iand__": lambda one, other: one.__iand__(other) and None,
    "__delitem__": without,
}

BASES = {
    polynomial: "poly", chebyshev: "cheb", legendre: "leg",
    hermite: "herm", hermite_e: "herme", laguerre: "lag",
}  # fmt: skip
C2, C3 = np.arange(6.0).reshape(2, 3) - 1.3, np.arange(8.0).reshape(2, 2, 2) - 2.7


def of_basis(module, prefix):
    """What is compiled of a basis beside its values, each by point and coefficients."""

    def named(name):
        return getattr(module, prefix + name)

    cases = {
        "val2d": [(lambda x: named("val2d")(x, 0.4, C2), 0.7), (lambda c: named("val2d")(0.7, 0.4, c), C2)],
        "val3d": [
            (lambda x: named("val3d")(x, 0.4, x, C3), 0.7),
            (lambda c: named("val3d")(0.7, 0.4, 0.2, c), C3),
        ],
        "grid2d": [
            (lambda x: np.sum(named("grid2d")(x, V, C2)), W),
            (lambda c: np.sum(named("grid2d")(V, W, c)), C2),
        ],
        "grid3d": [(lambda x: np.sum(named("grid3d")(x, x, V, C3)), W)],
        "line": [(lambda a: np.sum(named("line")(a, 2.0 * a) * W[:2]), 0.7)],
    }
    if prefix != "poly":
        cases["weight"] = [(named("weight"), 0.7)]
    return {(module.__name__, prefix + name): rows for name, rows in cases.items()}


CASES = {
    **{name: rows for module, prefix in BASES.items() for name, rows in of_basis(module, prefix).items()},
    ("numpy.polynomial.polyutils", "_valnd"): [(lambda x: chebyshev.chebval2d(x, x, C2), 0.7)],
    ("numpy.polynomial.polyutils", "_gridnd"): [(lambda x: np.sum(chebyshev.chebgrid2d(x, x, C2)), W)],
    **{("collections", f"Counter.{name}"): counted(change) for name, change in COUNTERS.items()},
    ("colorsys", "rgb_to_yiq"): colours(colorsys.rgb_to_yiq),
    ("colorsys", "yiq_to_rgb"): colours(colorsys.yiq_to_rgb),
    ("colorsys", "rgb_to_hls"): colours(colorsys.rgb_to_hls),
    ("colorsys", "hls_to_rgb"): colours(colorsys.hls_to_rgb),
    ("colorsys", "_v"): [(lambda h: colorsys._v(0.2, 0.9, h), h) for h in (0.1, 0.3, 0.6, 0.9)],
    ("colorsys", "rgb_to_hsv"): colours(colorsys.rgb_to_hsv),
    ("colorsys", "hsv_to_rgb"): colours(colorsys.hsv_to_rgb),
    ("statistics", "NormalDist.pdf"): [(NORMAL.pdf, 0.7)],
    ("statistics", "NormalDist.cdf"): [(NORMAL.cdf, 0.7)],
    ("statistics", "NormalDist.zscore"): [(NORMAL.zscore, 0.7)],
    ("typing", "cast"): [(lambda x: typing.cast(float, x) * x, 1.5)],
    ("numpy", "polyval"): series(lambda x, c: np.polyval(c, x)),
    ("numpy.lib._polynomial_impl", "poly1d.__call__"): [(lambda x: np.poly1d(V)(x), 0.7)],
    ("numpy", "polyadd"): [(lambda a: np.sum(np.polyadd(a, [1.0, 2.0]) ** 2), V)],
    ("numpy", "polysub"): [(lambda a: np.sum(np.polysub([1.0, 2.0], a) ** 2), V)],
    ("numpy.polynomial._polybase", "ABCPolyBase.__call__"): [
        (lambda x: Polynomial(W)(x), 0.7), (lambda x: np.sum(Chebyshev(W, [0.0, 3.0])(x) * V), V),
    ],
    ("numpy.polynomial.polyutils", "mapparms"): [
        (lambda a, k=k: np.polynomial.polyutils.mapparms((a[0], a[1]), (0.0, 1.0))[k], V[:2])
        for k in range(2)
    ],
    ("numpy.polynomial.polyutils", "mapdomain"): [
        (lambda x: np.polynomial.polyutils.mapdomain(x, (0.0, 2.0), (1.0, 5.0)), 0.7)
    ],
    ("numpy.polynomial.polynomial", "polyval"): series(polynomial.polyval),
    ("numpy.polynomial.chebyshev", "chebval"): series(chebyshev.chebval),
    ("numpy.polynomial.legendre", "legval"): series(legendre.legval),
    ("numpy.polynomial.hermite", "hermval"): series(hermite.hermval),
    ("numpy.polynomial.hermite_e", "hermeval"): series(hermite_e.hermeval),
    ("numpy.polynomial.laguerre", "lagval"): series(laguerre.lagval),
    ("rulelab.ad.implicit", "Params.__iter__"): [(lambda x: sum(np.sum(p) * x for p in rl.Params([V])), 0.7)],
    ("contextlib", "nullcontext.__init__"): [(handed_out, 1.3)],
    ("contextlib", "nullcontext.__enter__"): [(handed_out, 0.7)],
    ("contextlib", "nullcontext.__exit__"): [(handed_out, -1.1)],
}  # fmt: skip


@pytest.mark.every(3)
@pytest.mark.parametrize("name", COMPILED, ids=[".".join(name) for name in COMPILED])
def test_compiled_functions_of_libraries(name):
    """Each function in the table has the gradient that finite differences find, and its own value."""
    for f, x in CASES[name]:
        value, (found,) = rl.withgradient(f, x)
        wanted, _ = finite_differences(f, (x,), 0)
        np.testing.assert_allclose(flat(found, x), wanted, rtol=1e-6, atol=1e-8)
        assert value == f(x)


def test_the_rest_goes_by_rule():
    """A function of the libraries that is neither in the table nor has a rule is refused."""
    sums = lambda x: np.apply_over_axes(np.sum, x, 0)[0]
    with pytest.raises(rl.ForeignCallError):
        rl.gradient(sums, V)
    assert not any(map(compiled_function, (np.sum, np.cov, statistics.mean, len)))


def test_the_table_is_of_the_libraries(tmp_path):
    """A function of mine with a name in the table is mine all the same, and an error in it is too."""
    text = "def rgb_to_yiq(r, g, b):\n    r[0] = 1.0\n    return r\n"
    file = tmp_path / "colorsys.py"
    file.write_text(text)
    namespace = {"__name__": "colorsys"}
    exec(compile(text, str(file), "exec"), namespace)
    with pytest.raises(rl.MutationError, match="line 2, in rgb_to_yiq"):
        rl.gradient(namespace["rgb_to_yiq"], V, 1.0, 1.0)
