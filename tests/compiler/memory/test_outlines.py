"""Where in a structure containers are, and what a cotangent of the whole says of them."""

from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass

import pytest

import rulelab as rl
from rulelab.compiler.memory import containers, heap, outlines
from rulelab.compiler.memory.support import NO, ZERO


def test_structural_cotangents_are_handed_in(sweep):
    """What a rule says of a tuple with own lists goes to these lists; the rest stays with the tuple."""
    xs = heap.own([1.0, 2.0], True)
    outline = outlines.outline((xs, 3.0))
    rest = outlines.hand_in(outline, ([4.0, NO], 5.0))
    assert heap.take_all(xs) == {0: 4.0}
    assert rest[1] == 5.0
    assert rest[0] is ZERO


def test_an_outline_ends_where_a_structure_closes(sweep):
    """A list that holds itself, and an object that knows itself, have an outline."""
    xs = heap.own([1.0], True)
    xs.append(xs)
    owner, inner = outlines.outline(xs)
    assert owner is xs
    assert inner == {}


class Knot:
    def __init__(self, value, inside=None):
        self.value = value
        self.inside = inside


@dataclass
class Leaf:
    value: float
    inside: object = None


def made(x):
    return heap.own(x, True)


def changed(x):
    """A recorded change of one container of each kind, by each way there is; what is put in is an object."""
    new = made(Knot(0.0))
    if isinstance(x, (list, deque)):
        kind = list if isinstance(x, list) else deque
        yield lambda: containers.write_item(x, 0, new)
        yield lambda: containers.delete_item(x, 0)
        yield lambda: containers.pop(x)
        yield lambda: containers.method_of(kind.append, x)(x, new)
        yield lambda: containers.method_of(kind.extend, x)(x, [new, new])
        yield lambda: containers.method_of(kind.reverse, x)(x)
        yield lambda: containers.method_of(kind.__imul__, x)(x, 2)
        yield lambda: containers.method_of(kind.clear, x)(x)
        if kind is list:
            yield lambda: containers.write_item(x, slice(0, 1), [new, x])
            yield lambda: containers.delete_item(x, slice(0, 1))
            yield lambda: containers.method_of(list.insert, x)(x, 0, new)
            yield lambda: containers.method_of(list.remove, x)(x, x[0])
            yield lambda: containers.extend_in_place(x, [new])
            yield lambda: containers.sort(x, key=lambda item: -item.value)
        else:
            yield lambda: containers.method_of(deque.appendleft, x)(x, new)
            yield lambda: containers.method_of(deque.popleft, x)(x)
            yield lambda: containers.method_of(deque.rotate, x)(x)
            yield lambda: containers.method_of(deque.extendleft, x)(x, [new])
    elif isinstance(x, dict):
        yield lambda: containers.write_item(x, "a", new)
        yield lambda: containers.write_item(x, "new", new)
        yield lambda: containers.delete_item(x, "a")
        yield lambda: containers.pop_entry(x, "a")
        yield lambda: containers.popitem(x)
        yield lambda: containers.setdefault(x, "new", new)
        yield lambda: containers.update(x, {"new": new}, more=new)
        yield lambda: containers.update_in_place(x, {"a": new})
        yield lambda: containers.clear(x)
        if isinstance(x, defaultdict):
            yield lambda: containers.read_item(x, "missing")
    else:
        yield lambda: containers.write_attribute(x, "inside", new)
        yield lambda: containers.set_attribute(x, "inside", new)
        yield lambda: containers.delete_attribute(x, "inside")


def two():
    return made(Knot(1.0)), made(Leaf(2.0))


def by_name():
    return dict(zip("ab", two()))


KINDS = {
    "list": lambda: list(two()),
    "deque": lambda: deque(two()),
    "dict": by_name,
    "counter": lambda: Counter(by_name()),
    "ordered": lambda: OrderedDict(by_name()),
    "default": lambda: defaultdict(list, by_name()),
    "object": lambda: Knot(*two()),
    "dataclass": lambda: Leaf(*two()),
}
WAYS = [(kind, number) for kind, make in KINDS.items() for number, _ in enumerate(changed(make()))]


