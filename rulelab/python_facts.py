"""Facts about Python: what the methods of its types do, its operators, and its kinds of statements.

Each method is in one row of its type, which says what a call of it does. Which methods write, keep
their arguments or make a new object is derived from these tables.
"""

from __future__ import annotations

import array
import ast
import functools
import itertools
import math
import operator
import statistics
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from enum import Enum, Flag, auto
from typing import Any, NamedTuple, TypeVar

import numpy as np

_T = TypeVar("_T")


class Does(Flag):
    """What a call of a method does besides returning a number, a string or a truth value."""

    READS = 0  # nothing else
    WRITES = auto()  # it changes its object
    KEEPS = auto()  # its object then holds the arguments of the call, or their items
    GIVES = auto()  # the result is a part of its object
    VIEWS = auto()  # the result reads its object later, or shares its memory
    COPIES = auto()  # the result is a new container with the same parts as its object
    MAKES = auto()  # the result is a new object that shares nothing with it
    CALLS = auto()  # it calls a function that it gets or holds
    FILLS = auto()  # it initializes a new object
    TELLS = auto()  # it writes to a file


READS, WRITES, KEEPS, GIVES, VIEWS = Does.READS, Does.WRITES, Does.KEEPS, Does.GIVES, Does.VIEWS
COPIES, MAKES, CALLS, FILLS, TELLS = Does.COPIES, Does.MAKES, Does.CALLS, Does.FILLS, Does.TELLS

# --- operators ----------------------------------------------------------------------------------------------


class Operator(NamedTuple):
    """A binary operator: its node, its name in `operator` and its symbol; the methods that implement it for
    the left and for the right operand; the name of its in-place version.
    """

    node: type[ast.operator]
    name: str
    sign: str
    methods: tuple[str, str]
    in_place: str


OPERATORS = tuple(
    Operator(node, name, sign, (f"__{stem}__", f"__r{stem}__"), f"i{stem}")
    for node, name, stem, sign in (
        (ast.Add, "add", "add", "+"),
        (ast.Sub, "sub", "sub", "-"),
        (ast.Mult, "mul", "mul", "*"),
        (ast.Div, "truediv", "truediv", "/"),
        (ast.FloorDiv, "floordiv", "floordiv", "//"),
        (ast.Mod, "mod", "mod", "%"),
        (ast.Pow, "pow", "pow", "**"),
        (ast.MatMult, "matmul", "matmul", "@"),
        (ast.BitAnd, "and_", "and", "&"),
        (ast.BitOr, "or_", "or", "|"),
        (ast.BitXor, "xor", "xor", "^"),
        (ast.LShift, "lshift", "lshift", "<<"),
        (ast.RShift, "rshift", "rshift", ">>"),
    )
)
BY_NODE = {each.node: each.name for each in OPERATORS}
IN_PLACE = {each.name: each.in_place for each in OPERATORS}
IN_PLACE_METHODS = frozenset(f"__{name}__" for name in IN_PLACE.values())
PREFIXES = {
    ast.USub: ("neg", "-"),
    ast.UAdd: ("pos", "+"),
    ast.Not: ("not_", "not "),
    ast.Invert: ("invert", "~"),
}
COMPARISONS = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
# The functions of `operator` that change their first argument.
WRITING_OPERATORS = (
    *(getattr(operator, name) for name in IN_PLACE.values()),
    *(operator.iconcat, operator.setitem, operator.delitem),
)

# --- functions ----------------------------------------------------------------------------------------------

_NEW_ARRAYS = (
    *(
        np.array,
        np.arange,
        np.concatenate,
        np.copy,
        np.cumsum,
        np.dot,
        np.empty,
        np.empty_like,
        np.eye,
        np.full,
    ),
    *(np.full_like, np.hstack, np.linalg.norm, np.linspace, np.max, np.mean, np.min, np.ones, np.ones_like),
    *(np.outer, np.prod, np.stack, np.std, np.sum, np.trace, np.var, np.vstack, np.zeros, np.zeros_like),
)
# Their results share no memory with their arguments, of which they keep nothing. Not list, tuple and sorted:
# the rows that they take from an array are views.
READING = frozenset({len, sum, max, min, abs, print, float, int, *_NEW_ARRAYS})
# Their result is a new object, or a number.
MAKING = frozenset({list, float, int, *_NEW_ARRAYS})
# They make an array of a sequence, and treat lists and tuples alike.
JOINING = frozenset(
    {np.array, np.asarray, np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack}
)
# They iterate over their whole first argument before anything else happens.
CONSUMING = (sum, max, min, list, tuple, set, frozenset, dict, deque, sorted, math.fsum, math.prod)
# So do these, which accept numbers only.
STATISTICS: tuple[Any, ...] = (statistics.mean, statistics.fmean, statistics.median, statistics.variance)
STATISTICS += (statistics.stdev, statistics.pvariance, statistics.pstdev)
# Functions that return one number for the numbers in a list or a tuple, and treat both alike.
OF_NUMBERS = (sum, max, min, math.fsum, math.prod, *STATISTICS)
# The position of the argument that these call.
CALLED: dict[Any, int] = {
    **dict.fromkeys((map, filter, functools.reduce, itertools.starmap, itertools.takewhile), 0),
    **dict.fromkeys((itertools.dropwhile, itertools.filterfalse, functools.partial), 0),
    **dict.fromkeys((itertools.accumulate, itertools.groupby), 1),
}

