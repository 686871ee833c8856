"""The constants of compiled code, wherever a Python version stores them."""

from __future__ import annotations

import dis
import types
from typing import Any

# From Python 3.14 on, the integers from 0 to 255 are in the instructions, not among the constants.
_IN_PLACE = dis.opmap.get("LOAD_SMALL_INT")
LOADING = ("LOAD_CONST", "LOAD_SMALL_INT")


def constants_in(code: types.CodeType) -> tuple[Any, ...]:
    """The constants of some code; code objects of inner functions are among them.

    >>> 3 in constants_in((lambda x: x * 3).__code__)
    True
    """
    if _IN_PLACE is None:
        return code.co_consts
    steps = dis.get_instructions(code)
    return (*code.co_consts, *(step.argval for step in steps if step.opcode == _IN_PLACE))


def with_integer(code: types.CodeType, value: int, other: int) -> types.CodeType:
    """The code with the integer `value` replaced by `other` wherever it occurs.

    >>> three = lambda x: x * 3
    >>> types.FunctionType(with_integer(three.__code__, 3, 1000), {})(2)
    2000
    """
    constants = tuple(other if type(c) is int and c == value else c for c in code.co_consts)
    if _IN_PLACE is None or not 0 <= value < 256:
        return code.replace(co_consts=constants)
    steps = bytearray(code.co_code)
    for step in dis.get_instructions(code):
        if step.opcode == _IN_PLACE and step.argval == value:
            steps[step.offset : step.offset + 2] = bytes((dis.opmap["LOAD_CONST"], len(constants)))
    return code.replace(co_code=bytes(steps), co_consts=(*constants, other))
