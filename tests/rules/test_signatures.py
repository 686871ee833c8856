"""Tests of which types a rule accepts."""

from typing import Any, Optional

import numpy as np
import numpy.typing as npt
import pytest

from rulelab.errors import AmbiguousRuleError, RuleRegistrationError
from rulelab.rules.signatures import accepts_from, accepts_of, type_of, types_of

CASES = [
    (
        float,
        [1.0, 2, np.float32(1), np.int8(1), np.float64(1)],
        [True, np.bool_(1), "a", 1j, np.ones(2), None],
    ),
    (complex, [1.0, 2, 1j, np.complex64(1)], [True, "a"]),
    (int, [1, np.int64(2)], [1.0]),
    (float | None, [1.0, None], ["a"]),
    (Optional[str], ["a", None], [1.0]),
    (Any, [1, "a", None], []),
    (np.ndarray, [np.ones(2)], [1.0]),
    (npt.NDArray, [np.ones(2), np.ones(2, int)], [1.0]),
    (npt.NDArray[Any], [np.ones(2), np.ones(2, int)], [1.0]),
    (npt.NDArray[np.float64], [np.ones(2)], [np.ones(2, np.float32), np.ones(2, int), 1.0]),
    (npt.NDArray[np.floating], [np.ones(2), np.ones(2, np.float32)], [np.ones(2, int)]),
    (npt.NDArray[np.float32 | np.int64], [np.ones(2, np.float32), np.ones(2, int)], [np.ones(2)]),
    (list, [[1.0]], [(1.0,)]),
]


@pytest.mark.parametrize("note, fits, misfits", CASES, ids=[str(c[0]) for c in CASES])
def test_what_an_annotation_accepts(note, fits, misfits):
    """A rule fires for the types it names; an int or NumPy scalar fits float, a bool does not."""
    accepts = accepts_from((note,))
    for x in fits:
        assert accepts.match((type_of(x),)), x
    for x in misfits:
        assert not accepts.match((type_of(x),)), x


def test_strings_are_looked_up_by_name_never_run():
    """Annotations in quotes work, also dotted ones and unions, and no code in them is run."""
    local = type("local", (), {})

    def rule(
        a: "float",
        b: "np.ndarray | None",
        c: "npt.NDArray[np.float32]",
        d: "local",
        e: "'int'",
        *rest: "float",
    ):
        return local

    accepts = accepts_of(rule)
    good = (1.0, None, np.ones(2, np.float32), local(), 3, 2.0)
    assert accepts.match(types_of(good))
    for i in range(6):
        assert not accepts.match(types_of((*good[:i], "x", *good[i + 1 :])))
    for text in (
        "print('x')",
        "[].append",
        "float if 1 else int",
        "unknown",
        "list[int]",
        "np.nope",
        "f'{1}'",
        "1 +",
    ):

        def bad(x):
            return x

        bad.__annotations__ = {"x": text}
        with pytest.raises(RuleRegistrationError):
            accepts_of(bad)


@pytest.mark.parametrize(
    "note", [list[float], 3, dict[str, int], npt.NDArray[np.float64] | list[int], [float]]
)
def test_other_forms_are_refused(note):
    """An annotation that cannot decide at a call is refused when the rule is stated."""
    with pytest.raises(RuleRegistrationError, match="annotation"):
        accepts_from((note,))


def test_counts():
    """A rule for two arguments does not take three; `*args` takes any number."""

    def two(x, y: float): ...

    def many(x, *ys: float): ...

    assert accepts_of(two).match((int, int)) and not accepts_of(two).match((int, int, int))
    assert accepts_of(many).match((str, int, int)) and not accepts_of(many).match((str, int, str))
    assert str(accepts_of(two)) == "(x, y: float)" and accepts_of(two, skip=1).match((float,))


def test_an_array_of_unknown_dtype_is_not_guessed():
    """A rule for a dtype asked about a bare ndarray is an error, not a silent no."""
    with pytest.raises(AmbiguousRuleError):
        accepts_from((npt.NDArray[np.float64],)).match((np.ndarray,))
