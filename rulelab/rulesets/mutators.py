"""The functions and methods that write into their argument, each with the name a message gives it.

Calling one of them on a value that carries a cotangent is refused before the write.
"""

import random
import types
from collections import deque

import numpy as np

from ..python_facts import CONTAINERS, WRITES, WRITING_OPERATORS, methods_that
from ..rules.rule_table import RuleTable

TABLE = RuleTable("mutators")

# `random.shuffle` and `np.random.shuffle` are methods of hidden generators; they are known by their classes.
TABLE.mutates(
    np.copyto,
    np.put,
    np.place,
    np.putmask,
    np.fill_diagonal,
    np.put_along_axis,
    np.random.Generator.shuffle,
    np.random.RandomState.shuffle,
    random.Random.shuffle,
)

# Methods in Python are followed into what they do. Deques are changed as code of a library changes things:
# rules are given copies of them.
TABLE.mutates(
    *(
        method
        for method in methods_that(WRITES, np.ndarray, *(kind for kind in CONTAINERS if kind is not deque))
        if not isinstance(method, types.FunctionType)
    )
)

# Ufuncs write through `at`; their `out=` is a keyword that no rule accepts.
TABLE.mutates(*{ufunc.at for ufunc in vars(np).values() if isinstance(ufunc, np.ufunc)})

TABLE.mutates(*WRITING_OPERATORS)
TABLE.mutates(setattr, delattr)
