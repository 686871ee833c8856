"""The table of calls in docs/design/compiler.md: what answers each kind of call, with its file and line.

    python tests/calls_table.py        writes the files and lines of the table anew

A name of the table is looked for in the modules of its row, then in the whole package, where it must be the
only one of that name; behind it stands where it is defined. Names of Python's own have nothing behind them.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "rulelab"
PAGE = ROOT / "docs" / "design" / "compiler.md"
NAMED = re.compile(r"`([A-Za-z_][\w.]*)`(?: \([\w/]+\.py:\d+\))?")
"""A name, and where it is defined, if that is told."""

Place = tuple[Path, int, int]
"""A file, and the first and the last line there."""


def is_row(line: str) -> bool:
    return line.startswith("| ") and line.count("|") == 6 and not line.startswith(("| kind", "| ---"))


def definitions(path: Path) -> dict[str, Place]:
    """The functions, classes and constants of a file, methods as `Class.method`."""
    found: dict[str, Place] = {}

    def visit(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            match node:
                case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                    found[prefix + name] = path, node.lineno, node.end_lineno or node.lineno
                case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                    found[prefix + name] = path, node.lineno, node.end_lineno or node.lineno
            if isinstance(node, ast.ClassDef):
                visit(node.body, f"{node.name}.")

    visit(ast.parse(path.read_text(encoding="utf-8")).body, "")
    return found


def file_of(home: str) -> Path | None:
    """The file that a home names: a module of the room, or a path below the compiler or the package."""
    tried = (PACKAGE / "compiler/calls" / f"{home}.py", PACKAGE / "compiler" / home, PACKAGE / home)
    return next((path for path in tried if path.is_file()), None)


def homes_of(row: str) -> list[Path]:
    """The modules of a row, in which its names are looked for first."""
    names = re.findall(r"`([\w/.]+)`", row.split("|")[2].partition(";")[0])
    return [path for name in names if (path := file_of(name)) is not None]


class Known:
    """Where each name of the package is defined."""

    def __init__(self) -> None:
        self.by_file = {path: definitions(path) for path in sorted(PACKAGE.rglob("*.py"))}

    def place(self, name: str, homes: list[Path]) -> Place | None:
        """Where a name is defined: in a home, or else where nothing else has that name."""
        module, _, own = name.rpartition(".")
        if (file := file_of(module)) is not None:
            return self.by_file[file].get(own)
        places = [found[name] for found in self.by_file.values() if name in found]
        inside = [x for path in homes for key, x in self.by_file[path].items() if key.endswith(f".{name}")]
        near = [x for x in places if x[0] in homes] or inside
        return near[0] if near else places[0] if len(places) == 1 else None


def shown(path: Path) -> str:
    """A file as the table names it: a module of the room by its name, others by their path in the package."""
    return path.name if path.parent.name == "calls" else path.relative_to(PACKAGE).as_posix()


def written(row: str, known: Known) -> str:
    """A row with the file and line behind each name."""
    homes = homes_of(row)

    def with_place(match: re.Match[str]) -> str:
        place = known.place(match[1], homes)
        if place is None:
            return f"`{match[1]}`"
        return f"`{match[1]}` ({shown(place[0])}:{place[1]})"

    start, kind, home, *answers = row.split("|")
    modules, semicolon, recognises = home.partition(";")
    changed = [NAMED.sub(with_place, cell) for cell in (recognises, *answers)]
    return "|".join((start, kind, modules + semicolon + changed[0], *changed[1:]))


def told(row: str) -> Iterator[tuple[str, str, int]]:
    """Each name of a row with the file and the line that stand behind it."""
    for name, file, line in re.findall(r"`([A-Za-z_][\w.]*)` \(([\w/]+\.py):(\d+)\)", row):
        yield name, file, int(line)


def main() -> None:
    known = Known()
    lines = PAGE.read_text(encoding="utf-8").split("\n")
    PAGE.write_text("\n".join(written(x, known) if is_row(x) else x for x in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
