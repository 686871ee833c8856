"""What is shown besides reports: source with colours, rules, what was stale, errors in six lines."""

from types import SimpleNamespace

from rulelab.errors import ForeignCallError, MutationError, Place, RuleLabError
from rulelab.notebook.displays import Refreshed, Rules, Source, error_lines
from rulelab.rules.authoring import rrule_for
from rulelab.rules.registry import Registry

HOSTILE = 'def f(x):\n    return "<script>alert(1)</script>"  # <b>\n'


def test_source_is_coloured_and_escaped():
    """Colours come from the theme's variables; text in the source is never run."""
    html = Source(HOSTILE)._repr_html_()
    assert "<script" not in html and "&lt;script&gt;" in html and "<b>" not in html
    assert '<span class="rulelab-k">def</span>' in html and "var(--jp-mirror-editor-keyword-color" in html


def test_source_is_a_string():
    """It prints, splits and compiles as one."""
    assert str(Source(HOSTILE)) == HOSTILE
    compile(Source(HOSTILE), "f", "exec")


def test_source_without_pygments(monkeypatch):
    """Plain, but shown."""
    import sys

    monkeypatch.setitem(sys.modules, "pygments.lexers", None)
    assert "&lt;script&gt;" in Source(HOSTILE)._repr_html_()


def test_rules_name_target_kind_and_place():
    """Yours one by one; those of the house behind their number."""
    registry = Registry()

    def f(x):
        return x

    @rrule_for(f, registry=registry)
    def f_rrule(x):
        return x, None

    shown = Rules(registry.rules())
    (row,) = shown.to_dict()["own"]
    assert (row["target"], row["kind"], row["rule"]) == ("f", "rrule", "f_rrule")
    assert row["defined at"].startswith("test_displays.py, line ")
    assert (
        "Rules of the house (0)" in str(shown)
        and "<details><summary>Rules of the house" in shown._repr_html_()
    )


def test_no_rules_yet():
    """The first step is named."""
    assert str(Rules([])).startswith("No rules of your own yet: %rule_stub f writes the skeleton of one.")


def test_what_was_stale_is_listed_with_the_reason():
    """Function, argument types and why; or that nothing was."""
    stale = SimpleNamespace(
        function="loss", signature=("float", "ndarray"), reason="a rule for f was defined"
    )
    assert str(Refreshed(SimpleNamespace(mode="auto", stale=[]))) == "Mode auto. Nothing was stale."
    shown = Refreshed(SimpleNamespace(mode="manual", stale=[stale]))
    assert str(shown).startswith("Mode manual. 1 compiled pass was stale and has been dropped.")
    assert "loss        float, ndarray  a rule for f was defined" in str(shown)


def test_errors_are_at_most_six_lines():
    """The class, what was found, the line, what to do."""
    place = Place("model.py", 3, 4, 8, "addone", "    x[i] = 1")
    error = MutationError(
        "Mutating arrays is not supported",
        asked="gradient of loss",
        place=place,
        read="limits",
        fixes=["write it without mutation"],
        chain=[place],
    )
    lines = error_lines(error)
    assert len(lines) == 6 and lines[0] == "MutationError: Mutating arrays is not supported"
    assert lines[-1] == "do: write a rule; %rule_stub addone puts its skeleton in the next cell"


def test_the_stub_is_offered_once():
    """Where the error names it already, and for errors that no rule would help, nothing is added."""
    named = ForeignCallError("no rule for foo", fixes=["%rule_stub foo puts the skeleton in the next cell"])
    assert "\n".join(error_lines(named)).count("%rule_stub") == 1
    assert error_lines(RuleLabError("nothing to do with rules")) == ["RuleLabError: nothing to do with rules"]
