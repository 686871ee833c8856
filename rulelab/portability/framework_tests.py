"""The tests of an export to a framework: the numbers that our rule returned, compared with the framework's,
without rulelab.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..checking.measuring.vectors import to_vec
from ..rules.registry import Registry
from .answers import answer_at, weights
from .literals import NoLiteral, literal
from .module_text import checked, text_of
from .pieces import checked_name


def text_of_framework_tests(
    to: str, module: str, cases: Mapping[str, Sequence[str]], symmetric: Mapping[str, Sequence[int]]
) -> str:
    """The text of a pytest file for an exported module, which needs only the framework, NumPy and pytest.

    `cases` are those of each mode, "rrule" and "frule", one of which may have none; `symmetric` are the
    positions of arguments that are meant to be symmetric, by the names of the functions.
    """
    checked_name(module, "a module")
    lines = [
        text_of(
            f"Tests of {module} for pytest: its results must be those of the rules when they were exported."
        ),
        "",
        "import importlib",
        "",
        "import numpy as np",
        "import pytest",
        "",
        _IMPORTS[to],
        f"exported = importlib.import_module({module!r})",
        *(line for mode, each in cases.items() if each for line in (*_SAID[mode], *_listed(each))),
        *(_meant_symmetric(symmetric) if to == "torch" else ()),
        "",
        "",
        _SHARED,
        _IN_DOUBLE if to == "jax" else "",
        *(_TESTS[to, mode] for mode, each in cases.items() if each),
    ]
    return checked("\n".join(lines), f"an export to {module}")


_SAID = {
    "rrule": (
        "# A function, its arguments and keywords, the positions of the arguments to differentiate,",
        "# the cotangent of the value, the value, and the cotangents of these arguments.",
        "NAMES = 'name, args, kwargs, moved, seed, value, cotangents'",
        "CASES = [",
    ),
    "frule": (
        "# A function, its arguments and keywords, the positions of the arguments to differentiate,",
        "# their tangents, the value, and its tangent.",
        "FORWARD_NAMES = 'name, args, kwargs, moved, dots, value, y_dot'",
        "FORWARD_CASES = [",
    ),
}


def _listed(cases: Sequence[str]) -> list[str]:
    return [*(f"    {case}," for case in cases), "]"]


def _meant_symmetric(symmetric: Mapping[str, Sequence[int]]) -> list[str]:
    positions = {name: tuple(each) for name, each in symmetric.items() if each}
    return [
        "# For each function, the positions of arguments that are meant to be symmetric matrices.",
        f"SYMMETRIC = {literal(positions)}",
    ]


def cases_of(
    f: Any, name: str, points: Iterable[tuple[Sequence[Any], Any]], registry: Registry, mode: str = "rrule"
) -> list[str]:
    """The answers of a rule of `f` at points, as text; points without a text are left out."""
    found = []
    for args, kwargs in points:
        try:
            found.append(_case(f, name, tuple(args), dict(kwargs), registry, mode))
        except NoLiteral:
            continue
    return found


def _case(f: Any, name: str, args: tuple, kwargs: dict[str, Any], registry: Registry, mode: str) -> str:
    with np.errstate(all="ignore"):
        answer = answer_at(f, args, kwargs, mode=mode, registry=registry)
        vector, value_of = to_vec(f(*args, **kwargs))
    moved = tuple(i for i, x in enumerate(args) if to_vec(x)[0].size)
    value, derivative = value_of(np.array(answer.value)), np.array(answer.derivative)
    if mode == "rrule":
        seed, found = value_of(weights(vector.size)), _apart(args, moved, derivative)
    else:
        seed, found = _apart(args, moved, weights(to_vec(args)[0].size)), value_of(derivative)
    # Each separately: an array that occurs in two of them does not count as occurring twice.
    texts = map(literal, (name, args, kwargs, moved, seed, value, found))
    return f"({', '.join(texts)})"


def _apart(args: tuple, moved: Sequence[int], numbers: np.ndarray) -> tuple[Any, ...]:
    """Numbers, split and shaped like the arguments at some positions, which together hold all of them."""
    parts, at = [], 0
    for position in moved:
        vector, back = to_vec(args[position])
        parts.append(back(numbers[at : at + vector.size]))
        at += vector.size
    return tuple(parts)


_IMPORTS = {
    "jax": 'jax = pytest.importorskip("jax", reason="pip install jax")',
    "torch": 'torch = pytest.importorskip("torch", reason="pip install torch")',
    "autograd": 'core = pytest.importorskip("autograd.core", reason="pip install autograd")',
}

_SHARED = '''\
def close(found, stored):
    """Assert that `found` agrees with `stored`, part by part in tuples, lists and dicts; None means zeros."""
    if isinstance(stored, (tuple, list, dict)):
        assert found is None or len(found) == len(stored)
        for key in stored if isinstance(stored, dict) else range(len(stored)):
            close(None if found is None else found[key], stored[key])
        return
    found = np.zeros(np.shape(stored)) if found is None else np.asarray(found)
    assert found.shape == np.shape(stored)
    largest = np.max(np.abs(stored), initial=0.0, where=np.isfinite(stored))
    np.testing.assert_allclose(found, stored, rtol=1e-9, atol=1e-10 * max(1.0, largest))


def each(change, x):
    """Apply `change` to each number and array in tuples, lists and dicts."""
    if isinstance(x, dict):
        return {key: each(change, part) for key, part in x.items()}
    if isinstance(x, (tuple, list)):
        return type(x)(each(change, part) for part in x)
    return change(x)


def of_moved(name, args, kwargs, moved):
    """Return the exported function with all arguments fixed except those at the positions `moved`."""

    def f(*inputs):
        whole = list(args)
        for position, x in zip(moved, inputs):
            whole[position] = x
        return getattr(exported, name)(*whole, **kwargs)

    return f
'''

_IN_DOUBLE = '''
def in_double():
    """Return a context manager in which JAX computes in double precision."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    return importlib.import_module("jax.experimental").enable_x64()

