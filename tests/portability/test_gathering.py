"""What a rule needs is found by what it names, and what cannot go is refused by its line."""

from __future__ import annotations

import ast
import functools
import linecache
import math

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import ExportError
from rulelab.portability.gathering import gathered
from rulelab.rules.registry import Registry

from . import leaving_rules


def written(text, name="f", **names):
    """What a text defines, with its source where it is looked for; and the registry of its rules."""
    filename = f"<cell {len(linecache.cache)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    registry = Registry()
    space = {
        "rl": rl, "np": np, "math": math, "__name__": "__main__",
        "rrule_for": lambda f: rl.rrule_for(f, registry=registry), **names,
    }  # fmt: skip
    exec(compile(text, filename, "exec", dont_inherit=True), space)
    if name + "_rrule" in space:
        rl.rrule_for(space[name], registry=registry)(space[name + "_rrule"])
    return space, registry


def found(text, name="f", **names):
    space, registry = written(text, name, **names)
    return gathered(space[name], registry=registry)


RULE = """
def f_rrule(x):
    return f(x), lambda y_bar: (rl.NoTangent(), y_bar)
"""


@pytest.mark.first(2)
@pytest.mark.parametrize("f", leaving_rules.FUNCTIONS, ids=lambda f: f.__name__)
def test_what_is_gathered_is_whole(f):
    """Every global name of every piece is a piece, an import, a constant or Python's own."""
    one = gathered(f)
    bound = {piece.name for piece in one.functions} | {name for name, _ in one.constants}
    for statement in one.imports:
        bound |= {a.asname or a.name.partition(".")[0] for a in ast.parse(statement).body[0].names}
    assert one.name in bound and [p.kind for p in one.functions].count("primal") == 1
    for piece in one.functions:
        if isinstance(piece.value, type):
            continue
        code = compile(piece.source, "piece", "exec")
        (function,) = [c for c in code.co_consts if hasattr(c, "co_code") and c.co_name == piece.name]
        used = {n.id for n in ast.walk(piece.tree) if isinstance(n, ast.Name)} & set(function.co_names)
        assert used <= bound | set(dir(__builtins__)) | set(__builtins__) | {piece.name}, piece.name


def test_helpers_come_first_and_rules_last():
    """In order of need, each once; modules whole, names from modules as they are known in public."""
    one = gathered(leaving_rules.waves)
    assert [(p.kind, p.name) for p in one.functions] == [
        ("helper", "scaled"), ("primal", "waves"), ("partials", "waves_partials")]  # fmt: skip
    assert "# a helper, with a remark" in one.functions[0].source
    assert dict(one.constants)["SCALE"] == repr(0.1 + 0.2)
    assert gathered(leaving_rules.inverse).imports == (
        "import rulelab as rl", "from numpy.linalg import inv")  # fmt: skip


def test_a_module_within_a_package_is_imported_as_it_was():
    """By its whole name."""
    pytest.importorskip("scipy.special")
    assert "import scipy.special" in gathered(leaving_rules.softplus).imports


def test_the_place_of_a_node_is_the_authors():
    """A message about any part of a piece shows the line and the columns where it was written."""
    (piece,) = gathered(leaving_rules.times).of_kind("primal")
    product = piece.tree.body[-1].value
    place = piece.place(product)
    assert place.source() == "        return k * x"
    assert place.source()[place.column : place.end_column] == "k * x"


def test_a_librarys_function_is_imported_and_no_piece():
    """A rule for somebody else's function brings the rule alone."""
    text = "def g_rrule(x):\n    return g(x), lambda y_bar: (rl.NoTangent(), y_bar)\n"
    one = found(text, "g", g=np.sinc)
    assert one.target == "np.sinc" and one.name == "sinc"
    assert [p.kind for p in one.functions] == ["rrule"] and "from numpy import sinc as g" in one.imports


def test_a_default_is_what_the_function_has_now():
    """A global that was changed since changes nothing: neither here nor there."""
    one = found(f"K = 2.0\ndef f(x, k=K, *, g=math.sin):  # so\n    return g(k * x)\nK = 3.0\n{RULE}"
                .replace("f_rrule(x)", "f_rrule(x, k=1.0, *, g=math.sin)"))  # fmt: skip
    assert one.of_kind("primal")[0].source.startswith("def f(x, k=2.0, *, g=math.sin):  # so\n")


