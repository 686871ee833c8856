"""Tests of the house: imports point down, and importing it is light."""

import ast
import pathlib
import subprocess
import sys

import pytest

import rulelab

ROOT = pathlib.Path(rulelab.__file__).parent
HEAVY = (
    "IPython", "sympy", "scipy", "matplotlib", "ipywidgets", "numba", "jinja2", "tabulate", "threadpoolctl",
    "tqdm",
)  # fmt: skip
FLOORS = {
    "errors": 0, "tangents": 1, "rules": 2, "rulesets": 3, "compiler": 3, "ad": 4, "checking": 5, "bench": 5,
    "symbolic": 6, "portability": 6, "notebook": 7, "cli": 7,
}  # fmt: skip
DOORS = {  # the one place from which a heavy library may be imported when its own module is imported
    "IPython": ("notebook/",), "ipywidgets": ("notebook/",),
    "matplotlib": ("notebook/figures.py", "notebook/"),
    "sympy": ("symbolic/",), "scipy": ("rulesets/scipy_",), "numba": ("compiler/jit.py",),
    "tqdm": ("ad/progress.py",),
}  # fmt: skip


def modules():
    return sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.stem in FLOORS)


def floor_of(parts):
    return FLOORS.get(parts[0])


def imported(path):
    """(line, the parts below rulelab) of each import from the package itself."""
    package = path.relative_to(ROOT.parent).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            names = (*base, *(node.module.split(".") if node.module else ()))
            if names == ("rulelab",):
                yield from ((node.lineno, (alias.name,)) for alias in node.names)
            elif names[:1] == ("rulelab",):
                yield node.lineno, names[1:]
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "rulelab":
                    yield node.lineno, tuple(alias.name.split(".")[1:])


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_down(path):
    """A module imports its own package and the floors below it, never upstairs or its neighbour's flat."""
    here = path.relative_to(ROOT).with_suffix("").parts
    for line, parts in imported(path):
        assert parts, f"{path}:{line} imports the front door"
        there = floor_of(parts)
        if there is None or parts[0] == here[0]:
            continue  # the front door's own small modules, or the same package
        assert there < floor_of(here), f"{path}:{line} imports {'.'.join(parts)}, which is not below it"


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_heavy_libraries_have_one_door(path):
    """A heavy library is imported at the top of a module only where its door is."""
    here = str(path.relative_to(ROOT))
    for node in ast.parse(path.read_text()).body:
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module]
        for name in names:
            doors = DOORS.get(name.split(".")[0])
            assert doors is None or here.startswith(doors), f"{here} imports {name} at its top"


def test_importing_rulelab_is_light():
    """`import rulelab` loads NumPy and nothing heavier, so a script that uses a rule starts at once."""
    code = f"import sys, rulelab; print('numpy' in sys.modules, [m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout.split() == ["True", "[]"]


def test_the_lower_floors_import_alone():
    """Rules can be written in a package that never loads the compiler or the notebook."""
    code = (
        "import sys, types; p = types.ModuleType('rulelab'); p.__path__ = [sys.argv[1]];"
        "sys.modules['rulelab'] = p;"
        "import rulelab.rules.authoring, rulelab.rules.house, rulelab.rules.twins;"
        "up = ('rulelab.compiler', 'rulelab.ad', 'rulelab.notebook');"
        "print([m for m in sys.modules if m.startswith(up)])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(ROOT)], capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout.strip() == "[]"
