"""What a built-in forward rule gives beside a value: a tangent of its form, and a view where it is one.

Writes to arrays are done twice in forward mode, on the array and on its tangent; so a result that looks into
an argument must have a tangent that looks into the argument's, and no other.
"""

import copy

import numpy as np
import pytest
from rule_points import (
    Case,
    at_each,
    at_path,
    by_function,
    forward_cases,
    leaves,
    put_at,
    random_like,
    relaid,
    rule_at,
)
from second_order import is_inexact, tangent_of, varied_paths

from rulelab.rules.registry import DEFAULT
from rulelab.rules.targets import name_of
from rulelab.rulesets.catalogue import tables
from rulelab.tangents.shadows import zeros_beside
from rulelab.tangents.zeros import NoTangent

EACH = pytest.mark.parametrize("points", by_function(forward_cases()), ids=str)


def laid_out_like(x, rng):
    """A random tangent of an array with the strides of the array; of a number, a random one."""
    if not isinstance(x, np.ndarray) or not x.size:
        return random_like(x, rng)
    first = sum((n - 1) * step for n, step in zip(x.shape, x.strides) if step < 0)
    last = sum((n - 1) * step for n, step in zip(x.shape, x.strides) if step > 0)
    buffer = np.zeros(last - first + x.itemsize, np.uint8)
    x_dot = np.ndarray(x.shape, x.dtype, buffer, -first, x.strides)
    x_dot[...] = random_like(x, rng)
    return x_dot


def laid_out_beside(x, rng):
    """The same with the strides that forward mode gives it: gaps are smaller, and unit axes have none."""
    if not isinstance(x, np.ndarray) or not x.size:
        return random_like(x, rng)
    x_dot = zeros_beside(x)
    x_dot[...] = random_like(x, rng)
    return x_dot


def forward(case, only=None, laid_out=laid_out_like):
    """The tangents of the arguments by path, and what the rule gives for them; perhaps `only` one varies."""
    rng = np.random.default_rng(3)
    paths = [path for path in varied_paths(case) if only is None or path[0] == only]
    steps = {path: laid_out(at_path(case.args, path), rng) for path in paths}
    dots = [tangent_of(x, (i,), steps) for i, x in enumerate(case.args)]
    rule = rule_at(DEFAULT, case.target, case.args, "frule")
    with np.errstate(all="ignore"):
        y, y_dot = rule.function((NoTangent(), *dots), *case.args, **copy.deepcopy(case.kwargs))
    return steps, y, y_dot


def with_columns_first(value):
    """The same numbers in Fortran's order of memory."""
    for path, leaf in list(leaves(value)):
        if isinstance(leaf, np.ndarray) and leaf.ndim > 1:
            value = put_at(value, path, np.asfortranarray(leaf))
    return value


def with_gaps(value):
    """The same numbers with four items between two of them."""
    for path, leaf in list(leaves(value)):
        if isinstance(leaf, np.ndarray) and leaf.ndim:
            value = put_at(value, path, np.repeat(leaf, 5, -1)[..., ::5])
    return value


def variants(case, laid_out=laid_out_like):
    """The point in four layouts of its arrays, and with each argument the only one that varies."""
    for lay_out in (lambda args: args, relaid, with_columns_first, with_gaps):
        laid = case._replace(args=lay_out(case.args))
        places = sorted({path[0] for path in varied_paths(case)})
        for only in (None, *places) if len(places) > 1 else (None,):
            yield laid, *forward(laid, only, laid_out)


