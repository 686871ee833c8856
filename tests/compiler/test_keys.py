"""Numbers that vary as keys of dicts and items of sets: no derivative finds its way back from there."""

import itertools

import numpy as np
import pytest

import rulelab as rl

MADE = {
    "display": "d = {x: 2.0, 2 * x: 3.0}",
    "written": "d = {}; d[x] = 2.0; d[2 * x] = 3.0",
    "updated": "d = {}; d.update({x: 2.0, 2 * x: 3.0})",
    "added by default": "d = {}; d.setdefault(x, 2.0); d.setdefault(2 * x, 3.0)",
    "pairs": "d = dict([(x, 2.0), (2 * x, 3.0)])",
    "comprehension": "d = {k: 2.0 for k in [x, 2 * x]}",
    "merged": "d = {**{x: 2.0}, **{2 * x: 3.0}}",
    "by a helper": "d = {}; put(d, x); put(d, 2 * x)",
    "by a method": "o = Kept(); o.put(x); o.put(2 * x); d = o.d",
    "in a list": "held = [{}]; held[0][x] = 2.0; held[0][2 * x] = 3.0; d = held[0]",
    "of a class": "d = collections.defaultdict(float); d[x] += 2.0; d[2 * x] += 3.0",
    "numbers of arrays": "d = {}; d[v.sum()] = 1.0; d[v[0] * x] = 1.0",
    "in tuples": "t = {}; t[(x, 1)] = 2.0; d = {k[0]: 1.0 for k in t}; d[2 * x] = 1.0",
    "set": "d = {x, 2 * x}",
    "set comprehension": "d = {k for k in [x, 2 * x]}",
    "frozen set": "d = frozenset((x, 2 * x))",
}
READ = {
    "sum": "return sum(d)",
    "largest": "return max(d)",
    "listed": "return list(d)[0]",
    "loop": "return read(d)",
    "views": "return sum(d.keys()) if isinstance(d, dict) else sum(d)",
    "array": "return np.array(sorted(d)).sum()",
    "taken out": "d = d if isinstance(d, dict) else {k: 1.0 for k in d}; return d.popitem()[0]",
    "unpacked": "a, b = d; return a * b",
    "entries": "return sum(k * 1.0 for k, _ in d.items()) if isinstance(d, dict) else sum(d)",
}
SOURCE = """
import collections
import numpy as np

def put(d, k):
    d[k] = 1.0

def read(d):
    total = 0.0
    for k in d:
        total += k
    return total

class Kept:
    def __init__(self):
        self.d = {}

    def put(self, k):
        self.d[k] = 1.0

def f(x):
    v = np.array([x, 1.0])
"""
WAYS = {
    "reverse": lambda f: rl.gradient(f, 1.5),
    "forward": lambda f: rl.pushforward(f, 1.5)(1.0),
    "second": lambda f: rl.hvp(f, 1.5, 1.0),
}


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Makes a function of lines of text, in a module of its own."""
    monkeypatch.syspath_prepend(tmp_path)
    numbers = itertools.count()

    def made(*parts):
        name = f"keys_{tmp_path.name.strip('_')}_{next(numbers)}".replace("-", "_")
        lines = [line.strip() for part in parts for line in part.split(";")]
        (tmp_path / f"{name}.py").write_text(SOURCE + "".join(f"    {line}\n" for line in lines))
        return __import__(name).f

    return made


@pytest.mark.every(11)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("made", MADE)
def test_a_varying_key_that_is_read_is_refused(module, made, way):
    """Zero would be silently wrong: the derivative of what is read is 1, 2 or 3."""
    for read in READ.values():
        with pytest.raises(rl.RuleLabError):
            WAYS[way](module(MADE[made], read))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("d = {}; d[x] = 3 * x; return d[x] * x", 9.0),  # a memory of results: the key is a name only
        ("d = {}; d[x] = 3 * x; return d[x] * len(d)", 3.0),
        ("d = {'a': x, 'b': 2 * x}; return sum(d[k] for k in d.keys())", 3.0),
        ("d = {}; d['a'] = x; d['b'] = x * x; return sum([d[k] for k in sorted(d)])", 4.0),
        ("d = {1: x, 2: x * x}; return sum(k * d[k] for k in d)", 7.0),
        ("d = {1: x, 2: x * x}; return sum(k * v for k, v in d.items())", 7.0),
        ("d = {0.5: x, 2.0: x * x}; return d[0.5] * d[2.0]", 6.75),
        ("d = {}; d[int(x)] = x; return d[1] * x", 3.0),
        ("d = {(1, 'a'): x}; return d.popitem()[1] * x", 3.0),
        ("d = {}; d[(1, 2)] = x; return max(d)[1] * d[1, 2]", 2.0),
    ],
)
def test_names_are_no_hindrance(module, body, expected):
    """Entries are followed where their keys are names, or where a key that varies is not read."""
    f = module(body)
    assert rl.gradient(f, 1.5)[0] == pytest.approx(expected)
    around = (f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6 if "d[x]" not in body else expected
    assert np.allclose(around, expected, atol=1e-6)


def test_a_dict_that_is_given_has_constant_keys():
    """The keys of an argument are not what is differentiated, even as floats."""

    def weighted(d, x):
        return sum(k * v for k, v in d.items()) * x + sum(d.keys())

    found = rl.gradient(weighted, {0.5: 2.0, 4.0: 1.0}, 3.0)
    assert found[0] == {0.5: 1.5, 4.0: 12.0} and found[1] == 5.0


class Node:
    def __init__(self, weight):
        self.weight = weight


def heaviest_first(x):
    node, kept = Node(x), {}
    kept[node] = 1.0
    return sum(n.weight for n in kept)


def changed_through_the_key(x):
    node, kept = Node(1.0), {}
    kept[node] = 1.0
    for n in kept:
        n.weight = x * x
    return node.weight / 3


def changed_in_a_tuple(x):
    node, kept = Node(1.0), {}
    kept[(node, 1)] = 1.0
    for n, _ in kept:
        n.weight = x * x
    return node.weight / 3


def taken_with_its_key(x):
    node, kept = Node(x), {}
    kept[node] = 1.0
    n, _ = kept.popitem()
    return n.weight


WITH_OBJECTS = [heaviest_first, changed_through_the_key, changed_in_a_tuple, taken_with_its_key]


@pytest.mark.parametrize("f", WITH_OBJECTS)
def test_an_object_as_a_key_is_followed_backwards(f):
    """It is the same object wherever it is found; forwards it is refused."""
    assert rl.gradient(f, 1.5) == (pytest.approx(1.0),)
    with pytest.raises(rl.NotDifferentiableError, match="A Node that varies is the key of a dict"):
        rl.pushforward(f, 1.5)(1.0)
