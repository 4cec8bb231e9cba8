"""The maximum margins of many character tables: one small entry each, in parallel and resumable.

An entry holds what a reader needs to do the arithmetic again: the order, the rows that have mass and the classes that
have weight, the value and the margin. `committed_survey` is the survey of the character table library that comes with
this toolkit. Every entry was written after `lemmata.certificates.character_table_kernel` accepted the certificate that
it summarises.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from lemmata.certificates import character_table_kernel, kernel
from lemmata.certificates.groups.character_table_certificate import (
    CharacterTableMarginCertificate,
    certify_character_table,
    character_table_document,
)
from lemmata.certificates.groups.format import dumps
from lemmata.numerics.groups.character_library import library_versions
from lemmata.numerics.runs.items import Done, run
from lemmata.numerics.runs.rows import rows_document

__all__ = ["committed_survey", "entry_of", "survey", "survey_document", "survey_item"]

FORMAT, VERSION = "lemmata/table-survey", 1
DIGITS = 12
COMMITTED = Path(__file__).parent / "results" / "character-tables.json"


def entry_of(certificate: CharacterTableMarginCertificate) -> dict[str, Any]:
    """The entry of a certificate.

    ``rows`` lists, for each Galois orbit of characters with mass, degree, indicator, number and the scaled mass of one;
    ``columns`` for each orbit of classes with weight the name of the first, number, elements and scaled weight of one.
    """
    table, strategies, game = certificate.table, certificate.strategies, certificate.game
    return {
        "name": table.name,
        "order": str(table.order),
        "classes": table.count,
        "factors": certificate.factors,
        "value": certificate.value,
        "margin": list(certificate.enclosure(DIGITS)),
        "rows": [
            [table.degrees[R], table.indicators[R], len(orbit), str(strategies.masses[R])]
            for orbit in game.row_orbits
            if strategies.masses[R := orbit[0]]
        ],
        "columns": [
            [
                certificate.data["class_names"][C],
                len(orbit),
                str(table.sizes[C]),
                {str(m): str(q) for m, q in sorted(strategies.weights[C].items())},
            ]
            for orbit in game.column_orbits
            if strategies.weights[C := orbit[0]]
        ],
    }


def survey_key(name: str) -> str:
    """The key of a table for `lemmata.numerics.runs.items`: letters and digits of its name, a hash."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:60]
    return f"{plain or 'table'}-{hashlib.sha256(name.encode()).hexdigest()[:10]}"


def survey_item(settings: dict[str, Any]) -> dict[str, Any]:
    """The entry of the table ``settings["name"]`` of the library for ``settings["factors"]`` factors.

    A table that is refused has the reason in ``refused`` and no margin.
    """
    name, factors = settings["name"], settings["factors"]
    try:
        certificate = certify_character_table(f"ctbl:{name}", factors)
        character_table_kernel.check(dumps(character_table_document(certificate)))
    except (ValueError, kernel.MalformedError, kernel.ViolatedError) as error:
        return {"name": name, "factors": factors, "refused": str(error)}
    return entry_of(certificate)


def survey(
    names: Sequence[str],
    folder: Path | None = None,
    executor: Executor | None = None,
    factors: int = 2,
    on_done: Callable[[Done], None] | None = None,
) -> list[dict[str, Any]]:
    """The entries of tables of the library, in the order of ``names``; with a folder they are kept in files.

    Raises:
        ValueError: without GAP or the library.
        FailedItemsError: at the end, if something else than a refusal happened.
    """
    library_versions()
    settings = {survey_key(name): {"name": name, "factors": factors} for name in names}
    return list(run(survey_item, settings, folder, executor, on_done).values())


def survey_document(entries: Sequence[dict[str, Any]], origin: dict[str, Any]) -> bytes:
    """The file of a survey: a line for each entry, by ascending order of the group."""
    ordered = sorted(entries, key=lambda entry: (int(entry.get("order", 0)), entry["name"]))
    return rows_document(FORMAT, VERSION, origin, {"entries": ordered})


def committed_survey() -> dict[str, Any]:
    """The survey that comes with this toolkit: ``origin``, how it was made, and ``entries``."""
    return json.loads(COMMITTED.read_text(encoding="ascii"))
