"""Documents of algebraic margins that tests edit, small ones of the atlas, and what the kernel says of one."""

import copy
import json
from functools import cache
from typing import Any

from lemmata.certificates import algebraic_kernel, kernel
from lemmata.certificates.atlas.committed import atlas_document
from lemmata.certificates.atlas.lookup import atlas_row

SMALL = ("00/01", "00/11", "01/23", "001/110")
"""Fields of degree 2, 2, 4 and 2; the first with a network that has an eigenspace of two dimensions."""


@cache
def _parsed(name: str) -> dict[str, Any]:
    return json.loads(atlas_document(atlas_row(f"{name} exactly")))


def document(name: str) -> dict[str, Any]:
    """The document of a table, a new object in each call."""
    return copy.deepcopy(_parsed(name))


def verdict(value: dict[str, Any]) -> tuple[int, str]:
    """The exit status of the kernel, and its line."""
    try:
        return 0, algebraic_kernel.check(json.dumps(value).encode())
    except kernel.ViolatedError as error:
        return 1, str(error)
    except kernel.MalformedError as error:
        return 2, str(error)
