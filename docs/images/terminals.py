"""Makes the pictures of terminals in the manual: what the commands print on one of 80 columns, as it comes.

Run it to write them, next to this file. Each is a run in a terminal of its own; its text is kept as text.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
COLUMNS = 80
WIDE, HIGH, EDGE = 8.4, 19, 14
COLOURS = {"1": "", "31": "#b3261e", "32": "#1a7f37", "33": "#8a5a00", "34": "#0b57d0", "36": "#0b6b75"}
SHAPES = """\
import numpy as np
import rulelab as rl

def mse(a, b):
    return np.mean((a - b) ** 2)

@rl.rrule_for(mse)
def mse_rrule(a, b):
    d = a - b
    return mse(a, b), lambda y_bar: (rl.NoTangent(), d / d.size * y_bar, -d / d.size * y_bar)

def half(x: float):
    return x / 2

@rl.rrule_for(half)
def half_rrule(x: float):
    return half(x), lambda y_bar: (rl.NoTangent(), y_bar / 2)
"""
SESSION = (
    "import numpy as np, rulelab as rl",
    """\
def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()
""",
    """\
@rl.rrule_for(softmax)
def softmax_rrule(x):
    y = softmax(x)
    return y, lambda y_bar: (rl.NoTangent(), y * (y_bar - y_bar @ x))
""",
    "x = np.array([1.0, 2.0, 0.5])",
    "%rule_check softmax(x)",
)
RULELAB = (sys.executable, "-m", "rulelab")
PICTURES = {
    "terminal-check": ("rulelab check shapes.py", [*RULELAB, "check", "shapes.py"], ()),
    "terminal-session": (
        "rulelab repl",
        [sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner", "--ext=rulelab"],
        SESSION,
    ),
}
"""By name: the command as it is typed, what is run for it, and the cells that are typed then."""


def printed(command: list[str], cells: tuple[str, ...]) -> str:
    """What a command prints in a terminal of 80 columns, with its colours."""
    import pty

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "shapes.py").write_text(SHAPES)
        mine, theirs = pty.openpty()
        given = {"TERM": "xterm", "COLUMNS": str(COLUMNS), "IPYTHONDIR": folder, "PYTHONWARNINGS": "ignore"}
        environ = {**os.environ, **given}
        for variable in ("NO_COLOR", "FORCE_COLOR", "CI"):
            environ.pop(variable, None)
        source = subprocess.PIPE if cells else subprocess.DEVNULL
        with subprocess.Popen(
            command, cwd=folder, stdin=source, stdout=theirs, stderr=subprocess.DEVNULL, env=environ
        ) as run:
            os.close(theirs)
            if run.stdin is not None:
                run.stdin.write("".join(f"{cell}\n" for cell in cells).encode())
                run.stdin.close()
            return _all_of(mine).decode().replace("\r", "")


def _all_of(terminal: int) -> bytes:
    text = b""
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:  # how a terminal ends
            part = b""
        if not part:
            os.close(terminal)
            return text
        text += part


def with_what_was_typed(text: str, cells: tuple[str, ...]) -> str:
    """A session as one sees it: the cells behind their prompts, which input that is no terminal's does not
    show, and the answer to the last one."""
    lines: list[str] = []
    for number, cell in enumerate(cells, 1):
        first, *rest = cell.rstrip().split("\n")
        prompt = f"In [{number}]: "
        lines.append(prompt + first)
        lines += [f"{'...: ':>{len(prompt)}}{line}" for line in rest]
    *_, answer, _ = re.split(r"In \[\d+\]: (?:\s*\.\.\.: )*", text)
    return "\n".join([*lines, answer.strip()])


def drawn(title: str, text: str) -> str:
    """An SVG of the text, with its colours."""
    lines = text.rstrip("\n").split("\n")
    width, height = COLUMNS * WIDE + 2 * EDGE, len(lines) * HIGH + 2 * EDGE
    rows = [
        f'<text x="{EDGE}" y="{EDGE + HIGH * (n + 0.75):g}" xml:space="preserve">{_coloured(line)}</text>'
        for n, line in enumerate(lines)
        if line.strip()
    ]
    style = "font: 14px 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #1f2328; white-space: pre"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{width:g}" height="{height:g}" rx="8" fill="#f6f8fa" stroke="#d0d7de"/>',
            f'<g style="{style}">',
            *rows,
            "</g>",
            "</svg>\n",
        ]
    )


def _coloured(line: str) -> str:
    """A line as marked text: each part in the colour that its escape sequence names."""
    parts, colour = [], ""
    for piece in re.split(r"(\x1b\[[\d;]*m)", line):
        if piece.startswith("\x1b"):
            code = piece[2:-1]
            colour = "" if code in ("", "0") else code
        elif piece:
            fill, weight = COLOURS.get(colour, ""), ' font-weight="bold"' if colour else ""
            marked = f' fill="{fill}"' if fill else ""
            parts.append(f"<tspan{marked}{weight}>{escape(piece)}</tspan>" if colour else escape(piece))
    return "".join(parts)


def picture(name: str) -> str:
    """The picture of a name, made of a run now."""
    shown, command, cells = PICTURES[name]
    text = printed(command, cells)
    if cells:
        text = with_what_was_typed(text, cells)
    return drawn(shown, f"$ {shown}\n{text}")


if __name__ == "__main__":
    for name in PICTURES:
        (HERE / f"{name}.svg").write_text(picture(name))
        print(HERE / f"{name}.svg")