def test_annotations_that_are_not_evaluated_stay_so():
    """`from __future__ import annotations` goes along, and names in texts are found where they are there."""
    text = f"from __future__ import annotations\ndef f(x: np.ndarray | Unknown):\n    return x\n{RULE}"
    assert found(text).postponed
    assert not found(f"def f(x: 'np.ndarray'):\n    return x\n{RULE}").postponed
    assert "import numpy as np" in found(f"def f(x: 'np.ndarray'):\n    return x\n{RULE}").imports


STRING = '''
def make():
    def f(x):
        """One.

        Two.
        """
        return x + len("""
at the margin
        and not""")
    return f
f = make()
'''


def test_texts_of_several_lines_keep_what_is_in_them():
    """Also in a function that stood further in."""
    one = found(STRING + RULE)
    space = {}
    exec(one.functions[0].source, space)
    assert space["f"](0) == written(STRING)[0]["f"](0)


def test_what_is_not_seen_is_spelled_out():
    """A mark that turns the direction of the text is no part of a file, in a comment or in a text."""
    one = found(f"def f(x):\n    '''a \u202e b'''\n    return x  # \u2066 no \u2069\n{RULE}")
    assert one.functions[0].source.isascii() and "u202e" in one.functions[0].source
    space = {}
    exec(one.functions[0].source, space)
    assert space["f"].__doc__ == "a \u202e b"


MAKER = "def make(v):\n    def f(x):\n        return v * x\n    return f\nf = make(object())\n"
REFUSED = [
    ("def f(x):\n    return box(x)\n", {"box": [].append}, "value of box", "return box(x)"),
    ("def f(x):\n    return eval('x')\n", {}, "what eval gives depends on", "return eval('x')"),
    ("def f(x):\n    return globals()['f'] and x\n", {}, "what globals gives depends on", "return globals()"),
    ("def f(x):\n    return x * __file__\n", {}, "what __file__ gives depends on", "return x * __file__"),
    ("def f(x):\n    return missing(x)\n", {}, "f uses missing, which is not defined", "return missing(x)"),
    ("def f(x):\n    return lock and x\n", {"lock": object()}, "value of lock", "return lock and x"),
    ("def f(x):\n    return big[0] * x\n", {"big": np.ones(5000)}, "5,000 numbers", "return big[0] * x"),
    (MAKER, {}, "value of v", "return v * x"),
    ("A = B = [1.0]\ndef f(x):\n    return A[0] * B[0] * x\n", {}, "A and B share one list", "return A[0]"),
    ("def f(x, k=object()):\n    return x\n", {}, "cannot be written as text: an", "def f(x, k=object())"),
    ("f = eval('lambda x: x')\n", {}, "text of f is not available|a lambda has no name", ""),
]  # fmt: skip


@pytest.mark.parametrize("text, names, words, line", REFUSED, ids=[r[2][:30] for r in REFUSED])
def test_what_cannot_go_is_refused_by_its_line(text, names, words, line):
    """With what was asked, what was found, and the author's own line."""
    with pytest.raises(ExportError, match=words) as refused:
        found(text + RULE.replace("f_rrule(x)", "f_rrule(x, k=1)" if "k=" in text else "f_rrule(x)"), **names)
    assert "asked: an export" in str(refused.value) and line in str(refused.value)


CLASS = """
class Box:
    size = 2.0

    def grown(self, x):
        return self.size * x

    @property
    def doubled(self):
        return 2 * self.size

    @staticmethod
    def kept(x):
        return x

def f(x):
    return Box().grown(x) * Box().doubled * Box.kept(x)
"""
CHANGES = [
    "Box.size = 3.0", "Box.grown = lambda self, x: x", "Box.more = 1.0", "Box.kept = staticmethod(abs)",
    "Box._hidden = 4", "Box.__call__ = lambda self: 0",
    "Box.doubled = property(lambda self: 1.0)", "Box.other = lambda self: 0",
]  # fmt: skip


