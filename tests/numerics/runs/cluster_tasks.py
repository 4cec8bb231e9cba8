"""Tasks that the tests of clusters run on workers, which import them from here."""

import os
import time
from pathlib import Path


def hold(settings):
    """The process, begin and end of a task that takes a moment."""
    begin = time.time()
    time.sleep(settings["seconds"])
    return [os.getpid(), begin, time.time()]


def wait_once(settings):
    """A number; the task called "slow" first says where it is, and waits to be killed."""
    place = Path(settings["folder"]) / "place"
    if settings["slow"] and not place.exists():
        place.with_name("new").write_text(str(os.getpid()))
        place.with_name("new").rename(place)
        time.sleep(600)
    return settings["number"]


def deadly(settings):
    """No result: the end of the worker."""
    os._exit(1)
