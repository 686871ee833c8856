"""Rules written as texts, so that a diagnosis can show lines and correct them."""

import itertools
import linecache

import numpy as np

import rulelab as rl
from rulelab.checking.testing.testers import rule_check
from rulelab.rules.registry import Registry

numbers = itertools.count()


def written(text, seen=True):
    """The namespace that a text makes, its rules in a `registry` of its own; with its source, if `seen`."""
    filename = f"<doctor {next(numbers)}>"
    if seen:
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    made = {"np": np, "rl": rl, "registry": Registry(), "__name__": "written"}
    exec(compile(text, filename, "exec"), made)
    return made


def judged(text, *args, name="f", **options):
    made = written(text)
    return rule_check(made[name], *args, registry=made["registry"], **options)


def rule(f, pullback, parameters="x"):
    """A text: a function of one expression, and a rule whose pullback has this one."""
    return (
        f"def f({parameters}):\n    return {f}\n"
        f"@rl.rrule_for(f, registry=registry)\ndef f_rrule({parameters}):\n    y = {f}\n"
        f"    def f_pullback(y_bar):\n        return rl.NoTangent(), {pullback}\n    return y, f_pullback\n"
    )


def corrected(text, diff):
    """A text with the lines of a diff without context exchanged."""
    lines, number = text.splitlines(), 0
    for line in diff.splitlines():
        if line.startswith("@@"):
            start, *count = line.split()[2].strip("+").split(",")
            number = int(start) - (count != ["0"])  # of no lines, the line before is named
        elif line.startswith("-") and not line.startswith("---"):
            assert lines[number] == line[1:]
            del lines[number]
        elif line.startswith("+") and not line.startswith("+++"):
            lines.insert(number, line[1:])
            number += 1
    return "\n".join(lines) + "\n"
