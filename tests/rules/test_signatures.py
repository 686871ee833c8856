"""Tests of which types a rule accepts."""

import sys
from typing import Any, ForwardRef, Optional, TypeVar, Union

import numpy as np
import numpy.typing as npt
import pytest
import typing_extensions

from rulelab.errors import AmbiguousRuleError, RuleRegistrationError
from rulelab.rules.signatures import accepts_from, accepts_of, meant_types, type_of, types_of

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


S = TypeVar("S")
AS_GENERIC = np.ndarray[tuple[Any, ...], np.dtype[S]]  # NumPy's NDArray up to 2.4; from 2.5 on it is an alias
AS_ALIAS = typing_extensions.TypeAliasType("NDArray", AS_GENERIC, type_params=(S,))


@pytest.mark.parametrize("array", [npt.NDArray, AS_GENERIC, AS_ALIAS], ids=["this NumPy", "generic", "alias"])
def test_every_form_that_numpy_gives_to_arrays(array):
    """An annotation with NDArray means the same with each NumPy: alone, in a union, in quotes."""
    double, single, ints = np.ones(2), np.ones(2, np.float32), np.ones(2, int)
    forms = [
        (array, [double, single, ints], [1.0, None]),
        (array[Any], [double, single, ints], [1.0]),
        (array[np.generic], [double, single, ints], [1.0]),
        (array[np.float64], [double], [single, ints, 1.0]),
        (array[np.floating], [double, single], [ints]),
        (array[np.float32 | np.int64], [single, ints], [double]),
        (array[np.float64] | None, [double, None], [single, 1.0]),
        (array[np.float64] | array[np.float32], [double, single], [ints]),
        (Union[array[np.float64], float], [double, 1.0], [single, "a"]),
        (Optional["array[np.float64]"], [double, None], [single]),
        (ForwardRef("array[np.float64]"), [double], [single]),
        ("array[np.float64] | int", [double, 1], [single, 1.0]),
        ("array | None", [double, None], [1.0]),
    ]
    for note, fits, misfits in forms:

        def rule(x):
            return array

        rule.__annotations__ = {"x": note}
        accepts = accepts_of(rule)
        assert all(accepts.match(types_of((x,))) for x in fits), note
        assert not any(accepts.match(types_of((x,))) for x in misfits), note


def alias(name, value, *parameters):
    return typing_extensions.TypeAliasType(name, value, type_params=parameters)


def test_a_type_alias_is_what_it_stands_for():
    """A name that the author gave to a type, also one with parameters, is read like the type itself."""
    real = alias("Real", float | np.ndarray)
    maybe = alias("Maybe", Optional[S], S)
    vector = alias("Vector", AS_ALIAS[S], S)
    singles = alias("Singles", np.float32 | np.float16)
    cases = [
        (real, [1.0, np.ones(2)], ["a"]),
        (real | None, [1.0, None], ["a"]),
        (maybe[float], [1.0, None], ["a"]),
        (maybe[maybe[real]], [1.0, None, np.ones(2)], ["a"]),
        (maybe["real"], [1.0, None, np.ones(2)], ["a"]),
        ("maybe[vector[singles]]", [None, np.ones(2, np.float32)], [np.ones(2)]),
        (alias("Quoted", "vector[singles] | int"), [3, np.ones(2, np.float32)], [1.0]),
    ]
    for note, fits, misfits in cases:

        def rule(x):
            return real, maybe, vector, singles

        rule.__annotations__ = {"x": note}
        accepts = accepts_of(rule)
        assert all(accepts.match(types_of((x,))) for x in fits), note
        assert not any(accepts.match(types_of((x,))) for x in misfits), note


STATEMENTS = """
type Real = float | np.floating
type Vector[D: np.generic] = npt.NDArray[D]
type Again = Again | None
type Missing = float | nowhere
type Broken = 1 / 0
type Swapped[A, B] = B | A

def rule(x: Real, v: Vector[np.float32], s: Swapped[int, str]): ...
def again(x: Again): ...
def missing(x: Missing): ...
def broken(x: Broken): ...
"""


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the type statement came with Python 3.12")
def test_the_type_statement():
    """`type X = ...` may stand in a rule's annotation; one without a meaning is refused, with its name."""
    space = {"np": np, "npt": npt}
    exec(STATEMENTS, space)
    accepts = accepts_of(space["rule"])
    good = (1.0, np.ones(2, np.float32), 3)
    assert accepts.match(types_of(good)) and accepts.match(types_of((*good[:2], "a")))
    for i, bad in enumerate(("a", np.ones(2), 1.5)):
        assert not accepts.match(types_of((*good[:i], bad, *good[i + 1 :])))
    for name, said in (("again", "Again"), ("missing", "Missing of x names nowhere"), ("broken", "Broken")):
        with pytest.raises(RuleRegistrationError, match=said):
            accepts_of(space[name])


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


@pytest.mark.parametrize(
    ("note", "alone"), [(list[float], ": list"), ("dict[str, X]", ": dict"), (3, ", such as list")]
)
def test_the_class_to_write_instead_is_named(note, alone):
    """A rule is found by the classes of its arguments, not by what they hold."""

    def bad(x):
        return x

    bad.__annotations__ = {"x": note}
    with pytest.raises(RuleRegistrationError) as refused:
        accepts_of(bad)
    assert f"use the class alone{alone}" in str(refused.value)


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


AMPLITUDE = alias("Amplitude", complex)


def test_what_annotations_stand_for_wherever_they_are_read():
    """A number said to be complex is taken as one, however that is said; what cannot be read stays."""

    def f(a: complex, b: "complex", c: AMPLITUDE, d: "AMPLITUDE", e: "nobody", g): ...  # noqa: F821

    assert meant_types(f) == {**dict.fromkeys("abcd", complex), "e": "nobody"}
    assert meant_types(abs) == {}

    class Point:
        x: "float"
        y: "nobody"  # noqa: F821

    assert meant_types(Point) == {"x": float, "y": "nobody"}
