"""The facts of Python are complete, and who asks for them gets the same answer everywhere."""

import ast
import copyreg
import itertools
import operator
import re
import runpy
import types
from collections import Counter, OrderedDict, defaultdict, deque

import numpy as np
import pytest

import rulelab as rl
from rulelab import python_facts
from rulelab.compiler.analysis import spelling
from rulelab.compiler.base import purity
from rulelab.compiler.front import fence
from rulelab.compiler.front.desugar import _Rewriter
from rulelab.compiler.front.lower import _Lowerer
from rulelab.compiler.front.ownership import Ownership
from rulelab.compiler.memory import reach
from rulelab.python_facts import (
    COMPARISONS,
    CONTAINERS,
    EXPRESSIONS,
    HANDING_ON,
    KINDS,
    OPERATORS,
    PREFIXES,
    SCOPES,
    STATEMENTS,
    WRITES,
    Does,
    Fate,
    does,
    jumps,
)
from rulelab.rules.registry import DEFAULT


def rows_of(kind, name):
    """In how many rows of its class, or of the nearest base that has it, a method stands."""
    rows = [[row.split() for row in python_facts._ROWS.get(base, {}).values()] for base in kind.__mro__]
    return next(filter(None, (sum(name in row for row in own) for own in rows)), 0)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_each_method_stands_in_one_row(kind):
    """A method that a new Python or NumPy brings is missing here by name until somebody says what it does."""
    copyreg._slotnames(kind)  # any copy leaves this list on a class of Python's, an earlier test may have
    assert [name for name in dir(kind) if does(kind, name) is None] == []
    assert [name for name in dir(kind) if rows_of(kind, name) != 1] == []


@pytest.mark.parametrize("kind", CONTAINERS, ids=lambda kind: kind.__name__)
def test_the_rows_of_containers_name_nothing_that_is_not_there(kind):
    names = {name for row in python_facts._ROWS[kind].values() for name in row.split()}
    assert {name for name in names if not hasattr(kind, name)} == set()


WRITING = {
    list: ["append(7)", "extend([7])", "insert(0, 7)", "pop()", "remove(2)", "clear()", "sort()", "reverse()",
           "__setitem__(0, 5)", "__delitem__(0)", "__iadd__([1])", "__imul__(2)"],
    dict: ["update({5: 6})", "pop(1)", "popitem()", "setdefault(9, 1)", "clear()", "__setitem__(1, 5)",
           "__delitem__(1)", "__ior__({7: 7})"],
    set: ["add(7)", "discard(1)", "remove(1)", "pop()", "clear()", "update({7})", "intersection_update({1})",
          "difference_update({1})", "symmetric_difference_update({1})", "__ior__({7})", "__iand__({1})",
          "__isub__({1})", "__ixor__({1})"],
    deque: [
        "append(7)", "appendleft(7)", "extend([7])", "extendleft([7])", "insert(0, 7)", "pop()", "popleft()",
        "remove(2)", "clear()", "rotate(1)", "reverse()", "__setitem__(0, 5)", "__delitem__(0)",
        "__iadd__([1])", "__imul__(2)"],
    OrderedDict: ["move_to_end(1)"],
    defaultdict: ["__missing__(3)"],
    Counter: ["_keep_positive()", "subtract({1: 1})", "__iadd__({5: 5})", "__isub__({1: 1})",
                           "__iand__({1: 1, 3: 3})"],
}  # fmt: skip
FILLED = {
    list: [3, 2, 1], dict: {1: 2, 3: 4}, set: {1, 2, 3}, deque: deque([3, 2, 1], 9),
    OrderedDict: OrderedDict({1: 2, 3: 4}),
    defaultdict: defaultdict(int, {1: 2}),
    Counter: Counter({1: -2, 3: 4}),
}  # fmt: skip


def written(x, text):
    """Whether a call of a method on a copy of `x` leaves it another."""
    y = x.copy()
    eval(f"y.{text}", {"y": y})
    return list(y) != list(x) or y != x


@pytest.mark.parametrize("kind", CONTAINERS, ids=lambda kind: kind.__name__)
def test_what_the_rows_say_writes_does(kind):
    """The methods that are said to write, and no others of the same row, change their object."""
    own = {name for does, row in python_facts._ROWS[kind].items() if WRITES in does for name in row.split()}
    assert {text.partition("(")[0] for text in WRITING[kind]} == own
    for text in WRITING[kind]:
        assert written(FILLED[kind], text), text


