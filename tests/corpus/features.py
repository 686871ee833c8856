"""The constructs that the tests know, and those of them that the compiler takes today.

A corpus case says what it `needs`, and a random program holds only what is in FEATURES. When a construct
lands, its name goes into TAKEN: its cases then join the corpus, and the random programs that
use it are written and judged. To try a set without changing anything:

    RULELAB_FEATURES=all pytest tests/compiler/memory/test_heap.py
    RULELAB_FEATURES=list-writes,objects pytest -m campaign tests/compiler/test_random_programs.py
"""

import os

MEANINGS = {
    # containers, objects, closures: made inside the function
    "list-writes": "insert, pop, extend, remove, clear, reverse, sort, item and slice assignment on a list",
    "list-aliases": "append and other writes where a second name, or a container, holds the same list",
    "list-methods": "copy, index, count of a list made inside",
    "dict-reads": "get, items, keys, values, dict(...) and copy of a dict made inside",
    "dict-writes": "item assignment, pop, update, setdefault on a dict made inside",
    "helper-writes": "a helper function changes a list, dict or object made inside that it is handed",
    "closure-writes": "a nested function changes a list, dict or object that it holds",
    "held-lists": "a nested function holds a list that is appended to",
    "objects": "instances of plain classes made inside, attributes read, assigned, augmented, methods",
    "dataclasses": "dataclasses made inside, default_factory, __post_init__, replace",
    "namedtuples": "named tuples made inside, _replace",
    "late-binding": "a nested function holds a variable, or a loop variable, that is bound again later",
    "nonlocal": "nonlocal",
    "truth-of-containers": "`if items:` on a list or dict that is changed later",
    "computed-indices": "a list read at an index that a helper, a dict or a search gives",
    "del": "del of a name, an item, a slice, a key",
    # syntax
    "starred": "* in displays, calls, unpacking and parameters",
    "double-star": "** in displays, calls and parameters",
    "walrus": "name := value",
    "with": "with, on a context manager that keeps nothing that varies",
    "match": "match on constants",
    "loop-else": "the else of a loop",
    "try-else": "the else of a try",
    "finally": "try with finally",
    "dict-comprehensions": "dict and set comprehensions",
    # stand-ins
    "map": "map and filter",
    "reduce": "functools.reduce",
    "partial": "functools.partial",
    "itertools": "itertools.product, accumulate, chain, pairwise",
}

TAKEN = frozenset(
    {
        "list-writes",
        "list-aliases",
        "list-methods",
        "dict-reads",
        "dict-writes",
        "helper-writes",
        "closure-writes",
        "held-lists",
        "objects",
        "dataclasses",
        "namedtuples",
        "late-binding",
        "nonlocal",
        "truth-of-containers",
        "computed-indices",
        "del",
        "starred",
        "double-star",
        "walrus",
        "with",
        "match",
        "loop-else",
        "try-else",
        "finally",
        "dict-comprehensions",
        "map",
        "reduce",
        "partial",
        "itertools",
    }
)


def asked_for(text):
    """The features that a setting names: all of them, or those between commas; those taken by default."""
    if not text:
        return TAKEN
    names = frozenset(MEANINGS) if text == "all" else frozenset(text.split(","))
    if unknown := names - set(MEANINGS):
        raise ValueError(f"RULELAB_FEATURES names {sorted(unknown)}; known are {sorted(MEANINGS)}")
    return names


FEATURES = asked_for(os.environ.get("RULELAB_FEATURES", ""))
