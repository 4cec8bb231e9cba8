"""The committed results: every mutant of the sample with its fate.

`results.json` holds the seed, how many places each room has, and the mutants. Of each: `first`, its fate when the
sample was drawn; `later`, its fate after tests were added, of those that had survived; and `equivalent`, a sentence
that says why no test can tell it from the original, where that is argued. `lemmata.site.mutants` makes the table.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lemmata.site.mutants import KILLED

RESULTS = Path(__file__).with_name("results.json")


def load(path: Path = RESULTS) -> dict[str, Any]:
    """The results in a file."""
    return json.loads(path.read_text(encoding="utf-8"))


def may_be_killed(mutant: dict[str, Any]) -> bool:
    """Whether a mutant survived when it was drawn, and is not argued to be equivalent."""
    return mutant["first"]["status"] not in KILLED and not mutant.get("equivalent")


def as_text(results: dict[str, Any]) -> str:
    """The text of the file: one mutant per line, so that a change of one is a change of a line."""
    head = {name: value for name, value in results.items() if name != "mutants"}
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in results["mutants"])
    return f'{json.dumps(head, ensure_ascii=False)[:-1]}, "mutants": [\n{lines}\n]}}\n'