@pytest.mark.parametrize("kind", CONTAINERS, ids=lambda kind: kind.__name__)
def test_what_the_rows_say_does_not_write_leaves_its_object(kind):
    """Called with what fits, or with nothing, the other methods leave their object as it is."""
    for name in dir(kind):
        done = does(kind, name)
        if WRITES in done or Does.FILLS in done or not callable(getattr(kind, name)):
            continue
        x = FILLED[kind].copy()
        before = repr(x)
        for given in ((), (1,), (x,), ("a", None)):
            try:
                getattr(x, name)(*given)
            except Exception:
                continue
        assert repr(x) == before, name


def test_writing_operators_are_those_that_operator_has():
    """What the module `operator` says is `op=`, or a write to an item, is in the table."""
    writes = re.compile(r"Same as (a (?!(==|!=|<=|>=) )\S+= b|a\[b\] = c|del )")
    by_doc = {f for f in vars(operator).values() if writes.match(f.__doc__ or "")}
    assert by_doc == set(python_facts.WRITING_OPERATORS)


@pytest.mark.parametrize("base, known", [
    (ast.operator, {each.node for each in OPERATORS}),
    (ast.unaryop, set(PREFIXES)),
    (ast.cmpop, set(COMPARISONS)),
])  # fmt: skip
def test_each_operator_of_the_grammar_is_known(base, known):
    assert set(base.__subclasses__()) == known


@pytest.mark.parametrize("each", OPERATORS, ids=lambda each: each.name)
def test_an_operator_does_what_its_sign_says(each):
    """The function, its sign and its methods belong together."""
    text = f"a {each.sign} b"
    assert type(ast.parse(text, mode="eval").body.op) is each.node
    a, b = (np.eye(2), np.eye(2)) if each.name == "matmul" else (7, 2)
    expected = eval(text, {"a": a, "b": b})
    assert np.all(getattr(operator, each.name)(a, b) == expected)
    assert np.all(getattr(operator, each.in_place)(a, b) == expected)
    assert np.all(getattr(a, each.methods[0])(b) == expected)
    assert np.all(getattr(b, each.methods[1])(a) == expected)


@pytest.mark.parametrize("kind", (*CONTAINERS, np.ndarray), ids=lambda kind: kind.__name__)
def test_who_asks_what_writes_hears_of_each_method(kind):
    """Refusals, the look at a function's text and the look at its bytecode know the same methods."""
    for name in python_facts.names_that(WRITES, kind):
        assert name not in purity.HARMLESS
        assert name in reach._CHANGING
        method = getattr(kind, name, None)
        if kind is not deque and method is not None and not isinstance(method, types.FunctionType):
            assert DEFAULT.mutator(method), f"{kind.__name__}.{name}"


def test_who_asks_what_is_kept_hears_of_each_method():
    for kind in CONTAINERS:
        assert python_facts.names_that(Does.KEEPS, kind) <= spelling._KEEPING


# --- the answers --------------------------------------------------------------------------------------------

CALLS = [(kind, text) for kind in CONTAINERS for base in kind.__mro__ for text in WRITING.get(base, ())]
NAMES = [f"{kind.__name__}.{text}" for kind, text in CALLS]
IN_PLACE = {f"__{each.in_place}__": f"{each.sign}=" for each in OPERATORS}


@pytest.fixture
def program(tmp_path):
    """What makes a function f of a text."""
    count = itertools.count()

    def make(text):
        path = tmp_path / f"program{next(count)}.py"
        path.write_text(f"import copy\nfrom collections import *\nimport numpy as np\n\n{text}")
        return runpy.run_path(str(path))["f"]

    return make


def filled(kind):
    return repr(FILLED[kind]).replace("<class 'int'>", "int")