'''

_TESTS = {
    ("jax", "rrule"): '''
def conjugate(x):
    """Conjugate cotangents: those of JAX are the conjugates of those stored."""
    return each(lambda part: jax.numpy.conj(jax.numpy.asarray(part)), x)


@pytest.mark.parametrize("way", [lambda f: f, jax.jit], ids=["plain", "jit"])
@pytest.mark.parametrize(NAMES, CASES)
def test_it_answers_what_the_rule_did(name, args, kwargs, moved, seed, value, cotangents, way):
    """The value and the cotangents are those of the rule, with and without jit."""
    f = of_moved(name, args, kwargs, moved)

    def both(y_bar, *inputs):
        y, back = jax.vjp(f, *inputs)
        return y, back(y_bar)

    with in_double():
        inputs = [each(jax.numpy.asarray, args[position]) for position in moved]
        y, found = way(both)(conjugate(seed), *inputs)
        close(y, value)
        close(conjugate(found), cotangents)
''',
    ("jax", "frule"): '''
@pytest.mark.parametrize("way", [lambda f: f, jax.jit], ids=["plain", "jit"])
@pytest.mark.parametrize(FORWARD_NAMES, FORWARD_CASES)
def test_it_answers_forwards_what_the_rule_did(name, args, kwargs, moved, dots, value, y_dot, way):
    """The value and its tangent are those of the rule, with and without jit."""
    f = of_moved(name, args, kwargs, moved)

    def both(inputs, dots):
        return jax.jvp(f, inputs, dots)

    with in_double():
        inputs = tuple(each(jax.numpy.asarray, args[position]) for position in moved)
        y, found = way(both)(inputs, each(jax.numpy.asarray, dots))
        close(y, value)
        close(found, y_dot)
''',
    ("torch", "rrule"): '''
def tensor(x):
    """Convert an array to a tensor of the same dtype; return anything else unchanged."""
    return torch.from_numpy(x.copy()) if isinstance(x, np.ndarray) else x


def asked(name, args, kwargs, moved):
    """Return the function of the arguments at the positions `moved`, and these arguments as tensors."""
    f = of_moved(name, [tensor(x) for x in args], kwargs, moved)
    return f, [tensor(np.array(args[position])).requires_grad_() for position in moved]


@pytest.mark.parametrize(NAMES, CASES)
def test_it_answers_what_the_rule_did(name, args, kwargs, moved, seed, value, cotangents):
    """The value and the cotangents are those of the rule."""
    f, inputs = asked(name, args, kwargs, moved)
    y = f(*inputs)
    ys, seeds = (y, seed) if isinstance(y, tuple) else ((y,), (seed,))
    seeds = [torch.as_tensor(np.array(s), dtype=one.dtype) for s, one in zip(seeds, ys)]
    found = torch.autograd.grad(list(ys), inputs, seeds, allow_unused=True)
    plain = [one.detach().resolve_conj().numpy() for one in ys]
    close(tuple(plain) if isinstance(y, tuple) else plain[0], value)
    close([None if x is None else x.resolve_conj().numpy() for x in found], cotangents)


@pytest.mark.parametrize(NAMES, CASES)
def test_gradcheck_finds_it_right(name, args, kwargs, moved, seed, value, cotangents):
    """The derivatives agree with PyTorch's own finite differences."""
    f, inputs = asked(name, args, kwargs, moved)
    parts = value if isinstance(value, tuple) else (value,)
    largest = max(np.max(np.abs(part), initial=1.0) for part in parts)
    meant = [position in SYMMETRIC.get(name, ()) for position in moved]

    def among(*inputs):
        return f(*[(x + x.mH) / 2 if each else x for x, each in zip(inputs, meant)])

    assert torch.autograd.gradcheck(among, tuple(inputs), atol=1e-5 * largest)
''',
    ("autograd", "rrule"): '''
@pytest.mark.parametrize(NAMES, CASES)
def test_it_answers_what_the_rule_did(name, args, kwargs, moved, seed, value, cotangents):
    """The value and the cotangents are those of the rule; autograd returns conjugated cotangents."""
    f = of_moved(name, args, kwargs, moved)
    inputs = [args[position] for position in moved]
    close(f(*inputs), value)
    for i, x in enumerate(inputs):
        back, _ = core.make_vjp(lambda x: f(*inputs[:i], x, *inputs[i + 1 :]), x)
        close(each(np.conj, back(each(np.conj, seed))), cotangents[i])
''',
    ("autograd", "frule"): '''
def plus(a, b):
    """Add two tangents, part by part in tuples and lists."""
    if isinstance(a, (tuple, list)):
        return type(a)(map(plus, a, b))
    return a + b


@pytest.mark.parametrize(FORWARD_NAMES, FORWARD_CASES)
def test_it_answers_forwards_what_the_rule_did(name, args, kwargs, moved, dots, value, y_dot):
    """The value and its tangent, which is a sum over the arguments, are those of the rule."""
    f = of_moved(name, args, kwargs, moved)
    inputs = [args[position] for position in moved]
    total = None
    for i, x in enumerate(inputs):
        y, found = core.make_jvp(lambda x: f(*inputs[:i], x, *inputs[i + 1 :]), x)(dots[i])
        close(y, value)
        total = found if total is None else plus(total, found)
    close(total, y_dot)
''',
}
