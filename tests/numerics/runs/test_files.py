"""Files are whole or as they were: after a failure, behind links, and where nothing can be replaced."""

import os
import signal
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from lemmata.numerics.runs import files
from lemmata.numerics.runs.files import write_atomically


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    file = tmp_path / "file"
    write_atomically(b"old", file)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(b"new", file)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert file.read_bytes() == b"old"


def test_a_link_stays_one_and_its_file_is_written(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "file")
    for content in (b"one", b"two"):
        write_atomically(content, tmp_path / "link")
        assert (tmp_path / "link").is_symlink()
        assert [path.name for path in (tmp_path / "folder").iterdir()] == ["file"]
        assert (tmp_path / "folder" / "file").read_bytes() == content


def test_a_pipe_gets_the_bytes_and_stays_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDWR | os.O_NONBLOCK)
    try:
        write_atomically(b"bytes", tmp_path / "pipe")
        assert os.read(reader, 100) == b"bytes"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_threads_write_too_and_leave_the_signals_alone(tmp_path):
    """Only the main thread may say what an interrupt does."""
    before = signal.getsignal(signal.SIGINT)
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lambda n: write_atomically(b"bytes", tmp_path / f"file{n}"), range(4)))
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"file{n}" for n in range(4)]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_folder_is_not_replaced(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_atomically(b"bytes", tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
