"""The reverse sweep is written without what can be left out, and gives what its nodes say."""

import random

import pytest

from rulelab.compiler.memory import support
from rulelab.compiler.transform.emit import _Text
from rulelab.compiler.transform.tidy import Block, Line, Pull, Region, Restart, Sum, Writer, flow, in_step


def written(nodes, zeros, returned="", helpers=None):
    """The lines of a sweep; the helpers that they name come into `helpers`."""
    text, names = _Text(), iter(range(1000))

    def helper(value, name):
        if helpers is not None:
            while helpers.setdefault(name, value) is not value:
                name += "_"  # as a pass does: `pull` of one operand is not that of another
        return name

    block = Block(nodes)
    block.zeros.update(zeros)
    writer = Writer(text.put, text.inside, helper, lambda base: f"{base}_{next(names)}")
    given = writer.write(block, "seed_bar", returned)
    return [*text.lines, f"return {given}"] if returned else text.lines


def grow(bar, text, *, real=True, delayed="", line=1):
    return Sum(bar, text, (line, line, 0, 0), real, delayed)


X, Y, Z = map(flow, ("x_bar", "y_bar", "z_bar"))
REALS = {"x_bar": "0.0"}


def test_the_first_sum_is_an_assignment():
    """A cotangent that starts with a sum needs no zero."""
    nodes = [Line("other", None), grow("x_bar", f"{Y} * 2"), grow("x_bar", Y, line=2)]
    assert written(nodes, REALS) == ["other", "x_bar = y_bar * 2", "x_bar += y_bar"]


def test_sums_of_one_line_are_one():
    """What the terms of one of the author's lines give is one sum, from left to right."""
    nodes = [grow("x_bar", f"{Y} * 2"), grow("x_bar", f"-{Y}"), grow("x_bar", Y)]
    assert written(nodes, REALS, X) == ["x_bar = y_bar * 2 - y_bar + y_bar", "return x_bar"]
    assert written(nodes, {}, X) == ["x_bar = x_bar + y_bar * 2 - y_bar + y_bar", "return x_bar"]


def test_a_delayed_term_is_unwrapped():
    """A term that may be a thunk is unwrapped when it becomes the first value."""
    nodes = [grow("x_bar", "got[1]", real=False, delayed="value")]
    assert written(nodes, {"x_bar": "ZERO"}) == ["x_bar = value(got[1])"]


def test_a_sum_that_may_not_happen():
    """Where the first sum stands in a loop, the zero stands before it; in a branch, in the other arm."""
    arms = [("if t:", [grow("x_bar", f"{Y} * 2")]), ("else:", [])]
    expected = ["if t:", "    x_bar = y_bar * 2", "else:", "    x_bar = 0.0"]
    assert written([Region(arms, None)], REALS) == expected
    assert written([Region(arms[:1], None)], REALS) == expected
    loop = Region([("for t in ts:", [grow("x_bar", f"{Y} * 2")])], None)
    assert written([loop], REALS) == ["x_bar = 0.0", "for t in ts:", "    x_bar += y_bar * 2"]


def test_a_sum_that_has_begun_goes_on_in_a_branch():
    """What got something before keeps it where the branch is not taken."""
    nodes = [grow("x_bar", f"{Y} * 2"), Region([("if t:", [grow("x_bar", f"{Y} * 3")])], None)]
    assert written(nodes, REALS, X) == [
        "x_bar = y_bar * 2",
        "if t:",
        "    x_bar += y_bar * 3",
        "return x_bar",
    ]


def test_what_got_nothing_is_its_zero():
    """A cotangent that nothing flows to has no line, and is written as its zero."""
    nodes = [Line(f"put({X}, {Y})", None), Line(f"put({X})", None, ("z_bar",))]
    assert written(nodes, REALS, f"({X}, {Z})") == [
        "put(0.0, y_bar)",
        "z_bar = put(0.0)",
        "return (0.0, z_bar)",
    ]
    pulled = Pull("back", "x_bar", None, [(1, grow("y_bar", "", real=False))], True)
    assert written([pulled], {"x_bar": "ZERO"}) == [
        "y_bar = add(y_bar, unless_zero(back, ZERO)(ZERO)[1])"
    ] or (written([pulled], {"x_bar": "ZERO"}) == ["y_bar = first(unless_zero(back, ZERO)(ZERO), y_bar)"])