@pytest.mark.parametrize(("kind", "number"), WAYS)
def test_an_outline_that_is_kept_is_what_a_new_one_would_be(sweep, kind, number):
    """Whatever is changed, in an object itself or deep in what it holds, behind a tuple too."""
    inner = made(KINDS[kind]())
    roots = [made(Knot(0.0, inner)), made(Leaf(0.0, (1.0, inner)))]
    roots.append(made(Knot(0.0, made([made(Leaf(0.0, inner))]))))
    before = [outlines.outline(root) for root in roots]
    assert all(outlines.outline(root) is kept for root, kept in zip(roots, before))
    list(changed(inner))[number]()
    found = [outlines.outline(root) for root in roots]
    heap.kept_outlines().clear()
    assert found == [outlines.outline(root) for root in roots]
    assert found != before


def test_the_outline_of_what_may_change_unseen_is_not_kept(sweep):
    """A list that is not followed, a variable that is rebound, a property, a list that is nobody else's."""
    xs = heap.own([], False)
    loose = made(Knot(xs))
    assert outlines.outline(loose)[1] == {"value": (xs, {})}
    xs.append(made(Knot(1.0)))
    assert outlines.outline(loose)[1]["value"][1].keys() == {0}
    cell = containers.plain_cell(1.0)

    def captures():
        return cell

    holder = made(Knot(captures))
    outlines.outline(holder)
    assert id(holder) not in heap.kept_outlines()
    alone = made([made(Knot(1.0))])
    outlines.outline(alone)
    assert id(alone) not in heap.kept_outlines()


def test_the_outline_of_a_field_that_is_computed_is_not_kept(sweep):
    class Odd(Leaf):
        turn = [0]

        @property
        def value(self):
            self.turn[0] += 1
            return made(Knot(1.0)) if self.turn[0] % 2 else 3.0

        @value.setter
        def value(self, value):
            self.__dict__["value"] = value

    odd = made(Odd(1.0))
    outlines.outline(odd)
    assert id(odd) not in heap.kept_outlines()


def test_what_leads_back_is_not_kept(sweep):
    """Of a child that knows its parent the outline depends on where one begins."""
    parent = made(Knot(1.0))
    child = made(Leaf(2.0, parent))
    parent.inside = (child, child)
    assert outlines.outline(parent)[1].keys() == {"inside"}
    assert outlines.outline(child)[1]["inside"][0] is parent
    assert outlines.outline(child)[1]["inside"][1].keys() == set()


def test_a_tree_is_gone_through_once(sweep, monkeypatch):
    """Each part asks for the outline of its own parts; all of them together look at each object once."""
    looked = []
    inner = outlines._outline_of_parts

    def looking(x, *more):
        looked.append(x)
        return inner(x, *more)

    monkeypatch.setattr(outlines, "_outline_of_parts", looking)
    nodes = [made(Knot(float(k))) for k in range(31)]
    for k in range(15):
        nodes[k].inside = (nodes[2 * k + 1], nodes[2 * k + 2])
    for node in nodes:
        outlines.outline(node)
    assert sum(isinstance(x, Knot) for x in looked) == 31


def rebuilt(x, write):
    """A tree that is read, changed deep inside in one way, and read again, through tuples."""
    leaf = Knot(x)
    root = Knot(2.0, (Knot(3.0, (leaf, Knot(x * x))), Knot(x)))

    def total(knot):
        if knot.inside is None:
            return knot.value**2
        left, right = knot.inside
        return knot.value * total(left) + total(right)

    first = total(root)
    write(leaf, x)
    return first + total(root)


def setting(leaf, x):
    leaf.inside = (Knot(x**3), Knot(x))


def setting_beneath(leaf, x):
    object.__setattr__(leaf, "inside", (Knot(x**3), Knot(x)))


def setting_by_name(leaf, x):
    setattr(leaf, "inside", (Knot(x**3), Knot(x)))  # noqa: B010


def deleting(leaf, x):
    leaf.inside = (Knot(x), Knot(x))
    del leaf.inside
    leaf.inside = None
    leaf.value = 3 * x


@pytest.mark.parametrize("write", [setting, setting_beneath, setting_by_name, deleting])
def test_trees_that_are_changed_between_two_readings(write):
    def program(x):
        return rebuilt(x, write)

    step, x = 1e-6, 0.8
    expected = (program(x + step) - program(x - step)) / (2 * step)
    for _ in range(3):
        assert rl.gradient(program, x)[0] == pytest.approx(expected, rel=1e-7)
