"""The source of what a `%%rrule` cell defines is found by everybody who looks for it."""

import inspect

import pytest

import rulelab as rl

RULE = """\
%%rrule mse_cr --of mse

def helper(d):
    e = d * d
    return e * 0.5

class Box:
    def __init__(self, v):
        self.v = v

    def twice(self):
        return self.v * 2

square = lambda v: v * v

def mse_cr_rrule(y, yh):
    def inner(v):
        return 2 * v

    def mse_cr_pullback(s):
        g = inner(y - yh) / len(y) * s
        return rl.NoTangent(), g, -g

    return mse(y, yh), mse_cr_pullback
"""
LINES = RULE.splitlines(keepends=True)


@pytest.fixture(params=["as loaded", "reloaded", "unloaded"])
def cell(notebook, request):
    """The cell has been run, In [2]; and then the extension was loaded anew, or taken away."""
    notebook.ok(RULE)
    if request.param != "as loaded":
        notebook.ok(f"%{'reload' if request.param == 'reloaded' else 'unload'}_ext rulelab")
    return notebook


def lines(first, last):
    """The lines of the cell as an editor numbers them, the magic's being the first."""
    return inspect.cleandoc("".join(LINES[first - 1 : last]).lstrip("\n"))


def test_inspect_finds_functions_methods_and_lambdas(cell):
    """At the top, in a class, in a function; with the numbers of the editor."""
    pullback = cell["mse_cr_rrule"](cell["y"], cell["yh"])[1]
    inner = inspect.getclosurevars(pullback).nonlocals["inner"]
    found = [
        (cell["helper"], 3, 5),
        (cell["Box"].twice, 11, 12),
        (cell["square"], 14, 14),
        (cell["mse_cr_rrule"], 16, 24),
        (inner, 17, 18),
        (pullback, 20, 22),
    ]
    for function, first, last in found:
        text, number = inspect.getsourcelines(function)
        assert inspect.cleandoc("".join(text)) == lines(first, last) and number == first


def test_the_compiler_finds_them(cell):
    """A helper, a lambda and a method of a cell are differentiated."""
    assert rl.gradient(cell["helper"], 3.0) == (3.0,)
    assert rl.gradient(cell["square"], 3.0) == (6.0,)
    assert rl.gradient(lambda x: cell["Box"](x).twice(), 3.0) == (2.0,)
    assert "def " in rl.adjoint_source(cell["helper"], 3.0)


def test_question_marks_find_them(cell):
    """`helper??` in IPython."""
    cell.ok("helper??")
    assert "e = d * d" in cell.text


@pytest.mark.parametrize("options", ["", "-T lines.txt", "-z"])
def test_lprun_shows_the_lines(cell, options, monkeypatch, tmp_path):
    """In the pager and in a file, for a helper and for the rule itself, counted where the cell has them."""
    monkeypatch.chdir(tmp_path)
    cell.ok("%load_ext line_profiler")
    cell.ok(f"%lprun {options} -f helper -f mse_cr_rrule (helper(2.0), rl.gradient(mse_cr, y, yh))")
    shown = (tmp_path / "lines.txt").read_text() if options.startswith("-T") else cell.text
    rows = {
        int(words[0]): line for line in shown.splitlines() if (words := line.split()) and words[0].isdigit()
    }
    assert rows[4].endswith("    e = d * d") and rows[4].split()[1] == "1"
    assert rows[24].endswith("return mse(y, yh), mse_cr_pullback") and rows[24].split()[1] == "1"


def test_lprun_of_a_method(cell):
    """Methods of a class in the cell, too."""
    cell.ok("%load_ext line_profiler")
    cell.ok("%lprun -f Box.twice Box(3.0).twice()")
    assert "return self.v * 2" in cell.text


def test_line_profiler_by_hand(cell):
    """As a script uses it."""
    line_profiler = pytest.importorskip("line_profiler")
    profiler = line_profiler.LineProfiler(cell["helper"])
    assert profiler.runcall(cell["helper"], 3.0) == 4.5
    (timed,) = [entries for (file, *_), entries in profiler.get_stats().timings.items() if entries]
    assert [line for line, *_ in timed] == [4, 5]


def test_a_traceback_names_the_cell_and_the_line(cell):
    """Of the rule, with the line in it; also from within a helper."""
    shown = cell.fails("rl.rrule(mse_cr, y, np.ones(3))")
    assert "Cell In[2], line 24, in mse_cr_rrule(y, yh)" in shown
    assert "---> 24 return mse(y, yh), mse_cr_pullback" in shown
    shown = cell.fails("helper('no')")
    assert "Cell In[2], line 4, in helper(d)" in shown and "e = d * d" in shown


def test_an_expression_of_a_magic_keeps_its_source(notebook):
    """A lambda written in EXPR or after --at is differentiated."""
    assert notebook.ok("%gradient (lambda x: x * x)(3.0)") == (6.0,)
    notebook.ok("def apply(f, x):\n    return f(x)\n")
    found = notebook.ok("%grad_compare apply apply --at lambda v: v * 3.0, 2.0")
    assert found.agree and found.gradients[-1].left == 3.0
