"""What `lemmata certify` does with a character table in place of a group: ctbl:NAME, or --characters FILE.json."""

from __future__ import annotations

from pathlib import Path

from rich.markup import escape

from lemmata.certificates import kernel, table_kernel
from lemmata.certificates.groups.format import dumps
from lemmata.certificates.groups.table_certificate import certify_character_table, table_document
from lemmata.commands.console import deliver, err
from lemmata.reports.given_tables import print_table_certificate, table_summary

__all__ = ["certify_given"]


def certify_given(source: str | Path, factors: int, out_file: Path | None, digits: int, as_json: bool) -> None:
    """The certificate of a table, checked by the kernel, written and printed; ``out_file`` "-" is standard output.

    Raises:
        ValueError: as `lemmata.certificates.groups.table_certificate.certify_character_table`; if the kernel refuses
            the certificate.
        OSError: for files that cannot be read or written.
    """
    with err.status(f"certifying {escape(str(source))}"):
        certificate = certify_character_table(source, factors)
        document = table_document(certificate, digits)
    with err.status(f"checking the certificate of {escape(str(source))}"):
        data = dumps(document)
        try:
            table_kernel.check(data)
        except (kernel.MalformedError, kernel.ViolatedError) as error:
            raise ValueError(
                f"The kernel refuses the certificate that was found, and nothing is claimed: {error}."
            ) from error
    deliver(
        data,
        out_file,
        as_json,
        lambda: table_summary(certificate, document),
        lambda console: print_table_certificate(console, certificate, document),
    )
