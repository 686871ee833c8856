"""The controls of panels, and their appearance.

JupyterLab keeps a few kilobytes for every model ever opened, closed or not, until its kernel ends. Widgets of
a panel that look alike therefore share the models of their layout and style.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import ipywidgets as W

from ..verdicts import SIGNS
from . import copying

_STYLE = """\
<style>
.rulelab-panel { border: 1px solid var(--jp-border-color2, #bdbdbd); border-radius: 4px; padding: 8px 12px;
  color: var(--jp-content-font-color1, inherit); }
.rulelab-panel .widget-html { height: auto; }
.rulelab-panel .widget-html-content { line-height: 1.45;
  font-size: var(--jp-content-font-size1, 14px); color: var(--jp-content-font-color1, inherit); }
.rulelab-panel .rulelab-title { font-size: 1.15em; font-weight: 600; margin: 0 0 0.2em; }
.rulelab-panel .rulelab-words { margin: 0.3em 0; }
.rulelab-panel .widget-html-content { width: 100%%;
  min-width: 0; }
.rulelab-panel .rulelab-verdicts { display: flex; flex-wrap: wrap; gap: 0.2em 1.4em; margin: 0.3em 0;
  padding: 0.35em 0.6em; border-left: 4px solid #9e9e9e; }
.rulelab-panel .rulelab-verdicts span { overflow-wrap: anywhere; }
.rulelab-panel .rulelab-status { min-height: 1.5em; white-space: pre-line; overflow-wrap: anywhere;
  padding-left: 0.9em; margin: 0.2em 0; }
.rulelab-panel .rulelab-wide { overflow-x: auto; max-width: 100%%; container-type: inline-size; }
.rulelab-panel .rulelab-failed { border-left: 4px solid #5f6368; padding-left: 0.6em; white-space: pre-line;
  overflow-wrap: anywhere; margin: 0.3em 0; }
.rulelab-panel .rulelab-cell { margin: 0.6em 0 0; overflow-wrap: anywhere; }
.rulelab-panel .rulelab-cell code { user-select: all; background: transparent; padding: 0;
  color: var(--jp-content-font-color1, inherit); font-family: var(--jp-code-font-family, monospace); }
.rulelab-panel .jupyter-button:disabled { opacity: 0.55; }
.rulelab-panel .widget-tab > .lm-TabBar, .rulelab-panel .widget-tab > .lm-TabBar > .lm-TabBar-content {
  overflow: visible; }
.rulelab-panel .widget-tab > .lm-TabBar > .lm-TabBar-content { flex-wrap: wrap; height: auto; }
.rulelab-panel .widget-tab > .lm-TabBar .lm-TabBar-tab { flex: 0 1 auto; min-width: 5.5em; max-width: none; }
.rulelab-panel .widget-tab > .lm-TabBar .lm-TabBar-tabLabel { overflow: visible; }
.rulelab-panel .widget-tab > .lm-TabBar .lm-TabBar-tab { color: var(--jp-ui-font-color1, inherit); }
.rulelab-panel .widget-tab-contents { min-width: 0; overflow: visible; }
.rulelab-panel { container-type: inline-size; }
@media (max-width: 600px) { .rulelab-panel { padding: 6px 4px; } }
@container (max-width: 46em) {
  .rulelab-panel .jupyter-widgets.widget-tab > .widget-tab-contents { padding: 8px 4px; }
}
@container (max-width: 34em) {
  .rulelab-panel .widget-checkbox, .rulelab-panel .widget-checkbox label { height: auto; white-space: normal;
    line-height: 1.4; }
  .rulelab-panel .widget-text { flex-wrap: wrap; height: auto; }
  .rulelab-panel .widget-text > .widget-label { flex-basis: 100%%; text-align: left; }
}
.rulelab-panel .rulelab-row { flex-wrap: wrap; gap: 4px 14px; align-items: center; overflow: visible;
  margin: 4px 0; padding: 0 3px; }
.rulelab-panel .rulelab-row > .widget-inline-hbox, .rulelab-panel .rulelab-row > .widget-button { margin: 0; }
.rulelab-panel .widget-label { color: var(--jp-content-font-color1, inherit); }
.rulelab-panel .jupyter-button:focus-visible, .rulelab-panel input:focus-visible {
  outline: 2px solid var(--jp-brand-color1, #1565c0); outline-offset: 1px; }
%s
%s
</style>"""
_TAB = ".rulelab-panel .rulelab-tab-{at}-{word} > .lm-TabBar .lm-TabBar-tab:nth-child({nth})"
MARKED_TABS = 12
"""The number of tabs that can have the colour of their verdict; further ones show it only by the symbol."""


def style() -> str:
    """The panel's style, once for all its pages, with a line for each verdict that a tab may have."""
    lines = (
        _TAB.format(at=at, word=slug(sign.word), nth=at + 1)
        + f" {{ box-shadow: inset 0 -4px 0 {sign.colour}; }}"
        for at in range(MARKED_TABS)
        for sign in SIGNS.values()
    )
    return _STYLE % (copying.STYLE, "\n".join(lines))


def slug(word: str) -> str:
    return word.replace(" ", "-")


BUTTON = {"width": "auto", "min_width": "6em"}
"""The layout of a button."""
BUTTON_ALONE = {**BUTTON, "align_self": "flex-start", "margin": "4px 3px"}
"""The layout of a button that has a row of a column to itself."""


class Kit:
    """The widgets of one panel, which share the models of their appearance; `close()` removes them all."""

    def __init__(self) -> None:
        self._looks: dict[tuple, W.Widget] = {}
        self._own: list[W.Layout] = []

    def made(self, kind: type[W.Widget], **given: Any) -> Any:
        """A widget that shares its layout and style with others made with the same dicts."""
        for part in ("layout", "style"):
            trait = kind.class_traits().get(part)
            if trait is not None and not isinstance(given.get(part), W.Widget):
                given[part] = self._look(trait.klass, given.get(part, {}))
        return kind(**given)

    def _look(self, kind: type[W.Widget], properties: dict[str, str]) -> W.Widget:
        key = (kind, *sorted(properties.items()))
        if key not in self._looks:
            self._looks[key] = kind(**properties)
        return self._looks[key]

    def own_layout(self, **properties: str) -> W.Layout:
        """A layout for a single widget, which may be changed."""
        self._own.append(W.Layout(**properties))
        return self._own[-1]

    def html(self, value: str = "") -> W.HTML:
        """A place for HTML."""
        return self.made(W.HTML, value=value)

    def words(self, text: str) -> W.HTML:
        """A paragraph of fixed text."""
        return self.html(f'<p class="rulelab-words">{escape(text)}</p>')

    def column(self, *children: W.Widget) -> W.Box:
        """Widgets below each other."""
        return self.made(W.VBox, children=children)

    def row(self, *children: W.Widget) -> W.Box:
        """Controls beside each other, if there is room."""
        row = self.made(W.HBox, children=children)
        row.add_class("rulelab-row")
        return row

    def button(self, words: str, explained: str, pressed: Callable[..., None], **given: Any) -> W.Button:
        """A button with a tooltip."""
        given = {"description": words, "tooltip": explained, "layout": BUTTON, **given}
        button = self.made(W.Button, **given)
        button.on_click(pressed)
        return button

    def progress(self) -> W.IntProgress:
        """How far a run is, in percent."""
        return self.made(
            W.IntProgress,
            max=100,
            description="Progress:",
            style={"description_width": "initial"},
            layout={"width": "16em"},
        )

    def number(self, name: str, value: int, least: int, most: int) -> W.BoundedIntText:
        """A box for an integer, as wide as the longest."""
        width = f"{len(name) * 0.55 + max(6.0, len(str(most)) * 0.6 + 3.5):.0f}em"
        return self.made(
            W.BoundedIntText,
            value=value,
            min=least,
            max=most,
            description=name,
            style={"description_width": "initial"},
            layout={"width": width},
        )

    def close(self, root: W.Widget) -> None:
        """Close the panel's outermost widget, all within it, and the shared models: models left open are kept
        for ever.
        """
        _close(root)
        for look in (*self._looks.values(), *self._own):
            _close(look)
        self._looks.clear()
        self._own.clear()


def _close(widget: W.Widget) -> None:
    """Close a widget and all within it.

    JupyterLab keeps the state of a closed model from before its last change, so a page is emptied twice.
    """
    for child in getattr(widget, "children", ()):
        _close(child)
    widget.unobserve_all()
    if isinstance(widget, W.HTML):
        widget.value = ""
        widget.send_state("value")
    widget.close()
