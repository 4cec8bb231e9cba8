"""What `lemmata certify` does with a character table in place of a group: ctbl:NAME, or --characters FILE.json."""

from __future__ import annotations

from pathlib import Path

from rich.markup import escape

from lemmata.certificates import character_table_kernel, kernel
from lemmata.certificates.groups.character_table_certificate import certify_character_table, character_table_document
from lemmata.certificates.groups.format import dumps
from lemmata.commands.console import deliver, err
from lemmata.reports.given_character_tables import character_table_summary, print_character_table_certificate

__all__ = ["certify_given"]


def certify_given(source: str | Path, factors: int, out_file: Path | None, digits: int, as_json: bool) -> None:
    """The certificate of a table, checked by the kernel, written and printed; ``out_file`` "-" is standard output.

    Raises:
        ValueError: as `certify_character_table` of `certificates/groups/character_table_certificate.py`; if the kernel
            refuses the certificate.
        OSError: for files that cannot be read or written.
    """
    with err.status(f"certifying {escape(str(source))}"):
        certificate = certify_character_table(source, factors)
        document = character_table_document(certificate, digits)
    with err.status(f"checking the certificate of {escape(str(source))}"):
        data = dumps(document)
        try:
            character_table_kernel.check(data)
        except (kernel.MalformedError, kernel.ViolatedError) as error:
            raise ValueError(
                f"The kernel refuses the certificate that was found, and nothing is claimed: {error}."
            ) from error
    deliver(
        data,
        out_file,
        as_json,
        lambda: character_table_summary(certificate, document),
        lambda console: print_character_table_certificate(console, certificate, document),
    )
