"""Values as text: what is written gives the same again, to the last bit, or is refused."""

from __future__ import annotations

import math
from collections import namedtuple
from dataclasses import dataclass, field

import numpy as np
import pytest

from rulelab.portability.literals import NoLiteral, literal

Pair = namedtuple("Pair", "a b")


@dataclass
class Spring:
    k: float
    ends: list = field(default_factory=list)


EXACT = [
    *(None, True, 3, -(10**40), 0.1, -0.0, 5e-324, 1e308, math.pi, 2 - 1j, complex(-0.0, 1)),
    "a\"'\\\n\u202e\ud800",
    *(b"\x00'", (), (1,), [1, [2.5]], {"a": (1, 2), 3: None}, {1, 2}, set(), frozenset({"x"}), ...),
    *(slice(1, None, 2), range(3), np.float64(0.1), np.float32(0.1), np.int8(-3), np.bool_(True)),
    *(np.complex64(1 + 2j), np.str_("x"), np.bytes_(b"x"), np.dtype("float32")),
    np.array([[0.1, -0.0], [1 / 3, 5e-324]]),
    *(np.zeros((0, 3)), np.array(2.0), np.array([1, 2], dtype=np.uint8), np.array(["a'", "b"])),
    *(np.array([0.1], dtype=np.float32), np.array([1j, complex(-0.0, 2)])),
    np.array([2**64 - 1], dtype=np.uint64),
    *(Pair(1, 2.0), Spring(1.0, [2.0])),
]  # fmt: skip


@pytest.mark.parametrize("value", EXACT, ids=repr)
def test_a_literal_gives_the_same_value(value):
    """Of the same types throughout, signs of zero included."""
    again = eval(literal(value, lambda cls: cls.__name__), {"np": np, "Pair": Pair, "Spring": Spring})
    assert type(again) is type(value)
    if isinstance(value, np.ndarray):
        assert (
            again.dtype == value.dtype and again.shape == value.shape and again.tobytes() == value.tobytes()
        )
    else:
        assert again == value and repr(again) == repr(value)


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, complex(math.nan, -math.inf), np.float32("nan")]
)
def test_what_is_no_number_is_spelled_out(value):
    """Without names that the text would have to import."""
    assert repr(eval(literal(value), {"np": np})) == repr(value)


shared = [1.0]
LOOP: list = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    "value, words",
    [(object(), "class object"), (np.zeros(2000), "2,000 numbers"), ([shared, shared], "occurs twice"),
     (LOOP, "occurs twice"),
     (np.longdouble(1), "float128|longdouble"), (np.ma.zeros(2), "MaskedArray"), (np.array([None]), "object"),
     (np.zeros(2, ">f8"), ">f8"), (math.sin, "builtin"), (np.random.default_rng(0), "Generator")],
)  # fmt: skip
def test_what_has_no_exact_text_is_refused(value, words):
    """Rather than written nearly."""
    with pytest.raises(NoLiteral, match=words):
        literal(value)


class Loud(float):
    def __repr__(self):
        return "__import__('os').abort()"


def test_words_of_an_objects_own_get_nowhere():
    """A repr that somebody wrote is not asked."""
    with pytest.raises(NoLiteral):
        literal([Loud(1.0)])
