"""How much attention can learn: covering numbers from norms of weights, as printed and with the right powers.

budgets    optimal_split, Capacity: the division of an error among parts of the weights
linear     linear_capacity, linear_map_capacity, two_stage_capacity, sign_packing, perceptron_steps;
           printed_linear_capacity, printed_linear_map_capacity
one head   HeadNorms, head_capacity, short_head_capacity, positional_capacity, multi_head_capacity, head_radii;
           scalar_head_capacity; printed_head_capacity, printed_positional_capacity, printed_multi_head_capacity
layers     LayerNorms, deep_capacity, short_deep_capacity, amplifications, layer_amplification,
           contracted_amplifications; printed_deep_capacity, printed_short_deep_capacity
norms      pq_norm, token_norm, frobenius_norm, spectral_norm, head_norms, layer_norms; heads_of_state, measured_heads,
           MeasuredHeads: those of trained heads
reports    head_report, deep_report, CapacityReport: from norms to a bound on the risk
risk       entropy_integral, entropy_bound, rademacher_bound, deviation_bound, generalisation_bound
finite     certify_cover, verify_cover, covering_steps, largest_packing, CoverCertificate; empirical_rademacher,
           sample_law, largest_deviation, deviation_failure_probability
codes      encode_vector, decode_vector, verify_vector_code, encode_matrix, decode_matrix, verify_matrix_code;
           compress_head, rebuild_head, verify_head_code, capacity_in_bits; compress_network, rebuild_network,
           verify_network_code
shattering CircleFamily, SignFamily, largest_sign_family; sinusoid_points, sinusoid_parameter, certify_sinusoids;
           RecallingDecoder: w T/8 words by decoders of width w
margins    inverse_margin_bound, margins_bound: the error from the inverse all-layer margins of a sample
signs      sign_pattern_bound, network_log_growth, vc_bound, sign_loss_sample_size: what the 0-1 loss needs
training   AttentionReader, initial_reader, parameters, string_codes, ReaderAdam, loss_and_gradient, predictions,
           attention_weights: a one-layer network that reads bit strings
learners   elimination_probability, ambiguity_bound, agreement_probability, balanced_probability, surviving_bits,
           consistent_conjunctions of conjunctions; parity_of, spanning_probability of parities
thresholds Cell, ThresholdFit, threshold_fit, vuong_test, VuongTest, bootstrap_cells, percentile_interval
lipschitz  audit_attention, audit_weights: certified from above, found from below; InputAudit, WeightAudit;
           AttentionBlock, block_errors, readout_errors; input_constants, softmax_distance
recurrent  RecurrentClass, class_log_cover, recurrent_log_cover, log_cover; truncated_rademacher_bound,
           truncation_level, deviation_of_truncated_losses, empirical_minimiser_bound: from tokens to risks
packings   volume_bound, sparse_bound, ellipsoid_bound, ellipsoid_estimate; greedy_packing, least_squared_distance,
           minimal_vectors
"""

from lemmata.certificates.capacity.blocks import AttentionBlock, block_errors, readout_errors
from lemmata.certificates.capacity.compression import capacity_in_bits, compress_head, rebuild_head, verify_head_code
from lemmata.certificates.capacity.covers import (
    CoverCertificate,
    certify_cover,
    covering_steps,
    largest_packing,
    verify_cover,
)
from lemmata.certificates.capacity.decoder_shattering import RecallingDecoder
from lemmata.certificates.capacity.linear_codes import (
    decode_matrix,
    decode_vector,
    encode_matrix,
    encode_vector,
    verify_matrix_code,
    verify_vector_code,
)
from lemmata.certificates.capacity.lipschitz import InputAudit, WeightAudit, audit_attention, audit_weights
from lemmata.certificates.capacity.network_codes import compress_network, rebuild_network, verify_network_code
from lemmata.certificates.capacity.norms import (
    frobenius_norm,
    head_norms,
    layer_norms,
    pq_norm,
    spectral_norm,
    token_norm,
)
from lemmata.certificates.capacity.report import (
    CapacityReport,
    MeasuredHeads,
    deep_report,
    head_report,
    heads_of_state,
    measured_heads,
)
from lemmata.certificates.capacity.shattering import (
    CircleFamily,
    SignFamily,
    certify_sinusoids,
    largest_sign_family,
    sinusoid_parameter,
    sinusoid_points,
)
from lemmata.numerics.learning.attention_capacity import (
    HeadNorms,
    head_capacity,
    head_radii,
    multi_head_capacity,
    positional_capacity,
    printed_head_capacity,
    printed_multi_head_capacity,
    printed_positional_capacity,
    scalar_head_capacity,
    short_head_capacity,
)
from lemmata.numerics.learning.attention_lipschitz import input_constants, softmax_distance
from lemmata.numerics.learning.attention_training import Adam as ReaderAdam
from lemmata.numerics.learning.attention_training import (
    AttentionReader,
    attention_weights,
    initial_reader,
    loss_and_gradient,
    parameters,
    predictions,
    string_codes,
)
from lemmata.numerics.learning.budgets import Capacity, optimal_split
from lemmata.numerics.learning.deep_capacity import (
    LayerNorms,
    amplifications,
    contracted_amplifications,
    deep_capacity,
    layer_amplification,
    printed_deep_capacity,
    printed_short_deep_capacity,
    short_deep_capacity,
)
from lemmata.numerics.learning.entropy import (
    deviation_bound,
    entropy_bound,
    entropy_integral,
    generalisation_bound,
    rademacher_bound,
)
from lemmata.numerics.learning.finite_classes import (
    deviation_failure_probability,
    empirical_rademacher,
    largest_deviation,
    sample_law,
)
from lemmata.numerics.learning.inverse_margins import inverse_margin_bound, margins_bound
from lemmata.numerics.learning.linear_capacity import (
    linear_capacity,
    linear_map_capacity,
    perceptron_steps,
    printed_linear_capacity,
    printed_linear_map_capacity,
    sign_packing,
    two_stage_capacity,
)
from lemmata.numerics.learning.packings import (
    ellipsoid_bound,
    ellipsoid_estimate,
    greedy_packing,
    least_squared_distance,
    minimal_vectors,
    sparse_bound,
    volume_bound,
)
from lemmata.numerics.learning.recurrent_capacity import (
    RecurrentClass,
    class_log_cover,
    deviation_of_truncated_losses,
    empirical_minimiser_bound,
    log_cover,
    recurrent_log_cover,
    truncated_rademacher_bound,
    truncation_level,
)
from lemmata.numerics.learning.sign_patterns import (
    network_log_growth,
    sign_loss_sample_size,
    sign_pattern_bound,
    vc_bound,
)
from lemmata.numerics.learning.sparse_learners import (
    agreement_probability,
    ambiguity_bound,
    balanced_probability,
    consistent_conjunctions,
    elimination_probability,
    parity_of,
    spanning_probability,
    surviving_bits,
)
from lemmata.numerics.runs.thresholds import (
    Cell,
    ThresholdFit,
    VuongTest,
    bootstrap_cells,
    percentile_interval,
    threshold_fit,
    vuong_test,
)

