"""How a line is read, and the help that every magic has: what `?` shows is true, and its examples run."""

import inspect
import json
import textwrap

import pytest

import rulelab as rl
import rulelab.bench
import rulelab.notebook
import rulelab.symbolic
from rulelab.notebook.lines import raw_rest, split_at, without_semicolon
from rulelab.notebook.magic_methods import magic_method
from rulelab.notebook.magics import RuleLab

from .conftest import MSE_RULE

MAGICS = sorted(RuleLab.magics["line"])


CELL_MAGICS = sorted(RuleLab.magics["cell"])


def help_of(name):
    method = getattr(RuleLab, RuleLab.magics["line"][name])
    return method, method.__doc__


def examples_of(text):
    """The lines under `Examples::`, one entry for each; a cell magic's is one entry."""
    assert "Examples::\n" in text, "the docstring of the magic has no Examples::"
    block = textwrap.dedent(text.split("Examples::\n")[1]).strip("\n")
    return [block] if block.startswith("%%") else block.splitlines()


# -- help ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MAGICS)
def test_every_magic_has_a_face(name):
    """`@magic_method` gives the plain call, the usage line and a parser; all the tests below go by these."""
    method = getattr(RuleLab, RuleLab.magics["line"][name])
    assert hasattr(method, "parser"), f"%{name} has no @magic_method(plain=...) below its @line_magic"


def test_a_magic_without_o_is_told_when_it_is_defined():
    """Each keeps its result under a name: the message says what is to be written, and where."""
    with pytest.raises(TypeError, match=r"%twice has no -o: write @OUTPUT .* directly above def twice"):

        @magic_method(plain="2 * x")
        def twice(self, line, scope):
            """Double x.

            Examples::

                %twice 3
            """


def test_every_cell_magic_is_a_line_magic_too():
    """`%name?` fails for one that is not."""
    assert set(CELL_MAGICS) <= set(MAGICS)


@pytest.mark.parametrize("name", MAGICS)
def test_help_shows_usage_plain_python_options_and_examples(name):
    """In this order of interest; the usage line begins with the magic as it is typed."""
    method, text = help_of(name)
    mark = "%%" if name in CELL_MAGICS else "%"
    usage, meaning, *_ = text.split("\n\n")
    assert usage.startswith(f"{mark}{name} ") and method.spelled == f"{mark}{name}"
    assert meaning.splitlines()[0].endswith(".") and len(meaning.splitlines()) == 1
    assert f"In plain Python::\n\n    {method.plain}\n" in text
    for action in method.parser._actions:
        assert action.help, f"@argument({action.dest!r}) of %{name} has no help="
        assert not action.option_strings or action.option_strings[0] in text
    assert text.index("In plain Python") < text.index("options:") < text.index("Examples::")
    assert all(mark + name in example for example in examples_of(text))


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    """What a magic writes goes to a folder of the test."""
    monkeypatch.chdir(tmp_path)


def only_where_it_can_run(name):
    """Skip what needs another framework where that is not installed."""
    if name in FRAMEWORKS:
        pytest.importorskip(FRAMEWORKS[name])


FRAMEWORKS = {"rule_import": "autograd"}


@pytest.fixture
def prepared(notebook):
    """A notebook that has the functions which the examples of the help name."""
    notebook.ok(MSE_RULE)
    notebook.ok(
        "def f(x, k=1):\n    return k * x * x\n"
        "def theirs(x, k=1):\n    return k * x**2\n"
        f"{AREA}"
        "def loss(w):\n    return 2.0 * mse_cr(w * y, yh)\nw = 0.5\n"
    )
    yield notebook
    rl.refresh("auto")


@pytest.mark.parametrize("name", MAGICS)
def test_the_first_example_of_the_help_runs(prepared, name):
    """Of every magic, as it stands there."""
    only_where_it_can_run(name)
    examples = examples_of(help_of(name)[1])
    assert examples, f"the docstring of %{name} has no line under `Examples::`"
    prepared.ok(examples[0])


