"""A rule is taken apart in whichever form it was written, and where it cannot be, its line is named."""

from __future__ import annotations

import ast

import numpy as np
import pytest

import rulelab as rl
from rulelab.errors import ExportError
from rulelab.portability.anatomy import Text, forward_rule
from rulelab.portability.autograd_rules import autograd_export
from rulelab.portability.chainrules import chainrules_export
from rulelab.portability.gathering import gathered
from rulelab.portability.jax_rules import jax_export
from rulelab.portability.running import Ours, run_export
from rulelab.portability.torch_rules import torch_export
from rulelab.rules.registry import Registry

from . import forward_rules as corpus
from .installed import framework as needed
from .run_frameworks import FRAMEWORKS, literal_points


def times(x, y):
    return x * y


def unpacked(dots, x, y):
    _, x_dot, y_dot = dots
    return x * y, x_dot * y + x * y_dot


def numbered(dots, x, y):
    """Words before the first line."""
    return x * y, dots[1] * y + x * dots[-1]


def half_named(dots, x, y):
    x_dot = dots[1]
    product = x * y
    return product, x_dot * y + x * dots[2]


def with_names_taken(dots, x, x_dot):
    return x * x_dot, dots[1] * x_dot + x * dots[2]


def in_both_ways(dots, x, y):
    _, x_dot, _y = dots
    return x * y, x_dot * y + x * dots[2]


def by_a_computed_number(dots, x, y):
    i = 1
    return x * y, dots[i] * y + x * dots[i + 1]


def by_no_such_number(dots, x, y):
    return x * y, dots[1] * y + x * dots[3]


def of_the_function(dots, x, y):
    return x * y, dots[0] * y + x * dots[2]


def handed_on(dots, x, y):
    return x * y, np.dot(dots[1:], (y, x))


def gathered_with(rule):
    registry = Registry()
    rl.frule_for(times, registry=registry)(rule)
    return gathered(times, registry=registry)


@pytest.mark.parametrize("rule", [unpacked, numbered, half_named, with_names_taken])
def test_tangents_are_named_in_one_line_or_read_by_their_numbers(rule):
    """Each has a name of its own, and the text that was gathered stays as it is."""
    found = gathered_with(rule)
    parts = forward_rule(Text(found.rules[0]))
    assert len(set(parts.tangents)) == 2 and not set(parts.tangents) & set(parts.parameters.names)
    assert ("dots[" in found.rules[0].source) is (rule is not unpacked)
    space = {name: float(i) for i, name in enumerate([*parts.parameters.names, *parts.tangents], 2)}
    for statement in parts.before:
        exec(ast.unparse(statement), space)
    assert eval(ast.unparse(parts.value), space) == 2.0 * 3.0
    assert eval(ast.unparse(parts.tangent), space) == 4.0 * 3.0 + 2.0 * 5.0


@pytest.mark.parametrize(
    "rule", [in_both_ways, by_a_computed_number, by_no_such_number, of_the_function, handed_on]
)
def test_tangents_that_are_read_otherwise_are_refused(rule):
    """With a line of the rule, by each framework."""
    first = rule.__code__.co_firstlineno
    for export_to in (jax_export, autograd_export):
        with pytest.raises(ExportError, match="dots") as refused:
            export_to(gathered_with(rule))
        assert first <= refused.value.place.line <= first + 3


def test_a_forward_rule_of_another_form_is_left_out_beside_a_reverse_rule():
    """autograd has the reverse rule all the same, and is told what it has not."""

    def times_rrule(x, y):
        return x * y, lambda g: (rl.NoTangent(), g * y, g * x)

    registry = Registry()
    rl.rrule_for(times, registry=registry)(times_rrule)
    rl.frule_for(times, registry=registry)(handed_on)
    made = autograd_export(gathered(times, registry=registry))
    assert made.modes == ("rrule",) and made.native and "defjvp" not in made.text
    assert "the forward rule is left out: line" in made.remarks[0]
    rl.frule_for(times, registry=registry)(numbered)
    made = autograd_export(gathered(times, registry=registry))
    assert made.modes == ("rrule", "frule") and not made.remarks


# --- forward rules alone ------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("framework", ["autograd", pytest.param("jax", marks=pytest.mark.campaign)])
def test_a_forward_rule_alone_answers_there_what_it_does_here(framework, tmp_path):
    """Each form in which they are written: beside our rule and differences, in both precisions, and in JAX
    compiled and mapped, too.
    """
    needed(framework)
    export_to, entry = FRAMEWORKS[framework]
    ours = []
    for name, f in corpus.RULES.items():
        made = export_to(gathered(f, registry=corpus.REGISTRY))
        assert made.modes == ("frule",)
        (tmp_path / f"of_{name}.py").write_text(made.text)
        points = corpus.POINTS[name]
        ours.append(Ours(f, name, "frule", points, literal_points(points), corpus.REGISTRY))
    main = tmp_path / "all_of_them.py"
    main.write_text("".join(f"from of_{name} import {name}\n" for name in corpus.RULES))
    rows = run_export(main, ours, entry, seconds=7200)
    assert {row.name for row in rows} == set(corpus.RULES)
    assert [row for row in rows if row.verdict != "right"] == []


@pytest.mark.slow
def test_where_a_forward_rule_cannot_go_its_line_says_so():
    """PyTorch has none; Julia has them where it is known how many axes there are."""
    for name, f in corpus.RULES.items():
        rule = getattr(corpus, f"{name}_frule").__code__.co_firstlineno
        with pytest.raises(ExportError, match="has no reverse rule, as PyTorch's backward needs") as no:
            torch_export(gathered(f, registry=corpus.REGISTRY))
        assert no.value.place.line == rule
    found = gathered(corpus.product, registry=corpus.REGISTRY, values=list(corpus.POINTS["product"]))
    made = chainrules_export(found)
    assert made.modes == ("frule",) and "frule((_, a_dot, b_dot), ::typeof(product)" in made.text
