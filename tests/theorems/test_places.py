"""Where packages lie that pytest is asked for by name: folders, files, and names that are none."""

import sys
from pathlib import Path

import pytest

import lemmata.theorems
from lemmata.theorems.ledger import THEOREMS
from lemmata.theorems.places import package_folder


def test_folders_and_files_are_found() -> None:
    assert package_folder("lemmata.theorems") == THEOREMS
    assert package_folder("lemmata.theorems.places") == THEOREMS / "places.py"
    assert package_folder("lemmata.theorems.rnn_sgd") == Path(lemmata.theorems.__file__).resolve().parent / "rnn_sgd"


@pytest.mark.parametrize("name", ["no_such_package", "no_such_package.inside", "lemmata.no_such_module", ""])
def test_what_is_no_package_on_the_disk_is_none(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    assert package_folder(name) is None
    (tmp_path / "without_a_file").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    assert package_folder("without_a_file") is None
    assert "without_a_file" not in sys.modules
