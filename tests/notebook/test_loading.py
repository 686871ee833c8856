"""Loading brings the magics; unloading leaves the shell as it was."""

import contextlib

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

import rulelab as rl
import rulelab.notebook
from rulelab.compiler.calls.cache import DEFAULT as CACHE
from rulelab.errors import RuleLabError
from rulelab.notebook.cells import MagicError
from rulelab.notebook.loading import load_ipython_extension, print_notice, unload_ipython_extension
from rulelab.notebook.magics import RuleLab


def state(shell):
    """What an extension can leave behind in a shell, and in the classes and lists of ours that it touches."""
    manager, formatter = shell.magics_manager, shell.display_formatter
    return {
        "magics": {kind: dict(names) for kind, names in manager.magics.items()},
        "registry": set(dict.keys(manager.registry)),
        "matchers": list(shell.Completer.custom_matchers),
        "completers": repr(shell.Completer.custom_completers),
        "hooks": {event: list(hooks) for event, hooks in shell.events.callbacks.items()},
        "configurables": list(shell.configurables),
        "names": set(shell.user_ns),
        "hidden": set(shell.user_ns_hidden),
        "attributes": set(vars(shell)),
        "traits": set(shell.trait_names()),
        "traits observed": {name: set(there) for name, there in shell._trait_notifiers.items() if there},
        "printers": {kind: set(f.type_printers) for kind, f in formatter.formatters.items()},
        "later printers": {kind: set(f.deferred_printers) for kind, f in formatter.formatters.items()},
        "handlers": dict(shell.custom_exceptions and {"exceptions": shell.custom_exceptions}),
        "transformers": (
            list(shell.input_transformers_cleanup),
            list(shell.input_transformers_post),
            list(shell.ast_transformers),
        ),
        "errors": set(vars(RuleLabError)),
        "notices": list(CACHE.on_notice),
        "mode": CACHE.mode,
    }


@pytest.fixture
def clean(bare_shell):
    """A shell whose own magics that load lazily are there already."""
    if hasattr(bare_shell.magics_manager, "load_all_lazy_magics"):  # as IPython 9 has it
        bare_shell.magics_manager.load_all_lazy_magics()
    bare_shell.run_cell("%config IPCompleter.greedy")  # running a cell leaves traces of its own
    return bare_shell


def test_loading_binds_nothing(clean):
    """The names of the user are the user's."""
    before = set(clean.user_ns)
    load_ipython_extension(clean)
    assert set(clean.user_ns) == before
    assert set(RuleLab.magics["line"]) <= set(clean.magics_manager.magics["line"])


def test_loading_twice_is_loading_once(clean):
    """One set of settings, one matcher, one notice."""
    load_ipython_extension(clean)
    once = state(clean)
    load_ipython_extension(clean)
    assert state(clean) == once
    assert CACHE.on_notice.count(print_notice) == 1


def test_unloading_leaves_no_trace(clean):
    """Magics, completion, hooks, settings, the display of errors, the refresh mode: as they were."""
    before = state(clean)
    load_ipython_extension(clean)
    assert state(clean) != before
    clean.run_line_magic("config", "RuleLab.refresh_mode = 'manual'")
    clean.run_cell("%config RuleLab.short_errors = False\n%rules ;")
    with provisionalcompleter():
        list(clean.Completer.completions("%gradient f", 11))
    unload_ipython_extension(clean)
    unload_ipython_extension(clean)
    after = state(clean)
    after["names"] -= {"_i", "_ii", "_iii"}
    before["names"] -= {"_i", "_ii", "_iii"}
    assert after == before


def test_load_unload_load(clean):
    """The second loading is as good as the first."""
    load_ipython_extension(clean)
    unload_ipython_extension(clean)
    load_ipython_extension(clean)
    assert clean.run_cell("import rulelab as rl\ndef f(x):\n    return x * x\ng = %gradient f(3.0)").success
    assert clean.user_ns["g"] == (6.0,)


def test_load_ext_by_name(clean, capsys):
    """%load_ext rulelab, %reload_ext rulelab, %unload_ext rulelab, and again."""
    for line in ("%load_ext rulelab", "%reload_ext rulelab"):
        assert clean.run_cell(line).success
        assert clean.find_line_magic("grad_compare") is not None
    assert clean.run_cell("%unload_ext rulelab").success
    assert clean.find_line_magic("grad_compare") is None
    assert clean.run_cell("%load_ext rulelab").success
    assert "rror" not in capsys.readouterr().out