# Functions that only pass on the items of their arguments: which arguments they iterate over ("i"), iterate
# over for truth values only ("t"), pass on whole ("v") or only read ("-"). The last letter applies to all
# further arguments.
HANDING_ON: dict[Any, str] = {
    **dict.fromkeys((zip, itertools.chain, itertools.product, itertools.zip_longest), "i"),
    **dict.fromkeys((enumerate, iter, reversed, itertools.islice, itertools.cycle, itertools.pairwise), "i-"),
    **dict.fromkeys((itertools.combinations, itertools.combinations_with_replacement), "i-"),
    **dict.fromkeys((itertools.permutations, itertools.tee), "i-"),
    **({itertools.batched: "i-"} if hasattr(itertools, "batched") else {}),
    itertools.compress: "it",
    itertools.repeat: "v-",
}
HANDED_ON = ("fillvalue", "object")  # their keywords whose value is passed on

# --- methods ------------------------------------------------------------------------------------------------

_SIZE = "__len__ __contains__ "
_ARITHMETIC = " ".join(name for each in OPERATORS for name in each.methods)
_CONVERSIONS = """
    __divmod__ __rdivmod__ __abs__ __neg__ __pos__ __invert__ __bool__ __int__ __float__ __index__
    __complex__ __round__ __floor__ __ceil__ __trunc__
"""
_NUMBERS = f"""
    {_ARITHMETIC} {_CONVERSIONS} __getnewargs__ __getformat__ conjugate real imag numerator denominator
    as_integer_ratio is_integer hex fromhex from_bytes from_number to_bytes bit_count bit_length
"""
_TEXT = """
    __contains__ __len__ __add__ __mul__ __rmul__ __mod__ __rmod__ __getitem__ __getnewargs__ __bytes__
    capitalize casefold center count decode encode endswith expandtabs find fromhex hex index isalnum
    isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper
    ljust lower lstrip maketrans partition removeprefix removesuffix replace rfind rindex rjust
    rpartition rsplit rstrip split splitlines startswith strip swapcase title translate upper zfill
    format format_map
"""
_SET_READS = f"{_SIZE} isdisjoint issubset issuperset"
_SET_COPIES = """
    copy union intersection difference symmetric_difference __and__ __rand__ __or__ __ror__ __sub__
    __rsub__ __xor__ __rxor__
"""

