"""What a cotangent says of a tangent, and each in the other's place."""

import types

import numpy as np
import pytest

import rulelab as rl
from rulelab.tangents.pairings import (
    added,
    cotangent_from,
    gradient_by_cotangent,
    gradient_by_tangent,
    in_form_of,
    leaves_in,
    leaves_of,
    moving,
    pairing,
    tangent_from,
)
from rulelab.tangents.projection import FieldGradients
from rulelab.tangents.shadows import zero_of


class Thing:
    """An object."""

    def __init__(self, a, b):
        self.a, self.b = a, b


def values():
    x = np.array([1.0, 2.0])
    held = 3.0
    return {
        "number": 2.0,
        "complex": 1 + 2j,
        "array": x,
        "complex array": x + 1j,
        "list": [1.0, x],
        "object": Thing(1.0, (2j, "text")),
        "nested": {"a": [Thing(x, None)], "b": (1.0, {"c": 2.0})},
        "function": lambda: held,
    }


def some(template, draw):
    """A tangent like this zero one, with numbers drawn."""
    if isinstance(template, np.ndarray):
        drawn = draw.normal(size=template.shape)
        return drawn + 1j * draw.normal(size=template.shape) if template.dtype.kind == "c" else drawn
    if isinstance(template, complex):
        return complex(draw.normal(), draw.normal())
    if isinstance(template, float):
        return draw.normal()
    if isinstance(template, (list, tuple)):
        return type(template)(some(part, draw) for part in template)
    if isinstance(template, dict):
        return {key: some(part, draw) for key, part in template.items()}
    if isinstance(template, types.SimpleNamespace):
        return types.SimpleNamespace(**{key: some(part, draw) for key, part in vars(template).items()})
    return template


@pytest.mark.parametrize("kind", values())
def test_the_pairing_is_linear_in_both(kind):
    """Over the real numbers: its gradients by the one are paired with a change of that as the change is."""
    x, draw = values()[kind], np.random.default_rng(0)
    first, second, change = (some(zero_of(x), draw) for _ in range(3))
    x_bar = gradient_by_cotangent(x, rl.ProjectTo(x)(_as_bar(x, first)), first, 1.0)
    now = pairing(x, x_bar, second)
    assert pairing(x, x_bar, added(second, change)) == pytest.approx(now + pairing(x, x_bar, change))
    assert pairing(x, added(x_bar, x_bar), second) == pytest.approx(2 * now)
    assert now != 0.0
    by_tangent = gradient_by_tangent(x, x_bar, second, 2.0)
    assert _dot(by_tangent, change) == pytest.approx(2 * pairing(x, x_bar, change))


def _as_bar(x, x_dot):
    """A tangent as a rule may return it for a cotangent."""
    if isinstance(x, types.FunctionType):
        return rl.Tangent(types.FunctionType, held=x_dot[0][0])
    if isinstance(x, Thing):
        return rl.Tangent(Thing, a=_as_bar(x.a, x_dot.a), b=_as_bar(x.b, x_dot.b))
    if isinstance(x, dict):
        return {key: _as_bar(part, x_dot[key]) for key, part in x.items()}
    if isinstance(x, (list, tuple)):
        return [_as_bar(part, dot) for part, dot in zip(x, x_dot)]
    return x_dot


def _dot(bar, x_dot):
    """The sum of products of what a Tangent and a tangent have in the same places."""
    if isinstance(x_dot, (float, complex, np.ndarray)):
        return np.real(np.vdot(bar, x_dot))
    if isinstance(x_dot, types.SimpleNamespace):
        return sum(_dot(getattr(bar, key), part) for key, part in vars(x_dot).items())
    if isinstance(x_dot, dict):
        return sum(_dot(bar[key], part) for key, part in x_dot.items())
    return (
        sum(_dot(bar[k], part) for k, part in enumerate(x_dot)) if isinstance(x_dot, (list, tuple)) else 0.0
    )


@pytest.mark.parametrize("kind", [kind for kind in values() if kind != "function"])
def test_a_structure_and_its_numbers(kind):
    """Taken apart and put together again, as a tangent and as a cotangent."""
    y = values()[kind]
    leaves = tuple(k * one for k, one in enumerate(leaves_of(y), start=2))
    assert all(map(np.array_equal, leaves_in(y, cotangent_from(y, leaves)), leaves))
    assert all(map(np.array_equal, leaves_in(y, tangent_from(y, leaves)), leaves))


def test_a_part_that_occurs_twice_has_one_tangent():
    """As it is one array: what is written to the one is written to the other."""
    x = np.zeros(2)
    first, second = tangent_from([x, x], (np.ones(2), np.ones(2)))
    assert first is second


def test_a_structure_that_holds_itself_is_refused():
    """It has no end of parts."""
    y = [1.0]
    y.append(y)
    with pytest.raises(rl.NotDifferentiableError, match="holds itself"):
        leaves_of(y)


def test_forms():
    """Real where the value is, of its shape, by its own keys."""
    assert in_form_of(np.ones((3, 1)), np.arange(3.0)).shape == (3, 1)
    assert in_form_of(np.ones(2), rl.Tangent(list, 1.0, rl.ZeroTangent())).tolist() == [1.0, 0.0]
    assert in_form_of({"a": 1.0, "b": 1.0}, rl.Tangent(Thing, a=2.0)) == rl.Tangent(
        dict, {"a": 2.0, "b": rl.ZeroTangent()}
    )
    assert in_form_of(None, 1.0) == rl.NoTangent() == in_form_of(rl.NoTangent(), 2.0)


def test_sums_with_nothing_in_some_places():
    """Either may have none, in any part."""
    none = rl.NoTangent()
    assert added([1.0, none, {"a": none}], [none, 2.0, {"a": 3.0}]) == [1.0, 2.0, {"a": 3.0}]
    found = added(
        moving(FieldGradients("Thing", {"a": 1.0, "b": None})), types.SimpleNamespace(a=2.0, b=none)
    )
    assert found == FieldGradients("Thing", {"a": 3.0, "b": none})