def test_a_magic_of_the_users_comes_back(clean):
    """One that ours hid; and one that the user made meanwhile stays."""
    clean.register_magic_function(lambda line: "mine", "line", "rules")
    load_ipython_extension(clean)
    clean.register_magic_function(lambda line: "later", "line", "gradient")
    unload_ipython_extension(clean)
    assert clean.run_line_magic("rules", "") == "mine"
    assert clean.run_line_magic("gradient", "") == "later"


def test_two_shells_do_not_disturb_each_other(clean, capsys):
    """Unloading in one leaves the other its magics, short errors and notices, which are not told twice."""
    before = state(clean)
    with another_shell() as other:
        load_ipython_extension(clean)
        load_ipython_extension(other)
        assert CACHE.on_notice.count(print_notice) == 1
        clean.run_cell("def f(x):\n    return x\n")
        assert clean.run_cell("%%rrule f\ndef f_rrule(x):\n    return 0.0, None\n").success
        assert other._rulelab.magics.session.rules == {}
        unload_ipython_extension(other)
        assert CACHE.on_notice.count(print_notice) == 1 and hasattr(RuleLabError, "_render_traceback_")
        assert clean.find_line_magic("gradient") is not None and other.find_line_magic("gradient") is None
    unload_ipython_extension(clean)
    assert state(clean)["errors"] == before["errors"] and CACHE.on_notice == before["notices"]


@contextlib.contextmanager
def another_shell():
    shell = InteractiveShell(colors="nocolor")
    try:
        yield shell
    finally:
        unload_ipython_extension(shell)
        shell.history_manager.end_session()


def test_last_without_the_magics(bare_shell):
    """One line says where the session would come from."""
    with pytest.raises(MagicError, match="there is no session: the magics come with `%load_ext rulelab`"):
        rulelab.notebook.last()


def test_the_mode_that_plain_python_set_is_shown(notebook):
    """`%config RuleLab.refresh_mode` is what is, whoever changed it."""
    try:
        notebook.ok("rl.refresh('manual')")
        assert notebook.ok("%config RuleLab.refresh_mode") == "manual"
        notebook.ok("%grad_refresh auto")
        assert notebook.ok("%config RuleLab.refresh_mode") == "auto"
    finally:
        rl.refresh("auto")


def test_a_bad_value_of_a_setting_is_dropped_with_a_line(clean, capsys):
    """`%config` keeps a value it refused; loading again says so and brings the magics."""
    clean.run_cell("%load_ext rulelab")
    clean.run_cell("%config RuleLab.refresh_mode = 'foo'\n%config RuleLab.rounds = 'x'")
    clean.run_cell("%config RuleLab.short_errors = False")
    capsys.readouterr()
    assert clean.run_cell("%reload_ext rulelab").success
    assert sorted(capsys.readouterr().err.splitlines()) == [
        "rulelab: %config RuleLab: refresh_mode must be 'auto' or 'manual', not 'foo'",
        "rulelab: %config RuleLab: rounds must be an int of at least 1, not 'x'",
    ]
    assert clean.find_line_magic("gradient") is not None
    magics = clean._rulelab.magics
    assert (magics.refresh_mode, magics.rounds, magics.short_errors) == ("auto", 60, False)
    clean.run_cell("%reload_ext rulelab")
    assert capsys.readouterr().err == ""


def test_a_magic_that_is_misspelled_is_told_with_the_one_that_was_meant(notebook):
    """IPython says that there is none; the line below says which one of ours is like it."""
    for typed, meant in (
        ("%gradeint f(x)", "%gradient"),
        ("%rulecheck f", "%rule_check"),
        ("%%rule f\npass", "%%rrule"),
        ("%prove_rule f", "%rule_symbolic"),
    ):
        notebook.fails(typed)
        assert notebook.beside.endswith(f"rulelab: did you mean {meant}?\n")
    notebook.fails("%quite_another")
    assert "did you mean" not in notebook.beside


def test_a_magic_is_found_by_what_it_does(notebook):
    """By names that others have for the same."""
    for typed, meant in (
        ("%rule_doctor f", "%rule_check"),
        ("%vjp_check f", "%grad_check"),
        ("%lab f", "%rule_lab"),
        ("%grad f(x)", "%gradient"),
    ):
        notebook.fails(typed)
        assert notebook.beside.endswith(f"rulelab: did you mean {meant}?\n")
