"""How long something takes."""

from collections.abc import Callable
from time import perf_counter


def best_time(action: Callable[[], object], rounds: int = 5) -> float:
    """The least time of several runs in seconds: the rest is other load of the machine."""
    times = []
    for _ in range(rounds):
        start = perf_counter()
        action()
        times.append(perf_counter() - start)
    return min(times)
