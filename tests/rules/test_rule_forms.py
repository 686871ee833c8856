"""Rules in every form, on values of every kind, in every mode: the number that the plain function tells.

The whole product is a campaign; each form, each kind and each mode is met here.
"""

import itertools

import numpy as np
import pytest
from rule_forms import BY_NAME, FORMS, KINDS, MODES, asked, expected, without_rules

NAMES = list(BY_NAME)
LATER = {name: NAMES[(number + 5) % len(NAMES)] for number, name in enumerate(NAMES)}


def check(form, given, taken, modes):
    """Each of these derivatives of one case is right."""
    given, taken = BY_NAME[given], BY_NAME[taken]
    case = FORMS[form](given, taken)
    try:
        through, plain = asked(given, taken, case.ruled), without_rules(given, taken, form)
        close = 2e-3 if "float32" in (given.name, taken.name) else 1e-6
        for mode in modes:
            what, ask = MODES[mode]
            np.testing.assert_allclose(
                ask(through), expected(what, plain), rtol=close, atol=close, err_msg=mode
            )
    finally:
        case.undo()


def test_the_cases_are_what_they_seem():
    """The kinds hold their numbers, and the reference knows the derivative of the map."""
    for kind in KINDS:
        u = [0.25, 0.5, -0.75, 1.0][: kind.size]
        assert [float(x) for x in kind.unpack(kind.pack(u))] == u, kind.name
        assert [float(x) for x in kind.bars(kind.bar(u))] == u, kind.name
    plain = without_rules(BY_NAME["nested"], BY_NAME["matrix"], "rrule")
    step = (plain.loss(plain.x + 1e-5 * plain.v) - plain.loss(plain.x - 1e-5 * plain.v)) / 2e-5
    assert abs(expected(1, plain) - step) < 1e-8


@pytest.mark.every(17)
@pytest.mark.parametrize("kind", NAMES)
def test_arguments_and_values_of_every_kind(kind):
    """An rrule alone serves forward mode and second derivatives, whatever it takes and gives."""
    check("rrule", kind, LATER[kind], ["pushforward", "hessian"])


@pytest.mark.every(13)
@pytest.mark.parametrize("form", [form for form in FORMS if form != "rrule"])
def test_rules_of_every_form(form):
    """On objects of complex numbers, at the first and second order."""
    check(form, "NamedTuple", "complex", ["pushforward", "nested gradient"])


@pytest.mark.every(17)
@pytest.mark.parametrize("mode", MODES)
def test_every_mode(mode):
    """From a NamedTuple to an object whose attributes are called as the parts of a complex number."""
    check("rrule", "complex", "object", [mode])


@pytest.mark.campaign
@pytest.mark.parametrize(("form", "given", "taken"), list(itertools.product(FORMS, NAMES, NAMES)))
def test_all_of_it(form, given, taken):
    """Every form, kind of argument, kind of value and mode."""
    check(form, given, taken, MODES)