# The rows of `object` apply to all types; those of a class have only what its bases do not have.
_ROWS: dict[type, dict[Does, str]] = {
    object: {
        READS: """
            __annotate_func__ __annotations_cache__ __class__ __class_getitem__ __dict__ __dir__ __doc__
            __eq__ __firstlineno__ __format__ __ge__ __getattribute__ __getstate__ __gt__ __hash__
            __init__ __init_subclass__ __le__ __lt__ __module__ __ne__ __new__ __reduce__ __reduce_ex__
            __repr__ __sizeof__ __slotnames__ __static_attributes__ __str__ __subclasshook__ __weakref__
        """,
        WRITES | KEEPS: "__setattr__",
        WRITES: "__delattr__",
    },
    list: {
        READS: f"{_SIZE} index count",
        WRITES: "remove clear reverse __delitem__ __imul__",
        WRITES | CALLS: "sort",
        WRITES | KEEPS: "append extend insert __setitem__ __iadd__",
        FILLS: "__init__",
        WRITES | GIVES: "pop",
        GIVES: "__getitem__",
        VIEWS: "__iter__ __reversed__",
        COPIES: "copy __add__ __mul__ __rmul__",
    },
    tuple: {
        READS: f"{_SIZE} index count",
        GIVES: "__getitem__",
        VIEWS: "__iter__",
        COPIES: "__add__ __mul__ __rmul__ __getnewargs__",
    },
    dict: {
        READS: f"{_SIZE}",
        WRITES: "clear __delitem__",
        WRITES | KEEPS: "update __setitem__ __ior__",
        FILLS: "__init__",
        WRITES | KEEPS | GIVES: "setdefault",
        WRITES | GIVES: "pop popitem",
        GIVES: "get __getitem__",
        VIEWS: "keys values items __iter__ __reversed__",
        COPIES: "copy __or__ __ror__",
        MAKES: "fromkeys",
    },
    OrderedDict: {WRITES: "move_to_end"},
    defaultdict: {
        COPIES: "__copy__",
        GIVES: "default_factory",
        WRITES | GIVES | CALLS: "__missing__",
    },
    Counter: {
        READS: "__missing__ most_common total",
        WRITES: "subtract _keep_positive __iadd__ __isub__ __iand__",
        COPIES: "__add__ __sub__ __and__ __neg__ __pos__",
        VIEWS: "elements",
    },
    set: {
        READS: _SET_READS,
        WRITES: """
            discard remove clear intersection_update difference_update symmetric_difference_update
            __iand__ __isub__ __ixor__
        """,
        WRITES | KEEPS: "add update __ior__",
        FILLS: "__init__",
        WRITES | GIVES: "pop",
        VIEWS: "__iter__",
        COPIES: _SET_COPIES,
    },
    frozenset: {READS: _SET_READS, VIEWS: "__iter__", COPIES: _SET_COPIES},
    deque: {
        READS: f"{_SIZE} index count maxlen",
        WRITES: "remove clear reverse rotate __delitem__ __imul__",
        WRITES | KEEPS: "append appendleft extend extendleft insert __setitem__ __iadd__",
        FILLS: "__init__",
        WRITES | GIVES: "pop popleft",
        GIVES: "__getitem__",
        VIEWS: "__iter__ __reversed__",
        COPIES: "copy __copy__ __add__ __mul__ __rmul__",
    },
    str: {READS: f"{_TEXT} __iter__", CALLS: "join"},
    bytes: {READS: f"{_TEXT} __iter__ __buffer__", CALLS: "join"},
    bytearray: {
        READS: f"{_TEXT} __alloc__",
        MAKES: "copy",
        CALLS: "join",
        VIEWS: "__iter__ __buffer__ __release_buffer__",
        WRITES: """
            append extend insert pop remove clear reverse resize __setitem__ __delitem__ __iadd__
            __imul__
        """,
        FILLS: "__init__",
    },
    array.array: {
        READS: f"{_SIZE} __getitem__ buffer_info count index itemsize typecode tobytes tolist tounicode",
        WRITES: """
            append extend insert pop remove clear reverse byteswap frombytes fromfile fromlist
            fromunicode __setitem__ __delitem__ __iadd__ __imul__
        """,
        VIEWS: "__iter__ __buffer__ __release_buffer__",
        MAKES: "__add__ __mul__ __rmul__ __copy__ __deepcopy__",
        TELLS: "tofile",
    },
    memoryview: {
        READS: """
            __len__ c_contiguous contiguous f_contiguous format hex itemsize nbytes ndim readonly shape
            strides suboffsets tobytes tolist count index
        """,
        WRITES: "__setitem__ __delitem__ release __enter__ __exit__",
        VIEWS: "__getitem__ __iter__ __buffer__ __release_buffer__ cast obj toreadonly _from_flags",
    },
    range: {READS: f"{_SIZE} __bool__ __getitem__ __iter__ __reversed__ count index start step stop"},
    int: {READS: _NUMBERS},
    float: {READS: _NUMBERS},
    complex: {READS: _NUMBERS},
    np.ndarray: {
        READS: f"""
            {_SIZE} all any argmax argmin dtype item itemsize max mean min nbytes ndim prod ptp shape
            size std strides sum tobytes tolist tostring trace var __array_priority__
            __array_namespace__ __dlpack_device__ device newbyteorder dumps
        """,
        WRITES: f"""
            sort fill put resize partition itemset setfield setflags byteswap _set_dtype _set_shape
            __setitem__ __delitem__
            {" ".join(sorted(IN_PLACE_METHODS))}
        """,
        VIEWS: """
            T mT real imag conj conjugate base ctypes data diagonal flags flat getfield ravel reshape
            squeeze swapaxes to_device transpose view astype __getitem__ __iter__ __array__
            __array_finalize__ __array_function__ __array_interface__ __array_prepare__ __array_struct__
            __array_ufunc__ __array_wrap__ __dlpack__ __buffer__
        """,
        MAKES: f"""
            {_ARITHMETIC} {_CONVERSIONS} argpartition argsort choose clip compress copy cumprod cumsum
            dot flatten nonzero repeat round searchsorted take __copy__ __deepcopy__
        """,
        FILLS: "__setstate__",
        TELLS: "dump tofile",
    },
}
_DOES = {
    kind: {n: does for does, names in rows.items() for n in names.split()} for kind, rows in _ROWS.items()
}
_DOES[np.generic] = _DOES[np.ndarray]
KINDS = tuple(kind for kind in _ROWS if kind is not object)
# Containers whose parts are objects: a rule that has seen one may look at it again.
CONTAINERS = (list, dict, OrderedDict, defaultdict, Counter, set, deque)


