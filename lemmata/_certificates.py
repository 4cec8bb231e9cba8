"""Maximum margins of groups, operations and character tables: certificates, their files, and what follows."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args, overload

import numpy as np
from numpy.typing import ArrayLike

from lemmata.certificates.game.closed_form import closed_form_margin
from lemmata.certificates.game.closed_form_report import ClosedFormReport
from lemmata.certificates.game.equalising import condition_sums
from lemmata.certificates.game.margin_game import GameSolution, MarginGame
from lemmata.certificates.game.regularised import RegularisedOptimum
from lemmata.certificates.game.regularised import penalty_limit as penalty_limit_of_game
from lemmata.certificates.game.regularised import regularisation_path as regularisation_path_of_table
from lemmata.certificates.groups.certify import GroupMarginCertificate, certify_group
from lemmata.certificates.groups.character_table_certificate import (
    CharacterTableMarginCertificate,
    character_table_document,
)
from lemmata.certificates.groups.character_table_certificate import certify_character_table as certify_given_table
from lemmata.certificates.groups.document import document_of as document_of_certificate
from lemmata.certificates.groups.format import Document, dumps
from lemmata.certificates.groups.format import write as write_document
from lemmata.certificates.groups.kernels import kernel_of
from lemmata.certificates.groups.second_opinion import Finding
from lemmata.certificates.groups.second_opinion import second_opinion as second_opinion_on_document
from lemmata.certificates.saddle.attainment import Attainment
from lemmata.certificates.saddle.attainment import attained_margin as attained_margin_of_network
from lemmata.certificates.saddle.optimal_network import optimal_network as optimal_network_of_solution
from lemmata.certificates.solutions.bracket import CertifiedSolution
from lemmata.certificates.solutions.document import document_of_solution
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.given import group_or_operation, is_character_table, operation_or_its_group, refuse_other_kinds
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic
from lemmata.numerics.groups.names import parse_group
from lemmata.numerics.groups.permutations import DEFAULT_LIMIT, PermutationGroup
from lemmata.numerics.groups.tables import FiniteGroup, group_from_table
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.ternary import TERNARY_PREFIX, TernaryOperation, parse_ternary

if TYPE_CHECKING:
    from lemmata.certificates.operations.certify import OperationCertificate
    from lemmata.certificates.operations.ternary import TernaryCertificate

__all__ = [
    "KernelVerdict",
    "attained_margin",
    "certify",
    "certify_character_table",
    "check",
    "closed_form",
    "document_of",
    "optimal_network",
    "penalty_limit",
    "regularisation_path",
    "save",
    "second_opinion",
]

Status = Literal["valid", "invalid", "malformed"]
MarginCertificate: TypeAlias = (
    "GroupMarginCertificate | CharacterTableMarginCertificate | OperationCertificate | TernaryCertificate"
)
Certificate: TypeAlias = "MarginCertificate | CertifiedSolution"
GroupLike = str | PermutationGroup | FiniteGroup | ArrayLike


@overload
def certify(given: str, factors: int = 2, *, limit: int = DEFAULT_LIMIT) -> Any: ...
@overload
def certify(given: Operation, factors: int = 2, *, limit: int = DEFAULT_LIMIT) -> Any: ...
@overload
def certify(given: TernaryOperation, factors: int = 2, *, limit: int = DEFAULT_LIMIT) -> TernaryCertificate: ...
@overload
def certify(
    given: Path | Mapping[str, Any], factors: int = 2, *, limit: int = DEFAULT_LIMIT
) -> CharacterTableMarginCertificate: ...
@overload
def certify(
    given: PermutationGroup | FiniteGroup | ArrayLike, factors: int = 2, *, limit: int = DEFAULT_LIMIT
) -> GroupMarginCertificate: ...
def certify(
    given: GroupLike | Operation | TernaryOperation | Path | Mapping[str, Any],
    factors: int = 2,
    *,
    limit: int = DEFAULT_LIMIT,
) -> MarginCertificate:
    """The certificate of the largest L_{2,k+1} margin of networks that learn a group or another operation.

    The margin is that of networks f(x) = sum_i (u_i . x)^k w_i of any width, x the one-hot factors. For a group it is
    exact (`certificates/game/UNIVERSAL_MARGIN.md`); for a character table it is exact on the condition that the table
    is that of a group; for an operation, whose cells need not all be given, it is proved from both sides
    (`certificates/operations/OPERATION_MARGIN.md`):

        lm.certify("S3").gamma                   # a group by name: Z7, D4, Q8, S5, PSL(2,7), M11, Z2xS3, ...
        lm.certify("perm:(1,2,3)(4,5);(1,2)")    # by permutations in cycle notation, table:FILE.csv, small:32,5
        lm.certify([(1, 2, 0, 3), (1, 0, 2, 3)]) # by permutations: the images of the points 0, 1, ...
        lm.certify([[0, 1], [1, 0]])             # by its Cayley table, entry (a, b) being the number of a b
        lm.certify("op:max:3").lower             # an operation by name: op:mul:7, latin:5:1, conj:S3, cells:FILE.csv
        lm.certify(lm.operations.Operation.of([[0, 0], [0, 1]]))  # by its table, here that of "and"
        lm.certify("ternary:01101001").lower     # of three arguments: 2 x 2 x 2 labels, or ternary:FILE.npy
        lm.certify("ctbl:M").gamma               # a character table, here the Monster's; needs the extra gap
        lm.certify(Path("table.json"))           # from a file or a dictionary: certificates/CHARACTER_TABLE_FORMAT.md

    An operation that is a group under some names of its rows, columns and labels is certified as the group, and the
    same functions with more settings are `lm.operations.certify_operation` and `certify_character_table`.

    Args:
        given: a group: a name or another text that `lemmata certify` takes; permutations, shape (generators, points); a
            Cayley table, shape (n, n); a `lm.groups.FiniteGroup` or a `lm.groups.PermutationGroup`. A square array is
            read as a Cayley table. An operation: a text, a `lm.operations.Operation` or
            a `lm.operations.TernaryOperation`. A character table: ctbl:NAME, a path, or a dictionary.
        factors: the number k >= 2 of elements that are multiplied; an operation that is no group has two.
        limit: the largest order of a group that is accepted; time and memory grow with the order.

    Returns:
        What was proved. Of a group: ``gamma`` (exact), ``enclosure(digits)``, ``grade``, ``unique``, the character
        ``table``, the ``solution`` of the game with masses and class weights, and the ``faces`` of all optimal ones; of
        an operation: ``lower``, ``upper``, ``gap``, ``grade``, ``exact`` and the ``network``; of a character table: as
        `certify_character_table`.

    Raises:
        ValueError: for what is none of these or a group of order 1, an order above the limit, fewer than two factors,
            and other than two for an operation, or three for one of three arguments. Where a wrong guess can be told,
            with the form that was meant.
        OSError: for an unreadable file.
    """
    if isinstance(given, Mapping | Path) or (isinstance(given, str) and is_character_table(given)):
        return certify_character_table(given, factors)
    if isinstance(given, str) and given.strip().startswith(TERNARY_PREFIX):
        given = parse_ternary(given)
    if isinstance(given, TernaryOperation):
        if factors not in (2, 3):  # 2 where it was not given
            raise ValueError(f"An operation of three arguments has three factors, not {factors}.")
        from lemmata.certificates.operations.ternary import certify_ternary  # solvers, which groups can do without

        return certify_ternary(given)
    if isinstance(given, Operation):
        given = operation_or_its_group(given, limit, lambda sentence: None, factors)
    elif isinstance(given, str):
        given = group_or_operation(given, limit, factors=factors)
    if isinstance(given, Operation):
        from lemmata.certificates.operations.certify import certify_operation  # solvers, which groups can do without

        return certify_operation(given)
    return certify_group(as_group(given, limit), factors)


def as_group(group: GroupLike, limit: int = DEFAULT_LIMIT) -> PermutationGroup:
    """The group that a text, permutations, a Cayley table or a group describe; errors as for `certify`."""
    if isinstance(group, PermutationGroup):
        return group
    if isinstance(group, str):
        if is_character_table(group):
            raise ValueError(f"{group!r} is a character table without a group: use certify({group!r}).")
        return parse_group(group, limit)
    if isinstance(group, FiniteGroup):
        return PermutationGroup.from_table(group, limit)
    rows = _integer_rows(group)
    if len(rows) == len(rows[0]) > 1:
        try:
            return PermutationGroup.from_table(group_from_table(rows), limit)
        except ValueError as error:
            raise ValueError(
                f"A square array is read as a Cayley table, and this one is none: {error} An operation that is no "
                "group is given as lm.operations.Operation.of(rows). As many permutations as points are better given "
                "as one text, such as 'perm:(1,2,3);(1,2)', or without those that are products."
            ) from error
    return PermutationGroup(tuple(tuple(int(image) for image in row) for row in rows), limit=limit)


def _integer_rows(group: ArrayLike) -> np.ndarray:
    """The rows of a table, or the images of permutations; one permutation alone is one row."""
    try:
        rows = np.asarray(group)
    except ValueError as error:  # rows of different lengths
        raise ValueError(
            "Permutations are given by their images of the same points 0, 1, ..., and a Cayley table is square; these "
            "rows have different lengths."
        ) from error
    if rows.ndim == 1 and rows.size:
        rows = rows[None]
    if rows.ndim != 2 or rows.size == 0 or rows.dtype.kind not in "iu":
        raise ValueError(
            "A group is a name such as 'S3', a text such as 'perm:(1,2,3);(1,2)', permutations or a Cayley table as an "
            "array of integers, a FiniteGroup or a PermutationGroup; an operation is a text such as 'op:max:3' or "
            "'ternary:01101001', or a lm.operations.Operation, a character table 'ctbl:M', a path or a dictionary; "
            f"not {group!r}."
        )
    return rows


def certify_character_table(table: str | Path | Mapping[str, Any], factors: int = 2) -> CharacterTableMarginCertificate:
    """The certificate of the largest margin of every group that has a character table, without its elements.

    It is conditional: if the table is the character table of a group, then the margin is this one. The same as
    `lemmata.certificates.groups.character_table_certificate.certify_character_table`:

        lm.certify_character_table("ctbl:M").gamma        # the Monster; needs the optional extra gap
        lm.certify_character_table("ctbl:Symmetric(18)")  # ctbl: and any name of the character table library of GAP
        lm.certify_character_table("table.json")          # a file, see certificates/CHARACTER_TABLE_FORMAT.md
        lm.certify_character_table({"format": "lemmata/character-table", "version": 1, ...})  # what a file holds

    Args:
        table: one of these.
        factors: the number k >= 2 of elements that are multiplied.

    Returns:
        What was proved: the ``condition``, ``gamma`` and ``value`` in closed form as text, ``enclosure(digits)``, and
        the ``strategies``, scaled masses and class weights.

    Raises:
        ValueError: for what is no character table, naming the first relation that it violates; for indicators that are
            missing and cannot be derived; for a number of factors below 2 or beyond the limit.
        OSError: for an unreadable file.
    """
    if isinstance(table, str):
        refuse_other_kinds(table)
    return certify_given_table(table, factors)


def document_of(certificate: Certificate, digits: int = 30) -> Document:
    """The JSON document of a certificate, which a stranger can check without this toolkit: see `check` and `save`.

    The formats are described in `certificates/FORMAT.md`, `certificates/CHARACTER_TABLE_FORMAT.md`,
    `certificates/OPERATION_FORMAT.md`, `certificates/TERNARY_FORMAT.md` and `certificates/SOLUTION_FORMAT.md`.

    Args:
        certificate: from `certify`, `certify_character_table` or `certify_solution`.
        digits: significant digits of the decimals of the margin, at least 1; the document of an operation has those
            with which it was certified, and that of a solution has fractions.

    Raises:
        ValueError: for a solution of which nothing was proved, or whose proof is beyond the limits of its kernel.
    """
    if isinstance(certificate, CertifiedSolution):
        return document_of_solution(certificate)
    if isinstance(certificate, CharacterTableMarginCertificate):
        return character_table_document(certificate, digits)
    if isinstance(certificate, GroupMarginCertificate):
        return document_of_certificate(certificate, digits)
    return certificate.document


def save(certificate: Certificate | Mapping[str, Any], file: str | Path) -> None:
    """The file of a certificate or of its document, written whole or not at all, as by `lemmata certify --out`.

    Raises:
        OSError: where the file cannot be written.
        ValueError: as `document_of`.
    """
    write_document(_document(certificate), file)


def _document(certificate: Certificate | Mapping[str, Any]) -> Document:
    return dict(certificate) if isinstance(certificate, Mapping) else document_of(certificate)


@dataclass(frozen=True)
class KernelVerdict:
    """The verdict of the kernel on a certificate; true exactly if it is valid.

    status: "valid", "invalid" (well formed, but the claim is not proved) or "malformed".
    reason: what was proved, or the first line that is wrong.
    """

    status: Status
    reason: str

    def __bool__(self) -> bool:
        return self.status == "valid"

    @property
    def exit_status(self) -> int:
        """The exit status of ``python -I certificates/kernel.py``: 0, 1 or 2."""
        return get_args(Status).index(self.status)


def check(certificate: str | Path | Certificate | Mapping[str, Any]) -> KernelVerdict:
    """The verdict of the independent kernel on a certificate: a file, a document, or what `certify` returned.

    There is a kernel for each kind of document: what is conditional on a character table is checked by
    `certificates/character_table_kernel.py`, what `certify_solution` returned by `certificates/solution_kernel.py`. The
    kernel runs in a Python process of its own, which imports nothing of this toolkit but other kernels, as in
    `lemmata check`. An unreadable file counts as malformed.

    Raises:
        RuntimeError: if the kernel was stopped before its verdict.
        ValueError: as `document_of`.
    """
    if isinstance(certificate, str | Path):
        return _kernel(Path(certificate))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "certificate.json"
        file.write_bytes(dumps(_document(certificate)))
        return _kernel(file)


def _kernel(file: Path) -> KernelVerdict:
    command = [sys.executable, "-I", kernel_of(file), str(file)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    found, _, reason = run.stdout.rstrip("\n").removeprefix(f"{ascii(str(file))[1:-1]}: ").partition(": ")
    for status in get_args(Status):
        if found == status:
            return KernelVerdict(status, reason)
    raise RuntimeError(f"The kernel ended with status {run.returncode} and no verdict: {run.stderr.strip()}")


def second_opinion(certificate: GroupMarginCertificate | Mapping[str, Any]) -> tuple[Finding, ...]:
    """What GAP finds about each part of a certificate, with its own classes, characters, indicators and bounds.

    It needs the optional extra ``gap``. See `lemmata.certificates.groups.second_opinion.second_opinion`, and for files
    `lemmata check --with-gap`.

    Returns:
        Findings with ``subject``, ``agrees`` and ``detail``.

    Raises:
        ValueError: without GAP, or when GAP gives up.
    """
    return second_opinion_on_document(_document(certificate))


def closed_form(certificate: GroupMarginCertificate) -> ClosedFormReport:
    """The comparison of a maximum margin with the closed form 2 / (3 sqrt(3n) S) of theorem 7.9, n the order.

    The closed form is a lower bound for every group, and the margin exactly where no condition sum is positive. The
    same as `lemmata.certificates.game.closed_form_report.closed_form_report`, without solving the game again.

    Returns:
        The report, with ``closed_form``, the condition ``sums`` and ``holds``, all exact.

    Raises:
        ValueError: if the square roots in the optimal masses share no cyclotomic field of supported order.
    """
    solution = _solution(certificate)
    return ClosedFormReport(solution, condition_sums(solution.game), closed_form_margin(solution.game))


def _solution(certificate: GroupMarginCertificate) -> GameSolution:
    if certificate.solution is None:
        raise ValueError(
            f"The square roots in the optimal masses of {certificate.group.name} share no cyclotomic field of "
            "supported order; the margin is exact as certificate.radicals."
        )
    return certificate.solution


def optimal_network(certificate: GroupMarginCertificate) -> HomogeneousNetwork:
    """The explicit network, in float64, with the masses of a certificate: it attains the maximum margin.

    Its inputs are the one-hot factors in the order of ``certificate.group.elements``.

    Raises:
        ValueError: for an order above 2000, and if the square roots in the optimal masses share no supported field.
    """
    return optimal_network_of_solution(certificate.group, _solution(certificate))[1]


def attained_margin(certificate: GroupMarginCertificate) -> Attainment:
    """The margin that `optimal_network` has by evaluating it on all inputs, with a bound on the rounding error.

    It uses neither characters nor games, only weights and the Cayley table.

    Raises:
        ValueError: as for `optimal_network`.
    """
    table, network = optimal_network_of_solution(certificate.group, _solution(certificate))
    return attained_margin_of_network(network, table)


def regularisation_path(
    certificate: GroupMarginCertificate, penalties: Iterable[Any] | Sequence[Any]
) -> list[RegularisedOptimum]:
    """The least regularised losses: mean cross-entropy + lambda ||theta||^{k+1}, each proved from both sides.

    Args:
        certificate: from `certify`; its group and number of factors are the task.
        penalties: numbers lambda > 0: floats, integers, fractions, or strings such as "1e-7", which are exact.

    Returns:
        An optimum for each penalty, with ``loss``, ``gap``, ``norm``, ``normalised_margin``, ``masses`` and ``used``.
    """
    return list(regularisation_path_of_table(certificate.table, penalties, certificate.factors))


def penalty_limit(certificate: GroupMarginCertificate) -> Cyclotomic:
    """The penalty lambda from which on the zero network has the least regularised loss, exactly."""
    return penalty_limit_of_game(MarginGame(certificate.table, certificate.factors))