@pytest.mark.parametrize("change", ["", *CHANGES])
def test_a_class_that_was_changed_since_is_refused(change):
    """Its text is not what runs: a constant, a method, a property that was put into it later."""
    if not change:
        assert [p.name for p in found(CLASS + RULE).functions] == ["Box", "f", "f_rrule"]
        return
    with pytest.raises(ExportError, match="the text of the class Box cannot be found, or it was changed"):
        found(f"{CLASS}\n{change}\n{RULE}")


@functools.cache
def remembered(x):
    return GAIN_OF_ALL * x


GAIN_OF_ALL = 2.0


def test_a_function_with_a_cache_goes_along_with_it():
    """As a helper does: the text of its `def`, decorators included."""
    registry = Registry()

    @rl.rrule_for(remembered, registry=registry)
    def remembered_rrule(x):
        return remembered(x), lambda y_bar: (rl.NoTangent(), GAIN_OF_ALL * y_bar)

    found = gathered(remembered, registry=registry)
    assert [piece.name for piece in found.functions] == ["remembered", "remembered_rrule"]
    assert found.functions[0].source.startswith("@functools.cache") and found.constants


def doubled(x):
    return 2 * x


def test_a_callable_without_a_text_is_refused_by_the_line_of_its_rule():
    """No module has it, and nothing says how it would be written."""
    without = functools.cache(doubled)
    registry = Registry()

    @rl.rrule_for(without, registry=registry)
    def without_rrule(x):
        return without(x), lambda y_bar: (rl.NoTangent(), y_bar)

    with pytest.raises(ExportError, match="has no text of its own") as refused:
        gathered(without, registry=registry)
    assert refused.value.place.line == without_rrule.__code__.co_firstlineno


def test_what_is_wrapped_where_no_text_says_so_is_refused():
    """A decorator above the `def` goes along; one that was called by hand would be lost."""
    wrapping = """
import functools
def twice(g):
    @functools.wraps(g)
    def wrapper(x):
        return 2 * g(x)
    return wrapper
"""
    one = found(f"{wrapping}@twice\ndef h(x):\n    return x\ndef f(x):\n    return h(x)\n{RULE}")
    assert [p.name for p in one.functions] == ["twice", "h", "f", "f_rrule"]
    for text in (
        "def h(x):\n    return x\nh = twice(h)\n",
        "@twice\ndef h(x):\n    return x\nh = twice(h)\n",
    ):
        with pytest.raises(ExportError, match="h wraps h, but no source text shows that"):
            found(f"{wrapping}{text}def f(x):\n    return h(x)\n{RULE}")


def test_two_things_of_one_name_are_refused():
    """A helper here and another one there cannot stand in one file."""
    other, _ = written("def h(x):\n    return -x\ndef g(x):\n    return h(x)\n", "g")
    with pytest.raises(ExportError, match="h has two meanings here"):
        found(f"def h(x):\n    return x\ndef f(x):\n    return g(h(x))\n{RULE}", g=other["g"])


def test_text_that_changed_under_a_function_is_refused():
    """Rather than exported in the place of what was checked."""
    space, registry = written(f"def f(x):\n    return x\n{RULE}")
    file = space["f"].__code__.co_filename
    text = f"def f(x):\n    return x + 1\n{RULE}"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    with pytest.raises(ExportError, match="is not the code that runs"):
        gathered(space["f"], registry=registry)


def test_without_a_rule_there_is_nothing_to_export():
    """And statements that are no rules are not left out in silence."""
    with pytest.raises(ExportError, match="mse has no rule of yours"):
        gathered(leaving_rules.mse)
    space, registry = written(f"def f(x):\n    return x\n{RULE}")
    rl.opt_out(space["f"], int, registry=registry)
    with pytest.raises(ExportError, match="f has an opt-out, which cannot be exported with it"):
        gathered(space["f"], registry=registry)


@pytest.mark.parametrize("name", ["f; import os", "class", "a\nb", "f'", '"""', "{{x}}", "\u202ef", ""])
def test_a_hostile_name_is_refused(name):
    """Whatever somebody has called a function, a name that is none gets into no file."""
    space, registry = written(f"def f(x):\n    return x\n{RULE}")
    space["f"].__name__ = space["f"].__qualname__ = name
    with pytest.raises(ExportError, match="is not a name that a function can have"):
        gathered(space["f"], registry=registry)
