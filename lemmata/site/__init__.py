"""The documentation as a static site, built from the repository: `make site`, or ``python -m lemmata.site FOLDER``.

Everything that the site says of a statement is read from the ledger, the tests and the proofs when it is built; the
only texts written by hand are those in `pages/`. Sphinx makes the HTML (the extra `site`). Formulas are MathML, and no
page asks the network for a script, a style or a font, so that the folder can be read offline or put on any server.
"""
