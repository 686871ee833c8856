"""The cotangents of operations on arrays, as NumPy expressions for a reader."""

from __future__ import annotations

import ast
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .statements import Step, Value, is_elementwise

# By operation: the cotangent of its argument x, from the cotangent g of its value y.
OF_ONE = {
    "negative": "-{g}",
    "float": "{g}",
    "exp": "{g} * {y}",
    "expm1": "{g} * ({y} + 1)",
    "log": "{g} / {x}",
    "log1p": "{g} / (1 + {x})",
    "sqrt": "{g} / (2 * {y})",
    "square": "2 * {g} * {x}",
    "sin": "{g} * {cos}({x})",
    "cos": "-{g} * {sin}({x})",
    "tan": "{g} * (1 + {y} ** 2)",
    "sinh": "{g} * {cosh}({x})",
    "cosh": "{g} * {sinh}({x})",
    "tanh": "{g} * (1 - {y} ** 2)",
    "arctan": "{g} / (1 + {x} ** 2)",
    "abs": "{g} * {sign}({x})",
    "absolute": "{g} * {sign}({x})",
    "reciprocal": "-{g} * {y} ** 2",
}
OF_TWO = {
    "add": ("{g}", "{g}"),
    "subtract": ("{g}", "-{g}"),
    "multiply": ("{g} * {b}", "{g} * {a}"),
    "divide": ("{g} / {b}", "-{g} * {y} / {b}"),
}
OF_PRODUCTS = {
    (1, 1): ("{g} * {b}", "{g} * {a}"),
    (2, 1): ("{outer}({g}, {b})", "{a}.T @ {g}"),
    (1, 2): ("{b} @ {g}", "{outer}({a}, {g})"),
    (2, 2): ("{g} @ {b}.T", "{a}.T @ {g}"),
}


@dataclass(frozen=True, eq=False)
class Part:
    """The contribution of one use to a cotangent, as text, with the shape of the cotangent. `spread`, if set,
    is a shorter text that only has this shape when added to another part. With `at` the contribution goes to
    a part of the array; with `add` the index may select an element twice.
    """

    text: str
    spread: str | None = None
    at: str | None = None
    add: bool = False


class Words:
    """The spelling of the functions in these texts in the namespace of the rule; `helper` is the name of a
    helper function, if the rule needs one.
    """

    def __init__(self, spelling: Any):
        self._spelling = spelling
        self.helper: str | None = None
        self.bound: Callable[[str], str] = str  # binds a text to a new name

    def __getitem__(self, name: str) -> str:
        """The spelling of `sum` or `linalg.solve` of NumPy."""
        first, *rest = name.split(".")
        return ".".join([ast.unparse(self._spelling.word("numpy", first)), *rest])

    def rulelab(self, name: str) -> str:
        return ast.unparse(self._spelling.word("rulelab", name))

    def summed(self, text: str, like: str) -> str:
        self.helper = self.helper or self._spelling.free_name("summed_to")
        return f"{self.helper}({text}, {like})"


def needs_ad_pullback(step: Step) -> bool:
    """Whether there is no expression here for the cotangents, so that the AD's pullback of this one call is
    used.
    """
    keywords, kinds = step.options.get("keywords", {}), len(step.operands)
    if step.kind in OF_ONE:
        return bool(keywords) or kinds != 1
    if step.kind in OF_TWO:
        return bool(keywords) or kinds != 2
    if step.kind == "power":
        return not (kinds == 2 and is_literal_power(step.operands[1]))
    if step.kind in ("matmul", "dot"):
        known = kinds == 2 and all(v.dims is not None for v in step.operands)
        return bool(keywords) or not known or tuple(v.rank for v in step.operands) not in OF_PRODUCTS
    if step.kind in ("sum", "mean"):
        over = over_axis(step)
        return kinds != 1 or over is None or (over[0] is not None and not step.operands[0].rank)
    if step.kind in ("item", "array"):
        return False
    if step.kind == "transpose":
        return bool(keywords) or kinds != 1
    if step.kind in ("cumsum", "inv"):
        rank = 1 if step.kind == "cumsum" else 2
        return bool(keywords) or kinds != 1 or step.operands[0].dims is None or step.operands[0].rank != rank
    if step.kind in ("cross", "diag"):
        return step.value.dims is None
    if step.kind == "solve":
        ranks = tuple(v.rank if v.dims is not None else None for v in step.operands)
        return bool(keywords) or ranks not in ((2, 1), (2, 2))
    if step.kind == "outer":
        return bool(keywords) or [v.dims is not None and v.rank for v in step.operands] != [1, 1]
    return True


def is_literal_power(value: Value) -> bool:
    try:
        number = ast.literal_eval(value.tree)
    except ValueError:
        return False
    return isinstance(number, numbers.Real) and not isinstance(number, bool) and number != 0


def over_axis(step: Step):
    """(axis or None, keepdims) of a reduction if these are literals, else None."""
    keywords = step.options.get("keywords", {})
    if not {*keywords} <= {"axis", "keepdims"}:
        return None
    if not all(isinstance(v.tree, (ast.Constant, ast.UnaryOp)) for v in keywords.values()):
        return None
    axis = keywords["axis"].sample if "axis" in keywords else None
    kept = bool(keywords["keepdims"].sample) if "keepdims" in keywords else False
    if isinstance(axis, bool) or not (axis is None or isinstance(axis, int)):
        return None
    return axis, kept


