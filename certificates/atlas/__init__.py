"""The atlas: a table of certified margins, each row with a document that a stranger can check.

`catalogue` says which rows there must be, `documents` computes and recognises the document of each, `build` makes the
table, and `committed` reads the table and the documents that come with this toolkit, with the standard library alone.
"""