def does(kind: type, name: str) -> Does | None:
    """What a method of one of Python's types, or of a subclass of one, does; None for an unknown method.

    >>> does(list, "append") == Does.WRITES | Does.KEEPS, does(bool, "conjugate") == Does.READS
    (True, True)
    """
    return next((_DOES[base][name] for base in kind.__mro__ if name in _DOES.get(base, ())), None)


def names_that(what: Does, *kinds: type) -> frozenset[str]:
    """The names of the methods of these types that do this, among other things; not those that all have."""
    return frozenset(
        name
        for kind in kinds
        for base in kind.__mro__[:-1]
        for name, found in _DOES.get(base, {}).items()
        if what in found
    )


def names_with(what: Does, *kinds: type) -> frozenset[str]:
    """The names of the methods that do this, and nothing else, in each of these types that has them.

    >>> sorted(names_with(Does.READS, list) - names_with(Does.READS, object))
    ['__contains__', '__len__', 'count', 'index']
    """
    found = [
        (name, done) for kind in kinds for base in kind.__mro__ for name, done in _DOES.get(base, {}).items()
    ]
    return frozenset(name for name, done in found if done == what) - {
        name for name, done in found if done != what
    }


def methods_that(what: Does, *kinds: type) -> tuple[Any, ...]:
    """The methods themselves; those that this version of Python or NumPy lacks are left out."""
    return tuple(
        dict.fromkeys(
            getattr(kind, name)
            for kind in kinds
            for name in sorted(names_that(what, kind))
            if hasattr(kind, name)
        )
    )


# --- what C functions take ----------------------------------------------------------------------------------

# For functions without a signature (on the oldest Python), a stub with the same parameters.
_STUBS: dict[Callable[..., None], tuple[Any, ...]] = {
    lambda x, /: None: (
        *(dict.clear, dict.copy, dict.items, dict.keys, dict.values),
        *(OrderedDict.clear, OrderedDict.copy, OrderedDict.items, OrderedDict.keys, OrderedDict.values),
        *(set.clear, set.copy, set.pop, frozenset.copy, defaultdict.copy),
        *(deque.clear, deque.copy, deque.pop, deque.popleft, deque.reverse),
    ),
    lambda x, y, /: None: (
        *(dict.__getitem__, list.__getitem__, defaultdict.__missing__),
        *(set.add, set.discard, set.remove, set.isdisjoint, set.issubset, set.issuperset),
        *(set.symmetric_difference, set.symmetric_difference_update, frozenset.symmetric_difference),
        *(frozenset.isdisjoint, frozenset.issubset, frozenset.issuperset),
        *(deque.append, deque.appendleft, deque.count, deque.extend, deque.extendleft, deque.remove),
    ),
    lambda x, y, z, /: None: (deque.insert,),
    lambda x, n=1, /: None: (deque.rotate,),
    lambda x, y, default=None, /: None: (dict.pop,),
    lambda x, key, default=None: None: (OrderedDict.pop,),
    lambda x, y=None, /: None: (iter, next),
    lambda x=None, /: None: (vars, dir),
    lambda x, name, default=None, /: None: (getattr,),
    lambda x, /, *others: None: (
        *(set.union, set.intersection, set.difference, set.update, frozenset.union),
        *(frozenset.intersection, frozenset.difference, set.intersection_update, set.difference_update),
    ),
    lambda x, other=(), /, **words: None: (dict.update, OrderedDict.update),
    lambda *xs, key=None, default=None: None: (max, min),
    lambda f, xs, initial=None, /: None: (functools.reduce,),
    lambda *iterables: None: (itertools.chain,),
    lambda f, *iterables, strict=False: None: (map,),
    lambda f, /, *args, **words: None: (functools.partial,),
    lambda self, items=(), /: None: (list.__init__,),
    lambda items=(), /: None: (set, frozenset),
    lambda f, xs, /: None: (filter,),
    lambda iterable=(), maxlen=None: None: (deque,),
    lambda self, x, /: None: (operator.itemgetter.__call__, operator.attrgetter.__call__),
}
STUBS = {function: stub for stub, functions in _STUBS.items() for function in functions}

