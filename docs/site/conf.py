"""Sphinx: pages of Markdown, formulas as MathML, nothing that a browser would fetch from elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

sys.path.insert(0, str(Path(__file__).parent))  # scripts
from words import joined

project = "Assayer"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Assayer"
html_theme_options = {"source_repository": "", "sidebar_hide_name": False}
html_copy_source = False
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["assayer.css"]
html_math_renderer = "mathml"
myst_heading_anchors = 4
myst_fence_as_directive = ["math"]
nitpicky = True
smartquotes = False  # formulas hold quotes that mean something
# Blocks of JSON and TOML with `...` in them are not whole, and are shown as they are.
suppress_warnings = ["misc.highlighting_failure"]


def _visit(display: str) -> Any:
    def visit(writer: Any, node: Any) -> None:
        """Write a formula as MathML, which browsers draw by themselves."""
        from docutils.nodes import SkipNode

        formula = convert(node.astext(), display=display)
        writer.body.append(f'<div class="formula">{formula}</div>' if display == "block" else formula)
        raise SkipNode

    return visit


def _join_lines(app: Any, tree: Any) -> None:
    """Join the lines of a text in Japanese, where a browser would draw a space for a line's end."""
    from docutils import nodes

    for parent in {id(text.parent): text.parent for text in tree.findall(nodes.Text)}.values():
        # Behind bold words an empty text stands; every node is true.
        parts = [part for part in parent if not isinstance(part, nodes.Text) or part.astext()]
        for place in reversed(range(1, len(parts) - 1)):
            ends = f"{parts[place - 1].astext()[-1:]}\n{parts[place + 1].astext()[:1]}"
            if isinstance(parts[place], nodes.Text) and parts[place] == "\n" and joined(ends) != ends:
                del parts[place]
        parent[:] = parts


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("doctree-read", _join_lines)
    app.add_html_math_renderer("mathml", (_visit("inline"), None), (_visit("block"), None))