__all__ = [
    "AttentionBlock",
    "AttentionReader",
    "Capacity",
    "CapacityReport",
    "Cell",
    "CircleFamily",
    "CoverCertificate",
    "HeadNorms",
    "InputAudit",
    "LayerNorms",
    "MeasuredHeads",
    "ReaderAdam",
    "RecallingDecoder",
    "RecurrentClass",
    "SignFamily",
    "ThresholdFit",
    "VuongTest",
    "WeightAudit",
    "agreement_probability",
    "ambiguity_bound",
    "amplifications",
    "attention_weights",
    "audit_attention",
    "audit_weights",
    "balanced_probability",
    "block_errors",
    "bootstrap_cells",
    "capacity_in_bits",
    "certify_cover",
    "certify_sinusoids",
    "class_log_cover",
    "compress_head",
    "compress_network",
    "consistent_conjunctions",
    "contracted_amplifications",
    "covering_steps",
    "decode_matrix",
    "decode_vector",
    "deep_capacity",
    "deep_report",
    "deviation_bound",
    "deviation_failure_probability",
    "deviation_of_truncated_losses",
    "elimination_probability",
    "ellipsoid_bound",
    "ellipsoid_estimate",
    "empirical_minimiser_bound",
    "empirical_rademacher",
    "encode_matrix",
    "encode_vector",
    "entropy_bound",
    "entropy_integral",
    "frobenius_norm",
    "generalisation_bound",
    "greedy_packing",
    "head_capacity",
    "head_norms",
    "head_radii",
    "head_report",
    "heads_of_state",
    "initial_reader",
    "input_constants",
    "inverse_margin_bound",
    "largest_deviation",
    "largest_packing",
    "largest_sign_family",
    "layer_amplification",
    "layer_norms",
    "least_squared_distance",
    "linear_capacity",
    "linear_map_capacity",
    "log_cover",
    "loss_and_gradient",
    "margins_bound",
    "measured_heads",
    "minimal_vectors",
    "multi_head_capacity",
    "network_log_growth",
    "optimal_split",
    "parameters",
    "parity_of",
    "percentile_interval",
    "perceptron_steps",
    "positional_capacity",
    "pq_norm",
    "predictions",
    "printed_deep_capacity",
    "printed_head_capacity",
    "printed_linear_capacity",
    "printed_linear_map_capacity",
    "printed_multi_head_capacity",
    "printed_positional_capacity",
    "printed_short_deep_capacity",
    "rademacher_bound",
    "readout_errors",
    "rebuild_head",
    "rebuild_network",
    "recurrent_log_cover",
    "sample_law",
    "scalar_head_capacity",
    "short_deep_capacity",
    "short_head_capacity",
    "sign_loss_sample_size",
    "sign_packing",
    "sign_pattern_bound",
    "sinusoid_parameter",
    "sinusoid_points",
    "softmax_distance",
    "spanning_probability",
    "sparse_bound",
    "spectral_norm",
    "string_codes",
    "surviving_bits",
    "threshold_fit",
    "token_norm",
    "truncated_rademacher_bound",
    "truncation_level",
    "two_stage_capacity",
    "vc_bound",
    "verify_cover",
    "verify_head_code",
    "verify_matrix_code",
    "verify_network_code",
    "verify_vector_code",
    "volume_bound",
    "vuong_test",
]
