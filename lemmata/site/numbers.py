"""The scripts of the page of the search, which knows the statements by their numbers: a Sphinx extension."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

__all__ = ["setup"]


def setup(app: Sphinx) -> dict[str, Any]:
    """The registration, as Sphinx calls it."""

    def add(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
        if page == "search":
            for name in ("statements.js", "numbers.js"):
                app.add_js_file(name)

    app.connect("html-page-context", add)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