@pytest.mark.parametrize("name", MAGICS)
def test_a_magic_is_not_in_the_tracebacks_of_errors(name):
    """An error in the user's function is shown without the frames of rulelab."""
    code = inspect.unwrap(help_of(name)[0]).__code__
    assert "__tracebackhide__" in code.co_varnames, f"%{name} does not begin with __tracebackhide__ = True"


@pytest.mark.every(11)
@pytest.mark.parametrize("name", MAGICS)
def test_the_examples_of_the_help_run(prepared, name):
    """All of them, one after the other."""
    only_where_it_can_run(name)
    for example in examples_of(help_of(name)[1]):
        prepared.ok(example)


@pytest.mark.every(11)
@pytest.mark.parametrize("name", MAGICS)
def test_the_plain_spelling_runs(name, notebook):
    """What the help calls the same in plain Python is."""
    plain = help_of(name)[0].plain

    def f(x, y=2.0, *, k=1):
        return k * x * y

    def f_rrule(x, y=2.0, *, k=1):
        return k * x * y, lambda s: (rl.NoTangent(), k * y * s, k * x * s)

    space = {"rl": rl, "rulelab": rulelab, "f": f, "f_cr": f, "x": 3.0, "y": 2.0}
    if name == "scalar_rule":
        eval(plain, space)
        assert rl.has_rrule(f, 3.0) and rl.which_rule(f, 3.0, mode="frule")
    elif name == "frule":
        exec(f"{plain}\ndef f_frule(tangents, x, y=2.0, *, k=1):\n    return k * x * y, 0.0\n", space)
        assert rl.which_rule(f, 3.0, mode="frule")
    elif plain.startswith("@"):
        exec(f"{plain}\ndef f_rrule(x, y=2.0, *, k=1):\n    return k * x * y, None\n", space)
        assert rl.has_rrule(f, 3.0)
    else:
        rl.rrule_for(f)(f_rrule)
        assert eval(plain, space) is not None


@pytest.mark.parametrize("name", CELL_MAGICS)
def test_a_cell_magic_as_a_line_magic_prints_its_help(notebook, name):
    """`%rrule` alone is how one looks it up."""
    assert notebook.ok(f"%{name}") is None
    assert notebook.text.startswith(f"%%{name} [")


@pytest.mark.parametrize("name", MAGICS)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_the_help_option_prints_the_help(notebook, name, option):
    """Whatever else stands in the line, and nothing is run."""
    assert notebook.ok(f"%{name} {option}") is None
    assert notebook.text.startswith(help_of(name)[1])
    if name in CELL_MAGICS:
        assert notebook.ok(f"%%{name} mse {option}\n1 / 0\n") is None


def test_output_is_another_name_of_o(notebook):
    """And no other beginning of an option is taken for it."""
    notebook.ok("%gradient --output kept mse(y, yh)")
    assert len(notebook["kept"]) == 2
    assert "there is no option --outp; did you mean --output?" in notebook.fails("%rules --outp kept")


@pytest.mark.parametrize("asked", ["%%rrule?", "%rrule?", "?%rrule", "%gradient?", "rrule?"])
def test_question_mark_shows_the_help(notebook, asked):
    """In a terminal by the pager, which here prints."""
    notebook.ok(asked)
    assert "In plain Python::" in notebook.text and "Examples::" in notebook.text


# -- results -------------------------------------------------------------------------------------------------

