"""Margins of one-hidden-layer networks: measure them, judge them, and train towards the largest.

measured   group_margins, parity_margins, normalised_margin; of single neurons expected_class_margins,
           expected_parity_margins; the spectrum of weights folded_power
judged     judge (does a network attain the bound that class weights prove?), pricing_tensor and climb (the best neuron)
trained    descend with doubling_rate, objective_and_gradient, minimise (L-BFGS), ascend_from_random; for groups, with
           batches and ReLUs, train_on_group and group_gradient of GroupWeights
brought    load_operation_weights of a file of torch, NumPy or safetensors: OperationWeights; measured_margin:
           MeasuredMargin on a table, with its deficit against certified bounds; representation_shares
read       load_pair_transformer, pair_transformer: PairTransformer of one layer, PairTables; read_addition:
           AdditionReading, its EffectiveNeurons beside those of maximum margin; additive_part, answer_waves of tables
penalised  margin_share_bound: how near the largest margin every minimiser with a small penalty is
"""
# ruff: noqa: F401 - the imports are the list of what is public here

from lemmata._rooms import exported as _exported
from lemmata.certificates.saddle.effective_neurons import (
    AdditionReading,
    EffectiveNeurons,
    read_addition,
)
from lemmata.certificates.saddle.measured import MeasuredMargin, measured_margin, representation_shares
from lemmata.certificates.saddle.pair import judge
from lemmata.certificates.saddle.pricing import climb, pricing_tensor
from lemmata.constructions.networks.checkpoints import OperationWeights, load_operation_weights
from lemmata.constructions.networks.pair_transformer import (
    PairTables,
    PairTransformer,
    load_pair_transformer,
    pair_transformer,
)
from lemmata.numerics.fourier.cyclic import folded_power
from lemmata.numerics.fourier.pairs import additive_part, answer_waves
from lemmata.numerics.margins.ascent import ascend_from_random, normalised_margin
from lemmata.numerics.margins.descent import descend, doubling_rate, objective_and_gradient
from lemmata.numerics.margins.evaluation import (
    expected_class_margins,
    expected_parity_margins,
    group_margins,
    parity_margins,
)
from lemmata.numerics.margins.group_descent import GroupWeights, group_gradient, train_on_group
from lemmata.numerics.margins.quasi_newton import minimise
from lemmata.numerics.margins.vanishing_penalty import margin_share_bound

__all__ = _exported(globals())  # pyright: ignore[reportUnsupportedDunderAll]
