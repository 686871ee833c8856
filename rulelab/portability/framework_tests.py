"""The tests beside an export to a framework: the numbers that our rule gave, asked of the framework alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..checking.vectors import to_vec
from ..rules.registry import Registry
from .answers import answer_at, weights
from .literals import NoLiteral, literal
from .module_text import checked, text_of
from .pieces import checked_name


def text_of_framework_tests(to: str, module: str, cases: Sequence[str]) -> str:
    """The text of a pytest file for an exported module, which needs the framework, NumPy and pytest alone."""
    checked_name(module, "a module")
    lines = [
        text_of(
            f"Tests of {module}: the numbers that its rules gave when they were exported; pytest runs them."
        ),
        "",
        "import importlib",
        "",
        "import numpy as np",
        "import pytest",
        "",
        _IMPORTS[to],
        f"exported = importlib.import_module({module!r})",
        "# A function, its arguments and keywords, the positions that are moved, the cotangent of the value,",
        "# the value, and the cotangents of what is moved.",
        "CASES = [",
        *(f"    {case}," for case in cases),
        "]",
        "NAMES = 'name, args, kwargs, moved, seed, value, cotangents'",
        "",
        "",
        _SHARED,
        "",
        _TESTS[to],
    ]
    return checked("\n".join(lines), f"an export to {module}")


def cases_of(f: Any, name: str, points: Iterable[tuple[Sequence[Any], Any]], registry: Registry) -> list[str]:
    """What the reverse rule of `f` answers at points, as text; those are left out that have none."""
    found = []
    for args, kwargs in points:
        try:
            found.append(_case(f, name, tuple(args), dict(kwargs), registry))
        except NoLiteral:
            continue
    return found


def _case(f: Any, name: str, args: tuple, kwargs: dict[str, Any], registry: Registry) -> str:
    with np.errstate(all="ignore"):
        answer = answer_at(f, args, kwargs, registry=registry)
        vector, value_of = to_vec(f(*args, **kwargs))
    at, moved, cotangents = 0, [], []
    for position, x in enumerate(args):
        numbers, back = to_vec(x)
        if numbers.size:
            moved.append(position)
            cotangents.append(back(np.array(answer.derivative[at : at + numbers.size])))
        at += numbers.size
    value, seed = value_of(np.array(answer.value)), value_of(weights(vector.size))
    # Each by itself: an array that is met in two of them is no sign of one that both hold.
    texts = map(literal, (name, args, kwargs, tuple(moved), seed, value, tuple(cotangents)))
    return f"({', '.join(texts)})"


_IMPORTS = {
    "jax": 'jax = pytest.importorskip("jax", reason="pip install jax")',
    "torch": 'torch = pytest.importorskip("torch", reason="pip install torch")',
    "autograd": 'core = pytest.importorskip("autograd.core", reason="pip install autograd")',
}

_SHARED = '''\
def close(found, stored):
    """Whether numbers are those that were stored, in tuples, lists and dicts, too; None is zero."""
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
    """The numbers and arrays in tuples, lists and dicts, changed."""
    if isinstance(x, dict):
        return {key: each(change, part) for key, part in x.items()}
    if isinstance(x, (tuple, list)):
        return type(x)(each(change, part) for part in x)
    return change(x)


def of_moved(name, args, kwargs, moved):
    """The function of those arguments that are moved."""

    def f(*inputs):
        whole = list(args)
        for position, x in zip(moved, inputs):
            whole[position] = x
        return getattr(exported, name)(*whole, **kwargs)

    return f
'''

_TESTS = {
    "jax": '''
def in_double():
    """A block in which JAX computes in double precision."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(True)
    return importlib.import_module("jax.experimental").enable_x64()


def conjugate(x):
    """JAX has the conjugates of the cotangents that are stored."""
    return each(lambda part: jax.numpy.conj(jax.numpy.asarray(part)), x)


@pytest.mark.parametrize("way", [lambda f: f, jax.jit], ids=["plain", "jit"])
@pytest.mark.parametrize(NAMES, CASES)
def test_it_answers_what_the_rule_did(name, args, kwargs, moved, seed, value, cotangents, way):
    """The value and the cotangents, plainly and under jit."""
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
    "torch": '''
def tensor(x):
    """An array as a tensor of its own precision; anything else as it is."""
    return torch.from_numpy(x.copy()) if isinstance(x, np.ndarray) else x


def asked(name, args, kwargs, moved):
    """The function of those arguments that are moved, and these."""
    f = of_moved(name, [tensor(x) for x in args], kwargs, moved)
    return f, [tensor(np.array(args[position])).requires_grad_() for position in moved]


@pytest.mark.parametrize(NAMES, CASES)
def test_it_answers_what_the_rule_did(name, args, kwargs, moved, seed, value, cotangents):
    """The value and the cotangents."""
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
    """Beside PyTorch's own differences."""
    f, inputs = asked(name, args, kwargs, moved)
    parts = value if isinstance(value, tuple) else (value,)
    largest = max(np.max(np.abs(part), initial=1.0) for part in parts)
    assert torch.autograd.gradcheck(f, tuple(inputs), atol=1e-5 * largest)
''',
    "autograd": '''
@pytest.mark.parametrize(NAMES, CASES)
def test_it_answers_what_the_rule_did(name, args, kwargs, moved, seed, value, cotangents):
    """The value and the cotangents, of which autograd has the conjugates."""
    f = of_moved(name, args, kwargs, moved)
    inputs = [args[position] for position in moved]
    close(f(*inputs), value)
    for i, x in enumerate(inputs):
        back, _ = core.make_vjp(lambda x: f(*inputs[:i], x, *inputs[i + 1 :]), x)
        close(each(np.conj, back(each(np.conj, seed))), cotangents[i])
''',
}
