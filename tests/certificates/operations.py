"""Certificates of operations that are written by hand, and the verdict of their kernel."""

import json
from typing import Any

from certificates import kernel, operation_kernel


def parity_document() -> dict[str, Any]:
    """Addition mod 2: sqrt(6)/9 exactly, from two neurons, and from A = 2 M_0 = ((u_0 - u_1)(v_0 - v_1)) <= |x|^2."""
    block = [[2, 0, 0, 0], [0, 2, 0, 0], [1, -1, 2, 0], [-1, 1, 0, 2]]  # twice the matrix of |x|^2 + x'A x
    other = [[6, 0, 0, 0], [0, 6, 0, 0], [-3, 3, 6, 0], [3, -3, 0, 6]]  # of 3 (|x|^2 - x'A x)
    matrix = [row[: i + 1] for i, row in enumerate(block)] + [[0] * 4 + row[: i + 1] for i, row in enumerate(other)]
    return {
        "format": "lemmata/operation-margin",
        "version": 1,
        "table": {"name": "addition mod 2", "labels": 2, "values": [[0, 1], [1, 0]]},
        "network": {"neurons": [[1, -1, 1, -1, 1, -1], [1, -1, -1, 1, -1, 1]], "masses": [1, 1]},
        "multipliers": [1, 1, 1, 1],
        "proof": {"kind": "plane", "t": "1", "t_prime": "1/2", "denominator": 2, "matrix": matrix},
        "margin": {"exact": "1/9*sqrt(6)", "lower": "0.272165526975", "upper": "0.272165526976"},
        "gap": "0",
        "grade": "exact",
    }


def verdict(document: dict[str, Any]) -> tuple[int, str]:
    """The exit status of the kernel for a document, and its line."""
    try:
        return 0, operation_kernel.check(json.dumps(document).encode())
    except kernel.ViolatedError as error:
        return 1, str(error)
    except kernel.MalformedError as error:
        return 2, str(error)
