"""Rules stay on the names they were given, and nothing is overwritten in silence."""

import pytest

from rulelab.notebook.cells import MagicError
from rulelab.notebook.session import Session, lookup
from rulelab.rules.authoring import has_rrule, rrule_for
from rulelab.rules.registry import Registry
from rulelab.tangents.zeros import NoTangent


def f_rrule(x):
    def f_pullback(y_bar):
        return NoTangent(), y_bar

    return x, f_pullback


@pytest.fixture
def session():
    return Session(registry=Registry())


def new_f():
    def f(x):
        return x

    return f


def test_a_rule_follows_its_name_to_a_new_object(session):
    """Running the cell of f again keeps the rule, with a notice; without a change there is none."""
    space = {"f": new_f()}
    session.attach("f", space["f"], f_rrule, "cell In [2]")
    assert session.reattach(space) == []
    space["f"] = new_f()
    (notice,) = session.reattach(space)
    assert notice == (
        "f was defined anew; its rule f_rrule (cell In [2]) now sits on the new one (calls "
        "within this cell ran without it). Change the rule if the formula changed."
    )
    assert has_rrule(space["f"], registry=session.registry) and session.reattach(space) == []


def test_a_function_with_a_rule_of_its_own_keeps_it(session):
    """A rule stated by decorator on the new object is not replaced by the old one."""
    space = {"f": new_f()}
    session.attach("f", space["f"], f_rrule, "cell In [2]")
    space["f"] = new_f()

    @rrule_for(space["f"], registry=session.registry)
    def other_rrule(x):
        return x, lambda y_bar: (NoTangent(), 2 * y_bar)

    assert session.reattach(space) == []
    assert session.registry.entry(space["f"]).user[0].function is other_rrule


@pytest.mark.parametrize("now", [None, 3])
def test_a_name_that_is_gone_waits(session, now):
    """Deleted or rebound to a number: nothing happens until it is a function again."""
    space = {"f": new_f()}
    session.attach("f", space["f"], f_rrule, "cell In [2]")
    space["f"] = now
    assert session.reattach(space) == []
    space["f"] = new_f()
    assert len(session.reattach(space)) == 1


def test_methods_follow_their_class(session):
    """A dotted name is looked up through the new class."""

    def make():
        class Bar:
            def method(self, x):
                return x

        return Bar

    space = {"Bar": make()}
    session.attach("Bar.method", space["Bar"].method, lambda self, x: (x, None), "cell In [2]")
    space["Bar"] = make()
    assert len(session.reattach(space)) == 1
    assert has_rrule(space["Bar"].method, registry=session.registry)


def test_a_twin_is_made_once_and_looks_its_function_up(session):
    """The second run keeps the object; a redefined F counts at once."""
    space = {"__name__": "__main__"}
    exec("def f(x):\n    return x", space)
    f_cr = session.rule_target("f_cr", "f", space)
    session.attach("f_cr", f_cr, f_rrule, "cell In [2]", "f")
    space["f_cr"] = f_cr
    assert session.rule_target("f_cr", "f", space) is f_cr
    exec("def f(x):\n    return 10 * x", space)
    assert space["f_cr"](2.0) == 20.0 and session.reattach(space) == []


def test_a_twin_of_a_lambda_is_made_anew_when_the_lambda_is(session):
    """A lambda cannot be looked up by its own name, so the copy of an old one would give stale values."""
    space = {"f": lambda x: x}
    space["f_cr"] = session.rule_target("f_cr", "f", space)
    session.attach("f_cr", space["f_cr"], f_rrule, "cell In [2]", "f")
    space["f"] = lambda x: 10 * x
    (notice,) = session.reattach(space)
    assert (
        notice
        == "f was defined anew; f_cr is a copy of the new one and keeps its rule f_rrule (cell In [2])."
    )
    assert space["f_cr"](2.0) == 20.0 and has_rrule(space["f_cr"], registry=session.registry)


def test_wrong_names_are_told(session):
    """What is missing, what is in the way, and what to do."""
    space = {"f": new_f(), "g": new_f(), "n": 3}
    for name, of, words in (
        ("h", None, "there is no h; to make it a copy of a function F: %%rrule h --of F"),
        ("n", None, "n is a int, which cannot be called"),
        ("g", "f", "g is there already and is no copy made by --of"),
        ("h", "nothing", "there is no function nothing to copy"),
        ("a.b", "f", "the name of a copy must be a plain name, not a.b"),
    ):
        with pytest.raises(MagicError) as caught:
            session.rule_target(name, of, space)
        assert words in str(caught.value)


def test_a_copy_of_another_function_is_refused(session):
    """NAME is a copy of f; a rule cell that says `--of g` does not put g's rule there."""
    space = {"f": lambda x: x, "g": lambda x: x}
    space["f_cr"] = session.rule_target("f_cr", "f", space)
    session.attach("f_cr", space["f_cr"], f_rrule, "cell In [2]", "f")
    with pytest.raises(MagicError, match="f_cr is a copy of f, not of g"):
        session.rule_target("f_cr", "g", space)


def test_lookup_of_dotted_names():
    """Each part is an attribute of the one before; None where one is missing."""
    assert lookup("pytest.nothing.there", {"pytest": pytest}) is None
    assert lookup("pytest.raises", {"pytest": pytest}) is pytest.raises
