"""What fails of a statement that is repaired or refuted, after both sides were heard.

Every such entry of a ledger says in `fails` what it is that fails, one of `FAILS`; in `sought` what was looked for that
would save it (a hypothesis printed elsewhere, a choice that the statement leaves free, a hidden factor); in `defence`
the best case of the author, and in `attack` what remains against it. To call a statement false is to say that no
choice left free by it and no hypothesis printed anywhere saves it: only entries that fail as a claim use the word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

__all__ = ["FAILS", "TRIAL", "trial_errors"]

FAILS = {
    "claim": "the claim: it is violated under all printed hypotheses, and no choice that it leaves free saves it",
    "construction": "the construction: the printed weights, sizes or schedule; that such ones exist stands, or is open",
    "proof": "the proof: what is shown to fail is its argument or its schedule, not the statement",
    "hypothesis": "a hypothesis: one is needed and printed nowhere",
    "constant": "a constant: right up to a factor that the statement hides, or but for the edge",
    "text": "the text: a slip, a sign, an index or a damaged line; what is meant is clear",
}
"""What can fail, the heaviest first, each with its meaning."""

TRIAL = ("fails", "sought", "defence", "attack")
"""The keys of an entry that hold its trial."""

_FALSE = re.compile(r"\b(?:false|untrue|disproved?)\b", re.IGNORECASE)


def trial_errors(label: str, entry: Mapping[str, Any]) -> list[str]:
    """A sentence for each thing that the trial of one entry of a ledger lacks."""
    judged = entry["verdict"] in ("repaired", "refuted")
    fails = entry.get("fails")
    if not judged:
        return [
            f"{label}: {key} belongs to repaired and refuted statements, and this one is {entry['verdict']!r}."
            for key in TRIAL
            if key in entry
        ]
    errors = [
        f"{label}: {key!r} is missing: it says what a trial of the erratum found." for key in TRIAL if key not in entry
    ]
    if fails is not None and fails not in FAILS:
        errors.append(f"{label}: unknown fails {fails!r}; what fails is one of {', '.join(FAILS)}.")
    if fails in FAILS and fails != "claim" and (said := _FALSE.search(entry.get("erratum", ""))):
        errors.append(f"{label}: the erratum says {said[0]!r}, but what fails is no claim: say what does not hold.")
    if fails is not None and entry["verdict"] == "refuted" and fails != "claim":
        errors.append(f"{label}: only a claim is refuted, and what fails here is {fails}.")
    return errors