RESULTS = {
    "rrule": MSE_RULE.replace("--of mse", "--of mse -o kept", 1),
    "frule": "%%frule mse -o kept\ndef mse_frule(tangents, y, yh):\n    return mse(y, yh), 0.0\n",
    "scalar_rule": "%%scalar_rule -o kept area\ndef area_partials(out, w):\n    return 2 * w\n",
    "which_rule": "%which_rule -o kept mse(y, yh)",
    "rule_undo": "%rule_undo -o kept mse_cr",
    "rule_docs": "%rule_docs -o kept limitations#text",
    "rule_stub": "%rule_stub mse -o kept",
    "rule_lint": "%rule_lint mse_cr -o kept",
    "rule_import": "%rule_import autograd abs --name size_there -o kept",
    "rule_export": "%rule_export mse_cr --to module kept_rules.py -o kept --at y, yh",
    "rules": "%rules -o kept",
    "grad_refresh": "%grad_refresh -o kept",
    "gradient": "%gradient -o kept mse(y, yh)",
    "jacobian": "%jacobian -o kept np.cumsum(y)",
    "hessian": "%hessian -o kept mse --at y, yh=yh",
    "adjoint": "%adjoint -o kept mse(y, yh)",
    "rule_check": "%rule_check mse_cr -o kept --at y, yh",
    "grad_check": "%grad_check -o kept mse(y, yh)",
    "grad_compare": "%grad_compare mse mse_cr -o kept --at y, yh",
    "grad_bench": "%grad_bench mse mse_cr --rounds 8 -o kept --at y, yh",
    "grad_profile": "%grad_profile --seconds 0.02 -o kept mse(y, yh)",
    "rule_symbolic": "%rule_symbolic area -o kept",
    "sym_check": "%sym_check -o kept mse(y, yh)",
    "rule_derive": "%rule_derive area -o kept",
    "rule_scan": "%rule_scan area -o kept --at 2.0",
    "rule_lab": "%rule_lab area area -o kept --at 2.0",
}
"""A cell of each magic that keeps its result; a magic that is missing here fails the first test below."""

AREA = """\
def area(w):
    return w * w
@rl.rrule_for(area)
def area_rrule(w):
    def area_pullback(s):
        return rl.NoTangent(), 2 * w * s
    return w * w, area_pullback
"""


def result_of(name):
    """The cell of a magic that keeps its result."""
    assert name in RESULTS, (
        f"RESULTS in tests/notebook/test_magic_methods.py has no row for %{name}: write one, with a cell "
        f'that gives a result and keeps it by -o kept, "{name}": "%{name} -o kept ..."'
    )
    return RESULTS[name]


@pytest.mark.parametrize("name", sorted({*MAGICS, *RESULTS}))
def test_every_magic_has_a_result_in_these_tests(name):
    """So that none is added without its faces."""
    assert "-o kept" in result_of(name)
    assert name in MAGICS, f"RESULTS has a row for {name}, a magic that is gone"


@pytest.mark.every(13)
@pytest.mark.parametrize("name", MAGICS)
def test_every_result_has_five_faces(notebook, name):
    """Text, HTML without script, Markdown, LaTeX and JSON that says what `to_dict` does."""
    notebook.ok(MSE_RULE)
    notebook.ok(AREA)
    only_where_it_can_run(name)
    shown = notebook.ok(result_of(name))
    kept = notebook["kept"]
    assert shown is kept is rulelab.notebook.last()
    data, _ = notebook.shell.display_formatter.format(kept)
    assert data["text/plain"].strip() and "<object" not in data["text/plain"]
    assert data["text/html"].lstrip().startswith("<") and "<script" not in data["text/html"]
    assert json.loads(kept.to_json()) == json.loads(json.dumps(kept.to_dict(), default=str)) != {}
    assert kept.to_markdown().strip() and kept.to_latex().strip()


@pytest.mark.parametrize("name", MAGICS)
@pytest.mark.every(13)
def test_a_semicolon_silences_and_the_result_is_kept(notebook, name):
    """Also after `-o NAME`, where IPython itself would hand the `;` to the magic as part of the name."""
    notebook.ok(MSE_RULE)
    notebook.ok(AREA)
    only_where_it_can_run(name)
    head, newline, body = result_of(name).partition("\n")
    assert notebook.ok(f"{head};{newline}{body}") is None
    assert "Out[" not in notebook.text and notebook["kept"] is not None


