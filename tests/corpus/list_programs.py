"""Random programs on lists of numbers that change: items assigned, exchanged, appended and popped, in
branches and loops, under several names.
"""

import random


def list_program(seed):
    """The text of a function `f(x, y)` of two numbers, which depends on the seed alone."""
    return _Program(random.Random(f"lists-{seed}")).text()


class _Program:
    def __init__(self, draw):
        self.draw = draw
        self.lines = []
        self.numbers = ["x", "y", "z"]
        self.lists = {}  # by name, the least length
        self.turns = []
        self.count = 0

    def text(self):
        self.put(0, "def f(x, y):")
        self.put(1, "z = x * y")
        for _ in range(self.draw.randrange(3, 12)):
            self.statement(1, 0)
        ends = [
            f"sum({name}) * {self.draw.choice(('x', 'y', '1.5'))}"
            if self.draw.random() < 0.6
            else f"{name}[0] * {name}[-1]"
            for name in self.lists
        ]
        self.put(1, f"return {' + '.join([*ends, 'z'])}")
        return "import math\n\n\n" + "\n".join(self.lines) + "\n"

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    def new(self, base):
        self.count += 1
        return f"{base}{self.count}"

    # -- expressions -----------------------------------------------------------------------------------------

    def number(self, depth=0):
        kind = self.draw.randrange(9)
        if kind == 3:
            return repr(round(self.draw.uniform(-2, 2), 2))
        if kind in (4, 5) and self.lists:
            return self.item(self.draw.choice(list(self.lists)))
        if kind < 3 or depth > 2:
            return self.draw.choice(self.numbers)
        if kind == 6:
            return f"math.sin({self.number(depth + 1)})"
        return f"({self.number(depth + 1)} {self.draw.choice('+-*')} {self.number(depth + 1)})"

    def item(self, name):
        kind, least = self.draw.randrange(5), self.lists[name]
        if kind == 0 and self.turns:
            return f"{name}[{self.draw.choice(self.turns)} % len({name})]"
        places = {1: "-1", 2: f"len({name}) - 1"}
        return f"{name}[{places.get(kind, self.draw.randrange(-least, least))}]"

    def whole(self, name):
        return f"{self.draw.choice(('sum', 'sum', 'max', 'min'))}({name})"

    # -- statements ------------------------------------------------------------------------------------------

    def statement(self, depth, nesting):
        kind = self.draw.randrange(17)
        if not self.lists or kind == 0:
            self.make(depth)
            return
        name = self.draw.choice(list(self.lists))
        if kind <= 3:
            self.put(depth, f"{self.item(name)} = {self.number()}")
        elif kind <= 5:
            self.put(depth, f"{self.item(name)} {self.draw.choice('+-*')}= {self.number()}")
        elif kind == 6:
            one, other = self.item(name), self.item(self.draw.choice(list(self.lists)))
            self.put(depth, f"{one}, {other} = {other}, {one}")
        elif kind <= 8:
            self.put(depth, f"{name}.append({self.number()})")
        elif kind == 9:
            self.put(depth, f"if len({name}) > {self.lists[name]}:")
            self.put(depth + 1, f"{self.draw.choice(('', 'z = '))}{name}.pop()")
        elif kind <= 11:
            found = self.new("v")
            self.put(depth, f"{found} = {self.number() if kind == 10 else self.whole(name)}")
            self.numbers.append(found)
        elif kind == 15:
            other = self.new("l")
            self.put(depth, f"{other} = {name}")
            self.lists[other] = self.lists[name]
        elif kind <= 14 and nesting < 2:
            self.compound(kind, name, depth, nesting + 1)
        else:
            self.put(depth, f"z = {self.number()}")

    def make(self, depth):
        kind, count = self.draw.randrange(6), self.draw.randrange(1, 4)
        items = ", ".join(self.number() for _ in range(count))
        one, other = self.draw.choice(self.numbers), self.draw.choice(self.numbers)
        name = self.new("l")
        made, least = {
            2: (f"[{items}] * 2", 2 * count),
            3: (f"[{one} * e + {other} for e in range(3)]", 3),
            4: ("[0.0] * 3", 3),
            5: (f"list(({one}, {other}))", 2),
        }.get(kind, (f"[{items}]", count))
        self.put(depth, f"{name} = {made}")
        self.lists[name] = least

    def compound(self, kind, name, depth, nesting):
        if kind == 13:
            self.put(depth, f"if {self.number()} > {self.number()}:")
            self.inside(depth, nesting)
            if self.draw.random() < 0.5:
                self.put(depth, "else:")
                self.inside(depth, nesting)
        elif kind == 12:
            turn = self.new("i")
            self.put(depth, f"for {turn} in range({self.draw.randrange(1, 4)}):")
            self.turns.append(turn)
            self.inside(depth, nesting)
            self.turns.pop()
        else:
            item = self.new("e")
            beside = f"for {item}, w in zip({name}, [{self.number()}, {self.number()}]):"
            self.put(depth, self.draw.choice((beside, f"for {item} in {name}:")))
            self.numbers.append(item)
            self.inside(depth, nesting, grows=False)
            self.numbers.remove(item)

    def inside(self, depth, nesting, grows=True):
        """The statements of a block, whose names go with it. A list that is read may not grow in it."""
        numbers, lists, begin = list(self.numbers), dict(self.lists), len(self.lines)
        for _ in range(self.draw.randrange(1, 4)):
            self.statement(depth + 1, nesting)
        if not grows and any(".append" in line or ".pop" in line for line in self.lines[begin:]):
            del self.lines[begin:]
        self.put(depth + 1, "z = z * 0.5 + x")
        self.numbers, self.lists = numbers, lists