@pytest.mark.every(13)
@pytest.mark.parametrize("kind, text", CALLS, ids=NAMES)
def test_what_is_made_inside_may_be_changed_by_every_method(program, kind, text):
    """Whichever method changes it, in the function or in one that it calls, and by `op=`: so is its size."""
    ways = [f"s.{text}"]
    name, _, rest = text.partition("(")
    if name in IN_PLACE:
        ways.append(f"s {IN_PLACE[name]} {rest[:-1]}")
    for way in ways:
        for inside in (way, "change(s)"):
            if kind is defaultdict and name == "__missing__":
                continue  # by its own name
            body = f"    s = {filled(kind)}\n    {inside}\n    return x * x * (len(s) + 1)\n"
            f = program(f"def change(s):\n    {way}\n\ndef f(x):\n{body}")
            slope = 2 * 1.5 * (f(1.5) / 1.5**2)
            assert rl.gradient(f, 1.5)[0] == pytest.approx(slope)
            assert rl.pushforward(f, 1.5)(1.0) == pytest.approx(slope)


@pytest.mark.every(5)
@pytest.mark.parametrize("kind, text", CALLS, ids=NAMES)
def test_what_others_hold_is_changed_by_no_method(program, kind, text):
    """Reverse mode refuses each write before it happens; to a deque it is made, once."""
    f = program(f"S = {filled(kind)}\n\ndef f(x):\n    S.{text}\n    return x * x\n")
    if kind is deque:
        assert rl.gradient(f, 1.5) == (3.0,)
        changed = FILLED[deque].copy()
        eval(f"changed.{text}")
        assert f.__globals__["S"] == changed
        return
    with pytest.raises(rl.MutationError):
        rl.gradient(f, 1.5)
    assert f.__globals__["S"] == FILLED[kind]


@pytest.mark.parametrize("write", ["rotate(1)", "__setitem__(0, 100.0)", "reverse()"])
def test_a_rule_sees_a_deque_as_it_was(program, write):
    """A rule looks again, for its cotangent, at what it was given, which may have changed since."""
    f = program(f"S = deque([1.0, 2.0])\n\ndef f(x):\n    y = np.dot(x, S)\n    S.{write}\n    return y\n")
    assert rl.gradient(f, np.array([1.5, 0.5]))[0] == pytest.approx([1.0, 2.0])


MADE = ["deque([1]).copy()", "deque([1]) + deque([2])", "deque([1]) * 2", "copy.copy(deque([1]))",
        "deque([1], 9)", "OrderedDict(a=1).copy()", "OrderedDict(a=1) | {'b': 1}", "{1, 2} | {3}",
        "defaultdict(int, a=1).copy()"]  # fmt: skip


@pytest.mark.parametrize("made", MADE)
def test_what_a_method_makes_is_made_inside(program, made):
    """A container that a method or an operator makes may be changed."""
    change = "append(7)" if made[0] in "d[" and "dict" not in made else "clear()"
    f = program(f"def f(x):\n    s = {made}\n    s.{change}\n    return x * x * (1 + len(s))\n")
    assert rl.gradient(f, 1.5)[0] == pytest.approx(2 * f(1.5) / 1.5)


KEPT = [
    ("deque()", "extendleft([{}])", "[0]"), ("deque()", "appendleft({})", "[0]"),
    ("deque()", "__iadd__([{}])", "[0]"), ("set()", "add({})", ".pop()"), ("[]", "insert(0, {})", "[0]"),
    ("[]", "__iadd__([{}])", "[0]"), ("[0]", "__setitem__(0, {})", "[0]"),
    ("{}", "__ior__(dict(a={}))", "['a']"), ("{}", "setdefault('a', {})", "['a']"),
]  # fmt: skip


@pytest.mark.parametrize("made, keep, read", KEPT, ids=[keep for _, keep, _ in KEPT])
@pytest.mark.parametrize("forwards", [False, True], ids=["back", "forwards"])
def test_text_of_what_varies_is_not_lost_in_a_container(program, made, keep, read, forwards):
    """Whichever method keeps the text, a number that is read from it is refused."""
    kept = keep.replace("{}", "str(x)")
    f = program(f"def f(x):\n    q = {made}\n    q.{kept}\n    return float(q{read}) * x\n")
    with pytest.raises(rl.NotDifferentiableError, match="text"):
        rl.pushforward(f, 1.5)(1.0) if forwards else rl.gradient(f, 1.5)


class Doubling(list):
    def __iadd__(self, other):
        for item in other:
            list.append(self, 2 * item)
        return self


class DoublingQueue(deque):
    def __iadd__(self, other):
        for item in other:
            deque.append(self, 2 * item)
        return self