@pytest.mark.parametrize("name", [name for name in MAGICS if name not in CELL_MAGICS])
@pytest.mark.every(13)
def test_a_result_can_be_assigned(notebook, name):
    """`x = %magic …` gives the object, as IPython does for its own."""
    notebook.ok(MSE_RULE)
    notebook.ok(AREA)
    only_where_it_can_run(name)
    notebook.ok(f"got = {result_of(name)}")
    assert notebook["got"] is notebook["kept"] is not None


# -- Ctrl-C --------------------------------------------------------------------------------------------------

SLOW = """\
import os, signal, time
here = os.getpid()  # %rule_symbolic calls the function in a child of this process
def slow(x):
    if running:
        time.sleep(0.2)  # the fork is over by then; an interrupt within it would be lost
        os.kill(here, signal.SIGINT)
        time.sleep(5.0)
    return x * x
running = False
@rl.rrule_for(slow)
def slow_rrule(x):
    def slow_pullback(s):
        return rl.NoTangent(), 2 * x * s
    return slow(x), slow_pullback
def loss(x):
    return slow(x)
"""


@pytest.mark.first(3)
@pytest.mark.parametrize(
    "line",
    [
        "%gradient loss(2.0)",
        "%adjoint slow(slow(2.0))",
        "%grad_compare loss loss --at 2.0",
        "%grad_compare loss --without slow --at 2.0",
        "%grad_bench loss loss --at 2.0",
        "%rule_symbolic slow",
        "%rule_check slow --at 2.0",
        "%grad_check loss(2.0)",
        "%rule_derive slow",
        "%sym_check loss(2.0)",
        "%rule_scan slow",
    ],
)
def test_ctrl_c_before_there_is_a_result(notebook, line):
    """One line, the cells that follow do not run, and the last result is still there."""
    notebook.ok(SLOW)
    notebook.ok("%gradient mse(y, yh)")
    before = rulelab.notebook.last()
    shown = notebook.fails(f"running = True\n{line}\n")
    magic = line.split()[0]
    assert shown == f"Interrupted: {magic} was stopped before it had a result; nothing was kept\n"
    assert rulelab.notebook.last() is before


# -- the line ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "options", "at"),
    [
        ("f f_cr --at -x, y", "f f_cr", "-x, y"),
        ("f f_cr", "f f_cr", None),
        ("f --at=x", "f", "x"),
        ("--at x", "", "x"),
        ("f --at", "f", ""),
        ("f --at x, s=' --at '", "f", "x, s=' --at '"),
        ("f --att x", "f --att x", None),
    ],
)
def test_at_takes_the_rest_of_the_line(line, options, at):
    """The first --at counts; what follows is not looked into."""
    assert split_at(line) == (options, at)


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("f(x);", "f(x)"),
        ("f(x) ;  ", "f(x)"),
        ("f('a;')", "f('a;')"),
        ("f(x)  # why;", "f(x)"),
        ("f('#');", "f('#')"),
        ("f('unclosed;", "f('unclosed"),
        ("", ""),
    ],
)
def test_a_semicolon_at_the_end_is_not_part_of_the_line(line, kept):
    """Nor is a comment; both within strings are."""
    assert without_semicolon(line) == kept


def test_an_expression_keeps_its_spaces():
    """What follows the options is taken as it was written."""
    assert raw_rest("-o g f( 'a   b' )", ["f(", "'a   b'", ")"]) == "f( 'a   b' )"
    assert raw_rest("", []) == ""


def test_a_method_of_a_result_is_no_function_of_the_arguments(notebook):
    """What is advised instead is a line that works as it stands."""
    notebook.ok("def f(x): return x, x * x\nv = np.ones(3)")
    error = notebook.fails("%gradient f(v)[1].sum()")
    advice = error.rpartition("name them: ")[2].strip()
    assert advice == "%gradient (lambda v: f(v)[1].sum())(v)"
    assert notebook.ok(advice)[0].tolist() == [2.0, 2.0, 2.0]
