"""The forms of a derivative are looked for without doing the same thing twice."""

import sympy as sp

from rulelab.symbolic import forms


def test_no_form_is_simplified_twice(monkeypatch):
    """Many steps lead to the same form, and simplifying takes longer than all else."""
    given = []
    simplify = sp.simplify

    def counted(expr, **options):
        given.append(expr)
        return simplify(expr, **options)

    monkeypatch.setattr(sp, "simplify", counted)
    x, y = sp.symbols("x y")
    value = sp.exp(x) / (1 + sp.exp(x))
    found = forms.forms(sp.diff(value, x), {value: y})
    assert y * (1 - y) in [sp.factor(form) for form in found] or -y * (y - 1) in found
    assert given and len(given) == len(set(given))
