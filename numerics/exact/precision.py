"""The working precision of ball arithmetic, which python-flint keeps in one global variable."""

from collections.abc import Iterator
from contextlib import contextmanager

from flint import ctx


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Compute with balls of `bits` bits inside the block, and restore the old precision afterwards.

    The precision is global to the process (python-flint keeps it so): do not use it from several threads.

    Raises:
        ValueError: if `bits` is not an integer of at least 2.
    """
    if isinstance(bits, bool) or not isinstance(bits, int) or bits < 2:
        raise ValueError(f"The precision {bits!r} is not valid: give a number of bits, an integer of at least 2.")
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before