def cotangent_parts(step: Step, g: str, words: Words):
    """Yield (operand, Part) for each operand that carries a derivative."""
    y, operands = step.target, step.operands
    made = _part_for(step, g, y, words)
    for value, part in zip(operands, made, strict=True):
        if value.active:
            if isinstance(part, str):
                repeated = len(operands) == 2 and is_elementwise(step.kind)
                part = Part(_fitted(part, step.value, value, words) if repeated else part)
            yield value, part


def _part_for(step, g, y, words):
    texts = [_grouped(v.text) for v in step.operands]
    if step.kind in OF_ONE:
        form = OF_ONE[step.kind]
        needed = [name for name in ("cos", "sin", "cosh", "sinh", "sign") if f"{{{name}}}" in form]
        names = {name: words[name] for name in needed}
        return [form.format(g=g, x=texts[0], y=y, **names)]
    if step.kind in OF_TWO:
        return [part.format(g=g, a=texts[0], b=texts[1], y=y) for part in OF_TWO[step.kind]]
    if step.kind == "power":
        return [_of_power(g, texts[0], ast.literal_eval(step.operands[1].tree)), None]
    if step.kind in ("matmul", "dot"):
        pair = OF_PRODUCTS[tuple(v.rank for v in step.operands)]
        outer = words["outer"] if any("{outer}" in text for text in pair) else ""
        return [text.format(g=g, a=texts[0], b=texts[1], outer=outer) for text in pair]
    return _MAKERS[step.kind](step, g, y, texts, words)


def _grouped(text):
    simple = text.replace(".", "").replace("_", "").isalnum() or text.endswith(("]", ")"))
    return text if simple and not text.startswith("-") else f"({text})"


def _of_power(g, x, n):
    if n == 2:
        return f"2 * {g} * {x}"
    if n == 1:
        return g
    return f"{n} * {g} * {x} ** {n - 1}" if n > 0 else f"({n}) * {g} * {x} ** ({n - 1})"


def _of_sum(step, g, y, texts, words):
    axis, kept = over_axis(step)
    share = g
    if step.kind == "mean":
        count = f"{words['size']}({texts[0]})" if axis is None else f"{words['shape']}({texts[0]})[{axis}]"
        share = f"{g} / {count}"
    if axis is not None and not kept:
        share = f"{words['expand_dims']}({share}, {axis})"
    return [Part(f"{words['broadcast_to']}({share}, {words['shape']}({texts[0]}))", share)]


def _of_item(step, g, y, texts, words):
    index = step.options["index"]
    whole = ast.unparse(ast.Subscript(ast.Name("x", ast.Load()), index, ast.Load()))[2:-1]
    arrays = [np.asarray(p.sample) for p in step.options["parts"] if np.ndim(p.sample)]
    return [Part(g, at=whole, add=any(array.dtype.kind != "b" for array in arrays))]


def _of_array(step, g, y, texts, words):
    return [f"{g}[{i}]" for i in range(len(texts))]


def _of_transpose(step, g, y, texts, words):
    return [f"{words['transpose']}({g})"]


def _of_cumsum(step, g, y, texts, words):
    return [f"{words['cumsum']}({g}[::-1])[::-1]"]


def _of_inv(step, g, y, texts, words):
    return [f"-{y}.T @ {g} @ {y}.T"]


def _of_solve(step, g, y, texts, words):
    right = words.bound(f"{words['linalg.solve']}({texts[0]}.T, {g})")
    outer = f"-{words['outer']}({right}, {y})" if step.operands[1].rank == 1 else f"-{right} @ {y}.T"
    return [outer, right]


def _of_outer(step, g, y, texts, words):
    return [f"{g} @ {texts[1]}", f"{texts[0]} @ {g}"]


def _of_cross(step, g, y, texts, words):
    return [f"{words['cross']}({texts[1]}, {g})", f"{words['cross']}({g}, {texts[0]})"]


def _of_diag(step, g, y, texts, words):
    return [f"{words['diag']}({g})"]


_MAKERS = {
    "sum": _of_sum,
    "mean": _of_sum,
    "item": _of_item,
    "array": _of_array,
    "transpose": _of_transpose,
    "cumsum": _of_cumsum,
    "inv": _of_inv,
    "solve": _of_solve,
    "outer": _of_outer,
    "cross": _of_cross,
    "diag": _of_diag,
}


def _fitted(text, result, value, words):
    """The text, summed over the axes along which `value` was broadcast."""
    if result.dims is not None and value.dims is not None:
        extra = len(result.dims) - len(value.dims)
        if not value.dims:
            return text if not result.dims else f"{words['sum']}({text})"
        pairs = enumerate(zip(result.dims[extra:], value.dims, strict=True))
        over = tuple(i for i, (token, own) in pairs if own == 1 and token != 1)
        if extra:
            text = f"{words['sum']}({text}, axis={0 if extra == 1 else tuple(range(extra))})"
        if over:
            text = f"{words['sum']}({text}, axis={over[0] if len(over) == 1 else over}, keepdims=True)"
        return text
    if value.is_number:
        return f"{words['sum']}({text})"
    return words.summed(text, value.text)
