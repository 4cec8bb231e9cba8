"""What threads ask GAP is computed in the main thread of a process of its own."""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from lemmata.numerics.groups.character_library import library_table
from lemmata.numerics.groups.gap_process import in_main_thread
from lemmata.numerics.groups.names import gap_available, parse_group, small_group_count


@in_main_thread
def place(answer=0):
    print("not an answer", flush=True)
    os.write(sys.stdout.fileno(), b"nor is this\n")
    return os.getpid(), threading.current_thread() is threading.main_thread(), answer


@in_main_thread
def refuse(reason):
    raise ValueError(reason)


@in_main_thread
def leave():
    os._exit(3)


def threaded(function, *args, **kwargs):
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(function, *args, **kwargs).result(timeout=120)


def test_the_main_thread_computes_itself():
    assert place() == (os.getpid(), True, 0)


def test_threads_share_the_main_thread_of_one_other_process():
    with ThreadPoolExecutor(4) as executor:
        answers = list(executor.map(lambda number: place(answer=number), range(20), timeout=120))
    assert [answer for _, _, answer in answers] == list(range(20))
    assert {main for _, main, _ in answers} == {True}
    (process,) = {process for process, _, _ in answers}
    assert process != os.getpid()


def test_exceptions_come_back_and_the_process_goes_on():
    before = threaded(place)
    with pytest.raises(ValueError, match="for this reason"):
        threaded(refuse, "for this reason")
    assert threaded(place) == before


def test_a_process_that_ends_is_replaced():
    before, _, _ = threaded(place)
    with pytest.raises(RuntimeError, match="The process of GAP ended before it had answered leave"):
        threaded(leave)
    after, main, _ = threaded(place)
    assert main
    assert after not in (before, os.getpid())


@pytest.mark.skipif(gap_available(), reason="the extra gap is installed")
def test_threads_without_gap_are_told_what_is_missing():
    assert not threaded(gap_available)
    with pytest.raises(ValueError, match=r"pip install 'lemmata\[gap\]'"):
        threaded(parse_group, "small:8,3")


@pytest.mark.skipif(not gap_available(), reason="the extra gap is not installed")
def test_threads_get_the_same_from_gap():
    assert threaded(gap_available)
    assert threaded(small_group_count, 32) == 51
    for name in ("small:8,3", "small:24,12"):
        assert threaded(parse_group, name).generators == parse_group(name).generators
    assert threaded(library_table, "M11") == library_table("M11")
    with pytest.raises(ValueError, match="There are 5 groups of order 8"):
        threaded(parse_group, "small:8,6")
