"""Settings: by `%config`, by the environment, by the project's file; the first that speaks decides."""

import pytest
from traitlets.config import Config

from rulelab.compiler.calls.cache import DEFAULT as CACHE
from rulelab.notebook.loading import load_ipython_extension
from rulelab.notebook.settings import Settings


def project(folder, text):
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    return folder


def test_the_defaults():
    """What counts where nobody has said anything."""
    settings = Settings()
    assert (settings.short_errors, settings.widgets, settings.rounds, settings.refresh_mode) == (
        True,
        True,
        60,
        "auto",
    )


def test_the_nearest_project_file_above_counts(tmp_path):
    """As ruff and pytest look for theirs."""
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    project(tmp_path, "[tool.rulelab]\nrounds = 12\nwidgets = false\n")
    settings = Settings()
    assert settings.read_surroundings(deep, {}) == []
    assert (settings.rounds, settings.widgets) == (12, False)
    project(tmp_path / "a", "[project]\nname = 'x'\n")
    settings = Settings()
    assert settings.read_surroundings(deep, {}) == [] and settings.rounds == 60


@pytest.mark.parametrize(
    ("line", "remark"),
    [
        ("rouds = 3", "there is no setting rouds; did you mean rounds?"),
        ("colour = 3", "there is no setting colour"),
        ("rounds = 'many'", "rounds must be an int of at least 1, not 'many'"),
        ("rounds = 0", "rounds must be an int of at least 1, not 0"),
        ("rounds = true", "rounds must be an int of at least 1, not True"),
        ("refresh_mode = 'never'", "refresh_mode must be 'auto' or 'manual', not 'never'"),
        ("short_errors = 1", "short_errors must be a boolean, not 1"),
    ],
)
def test_what_cannot_be_taken_is_named_and_the_rest_counts(tmp_path, line, remark):
    """File, key, what it must be; one line."""
    folder = project(tmp_path, f"[tool.rulelab]\n{line}\nwidgets = false\n")
    settings = Settings()
    (said,) = settings.read_surroundings(folder, {})
    assert said == f"{folder / 'pyproject.toml'}, [tool.rulelab]: {remark}"
    assert settings.widgets is False and settings.rounds == 60


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[tool.rulelab\n", "cannot be read: Expected"),
        ("tool = 3\n", "[tool.rulelab] must be a table"),
        ("[tool]\nrulelab = 3\n", "[tool.rulelab] must be a table"),
    ],
)
def test_a_broken_project_file_is_one_line(tmp_path, text, words):
    """The magics load all the same."""
    (said,) = Settings().read_surroundings(project(tmp_path, text), {})
    assert said.startswith(f"{tmp_path / 'pyproject.toml'}: {words}") and "\n" not in said


def test_a_project_file_in_another_encoding_is_one_line(tmp_path):
    """Not a traceback at the first cell."""
    (tmp_path / "pyproject.toml").write_bytes(b"\xff\xfe[tool")
    (said,) = Settings().read_surroundings(tmp_path, {})
    assert "cannot be read" in said and "\n" not in said


@pytest.mark.parametrize(
    ("word", "widgets"), [("0", False), ("off", False), ("1", True), ("True", True), ("", False)]
)
def test_the_environment_comes_before_the_project(tmp_path, word, widgets):
    """An empty variable says nothing."""
    settings = Settings()
    folder = project(tmp_path, "[tool.rulelab]\nwidgets = false\n")
    assert settings.read_surroundings(folder, {"RULELAB_WIDGETS": word}) == []
    assert settings.widgets is widgets


def test_a_wrong_word_in_the_environment(tmp_path):
    """Named as it is called there."""
    project(tmp_path, "")
    assert Settings().read_surroundings(tmp_path, {"RULELAB_WIDGETS": "perhaps"}) == [
        "RULELAB_WIDGETS: widgets must be a boolean, not 'perhaps'"
    ]


def test_config_comes_before_everything(tmp_path, bare_shell, monkeypatch, capsys):
    """Also when it stands in IPython's configuration file, before the extension is loaded."""
    project(tmp_path, "[tool.rulelab]\nrounds = 7\nwidgets = false\nshort_errors = false\nnope = 1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RULELAB_WIDGETS", "0")
    bare_shell.update_config(Config({"RuleLab": {"widgets": True, "rounds": 9}}))
    load_ipython_extension(bare_shell)
    magics = bare_shell._rulelab.magics
    assert (magics.widgets, magics.rounds, magics.short_errors) == (True, 9, False)
    assert capsys.readouterr().err == (
        f"rulelab: {tmp_path / 'pyproject.toml'}, [tool.rulelab]: there is no setting nope\n"
    )
    bare_shell.run_line_magic("config", "RuleLab.rounds = 11")
    assert magics.rounds == 11


def test_the_project_file_is_read_at_loading(tmp_path, bare_shell, monkeypatch):
    """Its settings are those of the magics."""
    monkeypatch.chdir(project(tmp_path, "[tool.rulelab]\nrefresh_mode = 'manual'\n"))
    load_ipython_extension(bare_shell)
    assert bare_shell._rulelab.magics.refresh_mode == CACHE.mode == "manual"


def test_config_lists_the_settings(notebook):
    """With their meaning and what they are now."""
    notebook.ok("%config RuleLab")
    for name in Settings.class_traits(config=True):
        assert f"RuleLab.{name}=" in notebook.text


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("RuleLab.rounds = 0", "should not be less than 1, but a value of 0 was specified"),
        ("RuleLab.rounds = 'many'", "expected an int, not the str 'many'"),
        ("RuleLab.refresh_mode = 'never'", "not the str 'never'"),
    ],
)
def test_a_wrong_value_is_one_line_and_changes_nothing(notebook, line, words, caplog):
    """What %config itself says of it, and the old value stays."""
    notebook.run(f"%config {line}")
    (record,) = caplog.records
    assert words in record.getMessage() and "\n" not in record.getMessage()
    magics = notebook.shell._rulelab.magics
    assert (magics.rounds, magics.refresh_mode, CACHE.mode) == (60, "auto", "auto")


def test_rounds_are_those_of_the_next_duel(notebook):
    """--rounds comes before the setting."""
    notebook.ok("%config RuleLab.rounds = 9")
    assert notebook.ok("%grad_bench mse mse --at y, yh").rounds_wanted == 9
    assert notebook.ok("%grad_bench mse mse --rounds 8 --at y, yh").rounds_wanted == 8


def test_the_refresh_mode_is_a_setting(notebook):
    """It is that of the cache, at once."""
    notebook.ok("%config RuleLab.refresh_mode = 'manual'")
    assert CACHE.mode == "manual"
    notebook.ok("%config RuleLab.refresh_mode = 'auto'")
    assert CACHE.mode == "auto"
