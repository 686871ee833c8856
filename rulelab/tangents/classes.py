"""Which classes Python code has made, by a class statement or by `type(...)`."""

from __future__ import annotations

_ON_THE_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE: from Python 3.12 on many classes of C are there, too
_IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE: which no class statement makes


def made_by_python(kind: type) -> bool:
    """Whether a class was made by Python code: its methods may be an author's, what its instances hold are
    their parts, and it takes attributes and can go. A class of C on the heap that may be changed looks alike.

    >>> class Circle: ...
    >>> made_by_python(Circle), made_by_python(type("Point", (tuple,), {})), made_by_python(float)
    (True, True, False)
    """
    return kind.__flags__ & (_ON_THE_HEAP | _IMMUTABLE) == _ON_THE_HEAP
