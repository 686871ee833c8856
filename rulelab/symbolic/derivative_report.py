"""The result of `sym_check`: the verdict, the formulas, and the numbers at one point."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from ..tables import Page, Table, name_latex
from ..verdicts import said
from .report import SymbolicReport

MOST_ROWS = 12


@dataclass(frozen=True)
class AtPoint:
    """One number of the gradient at one point: exact, and as the AD or the formula gives it there.

    Attributes
    ----------
    name : str
        Which number of the gradient it is.
    exact : str
        The exact number as a decimal, or a dash if the expression could not be followed.
    found : float or None
        What the AD or the formula gives; None if it has the wrong shape.
    digits : int or None
        The number of matching digits, at most 16.
    """

    name: str
    exact: str
    found: float | None
    digits: int | None


@dataclass(frozen=True, repr=False)
class DerivativeReport(SymbolicReport):
    """The verdict on the gradient of an expression, or on a formula for it.

    Attributes
    ----------
    formula : str
        The author's formula for the derivative; empty if the gradient is that of the AD.
    point : dict
        Names to exact numbers as text.
    numbers : tuple of AtPoint
        The numbers of the gradient at that point.
    function, names, verdict, cells, notes, seconds, warnings
        As in `SymbolicReport`; `function` is the expression, and in the formulas of `cells` `rule` is
        what was judged.
    """

    formula: str = ""
    point: dict[str, Any] = dataclasses.field(default_factory=dict)
    numbers: tuple[AtPoint, ...] = ()

    @property
    def by(self):
        """The source of the derivative that is judged: "the AD" or "the formula"."""
        return "the formula" if self.formula else "the AD"

    @property
    def lead(self):
        return f"{self.formula} as the derivative of " if self.formula else "gradient of "

    @property
    def columns(self):  # type: ignore[override]
        return ("argument", "derivative", f"{self.by} gives", "difference")

    html_columns = columns

    def row_lines(self, row):
        width = max(len("derivative by SymPy"), len(f"{self.by} gives"))
        indent = " " * len(row.name)
        yield f"    {row.name}: {'derivative by SymPy':{width}}  {row.derivative.text}"
        yield f"    {indent}  {self.by + ' gives':{width}}  {row.rule.text}"
        yield f"    {indent}  {'difference':{width}}  {row.difference.text}"

    def number_lines(self):
        for table in self._tables_of_numbers():
            yield from table.text().splitlines()

    def _tables_of_numbers(self):
        if not self.numbers:
            return
        shown = list(self.numbers)
        if len(shown) > MOST_ROWS:
            shown = sorted(shown, key=lambda n: -1 if n.digits is None else n.digits)[: MOST_ROWS - 1]
        rows = [(n.name, n.exact, _decimal(n.found), _counted(n.digits)) for n in shown]
        if rest := len(self.numbers) - len(shown):
            known = shown[-1].digits is not None
            rows.append((f"{rest} more", "", "", f"{shown[-1].digits} or more" if known else "–"))
        at = ", ".join(f"{name} = {value}" for name, value in self.point.items())
        caption = f"at {at}" if len(at) <= 100 else "at the arguments given"
        columns = ("argument", "derivative", f"{self.by} gives", "matching digits")
        yield Table(caption, columns, tuple(rows))

    def shows_seed(self, example):
        return example.y_bar != "1"

    def page(self):
        page = super().page()
        formulas = tuple(table for table in page.tables if table.rows)
        return dataclasses.replace(page, tables=(*formulas, *self._tables_of_numbers()))

    def to_latex(self):
        numbers = Page((), tuple(self._tables_of_numbers())).latex()
        return "\n\n".join(part for part in (super().to_latex(), numbers) if part)

    def head_latex(self):
        return rf"&\text{{{said(self.verdict.word)}}}"

    def row_latex(self, row):
        return (
            rf"\frac{{\partial}}{{\partial {name_latex(row.name)}}} &= {row.derivative.latex} &"
            rf" \text{{{self.by} gives}} &\; {row.rule.latex} & \Delta &= {row.difference.latex}"
        )

    def _repr_html_(self):
        numbers = tuple(self._tables_of_numbers())
        shown = dataclasses.replace(self, cells=tuple(cell for cell in self.cells if cell.arguments))
        return super(DerivativeReport, shown)._repr_html_() + (Page((), numbers).html() if numbers else "")

    def to_dict(self):
        return {
            **super().to_dict(),
            "formula": self.formula,
            "point": dict(self.point),
            "numbers": [dataclasses.asdict(number) for number in self.numbers],
        }


def _decimal(found):
    return "–" if found is None else repr(found)


def _counted(digits):
    return "–" if digits is None else str(digits)