class DoublingTable(dict):
    def __ior__(self, other):
        for key in other:
            dict.__setitem__(self, key, 2 * other[key])
        return self


def adds_to_a_list(x):
    s = Doubling([x])
    s += [x]
    return s[1] * x


def adds_constants_to_a_list(x):
    s = Doubling([1.0])
    s += [3.0]
    return s[1] * x


def adds_to_a_queue(x):
    s = DoublingQueue([x])
    s += [x]
    return s[1] * x


def merges_tables(x):
    s = DoublingTable(a=x)
    s |= {"a": x}
    return s["a"] * x


def merges_tables_of_constants(x):
    s = DoublingTable(a=1.0)
    s |= {"a": 2.0}
    return s["a"] * x


def takes_the_greater_count(x):
    s = Counter(a=3.0 * x)
    s |= Counter(a=x)
    return s["a"] * x


def takes_the_greater_constant(x):
    s = Counter(a=3.0)
    s |= Counter(a=1.0)
    return s["a"] * x


def adds_counts(x):
    s = Counter(a=3.0 * x)
    s += Counter(a=x)
    return s["a"] * x


@pytest.mark.parametrize("f", [
    adds_to_a_list, adds_constants_to_a_list, adds_to_a_queue, merges_tables, merges_tables_of_constants,
    takes_the_greater_count, takes_the_greater_constant, adds_counts,
], ids=lambda f: f.__name__)  # fmt: skip
def test_a_class_that_changes_itself_by_an_operator_answers_for_it(f):
    """`op=` is the class's own method, also for a class of lists, queues or dicts, in both modes."""
    slope = (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6
    assert rl.gradient(f, 1.5)[0] == pytest.approx(slope, rel=1e-6)
    assert rl.pushforward(f, 1.5)(1.0) == pytest.approx(slope, rel=1e-6)


def first_of_the_turned(queue):
    queue.reverse()
    return queue[0] ** 2


def sum_with_one_more(queue, x):
    queue.append(x)
    return sum(queue) * x


def test_a_queue_that_is_an_argument_has_no_gradient():
    """Changed or not, what stands in it is asked for in vain; another argument has its gradient."""
    with pytest.raises(rl.NotDifferentiableError, match="The items of a deque"):
        rl.gradient(first_of_the_turned, deque([2.0, 3.0]))
    with pytest.raises(rl.NotDifferentiableError, match="The items of a deque"):
        rl.gradient(sum_with_one_more, deque([2.0, 3.0]), 1.5)
    assert rl.gradient(sum_with_one_more, deque([2.0, 3.0]), 1.5, argnums=1)[0] == pytest.approx(8.0)


SCALED = np.array([1.0, 2.0])


def refills(_):
    SCALED.fill(5.0)
    return 0.0


def written_by_a_key(x):
    y = np.dot(SCALED, x)
    max([1.0, 2.0], key=refills)
    return y


def test_an_array_that_a_key_function_fills_is_noticed():
    """Whichever method writes to it out of sight."""
    with pytest.raises(rl.MutationError):
        rl.gradient(written_by_a_key, np.array([1.0, 1.0]))


@pytest.mark.parametrize("make", ["vstack", "hstack", "stack", "concatenate"])
def test_new_arrays_are_the_functions_own(program, make):
    """What NumPy's functions make may be changed by `op=`."""
    f = program(f"def f(x):\n    y = np.{make}([x, x])\n    y *= 2.0\n    return np.sum(y)\n")
    assert rl.gradient(f, np.ones(2))[0] == pytest.approx(np.full(2, 4.0))


# --- statements ---------------------------------------------------------------------------------------------


def of_the_grammar(base):
    """The kinds of nodes that Python's own grammar has: not those of ours, nor the old names of some."""
    return {kind for kind in base.__subclasses__() if kind.__module__ == "ast"}


@pytest.mark.parametrize("base, known", [(ast.stmt, STATEMENTS), (ast.expr, EXPRESSIONS)])
def test_each_kind_of_node_has_its_fate(base, known):
    """A statement or expression that a new Python brings is missing here by name."""
    assert of_the_grammar(base) == set(known)


@pytest.mark.parametrize("kind", STATEMENTS, ids=lambda kind: kind.__name__)
def test_each_statement_is_met_where_its_fate_says(kind):
    """What is taken is rewritten or lowered; what holds statements is gone into by all that go into any."""
    fate, blocks = STATEMENTS[kind]
    name, taken = kind.__name__, fate is not Fate.REFUSED
    assert hasattr(_Lowerer, f"_do_{name}") == (fate is Fate.LOWERED)
    assert hasattr(_Rewriter, f"_of_{name}") or not (fate is Fate.DESUGARED or (taken and blocks))
    if fate is Fate.LOWERED and (blocks or kind in SCOPES):
        assert hasattr(Ownership, f"_visit_{name}")
    holding = {name for name in kind._fields if name in ("body", "handlers", "orelse", "finalbody", "cases")}
    assert set(blocks) == (set() if kind in SCOPES else holding)


def test_what_is_refused_is_named_in_words():
    """And nothing else is, but a write to a global, whose statement alone says nothing."""
    refused = {kind for kind, fate in fence._FATES.items() if fate is Fate.REFUSED}
    assert refused == set(fence._WORDS) - {ast.Global}


@pytest.mark.parametrize("kind", EXPRESSIONS, ids=lambda kind: kind.__name__)
def test_each_expression_is_lowered_or_refused(kind):
    lowered = hasattr(_Lowerer, f"_get_{kind.__name__}")
    assert lowered == (EXPRESSIONS[kind] is Fate.LOWERED)


@pytest.mark.parametrize("text, found", [
    ("return", {"return"}), ("if a:\n  break\nelse:\n  continue", {"break", "continue"}),
    ("for a in b:\n  break", set()), ("for a in b:\n  pass\nelse:\n  break", {"break"}),
    ("while a:\n  return", {"return"}), ("with a:\n  return", {"return"}),
    ("match a:\n  case 1:\n    continue", {"continue"}), ("try:\n  a\nexcept B:\n  break", {"break"}),
    ("try:\n  a\nexcept B:\n  b\nelse:\n  return", {"return"}),
    ("try:\n  a\nfinally:\n  continue", {"continue"}),
    ("def f():\n  return", set()), ("class A:\n  pass", set()),
])  # fmt: skip
def test_jumps_are_found_in_every_block(text, found):
    """Also where the block is one of a statement that is rewritten only later."""
    assert jumps(ast.parse(text).body[0]) == found


@pytest.mark.parametrize("block", [
    "with nullcontext():\n          return 3.0", "match 1:\n          case 1:\n            return 3.0",
    "with nullcontext():\n          break", "with nullcontext():\n          continue",
])  # fmt: skip
def test_no_jump_leaves_ignored_code_unseen(program, block):
    """Within another statement, too: what follows would be differentiated although it never ran."""
    f = program(
        "from contextlib import nullcontext\nimport rulelab as rl\n\ndef f(x):\n  for k in range(2):\n"
        f"    with rl.ignore_derivatives():\n        {block}\n  return x * x\n"
    )
    for ask in (rl.gradient, lambda f, x: rl.pushforward(f, x)(1.0)):
        with pytest.raises(rl.UnsupportedSyntaxError, match="leaves a with ignore_derivatives"):
            ask(f, 1.5)


FURTHER = {
    enumerate: (3,), itertools.islice: (3,), itertools.combinations: (2,), itertools.permutations: (2,),
    itertools.combinations_with_replacement: (2,), itertools.tee: (2,), itertools.repeat: (2,),
    getattr(itertools, "batched", None): (2,), itertools.compress: ([1, 0, 1],),
}  # fmt: skip


@pytest.mark.parametrize("function", HANDING_ON, ids=lambda f: f.__name__)
def test_what_is_handed_on_comes_out_untouched(function):
    """The items that a row says are gone through come out as they are; no other argument does."""
    items = [object() for _ in range(4)]
    letter, *others = HANDING_ON[function]
    further = FURTHER.get(function, ())
    assert letter in "iv" and not set(others) & set("iv")
    made = list(itertools.islice(function(items, *further), 9))
    found, rows = [], made
    while rows:
        found += [x for x in rows if type(x) is object or x is items]
        rows = [x for row in rows if row is not items and hasattr(row, "__iter__") for x in row]
    assert found and all(x in items or letter == "v" for x in found)
