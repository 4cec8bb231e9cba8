"""Mutants of the kernel of operations: whatever is taken out of it or turned round in it shows on some document."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lemmata.certificates import operation_kernel
from tests.certificates.kernel_mutants import survivors
from tests.certificates.operation_kernel.corpus import entries, matrices, networks

SOURCE = Path(operation_kernel.__file__).read_text()


def decisions(module: Any) -> Iterator[object]:
    """What a kernel says of some matrices, and of outputs in few bits."""
    bits = module.EXTRA_BITS, module.BITS
    try:
        for matrix in matrices():
            yield module.has_dominated_factor(matrix)
            yield module.eliminates(matrix, "x")
        module.EXTRA_BITS = 0
        for matrix in matrices():
            yield module.has_dominated_factor(matrix)
        for module.BITS in (3, 20):
            for table, network in networks(module):
                yield module.enclosures(table, network, table.triples)
    except Exception as error:  # a mutant may fail in any way
        yield type(error).__name__
    finally:
        module.EXTRA_BITS, module.BITS = bits


SEED = 1122


BETWEEN = "units > 0 and ((units - 1) * step) ** 2 < square <= (units * step) ** 2"
EQUIVALENT = {
    "has_dominated_factor: 0 + 1 in max(0, *(row[-1] for row in matrix))": "without a positive entry both refuse",
    "eliminates: k + 1 with Sub": "rows k - 1 and k have no entry from column k + 1 on",
    "eliminates: 1 - 1 in k + 1": "the pivot itself, which is zero where the column is asked for",
    "eliminates: 1 - 1 in k + 1, number 3": "row k has no entry from column k + 1 on",
    "eliminates: (rest[i][j] * p - rest[i][k] * rest[j][k]) // last with Mult": "the same signs, in longer numbers",
    "forms: always if entry": "zeros are added",
    "forms: 0 - 1 in R[0][0]": "all cells have equally many labels",
    "forms: 0 - 1 in R[0]": "all rows have equally many cells",
    "check_identity: always if entry": "zeros are added",
    "enclosures: d < 0 with LtE at 0": "zeros are added",
    "enclosures: 0 + 1 in d < 0": "zeros are added",
    f"is_closest_above: {BETWEEN} without part 0": "the square is positive, and no decimal is negative",
    "is_closest_above: units > 0 with GtE at 0": "the square is positive",
    "is_closest_above: 0 - 1 in units > 0": "the square is positive",
    "check_margin: always if isinstance(network, Network)": "version 2 without an exact margin was refused before",
    "check_unseen: 0 - 1 in document.parts[0]": "there is one part",
    "check_threshold: 0 - 1 in document.networks[0]": "there is one network",
    "check_part: below >= 0 with Gt at 0": "the square is positive",
    "check_part: above < 0 with LtE at 0": "the square is positive",
    "check_both: 0 - 1 in document.proofs[0]": "there is one proof",
}
"""Mutants that decide every document as the kernel does, and why."""


def test_mutants_of_the_kernel_show(effort):
    """Quick: a sample; full: all but those that are equivalent."""
    assert not any(isinstance(one, str) for one in decisions(operation_kernel)), "the kernel itself fails"
    sample = effort.pick(quick=20, full=None)
    asked = {"least": 600, "sample": sample, "seed": SEED, "decisions": decisions}
    assert survivors(operation_kernel, SOURCE, EQUIVALENT, entries(), **asked) == []
