"""Files of Coq that somebody else has written: which sentences they may have, before Coq reads any of them.

Coq's language has commands that write files, load programs and switch checks off. A file that `lemmata coq --check`
accepts has none of these: it imports the theory, defines terms, and proves lemmas by computing or by giving a term.
What its names mean does not matter (`lemmata.certificates.coq.claims`).
"""

from __future__ import annotations

import re

__all__ = ["sentences"]

LARGEST = 64 * 2**20
"""Bytes of a file."""

NAME = r"[A-Za-z_][A-Za-z0-9_]*"
TERM = r"[A-Za-z0-9_ ()\[\]{};:,|#%/\\*<>=&+~@'-]*"
ALLOWED = (
    r"From Coq Require Import(?: (?:Reals|ZArith|QArith|List|Bool))+",
    r"From Lemmata Require Import(?: (?:Statement|Checker|Sound|Unseen|Symmetry|Below|Value))+",
    r"Import ListNotations",
    r"Local Open Scope (?:nat|Z|Q|R|bool)_scope",
    rf"(?:Definition|Lemma|Theorem) {NAME}(?: {TERM})?",
    r"Proof",
    rf"(?:exact|vm_cast_no_check) \({TERM}\)",
    r"Qed",
    rf"Check {NAME}",
    rf"Print Assumptions {NAME}",
)
"""A sentence is one of these. A term has neither dots nor quotation marks, and runs no tactics."""
TACTICS = re.compile(r"\bltac")


def sentences(data: bytes) -> list[str]:
    """The sentences of a file without their dots, blanks of any kind made one, comments left out.

    Raises:
        ValueError: for a file that has other sentences than those of `ALLOWED`, and one that is no text in ASCII.
    """
    if len(data) > LARGEST:
        raise ValueError(f"A file of at most {LARGEST} bytes is read; this one has {len(data)}.")
    try:
        text = data.decode("ascii")
    except UnicodeDecodeError as error:
        raise ValueError("The file has characters beyond ASCII.") from error
    if '"' in text or "\0" in text:
        raise ValueError("The file has quotation marks, which no certificate needs.")
    found = [" ".join(one.split()) for one in re.split(r"\.(?=\s|$)", _without_comments(text))]
    if found.pop():
        raise ValueError("The last sentence of the file does not end with a dot.")
    for one in found:
        if not any(re.fullmatch(form, one) for form in ALLOWED) or TACTICS.search(one):
            raise ValueError(f"The file of a certificate has no sentence such as: {one[:120]}.")
    return found


def _without_comments(text: str) -> str:
    """Comments, which may lie in one another, become blanks.

    Raises:
        ValueError: where one is not closed.
    """
    kept, depth, last = [], 0, 0
    for mark in re.finditer(r"\(\*|\*\)", text):
        if mark[0] == "(*":
            if depth == 0:
                kept.append(text[last : mark.start()])
            depth += 1
        elif depth:
            depth -= 1
            last = mark.end()
    if depth:
        raise ValueError("A comment in the file is not closed.")
    return " ".join([*kept, text[last:]])
