"""The format of margin certificates: bytes, files, and the documentation."""

import json
import os
import re
from pathlib import Path

import pytest

from lemmata.certificates import kernel
from lemmata.certificates.groups.format import dumps, load, write
from tests.certificates.documents import document_bytes, margin_document

# ---- bytes and files


def test_bytes_are_deterministic_canonical_and_free_of_floats():
    first = document_bytes("SL(2,3)")
    document = margin_document("SL(2,3)")
    shuffled = json.loads(json.dumps(document), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    assert dumps(shuffled) == dumps(document) == first
    document_bytes.cache_clear()
    assert document_bytes("SL(2,3)") == first
    assert first.endswith(b"}\n")
    assert first.count(b"\n") == 1
    assert first.isascii()

    def refuse(text):
        raise AssertionError(text)

    json.loads(first, parse_float=refuse, parse_constant=refuse)


def test_floats_cannot_be_written():
    document = margin_document("S3")
    document["factors"] = float("nan")
    with pytest.raises(ValueError, match="JSON"):
        dumps(document)


def test_a_written_file_is_loaded_again(tmp_path):
    path = tmp_path / "s3.json"
    document = margin_document("S3")
    write(document, path)
    assert path.read_bytes() == document_bytes("S3")
    assert load(path) == document
    assert [entry.name for entry in tmp_path.iterdir()] == ["s3.json"]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path, monkeypatch, failing):
    path = tmp_path / "certificate.json"
    write(margin_document("S3"), path)

    def fail(*_):
        raise OSError("no space left on the device")

    monkeypatch.setattr(*((os, "fsync") if failing == "fsync" else (Path, "replace")), fail)
    with pytest.raises(OSError, match="no space"):
        write(margin_document("D4"), path)
    assert path.read_bytes() == document_bytes("S3")
    assert [entry.name for entry in tmp_path.iterdir()] == ["certificate.json"]


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{", b'{"format":"lemmata/group-margin","version":3}', b"[1.5]", b'{"a":1,"a":2}', b"[NaN]", b"\xff"],
)
def test_what_is_no_document_is_not_loaded(tmp_path, content):
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"no certificate of the format lemmata/group-margin version 2"):
        load(path)


# ---- the documentation

DOCUMENTATION = (Path(kernel.__file__).parent / "FORMAT.md").read_text()


def test_the_example_of_the_documentation_is_valid():
    (example,) = re.findall(r"```json\n(.*?)```", DOCUMENTATION, re.DOTALL)
    assert kernel.check(example.encode()).endswith("(exact)")
    assert dumps(json.loads(example)) == dumps(margin_document("S3", 2, 12))


def test_the_documentation_lists_every_field():
    def keys(value, path=""):
        if isinstance(value, dict):
            if path.endswith("scaled_weight"):
                return {path}
            return {found for key, part in value.items() for found in keys(part, f"{path}.{key}" if path else key)}
        if isinstance(value, list) and value and isinstance(value[0], dict):
            return keys(value[0], f"{path}[{'j' if path == 'classes' else 'i'}]")
        return {path}

    documented = {
        f"{parent}{cell}" if cell.startswith(".") and "[" in parent else cell
        for line in re.findall(r"^\| (`.*?) \|", DOCUMENTATION, re.MULTILINE)
        for parent in ["classes[j]"]
        for cell in re.findall(r"`([^`]+)`", line)
    }
    assert keys(margin_document("S3")) <= documented
    assert documented - keys(margin_document("S3")) <= {"classes", "characters.rows"}
