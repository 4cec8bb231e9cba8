"""Sparse token regression: prompts whose labels read few of many tokens, and networks that learn or compute them.

prompts  Prompts, draw_prompts; links: ReluLink, linear_link, mean_link, max_link, squared_norm_link
codes    PositionCodes, orthonormal_codes, field_codes, linear_codes, random_sign_codes, extremal_codes,
         sign_code_dimension
inputs   encode, encoding_scale, radius
risks    averaged_risk, pointwise_risk, population_risk
limits   certify_feed_forward, matching_predictor, out_of_span, linear_risk, samples_needed, least_total_norm
heads    TokenTransformer, token_stream, token_transformer, network_link; retrieval_attention, retrieval_transformer;
         averaging_attention, counting_attention, counting_embedding; SeparatingAttention, separating_attention: d heads
         for more than d tokens; BlockMoments, block_moments: with short codes; blocked_attention, shown_tokens: long
         prompts
proofs   certify_retrieval, label_bound: suprema over all prompts; few_heads_bound, least_risk, hidden_variance,
         head_view: what few heads cannot see; repeated_counts, repeated_variance, repeated_few_heads_bound: q < N;
         query_key_bound, attention_change
bounds   TokenTask, TransformerClass, norm_ball_class, risk_terms: what a transformer can fit, every term of the risk;
         clipping_level, clipped_excess_risk, fast_excess_risk: with clipped outputs;
         encode_query_key, decode_query_key: short codes of query-key matrices
memory   check_recurrent, RecurrentReport, least_squared_norm, least_width, least_recurrent_risk
         Codebook, codebook_layer, storing_layer, quantisation_error
shortest minimum_norm_report, wide_samples, narrow_samples, interpolation_norm, generalising_norm
         coded_samples, coded_norm, coded_chance, coded_readout: where tokens carry codes of positions
         line_interpolant, separating_direction, interpolating_network, interpolating_readout, interpolating_recurrence
         GeneralRecurrence
recurrent  exact_network, exact_transition, exact_readout, recurrent_network; budgeted_network, approximate_transition
           state_lipschitz, with_state_lipschitz, with_unit_radius
         sign_layer, mixed_norm
"""
# ruff: noqa: F401 - the imports are the list of what is public here

from lemmata._rooms import exported as _exported
from lemmata.certificates.tokens.feed_forward import (
    certify_feed_forward,
    least_total_norm,
    linear_risk,
    matching_predictor,
    out_of_span,
    samples_needed,
)
from lemmata.certificates.tokens.few_heads import (
    few_heads_bound,
    head_view,
    hidden_variance,
    least_risk,
    repeated_counts,
    repeated_few_heads_bound,
    repeated_variance,
)
from lemmata.certificates.tokens.lipschitz import attention_change, query_key_bound
from lemmata.certificates.tokens.minimum_norm import (
    coded_chance,
    coded_norm,
    coded_samples,
    generalising_norm,
    interpolation_norm,
    minimum_norm_report,
    narrow_samples,
    wide_samples,
)
from lemmata.certificates.tokens.recurrent import (
    RecurrentReport,
    check_recurrent,
    least_recurrent_risk,
    least_squared_norm,
    least_width,
)
from lemmata.certificates.tokens.retrieval import certify_retrieval, label_bound
from lemmata.constructions.tokens.attention import (
    averaging_attention,
    counting_attention,
    counting_embedding,
    retrieval_attention,
    retrieval_transformer,
)
from lemmata.constructions.tokens.budgeted import approximate_transition, budgeted_network
from lemmata.constructions.tokens.codebook import (
    Codebook,
    codebook_layer,
    quantisation_error,
    sign_layer,
    storing_layer,
)
from lemmata.constructions.tokens.general_recurrence import GeneralRecurrence
from lemmata.constructions.tokens.interpolation import (
    coded_readout,
    interpolating_network,
    interpolating_readout,
    interpolating_recurrence,
    line_interpolant,
    separating_direction,
)
from lemmata.constructions.tokens.long_prompts import shown_tokens
from lemmata.constructions.tokens.moments import BlockMoments, block_moments
from lemmata.constructions.tokens.recurrent import exact_network, exact_readout, exact_transition, recurrent_network
from lemmata.constructions.tokens.recurrent_class import state_lipschitz, with_state_lipschitz, with_unit_radius
from lemmata.constructions.tokens.separating import SeparatingAttention, separating_attention
from lemmata.constructions.tokens.transformer import TokenTransformer, network_link, token_stream, token_transformer
from lemmata.numerics.tokens.attention import blocked_attention
from lemmata.numerics.tokens.clipped_bounds import clipped_excess_risk, clipping_level, fast_excess_risk
from lemmata.numerics.tokens.codes import (
    PositionCodes,
    extremal_codes,
    field_codes,
    linear_codes,
    orthonormal_codes,
    random_sign_codes,
    sign_code_dimension,
)
from lemmata.numerics.tokens.encoding import encode, encoding_scale, radius
from lemmata.numerics.tokens.links import ReluLink, linear_link, max_link, mean_link, squared_norm_link
from lemmata.numerics.tokens.mixed_norms import mixed_norm
from lemmata.numerics.tokens.prompts import (
    Prompts,
    averaged_risk,
    draw_prompts,
    pointwise_risk,
    population_risk,
)
from lemmata.numerics.tokens.query_key_code import decode_query_key, encode_query_key
from lemmata.numerics.tokens.transformer_bounds import TokenTask, TransformerClass, norm_ball_class, risk_terms

__all__ = _exported(globals())  # pyright: ignore[reportUnsupportedDunderAll]
