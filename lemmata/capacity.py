"""How much attention can learn: covering numbers from norms of weights, as printed and with the right powers.

From typed norms, or from a module that was trained (`read_trained`, `measured_reader`, `trained_report`), to bounds
on covering numbers and risks; codes, shattered sets and audits of Lipschitz constants that show how sharp they are;
and what sparse functions need. The names by the modules that have them:
"""
# ruff: noqa: F401 - the imports are the list of what is public here

from lemmata._rooms import exported as _exported
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
from lemmata.certificates.capacity.reading import read_trained
from lemmata.certificates.capacity.report import CapacityReport, deep_report, head_report, trained_report
from lemmata.certificates.capacity.shattering import (
    CircleFamily,
    SignFamily,
    certify_sinusoids,
    largest_sign_family,
    sinusoid_parameter,
    sinusoid_points,
)
from lemmata.certificates.capacity.trained import (
    MeasuredReader,
    PeeledNorm,
    TrainedPerceptron,
    TrainedReader,
    measured_reader,
)
from lemmata.numerics.learning.attention_capacity import (
    HeadNorms,
    ReadNorms,
    head_capacity,
    head_radii,
    multi_head_capacity,
    positional_capacity,
    printed_head_capacity,
    printed_multi_head_capacity,
    printed_positional_capacity,
    read_capacity,
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
from lemmata.numerics.learning.perceptron_capacity import perceptron_norm, perceptron_rademacher
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
from lemmata.numerics.learning.sparse_sample_sizes import (
    CircleScores,
    ReaderClass,
    SparseSampleSize,
    arc_count,
    ball_log_cover,
    circle_scores,
    norm_sample_size,
    occam_sample_size,
    part_count,
    sparse_sample_size,
    word_count,
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


def _contents() -> list[str]:
    """Lines with the names above by the title of their module."""
    from sys import modules
    from textwrap import wrap

    found: dict[str, list[str]] = {}
    for name in __all__:
        title = (modules[globals()[name].__module__].__doc__ or "").partition("\n")[0]
        found.setdefault(title, []).append(name)
    lines = []
    for title, names in found.items():
        lines += ["", title, *wrap(", ".join(names), 116, initial_indent="    ", subsequent_indent="    ")]
    return lines


__all__ = _exported(globals())  # pyright: ignore[reportUnsupportedDunderAll]
__doc__ = "\n".join([(__doc__ or "").rstrip(), *_contents()])
