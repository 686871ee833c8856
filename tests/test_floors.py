"""Tests of the layout: imports point down, in no ring, by no text; importing it is light."""

import ast
import functools
import pathlib
import re
import subprocess
import sys

import pytest

import rulelab

ROOT = pathlib.Path(rulelab.__file__).parent
HEAVY = (
    "IPython", "sympy", "scipy", "matplotlib", "ipywidgets", "numba", "jinja2", "tabulate", "threadpoolctl",
    "tqdm", "latex2mathml", "docstring_parser",
)  # fmt: skip
FLOORS = {
    "errors": 0, "python_facts": 0, "annotations": 0,
    "tangents": 1, "rules": 2, "rulesets": 3, "compiler": 3, "ad": 4,
    "checking": 5, "bench": 5,
    "symbolic": 6, "portability": 6, "notebook": 7, "cli": 7,
}  # fmt: skip
DOORS = {  # the one place from which a heavy library may be imported when its own module is imported
    "IPython": ("notebook/",), "ipywidgets": ("notebook/",),
    "matplotlib": ("notebook/figures.py", "notebook/"),
    "sympy": ("symbolic/",), "scipy": ("rulesets/scipy_",), "numba": ("compiler/jit.py",),
    "tqdm": ("ad/progress.py",), "latex2mathml": ("mathml.py",),
}  # fmt: skip


ROOMS = {  # lowest first
    "compiler": ("base", "memory", "front", "analysis", "transform", "implicit", "calls"),
    "checking": (
        "measuring", "calling", "reading", "probing", "arguments", "judgement",
        "doctor", "advice", "comparing", "testing", "batch",
    ),
}  # fmt: skip
DOORS_OF_ROOMS = {"compiler": {"__init__.py"}, "checking": {"__init__.py", "findiff.py", "many.py"}}


@functools.cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def statements_of(path):
    """The statements of a file, among which its imports are: a tenth of its nodes."""
    found, begun = [], [tree_of(path)]
    while begun:
        found.append(node := begun.pop())
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            begun += getattr(node, part, None) or ()
    return tuple(found)


def modules():
    return sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.stem in FLOORS)


def floor_of(parts):
    return FLOORS.get(parts[0])


@functools.cache
def imported(path):
    """(line, the parts below rulelab) of each import from the package itself."""
    return tuple(_imported(path))


def _imported(path):
    package = path.relative_to(ROOT.parent).with_suffix("").parts[:-1]
    for node in statements_of(path):
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


def test_imports_point_down():
    """A module imports its own package and the floors below it, never upstairs or its neighbour's flat."""
    wrong = []
    for path in modules():
        here = path.relative_to(ROOT).with_suffix("").parts
        for line, parts in imported(path):
            assert parts, f"{path}:{line} imports the front door"
            there = floor_of(parts)
            if there is None or parts[0] == here[0]:
                continue  # the front door's own small modules, or the same package
            if not there < floor_of(here):
                wrong.append(f"{path}:{line} imports {'.'.join(parts)}, which is not below it")
    assert wrong == []


def test_heavy_libraries_have_one_door():
    """A heavy library is imported at the top of a module only where its door is."""
    wrong = []
    for path in modules():
        here = str(path.relative_to(ROOT))
        for node in tree_of(path).body:
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            for name in names:
                doors = DOORS.get(name.split(".")[0])
                if doors is not None and not here.startswith(doors):
                    wrong.append(f"{here} imports {name} at its top")
    assert wrong == []


# --- rings and rooms ----------------------------------------------------------------------------------------


@functools.cache
def modules_known():
    """The file of each module, by its dotted name."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def asked_for(name, path, known):
    """(line, module) of each import of a module: anywhere in it, for annotations too, by a text as well."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    by_text = "import_" in path.read_text(encoding="utf-8")
    for node in ast.walk(tree_of(path)) if by_text else statements_of(path):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            start = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{start}.{alias.name}"
                if inner in known or start in known:
                    yield node.lineno, inner if inner in known else start
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = (
                node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
            )
            text = str(node.args[0].value)
            if called in ("import_module", "__import__"):
                full = ".".join(package) + text if text.startswith(".") else text
                if full in known:
                    yield node.lineno, full


def rings(graph):
    """The sets of nodes of which each leads to each other."""
    number, low, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in graph[node]:
            if other not in number:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], number[other])
        if low[node] == number[node]:
            ring = set(stack[stack.index(node) :])
            del stack[stack.index(node) :]
            if len(ring) > 1:
                found.append(sorted(ring))

    for node in graph:
        if node not in number:
            visit(node)
    return found


