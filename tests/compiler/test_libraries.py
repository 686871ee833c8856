"""A function's file tells whose it is: a module of mine may be called like one of the standard library."""

import colorsys
import contextlib
import functools
import linecache
import random
import subprocess
import sys
import textwrap
import types

import numpy as np
import pytest

import rulelab as rl
from rulelab.compiler.libraries import is_library

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
        [sys.executable, str(script)], capture_output=True, text=True, timeout=60,
        env={"PYTHONPATH": root}, cwd="/",
    )  # fmt: skip
    assert done.stdout.split()[:2] == ["(6.0,)", "(12.0,)"], done.stderr
    assert str(tmp_path) in done.stdout
