"""Tables of finite binary operations: what a network can learn of them, and what it says of cells that it never saw.

tables         Operation, parse_operation (every name that `lemmata certify` and `lemmata unseen` take), named_operation
margins        certify_operation: the maximum margin of a table, from both sides; OperationCertificate
upper bounds   relaxed_margin: the sum-of-squares bound in floating point, with its Gram matrix; relaxed_phi: of one
               residual tensor; relaxed_family: of an affine family; Relaxation, FamilyRelaxation, OperationProgramError
three          TernaryOperation, parse_ternary, ternary_product (a b c in a group), ternary_classes (all 2 x 2 x 2 up
               to names); certify_ternary: the maximum margin with activation x^3, from both sides;
               TernaryCertificate; committed_ternary: those of all classes
symmetries     operation_symmetries, OperationSymmetries; canonical_form, isotopy_classes (all tables of a small shape
               up to names); group_of_operation, the group that a table is under other names
networks       best_network: the largest margin found, by column generation; integer_network, exact_network: the same
               with integer weights; ascended_network, training_run: by training; neuron_spectrum: are its neurons
               characters?; OperationNetwork, FoundNetwork, TrainingRun, NeuronSpectrum
survey         committed_operations: margins of all tables of small shapes, of operations and of random tables
exactness      plane_network: the network that is the dual of the plane program; PseudoMoments, rounded_pseudo_moments:
               what no bound of degree 4 is below; known_gaps, checked_gap, find_gap: tables where that is above the
               margin; RelaxedGame: the bound of degree 4 of a group from its characters
unseen cells   unseen_cells: what all networks of nearly maximum margin say of the cells that are not given, certified;
               UnseenCells, UnseenCell; committed_verdicts: many of them; plot_unseen, draw_unseen: a map of the table
               forced: where a theorem says that all networks of maximum margin are right, with the whole margin;
               ForcedTable
curve          unseen_curve: the share of missing cells got right by size and number, certified or by ascent (labelled);
               ascended_point: another point by ascent; CurvePoint; draw_unseen_curve, plot_unseen_curve: its picture
threshold      triangle_threshold: how many random cells can be missing until the margin grows, an experiment;
               ascents_beyond: what networks say beyond it; ThresholdPoint; draw_triangle_threshold,
               plot_triangle_threshold: its picture
               committed_forced: small groups whose sets of missing cells are decided, proved
kinks          kinked_margin, kinked_verdict: the margin, and an unseen cell, with |t| or max(t, 0) in place of the
               square, proved from both sides; KinkedMargin, KinkedNetwork, KinkedVerdict; committed_kinked: many
"""
# ruff: noqa: F401 - the imports are the list of what is public here

from lemmata._rooms import exported as _exported
from lemmata.certificates.operations.certify import OperationCertificate, certify_operation
from lemmata.certificates.operations.columns import FoundNetwork, best_network, integer_network
from lemmata.certificates.operations.exact_networks import exact_network
from lemmata.certificates.operations.forced import ForcedTable, forced
from lemmata.certificates.operations.forced_survey import committed_forced
from lemmata.certificates.operations.gaps import checked_gap, find_gap, known_gaps
from lemmata.certificates.operations.kinked import KinkedMargin, KinkedNetwork, kinked_margin
from lemmata.certificates.operations.kinked_survey import committed_kinked
from lemmata.certificates.operations.kinked_unseen import KinkedVerdict, kinked_verdict
from lemmata.certificates.operations.neurons import OperationNetwork
from lemmata.certificates.operations.plane_networks import plane_network
from lemmata.certificates.operations.programs import (
    FamilyRelaxation,
    OperationProgramError,
    Relaxation,
    relaxed_family,
    relaxed_margin,
    relaxed_phi,
)
from lemmata.certificates.operations.pseudo_moments import PseudoMoments, rounded_pseudo_moments
from lemmata.certificates.operations.relaxed_groups import RelaxedGame
from lemmata.certificates.operations.survey import committed_operations
from lemmata.certificates.operations.ternary import TernaryCertificate, certify_ternary
from lemmata.certificates.operations.ternary_survey import committed_ternary
from lemmata.certificates.operations.training import (
    NeuronSpectrum,
    TrainingRun,
    ascended_network,
    neuron_spectrum,
    training_run,
)
from lemmata.certificates.operations.triangle_threshold import ThresholdPoint, ascents_beyond, triangle_threshold
from lemmata.certificates.operations.unseen import UnseenCell, UnseenCells, unseen_cells
from lemmata.certificates.operations.unseen_curve import CurvePoint, ascended_point, unseen_curve
from lemmata.certificates.operations.unseen_survey import committed_verdicts
from lemmata.numerics.operations.classes import (
    canonical_form,
    group_of_operation,
    isotopy_classes,
    ternary_classes,
)
from lemmata.numerics.operations.families import named_operation
from lemmata.numerics.operations.names import parse_operation
from lemmata.numerics.operations.operation import Operation
from lemmata.numerics.operations.symmetries import OperationSymmetries, operation_symmetries
from lemmata.numerics.operations.ternary import TernaryOperation, parse_ternary, ternary_product
from lemmata.reports.triangle_threshold import draw_triangle_threshold, plot_triangle_threshold
from lemmata.reports.unseen import draw_unseen, plot_unseen
from lemmata.reports.unseen_curve import draw_unseen_curve, plot_unseen_curve

__all__ = _exported(globals())  # pyright: ignore[reportUnsupportedDunderAll]