# --- statements ---------------------------------------------------------------------------------------------


class Fate(Enum):
    """How a kind of statement or expression is translated to the intermediate form."""

    DESUGARED = auto()  # rewritten by other statements
    STRAIGHTENED = auto()  # a jump, replaced by flags
    LOWERED = auto()
    REFUSED = auto()


class Kind(NamedTuple):
    """A kind of statement: how it is translated, and the fields with statements that run as part of it."""

    fate: Fate
    blocks: tuple[str, ...] = ()


def by_kind(by_name: Mapping[str, _T]) -> dict[type[Any], _T]:
    """A table by the names of kinds of syntax as one by their classes, for those that this Python has."""
    return {getattr(ast, name): said for name, said in by_name.items() if hasattr(ast, name)}


_DESUGARED, _LOWERED, _REFUSED = Kind(Fate.DESUGARED), Kind(Fate.LOWERED), Kind(Fate.REFUSED)
_TRY = ("body", "handlers", "orelse", "finalbody")
STATEMENTS: dict[type[ast.stmt], Kind] = {
    **dict.fromkeys((ast.Break, ast.Continue, ast.Return), Kind(Fate.STRAIGHTENED)),
    **dict.fromkeys((ast.If, ast.For, ast.While), Kind(Fate.LOWERED, ("body", "orelse"))),
    ast.Try: Kind(Fate.LOWERED, _TRY),
    ast.With: Kind(Fate.DESUGARED, ("body",)),
    ast.Match: Kind(Fate.DESUGARED, ("cases",)),
    **dict.fromkeys((ast.Import, ast.ImportFrom), _DESUGARED),
    **dict.fromkeys((ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete, ast.Expr, ast.Pass), _LOWERED),
    **dict.fromkeys((ast.FunctionDef, ast.Raise, ast.Assert, ast.Nonlocal, ast.Global), _LOWERED),
    ast.TryStar: Kind(Fate.DESUGARED, _TRY),
    ast.AsyncFor: Kind(Fate.REFUSED, ("body", "orelse")),
    ast.AsyncWith: Kind(Fate.REFUSED, ("body",)),
    **dict.fromkeys((ast.AsyncFunctionDef, ast.ClassDef), _REFUSED),
    **by_kind({"TypeAlias": _REFUSED}),
}
_NO_JUMPS: frozenset[str] = frozenset()
JUMPS = {ast.Return: "return", ast.Break: "break", ast.Continue: "continue"}
LOOPS = (ast.For, ast.AsyncFor, ast.While)
# Statements whose bodies belong to scopes of their own.
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
EXPRESSIONS = {
    **dict.fromkeys((ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.Slice), Fate.LOWERED),
    **dict.fromkeys((ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call), Fate.LOWERED),
    **dict.fromkeys((ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Lambda, ast.NamedExpr), Fate.LOWERED),
    **dict.fromkeys((ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.JoinedStr), Fate.LOWERED),
    **dict.fromkeys((ast.Starred, ast.FormattedValue), Fate.DESUGARED),  # together with what contains them
    **dict.fromkeys((ast.Yield, ast.YieldFrom, ast.Await), Fate.REFUSED),
    **by_kind(dict.fromkeys(("TemplateStr", "Interpolation"), Fate.REFUSED)),
}


def blocks_of(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The lists of statements that run as part of one, in the order of the text.

    >>> [len(block) for block in blocks_of(ast.parse("if a: b\\nelse: c; d").body[0])]
    [1, 2]
    """
    for name in STATEMENTS[type(statement)].blocks:
        found = getattr(statement, name)
        if name in ("handlers", "cases"):
            yield from (part.body for part in found)
        else:
            yield found


def jumps(statement: ast.stmt) -> frozenset[str]:
    """The jumps that may lead out of a statement: "return", and "break" or "continue" of a loop around it."""
    if type(statement) in JUMPS:
        return frozenset({JUMPS[type(statement)]})
    if not STATEMENTS[type(statement)].blocks:
        return _NO_JUMPS
    found = [frozenset().union(*map(jumps, block)) for block in blocks_of(statement)]
    if isinstance(statement, LOOPS):
        found[0] &= {"return"}  # the others end in it
    return frozenset().union(*found)
