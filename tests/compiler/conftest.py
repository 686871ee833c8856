"""What the tests of the compiler share: text that is run as a notebook runs its cells."""

import ast
import builtins
import itertools
import linecache

import pytest

import rulelab as rl
from rulelab.compiler.base import ir
from rulelab.compiler.base.source import find_source
from rulelab.compiler.front.lower import lower
from rulelab.compiler.front.lowering import Surroundings
from rulelab.compiler.memory import heap

COUNT = itertools.count(1)


class Cells:
    """Runs cells in one namespace; the text of each can be found again under the name of its cell."""

    def __init__(self):
        self.names = {"__name__": "__main__"}

    def run(self, text, filename=None):
        """Statement by statement, as IPython does; gives the namespace."""
        filename = filename or f"<cell {next(COUNT)}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        for statement in ast.parse(text).body:
            exec(compile(ast.Module([statement], []), filename, "exec"), self.names)
        return self.names

    def find_global(self, name):
        """What a global name stands for in these cells."""
        return self.names.get(name, getattr(builtins, name, ir.UNBOUND))

    def lowered(self, text):
        """The function `f` of a cell in the intermediate form; nothing is known to be harmless or fresh."""
        code = self.run(text)["f"].__code__
        return lower(
            find_source(code), code, Surroundings(self.find_global, lambda g: False, lambda g: False)
        )


@pytest.fixture
def cells():
    """A notebook of its own for one test."""
    return Cells()


@pytest.fixture
def run_once():
    """The value is not compared with that of the plain function, which would run it once more."""
    with rl.debug_mode(compare=False):
        yield


@pytest.fixture
def sweep():
    """A sweep of its own, left at the end."""
    outer = heap.enter()
    yield
    heap.leave(outer)
