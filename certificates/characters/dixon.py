"""Character tables of permutation groups by the Dixon-Schneider algorithm: exact, and ordered deterministically.

Let C^ be the sum of the elements of a class C. The class sums span the centre of the group algebra, and
C_i^ C_j^ = sum_k a_ijk C_k^ with a_ijk = #{(x, y) in C_i x C_j : xy = g_k}. Over F_p with p = 1 mod the exponent of G
(so p does not divide n = |G|), the centre is a sum of K copies of F_p, one for each irreducible character R, with the
idempotents e_R = (d_R/n) sum_C chi_R(C^-1) C^.

1. *Splitting.* A combination z of few class sums, cheapest classes first, generates the centre: its powers
   1, z, .., z^(K-1) are independent. A class joins only if its sum lies outside the algebra generated so far. Then
   the minimal polynomial of z has K distinct roots, and e_R is the Lagrange polynomial of one root at z.
2. *Degrees.* The coefficient of e_R at the identity is d_R^2/n; p exceeds n >= d_R^2, so the residue is d_R^2 itself.
3. *Lifting.* For g of order o the eigenvalue exp(2 pi i k/o) occurs in R(g) with the multiplicity
   (1/o) sum_l chi_R(g^l) w^(-kl), w of order o in F_p: an integer from 0 to d_R < p, hence known from its residue.

Another choice of w permutes the characters by a Galois automorphism, so the table does not depend on it. The result is
a `CharacterTable`, whose constructor proves orthogonality in exact arithmetic, whatever happened here.

Source: J. D. Dixon, High speed computation of group characters (1967); G. J. A. Schneider, Dixon's character table
algorithm revisited (1990).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, isqrt
from random import Random

import numpy as np
import numpy.typing as npt

from lemmata.certificates.characters.integral_products import IntegralProducts
from lemmata.certificates.characters.tables import CharacterTable
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic
from lemmata.numerics.exact.modular import (
    krylov_matrix,
    minimal_polynomial,
    modular_product,
    prime_with_roots,
    quotients_by_roots,
    reduced_echelon,
    root_of_order,
)
from lemmata.numerics.groups.permutations import PermutationGroup

__all__ = ["atlas_names", "character_table", "class_matrix"]

IntArray = npt.NDArray[np.int64]

CHUNK = 4_000_000  # products of base images formed at once: 32 MB of indices


def character_table(group: PermutationGroup) -> CharacterTable:
    """The exact character table of a permutation group.

    Columns are ``group.classes`` in their order, named as in the ATLAS by element order and letter ("1A", "2A", ..).
    Rows: the trivial character first, then by degree, then by indicator (+1, 0, -1), then by values: rows are compared
    at the first class where they differ, a value in a smaller cyclotomic field first (by its conductor), then larger
    coefficients in the power basis of that field first. Row names are degree and letter ("1a", "3a", "3b").

    Every value is written in the smallest cyclotomic field that contains it.

    Raises:
        ValueError: for an exponent beyond 2^31 (there is no prime of the right form), and as `CharacterTable`.
    """
    classes = group.classes
    p = _prime(group)
    idempotents = _idempotents(group, p)
    squared_degrees = group.order * idempotents[:, 0] % p
    degrees = np.array([isqrt(int(square)) for square in squared_degrees], dtype=np.int64)
    if (degrees**2 != squared_degrees).any() or squared_degrees.sum() != group.order:
        raise ArithmeticError(f"The degrees of {group.name} modulo {p} do not lift: the class algebra is inconsistent.")
    scale = np.array([group.order * pow(int(d), -1, p) % p for d in degrees], dtype=np.int64)
    residues = (scale[:, None] * idempotents % p)[:, classes.inverses]
    values = _lifted(group, residues, degrees, p)
    sums = modular_product(residues[:, classes.squares], classes.sizes[:, None] % p, p)[:, 0]
    indicators = np.where(sums == 0, 0, np.where(sums == group.order % p, 1, -1))
    ranks = _value_ranks(values)
    trivial = (values == 1).all(axis=1)
    sequence = np.lexsort((*ranks.T[::-1], -indicators, degrees, ~trivial))  # the last key counts first
    return CharacterTable(
        group.name,
        values[sequence],
        tuple(int(size) for size in classes.sizes),
        tuple(int(C) for C in classes.squares),
        tuple(int(C) for C in classes.inverses),
        atlas_names([int(order) for order in classes.element_orders], "A"),
        atlas_names([int(d) for d in degrees[sequence]], "a"),
    )


def _prime(group: PermutationGroup) -> int:
    p = prime_with_roots(group.exponent)
    if p <= group.order:  # p > n > 2 sqrt(n) lets degrees and multiplicities be read off their residues
        raise ValueError(f"No prime above {group.order} and below 2^31 is 1 modulo the exponent {group.exponent}.")
    return p


def class_matrix(group: PermutationGroup, index: int) -> IntArray:
    """a_ijk = #{(x, y) in C_i x C_j : xy = g_k} for i = ``index``, as the matrix [j, k] of shape (K, K).

    The row vector of coefficients of a central element c, times this matrix, is that of C_i^ c. For every k the
    products x^-1 g_k are formed for all x in C_i, |C_i| K products in all.
    """
    classes = group.classes
    K = len(classes)
    inverse_members = group.elements[classes.class_of == classes.inverses[index]]
    images = classes.representatives[:, classes.base].astype(np.int64)  # base -> its image under g_k, (K, b)
    counts = np.zeros((K, K), dtype=np.int64)
    step = max(1, CHUNK // images.size)
    for start in range(0, len(inverse_members), step):
        products = inverse_members[start : start + step][:, images]  # (m, K, b)
        j = classes.class_of[classes.lookup(products.reshape(-1, images.shape[1]))].reshape(-1, K)
        counts += np.bincount((j * K + np.arange(K)).ravel(), minlength=K * K).reshape(K, K)
    return counts


def _idempotents(group: PermutationGroup, p: int) -> IntArray:
    """The K primitive idempotents of the centre of F_p[G] by their coefficients on the classes, (K, K)."""
    sizes = group.classes.sizes
    K = len(sizes)
    one = np.eye(1, K, dtype=np.int64)[0]
    z = np.zeros((K, K), dtype=np.int64)
    choice = Random(0)  # any coefficients do; a choice that does not generate the centre is noticed
    generated = np.zeros(K, dtype=bool)
    generated[0] = True
    # a class outside the span enlarges it, unless two of the K distinct eigenvalues of z happen to fall together
    for _ in range(2 * K):
        missing = np.flatnonzero(~generated)
        cheapest = int(missing[np.argmin(sizes[missing])])
        z = (z + choice.randrange(1, p) * (class_matrix(group, cheapest) % p)) % p
        powers = krylov_matrix(one, z, p)
        span = reduced_echelon(powers, p)
        if len(span) == K:
            return _primitive_idempotents(powers, z, p)
        # a class sum lies in the span exactly if its unit vector is a row of the reduced echelon form
        units = span[(span != 0).sum(axis=1) == 1]
        generated[:] = False
        generated[np.argmax(units != 0, axis=1)] = True
    raise ArithmeticError(f"The class sums of {group.name} do not generate a centre of dimension {K} modulo {p}.")


def _primitive_idempotents(powers: IntArray, z: IntArray, p: int) -> IntArray:
    """The Lagrange polynomials of the eigenvalues of z at z, from the powers 1, z, .., z^(K-1), all (K, K)."""
    coefficients, roots = minimal_polynomial(powers, z, p)
    if len(roots) != len(z):
        raise ArithmeticError(f"The centre of the group algebra does not split modulo {p}.")
    return modular_product(quotients_by_roots(coefficients, roots, p), powers, p)


def _lifted(group: PermutationGroup, residues: IntArray, degrees: IntArray, p: int) -> np.ndarray:
    """The exact values of characters mod p, shape (K, K), through the eigenvalues of one element per cyclic group."""
    classes = group.classes
    K = len(classes)
    root = root_of_order(classes.exponent, p)  # one root for all classes, so that their eigenvalues fit together
    values = np.empty((K, K), dtype=object)
    done = np.zeros(K, dtype=bool)
    known: dict[tuple[int, bytes], Cyclotomic] = {}
    for C in range(K):
        if done[C]:
            continue
        o = int(classes.element_orders[C])
        multiplicities = _multiplicities(
            residues[:, classes.power_table[:o, C]], pow(root, classes.exponent // o, p), p
        )
        if (multiplicities > degrees[:, None]).any() or (multiplicities.sum(axis=1) != degrees).any():
            raise ArithmeticError(f"The eigenvalues of class {C} of {group.name} modulo {p} do not lift.")
        for a in range(1, o + 1):
            D = int(classes.power_table[a % o, C])
            if gcd(a, o) != 1 or done[D]:
                continue
            done[D] = True
            of_power = np.zeros_like(multiplicities)
            of_power[:, np.arange(o) * a % o] = multiplicities  # an eigenvalue w^k of g is w^(ka) of g^a
            for R in range(K):
                key = (o, of_power[R].tobytes())
                if key not in known:
                    known[key] = _sum_of_roots(o, of_power[R])
                values[R, D] = known[key]
    return values


def _multiplicities(residues: IntArray, w: int, p: int) -> IntArray:
    """(1/o) sum_l chi_R(g^l) w^(-kl) mod p from chi_R(g^l), shape (K, o), for every k: shape (K, o)."""
    o = residues.shape[1]
    powers = np.array([pow(w, -k, p) for k in range(o)], dtype=np.int64)
    total = np.zeros_like(residues)
    for step in range(o):
        total = (total + residues[:, step, None] * powers[np.arange(o) * step % o]) % p
    return total * pow(o, -1, p) % p


def _sum_of_roots(o: int, multiplicities: IntArray) -> Cyclotomic:
    """sum_k m_k exp(2 pi i k/o) in the smallest cyclotomic field that contains it."""
    if o % 4 != 2:
        return Cyclotomic(o, multiplicities.tolist()).minimal()
    half = o // 2  # odd: a root with odd k is minus the root with the even number k + half
    folded = multiplicities[np.arange(half) * 2] - multiplicities[(np.arange(half) * 2 + half) % o]
    return Cyclotomic(half, folded.tolist()).minimal()


def _value_ranks(values: np.ndarray) -> IntArray:
    """The place of every entry among the distinct values: by conductor, then larger coefficients first."""
    rows = IntegralProducts(values)
    keys = [(x.order, *(-x.lifted(x.order)[e] for e in range(x.order))) for x in rows.distinct]
    rank = np.empty(len(keys), dtype=np.int64)
    rank[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
    return rank[rows.ids]


def atlas_names(numbers: Sequence[int], first_letter: str) -> tuple[str, ...]:
    """Each number with a letter that counts its occurrences: 1A 2A 2B ..; after Z come AA, AB, .."""
    seen: dict[int, int] = {}
    names = []
    for number in numbers:
        count = seen[number] = seen.get(number, 0) + 1
        letters = ""
        while count:
            count, digit = divmod(count - 1, 26)
            letters = chr(ord(first_letter) + digit) + letters
        names.append(f"{number}{letters}")
    return tuple(names)
