"""Mutants of the kernel of algebraic margins: whatever is changed in it shows on some document."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from lemmata.certificates import algebraic_kernel, kernel
from tests.certificates.algebraic_kernel.corpus import entries
from tests.certificates.algebraic_kernel.documents import document
from tests.certificates.kernel_mutants import survivors

SOURCE = Path(algebraic_kernel.__file__).read_text()
SEED = 1128
EQUIVALENT = {
    "Field: always if x": "zeros are added",
    "Field: always if top": "zeros are added",
    "Field: d - 2 with Add": "powers of theta that no product has",
    "Field: c > 0 with GtE at 0": "zeros are added",
    "Field: c > 0 with GtE at 0, number 2": "zeros are added",
    "check_margin: 1 + 1 in (1, -1)": "the sign alone counts",
    "Field: 1 - 1 in 2 * d - 1": "a coefficient that stays 0",
    "check_margin: 1 + 1 in -1": "the sign alone counts",
    "check_margin: 1 + 1 in (field.of(0), 1)": "twice the value, which is to be zero",
    "Field: 0 - 1 in c > 0": "zeros are added",
    "Field: 0 - 1 in c > 0, number 2": "zeros are added",
    "size: 0 + 1 in document.field.enclosure(a)[0]": "the other end of an enclosure has the same number of bits",
    "Field: 2 + 1 in 2 * d": "coefficients that stay 0",
    "check_margin: c > 0 with GtE at 0": "zeros are added",
    "check_margin: c < 0 with LtE at 0": "zeros are added",
    "check_margin: 0 + 1 in c < 0": "zeros are added",
    "check_margin: 0 - 1 in c < 0": "no coefficient of a derivative but the first is -1",
    "check_margin: 0 + 1 in c > 0": "no coefficient of a derivative but the first is 1",
    "check_margin: 0 - 1 in c > 0": "zeros are added",
    "size: 0 - 1 in document.field.enclosure(a)[0]": "the other end of an enclosure has the same number of bits",
    "Field: 2 - 1 in d - 2": "a power of theta that no product has",
    "Field: 2 * d - 1 with Add": "coefficients that stay 0",
}
"""Mutants that decide every document as the kernel does, and why."""


def decisions(module: Any) -> Iterator[object]:
    """What a kernel says of numbers: signs, also of those whose enclosure ends at 0, and integers near them."""
    try:
        for name in ("00/01", "01/23"):
            field = module.Field(document(name)["field"])
            low, unit = field.low, 1 << field.bits
            numbers = [
                (0, 5),
                (3, 0),
                (-3, 1),
                (-low, unit),
                (-low - 2, unit),
                (low, -unit),
                (low + 2, -unit),
                (-low - 1, unit),
            ]
            for a in (tuple(one) + (0,) * (field.degree - 2) for one in numbers):
                yield field.enclosure(a)
                for decide in (
                    field.sign,
                    lambda a, f=field: f.near(a, 7),
                    *(lambda a, f=field, more=more: f.near(a, f.bits + more) for more in (-2, -1, 0, 1)),
                ):
                    try:
                        yield decide(a)
                    except kernel.MalformedError as error:
                        yield str(error)
        yield from rounding(module)
        three = module.Field({"polynomial": ["-3"], "low": "3", "bits": 0})
        yield [three.sign((a,)) for a in (-2, -1, 0, 1, 2)]
        for lower, upper in ((2, 3), (1, 2), (3, 4), (0, 1)):  # gamma = 1/5: y = 1/25 is a zero of the polynomials
            for exact in ([-1, 25], [0, -1, 25], [2, -64, 350], [2, -100, 1250], [7, -225, 1250], [1, -26, 25]):
                ends = {"lower": (lower, Fraction(1, 10)), "upper": (upper, Fraction(1, 10))}
                claim = SimpleNamespace(field=three, square=(27,), denominator=100, exact=exact, **ends)
                try:
                    yield module.check_margin(claim)
                except kernel.ViolatedError as error:
                    yield str(error)
        for exact in ([-1, 1], [1, -1]):  # gamma = 1, and the slopes 1 and -1
            claim = SimpleNamespace(field=three, square=(27,), denominator=4, exact=exact)
            claim.lower, claim.upper = (1, Fraction(1)), (2, Fraction(1))
            yield module.check_margin(claim)
    except Exception as error:  # a mutant may fail in any way
        yield type(error).__name__


def rounding(module: Any) -> Iterator[object]:
    """The least x for which diag(x, 2048), and diag(0, x, 2048) with vectors, are semidefinite in 12 bits."""
    field = module.Field({"polynomial": ["-3"], "low": str(3 << 20), "bits": 20})
    kept, module.PRECISION = module.PRECISION, 12
    try:
        for zeros, vector in ((0, []), (1, [[(1,), (0,), (0,)]]), (1, [[(-3,), (0,), (0,)]] * 2)):
            n = zeros + 2
            for x in range(600):
                diagonal = [*[0] * zeros, x, 2048]
                matrix = [[(diagonal[i] if i == j else 0,) for j in range(i + 1)] for i in range(n)]
                try:
                    module.check_definite(SimpleNamespace(field=field, order=n, matrix=matrix, kernel=vector))
                except kernel.ViolatedError:
                    continue
                yield x
                break
    finally:
        module.PRECISION = kept


def test_mutants_of_the_kernel_show(effort):
    """Quick: a sample; full: all but those that are equivalent."""
    assert len(list(decisions(algebraic_kernel))) == 142
    sample = effort.pick(quick=8, full=None)
    asked = {"least": 300, "sample": sample, "seed": SEED, "decisions": decisions}
    assert survivors(algebraic_kernel, SOURCE, EQUIVALENT, entries(), **asked) == []