def test_one_alone_in_else_is_elif():
    """A branch with nothing but another one is written as Python writers do."""
    inner = Region([("if u:", [Line("b", None)]), ("else:", [Line("c", None)])], None)
    nodes = [Region([("if t:", [Line("a", None)]), ("else:", [inner])], None)]
    assert written(nodes, {}) == ["if t:", "    a", "elif u:", "    b", "else:", "    c"]
    nodes = [Region([("if t:", [Line("a", None)]), ("else:", [inner, Line("if_not", None)])], None)]
    assert "elif u:" not in written(nodes, {})


def test_a_text_is_no_name():
    """A key that is called as a cotangent stays what it is."""
    nodes = [grow("x_bar", Y), Line(f"part({X}, 'x_bar')", None, ("z_bar",))]
    assert written(nodes, REALS, Z) == ["z_bar = part(y_bar, 'x_bar')", "return z_bar"]


def test_what_only_the_next_step_reads_is_in_its_line():
    """On one line of the author's, and with brackets where they are needed."""
    nodes = [grow("x_bar", f"{Y} + 1.0"), grow("z_bar", f"{X} * 2.0")]
    assert written(nodes, {**REALS, "z_bar": "0.0"}, Z) == ["z_bar = (y_bar + 1.0) * 2.0", "return z_bar"]
    nodes[1].position = (2, 2, 0, 0)
    assert written(nodes, {**REALS, "z_bar": "0.0"}, Z)[0] == "x_bar = y_bar + 1.0"
    twice = [grow("x_bar", f"{Y} + 1.0"), grow("z_bar", f"{X} * {X}")]
    assert written(twice, {**REALS, "z_bar": "0.0"}, Z)[0] == "x_bar = y_bar + 1.0"


def test_a_line_of_several_sets_what_would_be_a_copy():
    """One that nobody else reads goes by the name that it is copied to; one that is read keeps its own."""
    pair = Line(f"pop({X}, 1)", None, ("a_bar", "b_bar"))
    zeros = dict.fromkeys(("a_bar", "b_bar", "z_bar"), "0.0")
    copied = [pair, Line(flow("a_bar"), None, ("x_bar",))]
    assert written(copied, zeros, f"{X} + {flow('b_bar')}")[:-1] == ["x_bar, b_bar = pop(x_bar, 1)"]
    assert written(copied, zeros, f"{X} + {flow('a_bar')}")[:-1] == ["a_bar, b_bar = pop(x_bar, 1)"]
    held = [Line(X, None, ("z_bar",)), *copied]  # what x_bar was is read behind
    lines = ["a_bar, b_bar = pop(x_bar, 1)", "return a_bar + x_bar"]
    assert written(held, zeros, f"{X} + {Z}") == lines


def test_swaps_are_one_line():
    """Copies of which one is the source of another are made at once."""
    assert in_step([("a", "b"), ("c", "d"), ("e", "f")], 2) == [("a, c", "b, d"), ("e", "f")]
    assert in_step([("a", "b"), ("c", "d"), ("b", "a")], 1) == [("a, c, b", "b, d, a")]


# --- what is written does what was said ---------------------------------------------------------------------

NAMES = [f"{letter}_bar" for letter in "abcde"]


