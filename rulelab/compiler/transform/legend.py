"""What the helpers named in emitted code do, one line each, for its reader."""

from __future__ import annotations

import re

# A pattern of the names, and what they mean; a line is shown where one of them occurs in the text.
_MEANINGS = (
    (
        r"_at(?:_\d+)?\(",
        "mul_at(x, y)(x, y): the rule or pass that `mul` has here, and its call: the value and the "
        "pullback, mul_back",
    ),
    (r"_rule(?:_\d+)?\(", "mul_rule(x, y): the same by a rule that certainly applies"),
    (r"\bcall_\w+\(", "call_g(g, x): g(x), whose derivative is not needed, after a check of g"),
    (
        r"\b(?:outside|handed|decided)(?:_\d+)?\(",
        "outside, handed, decided: checks of values that may run code which cannot be followed",
    ),
    (
        r"\bpull(?:_both|_second)?\(",
        "pull(mul_back, y_bar, x_bar): x_bar and, unless y_bar is zero, what flows back to the operand",
    ),
    (
        r"\bunless_zero\(",
        "unless_zero(g_back, y_bar): g_back, or a function that returns zeros if y_bar is zero",
    ),
    (
        r"\b(?:both|(?:callee|first|second|third)\w*)\(unless_zero",
        "first, both, callee_and_first, …: cotangents of the callee and operands, from what g_back gives",
    ),
    (
        r"_(?:bars?|transposed|share)(?:_\d+)?\(",
        "sum_bar(y_bar, x_shape), solve_bars, mean_share, …: the cotangents of the arguments of `sum`",
    ),
    (r"\bunbroadcast\(", "unbroadcast(y_bar * b, x): summed to the shape of x, where x was repeated"),
    (r"\bout=", "np.exp(t, out=t), np_add(t, b, out=t): in the memory of t, which is no longer needed"),
    (r"_over\(", "add_over(t, b): t + b, in the memory of t if that has room"),
    (
        r"_(?:onto|off)\(",
        "max_bar_onto(x_bar, …), max_bar_off: x_bar plus or minus max_bar(…), in the memory of x_bar",
    ),
    (r"_partials(?:_\d+)?\(", "sin_partials(y, x): the partial derivatives of `sin`"),
    (r"\b(?:add|twice)\(", "add, twice: sums of cotangents"),
    (r"\b(?:real|value)\(", "real, value: a cotangent as a real number; computed, if it was delayed"),
    (r"\b(?:ZERO|NO)\b", "ZERO: nothing flowed back; NO: nothing can"),
    (r"\btape", "tape: what each iteration of a loop keeps for the reverse sweep"),
    (
        r"\b(?:buffer(?:_and_view)?|add_slice)\(",
        "buffer, add_slice: where cotangents of an array's elements are summed",
    ),
    (
        r"\b(?:publish(?:ed)?|collect|outline_of|hand_in|put_items?|put_each|pop_item|drop_item|settle|part|gather)\(",
        "published, collect, hand_in, part, …: the cotangents of containers and of what is in them",
    ),
    (
        r"_bars = \[",
        "items_bars: the cotangents of the items of a list that changes, undone change by change",
    ),
    (
        r"\bbar_of_item\(",
        "bars_of_numbers, bar_of_item: the cotangents of a list, and of an item, that an array was made of",
    ),
    (r"\b(?:effectful|handing_on)\(", "effectful, handing_on: a pullback to be called even with a zero"),
    (r"\bmake_\w+\(", "make_g(…): the nested function g, made from what it captures and its defaults"),
)


def legend(text: str, arguments: str) -> list[str]:
    """The comments at the head of emitted code: what it is, for which arguments, and what its helpers do."""
    name = text[len("def ") : text.index("(")]
    found = [meaning for pattern, meaning in _MEANINGS if re.search(pattern, text)]
    return [f"# {name}({arguments}): the value, and its pullback", *(f"#   {line}" for line in found)]
