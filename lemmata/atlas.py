"""The atlas of certified margins: its rows, and their certificates, as they are committed.

rows           atlas_rows: all, or those of a section; atlas_row: by any name, groups up to isomorphism
certificates   atlas_document: the bytes that `lemmata check` reads, once their SHA-256 is that of the row
everything     committed_atlas: the whole table, and how it was made
"""
# ruff: noqa: F401 - the imports are the list of what is public here

from lemmata._rooms import exported as _exported
from lemmata.certificates.atlas.committed import atlas_document, atlas_rows, committed_atlas
from lemmata.certificates.atlas.lookup import atlas_row

__all__ = _exported(globals())  # pyright: ignore[reportUnsupportedDunderAll]
