"""Rules stay on the names they were given, and nothing is overwritten in silence."""

import pytest

from rulelab.errors import RuleError
from rulelab.notebook.cells import MagicError
from rulelab.notebook.session import Session, lookup
from rulelab.rules.authoring import has_rrule, remove_rule, rrule, rrule_for
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
        "f was redefined; its rule f_rrule (cell In [2]) now belongs to the new one (calls "
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


@pytest.mark.parametrize(("now", "became"), [(None, "is gone"), (3, "is an int now")])
def test_a_rule_does_not_wait_for_a_name_that_is_gone(session, now, became):
    """Deleted or rebound to a number: a function that has the name later may be any; told once."""
    space = {"f": new_f()}
    session.attach("f", space["f"], f_rrule, "cell In [2]")
    space["f"] = now
    assert session.reattach(space) == [
        f"f {became}; its rule f_rrule (cell In [2]) no longer follows the name. "
        "For a new f run the cell of the rule again."
    ]
    assert session.reattach(space) == []
    space["f"] = new_f()
    assert session.reattach(space) == [] and not has_rrule(space["f"], registry=session.registry)


def test_a_rule_that_was_taken_back_does_not_follow(session):
    """`rl.remove_rule(f)`, and then the cell of f again: there is no rule."""
    space = {"f": new_f()}
    session.attach("f", space["f"], f_rrule, "cell In [2]")
    remove_rule(space["f"], registry=session.registry)
    space["f"] = new_f()
    assert session.reattach(space) == [] and session.rules == {}
    assert not has_rrule(space["f"], registry=session.registry)


def test_a_rule_is_set_aside_where_it_no_longer_fits(session):
    """f has another parameter now: told once, nothing raised, and the new f has no rule."""
    space = {"f": new_f()}
    session.attach("f", space["f"], f_rrule, "cell In [2]")
    space["f"] = lambda x, y: x * y
    (notice,) = session.reattach(space)
    assert notice.startswith("f was redefined; the rule f_rrule (cell In [2]) no longer fits (")
    assert notice.endswith(") and is set aside: write a new one.")
    assert session.reattach(space) == [] and not has_rrule(space["f"], registry=session.registry)


def test_an_object_that_fails_when_looked_at_is_told_once(session):
    """A property that raises is no reason for a line in every cell."""

    class Bad:
        @property
        def m(self):
            raise ValueError("no m\ntoday")

    space = {"k": Bad()}
    session.attach("k.m", new_f(), f_rrule, "cell In [2]")
    assert session.reattach(space) == ["The rule f_rrule (cell In [2]) no longer follows k.m: no m today"]
    assert session.reattach(space) == []


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
    assert session.reattach(space) == [
        "f was redefined; f_cr is a copy of it and keeps its rule f_rrule (cell In [2]). "
        "Change the rule if the formula changed."
    ]
    assert space["f_cr"] is f_cr and f_cr(2.0) == 20.0 and session.reattach(space) == []
    with pytest.raises(RuleError) as caught:
        rrule(f_cr, 2.0, registry=session.registry)
    assert caught.value.found == (
        "f was redefined and the rule f_rrule (cell In [2]) of f_cr gives a different value: 2.0 against 20.0"
    )


def test_a_twin_of_a_function_with_other_parameters_is_made_anew(session):
    """The old copy would call it wrongly; the rule is set aside."""
    space = {"__name__": "__main__"}
    exec("def f(x):\n    return x", space)
    space["f_cr"] = session.rule_target("f_cr", "f", space)
    session.attach("f_cr", space["f_cr"], f_rrule, "cell In [2]", "f")
    exec("def f(x, y):\n    return x * y", space)
    (notice,) = session.reattach(space)
    assert notice.startswith("f was redefined; the rule f_rrule (cell In [2]) no longer fits")
    assert space["f_cr"](2.0, 3.0) == 6.0 and session.reattach(space) == []


def test_a_copy_of_a_method_is_left_in_peace(session):
    """A bound method is a new object at each access, and still the same."""

    class Model:
        def m(self, x):
            return x

    space = {"k": Model()}
    space["km_cr"] = km_cr = session.rule_target("km_cr", "k.m", space)
    session.attach("km_cr", km_cr, f_rrule, "cell In [2]", "k.m")
    assert session.reattach(space) == [] and session.reattach(space) == []
    assert session.rule_target("km_cr", "k.m", space) is km_cr
    space["k"] = Model()
    assert len(session.reattach(space)) == 1 and session.reattach(space) == []


def test_a_twin_of_a_lambda_is_made_anew_when_the_lambda_is(session):
    """A lambda cannot be looked up by its own name, so the copy of an old one would give stale values."""
    space = {"f": lambda x: x}
    space["f_cr"] = session.rule_target("f_cr", "f", space)
    session.attach("f_cr", space["f_cr"], f_rrule, "cell In [2]", "f")
    space["f"] = lambda x: 10 * x
    (notice,) = session.reattach(space)
    assert (
        notice == "f was redefined; f_cr is a copy of the new one and keeps its rule f_rrule (cell In [2])."
    )
    assert space["f_cr"](2.0) == 20.0 and has_rrule(space["f_cr"], registry=session.registry)


def test_wrong_names_are_told(session):
    """What is missing, what is in the way, and what to do."""
    space = {"f": new_f(), "g": new_f(), "n": 3}
    for name, of, words in (
        ("h", None, "there is no function h; to make it a copy of a function F: %%rrule h --of F"),
        ("n", None, "n is an int, which cannot be called"),
        ("g", "f", "g already exists and is not a copy made by --of"),
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