def test_rings_are_found():
    """What looks for rings finds those that there are, and no others."""
    assert rings({"a": ["b"], "b": ["c"], "c": ["b", "d"], "d": []}) == [["b", "c"]]
    assert rings({"a": ["b", "c"], "b": ["c"], "c": []}) == []


def test_no_ring_of_imports():
    """Whoever reads a module can first read what it stands on, and what that stands on, to an end."""
    known = modules_known()
    graph = {
        name: sorted({other for _, other in asked_for(name, path, known)} - {name})
        for name, path in known.items()
    }
    assert rings(graph) == []


@pytest.mark.parametrize("package", ROOMS)
def test_rooms_import_downwards(package):
    """A room stands on those before it, annotations and imports at the call included."""
    known = modules_known()
    above = {f"rulelab.{package}.{room}": number for number, room in enumerate(ROOMS[package])}
    wrong = []
    for name, path in known.items():
        here = above.get(".".join(name.split(".")[:3]))
        if here is None:
            continue
        for line, other in asked_for(name, path, known):
            if above.get(".".join(other.split(".")[:3]), here) > here:
                wrong.append(f"{name}:{line} imports {other}")
    assert wrong == []


@pytest.mark.parametrize("package", ROOMS)
def test_each_package_names_its_rooms(package):
    """Lowest first, as one reads; beside the rooms stand only modules that users import by path."""
    path = ROOT / package
    said = re.findall(r"^\* `(\w+)`:", ast.get_docstring(tree_of(path / "__init__.py")), re.M)
    assert tuple(said) == ROOMS[package]
    assert {file.name for file in path.iterdir() if file.suffix == ".py"} == DOORS_OF_ROOMS[package]


def test_each_room_says_what_is_in_it():
    """Each room names its modules: it is written where to begin."""
    rooms = [f"{package}/{room}" for package, names in ROOMS.items() for room in names]
    for room in (*rooms, "ad", "rules", "tangents"):
        words = set(re.findall(r"`(\w+)`", ast.get_docstring(tree_of(ROOT / room / "__init__.py"))))
        there = {path.stem for path in (ROOT / room).glob("*.py")} - {"__init__"}
        assert there - words == set(), f"the docstring of {room}/__init__.py does not name these"
        assert words - there == set(), f"{room} names what it has not"


MAY_NAME_ONE = re.compile(r"""["']rulelab|\.py["']|\{__(?:name|package)__\}""")
"""To go through all nodes of a file takes longer than to parse it."""


def named_modules(path, known):
    """(line, text) of each text that names a module or file of the package, docstrings left out."""
    if not MAY_NAME_ONE.search(path.read_text(encoding="utf-8")):
        return
    nodes = list(ast.walk(tree_of(path)))
    words = {
        id(node.value)
        for node in nodes
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    files = {there.relative_to(ROOT).as_posix() for there in known.values()}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in words:
            text = node.value
            if text.rstrip(".") in known and "." in text.rstrip("."):
                yield node.lineno, text
            elif text in files and "/" in text:
                yield node.lineno, text
        elif isinstance(node, ast.JoinedStr):
            shown = ast.unparse(node)
            if re.search(r"\{__(name|package)__\}\.\{?\w", shown):
                yield node.lineno, shown


def test_texts_that_name_modules_are_found(tmp_path):
    """What looks for names of modules in texts finds them as names, as paths, and put together."""
    file = tmp_path / "one.py"
    file.write_text(
        '"""rulelab.ad"""\nA = ("rulelab.ad", "ad/marks.py", f"{__package__}.marks", "rulelab.rules.")\n'
        'B = ("rulelab", "rulelab.rules()", "add", f"{A}.marks")\n'
    )
    found = [text for _, text in named_modules(file, modules_known())]
    assert sorted(found) == sorted(["f'{__package__}.marks'", "rulelab.ad", "ad/marks.py", "rulelab.rules."])


def test_no_module_is_known_by_its_name():
    """What a module is to others it says itself (`own_code`), so that a renamed one behaves as before."""
    known = modules_known()
    found = {str(path.relative_to(ROOT)): list(named_modules(path, known)) for path in known.values()}
    assert {name: texts for name, texts in found.items() if texts} == {}


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
        "import rulelab.rules.authoring, rulelab.rules.rule_table, rulelab.rules.twins;"
        "up = ('rulelab.compiler', 'rulelab.ad', 'rulelab.notebook');"
        "print([m for m in sys.modules if m.startswith(up)])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(ROOT)], capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout.strip() == "[]"
