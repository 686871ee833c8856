"""docs/magics.md, made from the magics themselves; `make magics-table` writes it anew."""

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(TESTS.parent))

from rulelab.notebook.magics import RuleLab  # noqa: E402
from rulelab.notebook.settings import ENVIRONMENT, Settings  # noqa: E402

PAGE = TESTS.parent / "docs" / "magics.md"
INTRODUCTION = """# The magics

`%load_ext rulelab` provides them. `?` shows the help of a magic (`%gradient?`), and so does `-h`; Tab
completes its options, their values and the functions it accepts; `-o NAME` keeps the result; and `;` at
the end suppresses the output. Whatever a magic does, a plain function does too: see the last column. This
page is generated from the magics by `make magics-table`.

| magic | what it does | arguments and options | in plain Python |
|---|---|---|---|
"""
SETTINGS = """
## Settings

| setting | default | meaning |
|---|---|---|
"""
PRECEDENCE = f"""
`%config RuleLab.rounds = 100` sets one; `%config RuleLab` lists them. A project sets them for all its
notebooks in its `pyproject.toml`: the nearest one at or above the working directory, which is read when the
extension is loaded:

```toml
[tool.rulelab]
rounds = 100
widgets = false
```

The environment variable `{ENVIRONMENT["widgets"]}=0` turns widgets off. If several of these set the
same thing, `%config` (with IPython's own configuration files) comes first, then the environment, then
`pyproject.toml`, then the default.
"""


def magics():
    """The magics in the order in which they stand in their module."""
    names = RuleLab.magics["line"]
    return sorted(
        (getattr(RuleLab, n) for n in names.values()), key=lambda m: m.__wrapped__.__code__.co_firstlineno
    )


def cells(method):
    """The cells of one magic: its name, the first sentence of its help, its arguments, plain Python."""
    meaning = method.__doc__.split("\n\n")[1].splitlines()[0]
    return (
        f"`{method.spelled}`",
        meaning,
        ", ".join(_argument(a) for a in method.parser._actions if a.dest != "help"),
        f"`{method.plain}`",
    )


def _argument(action):
    name = action.metavar or action.dest
    name = " ".join(name) if isinstance(name, tuple) else name
    if action.option_strings:
        return (
            f"`{action.option_strings[0]}`" if action.nargs == 0 else f"`{action.option_strings[0]} {name}`"
        )
    return f"`[{name}]`" if action.nargs == "?" else f"`{name}`"


def page():
    """The text of docs/magics.md."""
    rows = "".join(f"| {' | '.join(cells(method))} |\n" for method in magics())
    traits = Settings.class_traits(config=True)
    settings = "".join(f"| `{n}` | `{t.default()!r}` | {t.help} |\n" for n, t in sorted(traits.items()))
    return INTRODUCTION + rows + SETTINGS + settings + PRECEDENCE


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