def items_apart(x):
    """The strides in items, of the axes that have any."""
    return [stride // x.itemsize for stride, n in zip(x.strides, x.shape, strict=True) if n > 1]


def check_form(y, y_dot, layout=True):
    """The table of docs/design/forward.md, from the outside in."""
    if isinstance(y, (list, tuple, dict)):
        assert type(y_dot) is type(y), f"a {type(y_dot).__name__} is the tangent of a {type(y).__name__}"
        assert len(y) == len(y_dot)
        for key in y if isinstance(y, dict) else range(len(y)):
            check_form(y[key], y_dot[key], layout)
    elif isinstance(y, np.ndarray) and y.dtype.kind in "fc":
        assert type(y_dot) is np.ndarray, f"{type(y_dot).__name__} is the tangent of an array"
        assert y_dot.shape == y.shape and y_dot.dtype.kind == y.dtype.kind
        assert y_dot.flags.writeable or not y.flags.writeable, "a tangent that cannot be written to"
        assert not layout or y.size < 2 or items_apart(y_dot) == items_apart(y), (
            "a tangent laid out in another way"
        )
    elif not isinstance(y_dot, NoTangent):
        assert np.shape(y_dot) == np.shape(y), "a tangent of another shape"
        assert np.asarray(y_dot).dtype.kind in ("c" if np.iscomplexobj(y) else "f"), (
            "a tangent of another kind"
        )


@pytest.mark.filterwarnings("ignore:future versions will not create a writeable array:FutureWarning")
@pytest.mark.every(17)
@EACH
def test_the_tangent_has_the_form_of_the_value(points):
    """Its containers, its shape, its layout, real or complex as it is: whichever arguments vary."""

    def has_form(case):
        for _, _, y, y_dot in () if hands_out_parts(case) else variants(case):
            check_form(y, y_dot)

    at_each(points, has_form)


def hands_out_parts(case):
    """Parts of containers keep the tangents that they have, also none: see test_container_tangents.py."""
    rule = rule_at(DEFAULT, case.target, case.args, "frule")
    return rule.hands_out or rule.function.__module__.endswith("_tangents")


@pytest.mark.every(5)
@pytest.mark.filterwarnings("ignore:future versions will not create a writeable array:FutureWarning")
@EACH
def test_tangents_that_are_not_there_leave_zeros(points):
    """With no tangent at all an array has zeros, which may be written to; a number need not have any."""
    at_each(points, leaves_zeros)


def leaves_zeros(case):
    if hands_out_parts(case):
        return
    rule = rule_at(DEFAULT, case.target, case.args, "frule")
    with np.errstate(all="ignore"):
        y, y_dot = rule.function(
            [NoTangent()] * (1 + len(case.args)), *case.args, **copy.deepcopy(case.kwargs)
        )
    check_form(y, y_dot, layout=False)
    for path, part in leaves(y):
        if isinstance(part, np.ndarray) and is_inexact(part):
            assert not np.any(at_path(y_dot, path))


def shared(a, b):
    return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.shares_memory(a, b)


@pytest.mark.every(17)
@EACH
def test_the_tangent_looks_where_the_value_looks(points):
    """A view of the argument has a view of the argument's tangent; a copy has memory of its own."""
    at_each(points, looks_there)


def looks_there(case):
    if any_shared([leaf for _, leaf in leaves(case.args)]):
        return  # their tangents share none
    for laid, steps, y, y_dot in (*variants(case), *variants(case, laid_out_beside)):
        parts = [(part, at_path(y_dot, path)) for path, part in leaves(y) if is_inexact(part)]
        for part, part_dot in parts:
            for place, x_dot in steps.items():
                expected = shared(part, at_path(laid.args, place))
                words = "a copy, where the value is a view" if expected else "an argument's tangent: copy it"
                assert shared(part_dot, x_dot) == expected, f"the tangent is {words}"
        if not any_shared([part for part, _ in parts]):
            assert not any_shared([part_dot for _, part_dot in parts]), "results that share memory"


def any_shared(arrays):
    return any(shared(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


# The containers' own methods have their forward rules in a table of their own.
CONTAINERS = {"containers"}


def test_what_is_differentiable_has_both_modes():
    """Whatever has a built-in reverse rule has a forward rule for the same arguments."""
    stated = {(target_id(target), rule.mode) for table in tables() for target, rule in table.rules}
    missing = [
        name_of(target)
        for table in tables()
        if table.name not in CONTAINERS
        for target, rule in table.rules
        if rule.mode == "rrule" and rule.differentiable and (target_id(target), "frule") not in stated
    ]
    assert not missing
    for table in tables():
        for target, args, kwargs in table.points:
            found = rule_at(DEFAULT, target, args, "frule")
            assert found is not None or table.name in CONTAINERS, Case(table, "frule", target, args, kwargs)


def target_id(target):
    return id(target)
