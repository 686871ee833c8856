"""The magics in a real kernel: its replies, its Tab, its interrupt."""

import pytest

from .conftest import MSE_RULE


def test_the_first_rule_in_three_cells(kernel):
    """Define, compare, time; the result comes as text and as HTML."""
    reply, shown = kernel.run(MSE_RULE)
    assert reply["status"] == "ok", shown
    reply, shown = kernel.run("%grad_compare mse mse_cr --at y, yh")
    assert reply["status"] == "ok" and "mse and mse_cr agree" in shown["text/plain"]
    assert '<th scope="row">gradient of yh</th>' in shown["text/html"] and "<script" not in shown["text/html"]
    reply, shown = kernel.run("%grad_bench mse mse_cr --rounds 8 --at y, yh")
    assert reply["status"] == "ok" and "Time of one call" in shown["text/plain"]


def test_failures_stop_run_all(kernel):
    """Wrong use, an error in the body, a syntax error, a refusal of ours: all are errors to Jupyter."""
    for cell, words in (
        ("%grad_compare mse mse_cr", "MagicError: %grad_compare: give the arguments with --at"),
        ("%%rrule mse\ndef f(x): pass\n1 / 0", "ZeroDivisionError"),
        ("%%rrule mse\ndef f(x) pass", "expected ':'"),
        ("%gradient addone(y)", "%rule_stub addone"),
    ):
        reply, shown = kernel.run(cell)
        assert reply["status"] == "error" and words in shown["error"], cell
        assert "/rulelab/" not in shown["error"]


def test_the_cell_in_a_message_is_the_one_in_the_margin(kernel):
    """The number that Jupyter shows beside the cell."""
    reply, _ = kernel.run("%%rrule addone\ndef addone_rrule(x):\n    return 1.0, None\n")
    _, shown = kernel.run("rl.which_rule(addone)")
    assert f"cell In [{reply['execution_count']}], line 2" in shown["text/plain"]
    reply, shown = kernel.run(
        "def writes(x):\n    x[0] = 1.0\n    return x[0]\nrl.gradient(writes, np.ones(2))"
    )
    assert f"cell In [{reply['execution_count']}], line 2, in writes: x[0] = 1.0" in shown["error"]
    kernel.run("rl.remove_rule(addone)")


def test_tab(kernel):
    """Options, functions and choices, over the kernel's own protocol."""
    assert set(kernel.complete("%%rrule --")) == {"--check", "--of", "--output", "--prove"}
    assert {"mse", "addone"} <= set(kernel.complete("%%rrule "))
    assert kernel.complete("%grad_refresh m") == ["manual"]
    assert kernel.complete("%gradient -o ") == ["result"]


def test_tab_where_python_stands(kernel):
    """After --at and within an expression: names, attributes."""
    assert {"y", "yh"} <= set(kernel.complete("%grad_compare mse mse --at y"))
    assert "linspace" in kernel.complete("%gradient mse(np.linsp")
    assert "np.sin" in kernel.complete("%%rrule np.si")


def test_help_reaches_jupyter(kernel):
    """`?` fills the pager, Shift+Tab the tooltip."""
    for asked in ("%%rrule?", "%rrule?", "%gradient?"):
        reply, _ = kernel.run(asked)
        (page,) = [p for p in reply["payload"] if p["source"] == "page"]
        assert "In plain Python::" in page["data"]["text/plain"]
    for text in ("%gradient", "%%rrule"):
        found = kernel.reply(kernel.client.inspect(text, len(text)))
        assert found["found"] and "In plain Python::" in found["data"]["text/plain"]


def test_interrupt_shows_what_there_is(kernel):
    """The Stop button during a long duel: a table, one line, and an error for Jupyter."""
    kernel.run(MSE_RULE)
    reply, shown = kernel.interrupted_after(1.5, "%grad_bench mse mse_cr --rounds 100000 --at y, yh")
    assert reply["status"] == "error" and "Time of one call" in shown["text/plain"]
    assert "Interrupted: %grad_bench was stopped after" in " ".join(shown["error"].split())
    assert "Traceback" not in shown["error"]


