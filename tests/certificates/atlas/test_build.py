"""Making the atlas: what is kept, what is computed again, what is a reason and what a failure."""

import json
from concurrent.futures import Future

import pytest

from lemmata.certificates import kernel
from lemmata.certificates.atlas import build
from lemmata.certificates.atlas.build import atlas_bytes, build_atlas, write_atlas
from lemmata.certificates.atlas.catalogue import works
from lemmata.certificates.atlas.lookup import atlas_row
from lemmata.numerics.runs.executors import ExecutorLostError
from tests.certificates.serial import Serial

KEYS = ("small-1-1", "small-6-1", "small-8-4")


@pytest.fixture
def three(monkeypatch):
    """An atlas of three groups."""
    chosen = tuple(work for work in works() if work.key in KEYS)
    monkeypatch.setattr(build, "works", lambda: chosen)


def built(folder, **options):
    outcomes = []
    table, errors = build_atlas(
        folder, Serial(), sections=("groups",), on_done=lambda _, outcome: outcomes.append(outcome), **options
    )
    return table["groups"], errors, sum(outcome.kept for outcome in outcomes)


def without_seconds(rows):
    return [{name: value for name, value in row.items() if name not in ("seconds", "section")} for row in rows]


def test_committed_documents_are_kept_and_the_rows_are_the_committed_ones(three, tmp_path):
    rows, errors, kept = built(tmp_path)
    assert (errors, kept) == ({}, 2)
    assert without_seconds(rows) == without_seconds(map(atlas_row, KEYS))
    assert rows[0]["reason"].startswith("The trivial group")
    assert not list((tmp_path / "documents" / "groups").iterdir())


def test_documents_of_the_folder_are_kept_unless_invalid_or_about_something_else(three, tmp_path):
    rows, _, kept = built(tmp_path, anew=True)
    assert kept == 0
    files = [tmp_path / "documents" / "groups" / f"{key}.json" for key in KEYS[1:]]
    first = [file.read_bytes() for file in files]
    assert without_seconds(rows) == without_seconds(map(atlas_row, KEYS))
    files[0].write_bytes(first[0].replace(b'"scaled_mass":"1/', b'"scaled_mass":"2/', 1))
    files[1].write_bytes(first[0])  # valid, of another group
    again, errors, kept = built(tmp_path, anew=True)
    assert (errors, kept) == ({}, 0)
    assert [file.read_bytes() for file in files] == first
    assert without_seconds(again) == without_seconds(rows)
    assert built(tmp_path, anew=True)[2] == 2


def test_the_table_and_the_archive_hold_every_row(three, tmp_path):
    rows, _, _ = built(tmp_path)
    write_atlas(tmp_path, {"groups": rows}, {"command": "c"})
    table = json.loads((tmp_path / "atlas.json").read_text())
    assert table["sections"]["groups"]["rows"] == rows
    assert list(build.unpacked(tmp_path / "groups.tar.xz")) == list(KEYS[1:])
    assert (tmp_path / "atlas.json").read_bytes() == atlas_bytes({"groups": rows}, {"command": "c"})


def test_a_document_that_its_kernel_refuses_is_a_failure_and_not_a_row(three, tmp_path, monkeypatch):
    wrong = build.computed

    def falsified(work, known):
        return {key: data.replace(b'"1/6"', b'"1/7"') for key, data in wrong(work, known).items()}

    monkeypatch.setattr(build, "computed", falsified)
    rows, errors, _ = built(tmp_path, anew=True)
    assert [type(error) for error in errors.values()] == [kernel.ViolatedError] * len(errors)
    assert "small-6-1" in errors
    assert "small-6-1" not in [row["key"] for row in rows]
    assert not (tmp_path / "documents" / "groups" / "small-6-1.json").exists()


class Dropping(Serial):
    """Drops all but the first, as a client of a cluster does that has lost its scheduler."""

    def submit(self, fn, /, *args, **kwargs):
        if args[0].key == KEYS[1]:
            return super().submit(fn, *args, **kwargs)
        future: Future = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


def test_an_executor_that_is_lost_is_no_failure_of_its_rows(three, tmp_path):
    with pytest.raises(ExecutorLostError):
        build_atlas(tmp_path, Dropping(), sections=("groups",), anew=True)
    assert {path.stem for path in (tmp_path / "documents" / "groups").iterdir()} <= {KEYS[1]}
    assert not (tmp_path / "atlas.json").exists()
    assert built(tmp_path)[1] == {}


def test_an_unknown_section_is_refused(tmp_path):
    with pytest.raises(ValueError, match="There is no section 'rings': the atlas has groups"):
        build_atlas(tmp_path, Serial(), sections=("rings",))
