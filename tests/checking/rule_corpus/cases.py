"""What a case of the corpus is: a function with its right rule, as somebody would write it, and mistakes.

Each mistake is a piece of the rule's text that is replaced by another, so that a wrong rule has lines, names
and the looks of a right one. `where` says for which arguments the author means the function: the truth about
a rule is asked there, and there only (`truth.py`).
"""

from __future__ import annotations

import re
from typing import NamedTuple

HEADER = "import dataclasses\nimport math\nimport typing\n\nimport numpy as np\n\nimport rulelab as rl\n"


class Rule(NamedTuple):
    """One rule of the corpus, as the text of a module that defines the function `function` and its rule."""

    name: str
    kind: str
    function: str
    text: str
    where: str
    meant_right: bool
    through: str = "rule"  # or "autograd": HIPS autograd's primitive, through its judge


def case(where, text, *mistakes, kind="array", through="rule", right=True):
    """The right rule of `text` and a wrong one for each mistake (kind, piece, what stands there instead)."""
    text = text.strip("\n") + "\n"
    function = re.search(r"^(?:def|class) (\w+)", text, re.MULTILINE)[1]
    if "# judged: " in text:
        function = re.search(r"# judged: ([\w.]+)", text)[1]
    rules = [Rule(function, kind, function, HEADER + text, where, True, through)] if right else []
    for number, (mistake, piece, instead) in enumerate(mistakes):
        if text.count(piece) != 1:
            raise ValueError(f"{function}: {piece!r} stands {text.count(piece)} times in the text")
        name = f"{function}, {number}: {mistake}"
        rules.append(
            Rule(name, mistake, function, HEADER + text.replace(piece, instead), where, False, through)
        )
    return rules


DOMAINS = {
    "real": "num() | vec(n) | mat(n, 2)",
    "positive": "pnum() | pvec(n) | pmat(n, 2)",
    "unit": "unum() | uvec(n)",
    "between": "snum() | svec(n)",
    "number": "num()",
    "positive number": "pnum()",
    "unit number": "unum()",
    "complex": "cnum() | cvec(n)",
}


def elementwise(name, value, slope, domain="real", *mistakes, kind="scalar", header=""):
    """A function y of x, elementwise, whose pullback is `y_bar` times the `slope`.

    A mistake is another slope, or with `y_bar` in it another answer.
    """

    x, declared = ("z", "z: complex") if domain == "complex" else ("x", "x")

    def rule(answer):
        answer = answer if "y_bar" in answer else f"y_bar * ({answer})"
        return (
            f"{header}\n\ndef {name}({declared}):\n    return {value}\n\n\n"
            f"@rl.rrule_for({name})\ndef {name}_rrule({x}):\n    y = {name}({x})\n\n"
            f"    def {name}_pullback(y_bar):\n        return rl.NoTangent(), {answer}\n\n"
            f"    return y, {name}_pullback\n"
        )

    where = DOMAINS.get(domain, domain)
    rules = [Rule(name, kind, name, HEADER + rule(slope), where, True)]
    for number, (mistake, answer) in enumerate(mistakes):
        rules.append(Rule(f"{name}, {number}: {mistake}", mistake, name, HEADER + rule(answer), where, False))
    return rules
