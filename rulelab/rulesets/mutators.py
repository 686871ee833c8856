"""The functions and methods that write into their argument, each with the name a message gives it.

Calling one of them on a value that carries a cotangent is refused before the write.
"""

import operator
import random

import numpy as np

from ..rules.house import RuleTable

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

# A method that this NumPy does not have (`itemset` went with NumPy 2) is left out.
TABLE.mutates(
    *[
        getattr(np.ndarray, name)
        for name in (
            "sort",
            "fill",
            "put",
            "resize",
            "partition",
            "itemset",
            "setfield",
            "setflags",
            "byteswap",
            "__setitem__",
            "__delitem__",
            "__iadd__",
            "__isub__",
            "__imul__",
            "__itruediv__",
            "__ifloordiv__",
            "__imod__",
            "__ipow__",
            "__imatmul__",
            "__iand__",
            "__ior__",
            "__ixor__",
            "__ilshift__",
            "__irshift__",
        )
        if hasattr(np.ndarray, name)
    ]
)

# Ufuncs write through `at`; their `out=` is a keyword that no rule accepts.
TABLE.mutates(*{ufunc.at for ufunc in vars(np).values() if isinstance(ufunc, np.ufunc)})

TABLE.mutates(
    operator.setitem,
    operator.delitem,
    operator.iadd,
    operator.isub,
    operator.imul,
    operator.itruediv,
    operator.ifloordiv,
    operator.imod,
    operator.ipow,
    operator.imatmul,
    operator.iand,
    operator.ior,
    operator.ixor,
    operator.ilshift,
    operator.irshift,
    operator.iconcat,
)

TABLE.mutates(
    list.append,
    list.extend,
    list.insert,
    list.pop,
    list.remove,
    list.clear,
    list.sort,
    list.reverse,
    list.__setitem__,
    list.__delitem__,
    list.__iadd__,
    list.__imul__,
)

TABLE.mutates(
    dict.update,
    dict.pop,
    dict.popitem,
    dict.setdefault,
    dict.clear,
    dict.__setitem__,
    dict.__delitem__,
    dict.__ior__,
)

TABLE.mutates(
    set.add,
    set.discard,
    set.remove,
    set.pop,
    set.clear,
    set.update,
    set.intersection_update,
    set.difference_update,
    set.symmetric_difference_update,
    set.__ior__,
    set.__iand__,
    set.__isub__,
    set.__ixor__,
)

TABLE.mutates(setattr, delattr)