class Programs:
    """Random sweeps in which copies, sums, pulls, branches, loops and restarts of a few names meet."""

    def __init__(self, seed):
        self.pick = random.Random(seed)
        self.count = 0

    def block(self, outer, depth=0):
        own = [f"own_{self.count + k}_bar" for k in range(self.pick.randrange(3))]
        self.count += len(own)
        names = [*outer, *own]
        block = Block(self.node(names, depth) for _ in range(self.pick.randrange(1, 9)))
        block.zeros.update((name, "0.0") for name in own)
        return block

    def node(self, names, depth):
        bar, source, other = (self.pick.choice(names) for _ in range(3))
        place = self.pick.choice([None, (1, 1, 0, 0), (1, 1, 0, 0), (2, 2, 0, 0)])
        kinds = ["copy"] * 4 + ["sum"] * 3 + ["line", "pair", "pull", "pull", "print", "restart"]
        kind = self.pick.choice(kinds + ["if", "loop"] * (depth < 2))
        if kind == "copy":
            return Line(flow(source), place, (bar,)) if bar != source else Restart({})
        if kind == "line":
            return Line(f"take({flow(source)} - {flow(other)})", place, (bar,))
        if kind == "pair":
            held = self.pick.choice([name for name in names if name != bar])
            return Line(f"{flow(source)} + 1.0, {flow(other)}", place, (bar, held))
        if kind == "print":
            return Line(f"seen.append(({flow(source)}, 'a_bar'))", place)
        if kind == "restart":
            return Restart({bar: "0.0"})
        if kind == "pull":
            slots = sorted(self.pick.sample(range(5), self.pick.randrange(5)))
            sums = [(k, Sum(self.pick.choice(names), "", place, self.pick.random() < 0.5)) for k in slots]
            return Pull("back", source, place, sums, self.pick.random() < 0.5)
        if kind == "if":
            arms = [self.block(names, depth + 1), self.block(names, depth + 1)]
            return Region([("if pick():", arms[0]), ("else:", arms[1])], place)
        if kind == "loop":
            return Region([("for _ in range(3):", self.block(names, depth + 1))], place)
        text = self.pick.choice([f"{flow(source)} * 0.5", f"-{flow(source)}", flow(source), "take(2.0)"])
        return Sum(bar, text, place, self.pick.random() < 0.7)


class Run:
    """What both kinds of running name: what is shown on the way, and what branches are taken."""

    def __init__(self):
        self.seen, draw = [], random.Random(3)
        self.names = vars(support) | {"seen": self.seen, "pick": lambda: draw.random() < 0.5}
        self.names |= {"take": self.take, "back": self.back, "seed_bar": 1.0}

    def take(self, x):
        self.seen.append(x)
        return x

    def back(self, y_bar):
        self.seen.append(("back", y_bar))
        return tuple(y_bar * scale for scale in (0.5, 2.0, -1.0, 3.0, 0.25))

    def value(self, text):
        return eval(text.replace("\0", ""), self.names)

    def follow(self, nodes):
        """Do what the nodes say, one after the other."""
        self.names.update((name, 0.0) for name in getattr(nodes, "zeros", ()))
        for node in nodes:
            if isinstance(node, Line):
                found = self.value(node.text)
                self.names.update(zip(node.sets, found if len(node.sets) > 1 else (found,)))
            elif isinstance(node, Sum):
                self.names[node.bar] += self.value(node.text)
            elif isinstance(node, Pull):
                parts = self.back(self.names[node.bar])
                for slot, term in node.sums:
                    self.names[term.bar] += parts[slot]
            elif isinstance(node, Restart):
                self.names.update(dict.fromkeys(node.zeros, 0.0))
            elif node.arms[0][0].startswith("for"):
                for _ in range(3):
                    self.follow(node.arms[0][1])
            else:
                self.follow(node.arms[0 if self.names["pick"]() else 1][1])


@pytest.mark.parametrize("start", range(0, 1500, 300))
def test_what_is_written_is_what_was_said(start):
    """With lines left out and put into others, a sweep gives what its nodes give, and in the same order."""
    for seed in range(start, start + 300):
        nodes = Programs(seed).block(["seed_bar", *NAMES])
        nodes.zeros.update((name, "0.0") for name in NAMES)
        returned = ", ".join(map(flow, NAMES[:3]))
        plain, ours = Run(), Run()
        plain.follow(nodes)
        lines = written(nodes, nodes.zeros, returned, ours.names)
        exec("\n".join(lines[:-1]), ours.names)
        given = ours.value(lines[-1].removeprefix("return "))
        assert given == tuple(plain.names[name] for name in NAMES[:3]), (seed, lines)
        assert ours.seen == plain.seen, (seed, lines)
