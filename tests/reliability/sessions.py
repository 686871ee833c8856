"""A notebook in a test: cells are run in a namespace, and their text can be found again."""

import itertools
import linecache

import numpy as np

import rulelab as rl

_NUMBERS = itertools.count(1)


class Session:
    """A namespace into which cells are run; a name of a cell that is used again replaces its text."""

    def __init__(self, label="cell"):
        self.label = label
        self.names = {"rl": rl, "np": np, "__name__": "__main__"}

    def run(self, text, name=None):
        """Run a cell; gives the namespace."""
        filename = f"<{self.label} {next(_NUMBERS) if name is None else name}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
        exec(compile(text, filename, "exec"), self.names)
        return self.names

    def __getitem__(self, name):
        return self.names[name]

    def __setitem__(self, name, value):
        self.names[name] = value
