"""Formulas of the site as MathML: a Sphinx extension of one renderer, so that no page needs a script."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from lemmata.site.mathml import formula_html

__all__ = ["setup"]


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(formula_html(node.astext(), inline=True))
    raise nodes.SkipNode


def _display(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="display">{formula_html(node.astext(), inline=False)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """The registration of the renderer ``mathml``, as Sphinx calls it."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
