"""What rulelab says of a rule of the corpus: of numbers, given nothing, and of a proof, given nothing."""

from __future__ import annotations

import time
import warnings
from typing import NamedTuple

import numpy as np
from rule_corpus import truth

import rulelab as rl
from rulelab.errors import RuleLabError
from rulelab.symbolic import prove


class Said(NamedTuple):
    """The verdict by numbers, and by proof, each with what was said."""

    numbers: str  # right, wrong, inconclusive, not judged; or "crashed"
    sentence: str
    proof: str
    proof_sentence: str
    seconds: tuple[float, float]
    given: str = ""  # the verdict at arguments that were given, where those that were found say nothing


def said_of(rule, path):
    module = truth.load(rule, path)
    function = getattr(module, rule.function)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        start = time.process_time()
        if rule.through == "autograd":
            numbers, sentence = _judged(rule, module, function)
            return Said(numbers, sentence, "none", "", (time.process_time() - start, 0.0))
        numbers, sentence = _checked(function, ())
        middle = time.process_time()
        proof, proof_sentence = _proved(function)
        end = time.process_time()
        is_open = numbers in ("not judged", "inconclusive")
        given = _checked(function, arguments(rule, module))[0] if is_open else ""
        return Said(numbers, sentence, proof, proof_sentence, (middle - start, end - middle), given)


def arguments(rule, module):
    """Arguments that the author of `rule` means, as a user would give them."""
    names = vars(module) | truth.Draws(np.random.default_rng(7)).names() | {"n": 3}
    where = [w for w in rule.where.split("|") if "vec" in w or "mat" in w] or rule.where.split("|")
    return eval(f"({where[0]},)", names)


def _checked(function, args):
    try:
        report = rl.rule_check(function, *args)
        return report.verdict, report.sentence
    except RuleLabError as error:
        return "not judged", str(error).splitlines()[0]
    except Exception as error:
        return "crashed", repr(error)


def _proved(function):
    try:
        verdict = prove(function).verdict
        return verdict.word, verdict.sentence()
    except RuleLabError as error:
        return "not judged", str(error).splitlines()[0]
    except Exception as error:
        return "crashed", repr(error)


def _judged(rule, module, function):
    from rulelab.portability import judge_autograd

    try:
        report = judge_autograd(function, *arguments(rule, module))
        return report.verdict, report.sentence
    except RuleLabError as error:
        return "not judged", str(error).splitlines()[0]
    except Exception as error:
        return "crashed", repr(error)
