"""Archives of documents: a compressed tar file for each section, the same bytes for the same documents."""

from __future__ import annotations

import io
import lzma
import tarfile
from collections.abc import Mapping
from pathlib import Path

__all__ = ["SUFFIX", "packed", "unpacked"]

SUFFIX = ".tar.xz"


def packed(documents: Mapping[str, bytes]) -> bytes:
    """The bytes of an archive with a file ``<key>.json`` for every document, in the given order.

    Files carry neither times nor owners, so that the archive depends on the documents alone, and on the version of the
    compressor.
    """
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for key, data in documents.items():
            entry = tarfile.TarInfo(f"{key}.json")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return lzma.compress(raw.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def unpacked(path: Path) -> dict[str, bytes]:
    """The documents of an archive by key; none if there is no such file.

    Raises:
        ValueError: for a file that is no such archive.
    """
    if not path.is_file():
        return {}
    documents = {}
    try:
        with tarfile.open(path, "r:xz") as archive:
            for entry in archive:
                if (file := archive.extractfile(entry)) is None:
                    raise ValueError(f"{path} is no archive of documents: {entry.name} in it is no plain file.")
                documents[entry.name.removesuffix(".json")] = file.read()
    except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise ValueError(f"{path} is no archive of documents, or damaged: {error}.") from error
    return documents