@pytest.mark.slow
def test_interrupt_shows_the_profile_there_is(kernel):
    """The Stop button during a profile that would take minutes."""
    kernel.run("long = np.ones(60000)")
    reply, shown = kernel.interrupted_after(2.0, "%grad_profile --seconds 600 mse(long, long)")
    assert reply["status"] == "error" and "total += (y[i]" in shown["text/plain"]
    assert "Interrupted: %grad_profile was stopped after" in " ".join(shown["error"].split())
    assert "Traceback" not in shown["error"] and kernel.run("1 + 1")[0]["status"] == "ok"


SLOW_ROWS = """\
import os, time
rows = os.devnull
def slow(x):
    return np.sin(x)
@rl.rrule_for(slow)
def slow_rrule(x):
    def slow_pullback(y_bar):
        time.sleep(0.05)
        with open(rows, "a") as file:
            file.write(".")
        return rl.NoTangent(), y_bar * np.cos(x)
    return np.sin(x), slow_pullback
"""


@pytest.mark.slow
def test_a_long_jacobian_says_how_far_it_is(kernel):
    """A bar after a second, which is gone when the matrix is there."""
    kernel.run(SLOW_ROWS)
    reply, shown = kernel.run("rl.jacobian(slow, np.ones(40))[0].shape")
    assert reply["status"] == "ok" and "(40, 40)" in shown["text/plain"]
    assert '<progress max="40" value="0">' in shown["text/html"]
    assert "Jacobian, rows: " in shown["updates"][0]["text/plain"]
    assert shown["cleared"]


def test_interrupt_ends_a_jacobian_at_once(kernel, tmp_path):
    """The Stop button puts the rows that there are in the place of the bar, and leaves one line."""
    rows = tmp_path / "rows"
    kernel.run(SLOW_ROWS)
    kernel.run(f"rows = {str(rows)!r}")

    def until_there_are_rows(ended):
        while not (rows.exists() and rows.stat().st_size > 40) and not ended.wait(0.02):  # is to end
            pass

    reply, shown = kernel.interrupted_when(until_there_are_rows, "%jacobian slow(np.ones(2000))")
    assert reply["status"] == "error" and "%jacobian was stopped after " in shown["error"]
    assert "of 2,000 rows; the others are nan" in " ".join(shown["error"].split())
    assert "Traceback" not in shown["error"] and "partial, stopped" in shown["updates"][-1]["text/html"]
    assert kernel.run("rl.jacobian(slow, np.ones(2))")[0]["status"] == "ok"


def test_the_stub_reaches_the_next_cell(kernel):
    """Jupyter is told to put it there."""
    reply, _ = kernel.run("%rule_stub mse")
    (payload,) = [p for p in reply["payload"] if p["source"] == "set_next_input"]
    assert payload["text"].startswith("%%rrule mse\n") and not payload["replace"]


PANELS = """\
import gc, tracemalloc
for _ in range(20):
    panel = %rule_lab mse mse_cr --at y, yh
    display(panel)
    assert panel.widget.children  # and not its tables
    panel.close()
del panel
for _ in range(3):
    gc.collect()
print(tracemalloc.get_traced_memory()[0])
"""


@pytest.mark.slow
def test_a_hundred_panels_leave_less_than_a_megabyte(kernel):
    """Each shown by its cell and closed, in a kernel that has shown some: what they are made of is let go."""
    pytest.importorskip("ipywidgets")
    assert kernel.run(MSE_RULE)[0]["status"] == "ok"
    kernel.run("from rulelab.notebook import pair; pair.QUICK = 0.0  # a panel is timed for a second")
    kernel.run("import tracemalloc; tracemalloc.start()")
    held = []
    for _ in range(7):
        reply, shown = kernel.run(PANELS)
        assert reply["status"] == "ok", shown
        held.append(int(shown["stdout"].split()[-1]))
    kernel.run("tracemalloc.stop()")
    assert held[-1] - held[1] < 1e6, held
