"""What Sphinx would do again for each page of the site, done once: a Sphinx extension.

Most pages, those of the statements and the proofs, stand in no table of contents. Beside all of these in a folder the
contents look alike: nothing there is the current page, and the links begin alike. And most words of a page stand on
many others: the search needs the stem of each once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from posixpath import dirname
from typing import Any

from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

__all__ = ["setup"]

BEFORE_THE_THEME = 400


class _English(SearchEnglish):
    """The search of English, which remembers stems."""

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        self.stem = functools.cache(super().stem)


def setup(app: Sphinx) -> dict[str, Any]:
    """The registration, as Sphinx calls it."""
    known: dict[tuple[str, tuple], str] = {}

    def remember(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
        contents: Callable[..., str] | None = context.get("toctree")
        if contents is None or any(page in pages for pages in app.env.toctree_includes.values()):
            return

        def once(**options: Any) -> str:
            key = dirname(page), tuple(sorted(options.items()))
            if key not in known:
                known[key] = contents(**options)
            return known[key]

        context["toctree"] = once

    app.connect("html-page-context", remember, priority=BEFORE_THE_THEME)
    app.add_search_language(_English)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
