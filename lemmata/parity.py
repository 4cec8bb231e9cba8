"""Sparse parities: explicit networks, Fourier gaps, gradient descent of one step and of many, what features can fit.

networks    relu_network, power_network, polynet, quadratic_network, parity_transformer, post_step_network
gaps        fourier_gap, majority_gap, majority_spectrum, majority_coefficient, half_coefficient, threshold_coefficient,
            majority_limit, majority_weight_limit
sparse init SparseNeuron, over_sparse_neuron, under_sparse_neuron, is_good, sparse_gradient, summed_gradient,
            enumerated_gradient, over_sparse_values, even_sparse_values, under_sparse_values,
            odd_under_sparse_values, good_probability, gradient_floor
over-sparse SparseInitialization, draw_over_sparse, population_gradients, sample_gradients, over_sparse_step,
            over_sparse_network; offset_grid, even_kink_grid, odd_kink_grid, ramp_features, solve_readout,
            decide_readout, design_grid, least_norm_readout, least_ramp_loss, least_step_loss, good_pairs,
            balance_probability, over_sparse_sizes, frontier_constants; kink_correlation, selected_pairs,
            selected_network, selection_sizes
frontier    sparse_start, frontier_point, proof_sizes, printed_sizes, hidden_samples, usable_sparsities, enough_samples
under-sparse draw_under_sparse, under_sparse_step, under_sparse_network, one_step_network, under_sparse_error,
            under_sparse_margin, readout_error_bound, under_sparse_sizes, silent_neurons; sampled_counts,
            tabulated_counts, tracked_counts, TrackedCounts; training_schedule, training_sizes, slope_gradient,
            train_first_layer, truncated_step, batch_gradients, pattern_features, FirstLayerStep; seen_share,
            spread_share, step_spread
one step    sign_gradient, derivative_table, population_gradient, batch_gradient, largest_entries, recovery_samples;
            class_readout, no_class_probability, no_class_bound; sgd_loss_bound, feature_moment, regret_bound;
            feature_distance, feature_range; short_loss_bound, short_batch, noise_tail;
            correlation_bound, correlation_limit
losses      parity_losses, margin_range, margin_bounds, least_hinge_loss, polynet_error, plateau_share
training    initial_network, train_parity, train_compiled; initial_quadratic, train_quadratic, quadratic_accuracy;
            initial_architecture, train_architecture
correlation best_correlation, verify_correlation
features    tangent_features, normalised_features, feature_table, fit_all_parities, verify_fit, fit_bound,
            span_residuals; sign_rank_bound, verify_sign_rank, parity_matrix, parity_sign_rank_bound
lower bound parity_view, NoisyDescent, relu_tables, tangent_model, flat_parameters, run_hidden, view_bound,
            gradient_samples
queries     query_search, empirical_answers, query_samples
second layer subgradient_descent, last_iterate_bound, falling_rate_descent, falling_rate_bound, uniform_deviation,
            second_layer_sizes; regularised_loss,
            least_regularised_loss, verify_regularised
"""
# ruff: noqa: F401 - the imports are the list of what is public here

from lemmata._rooms import exported as _exported
from lemmata.certificates.duality.cone_correlation import best_correlation, verify_correlation
from lemmata.certificates.duality.feature_fit import fit_all_parities
from lemmata.certificates.duality.feature_fit import theorem_bound as fit_bound
from lemmata.certificates.duality.feature_fit import verify as verify_fit
from lemmata.certificates.duality.features import feature_table, tangent_features
from lemmata.certificates.duality.features import normalised as normalised_features
from lemmata.certificates.duality.hinge_loss import least_hinge_loss
from lemmata.certificates.duality.readouts import decide as decide_readout
from lemmata.certificates.duality.readouts import design_grid, least_norm_readout, least_ramp_loss, least_step_loss
from lemmata.certificates.duality.regularised_hinge import least_regularised_loss, regularised_loss
from lemmata.certificates.duality.regularised_hinge import verify as verify_regularised
from lemmata.certificates.duality.sign_rank import (
    parity_matrix,
    parity_sign_rank_bound,
    sign_rank_bound,
    verify_sign_rank,
)
from lemmata.certificates.duality.span_fit import span_residuals
from lemmata.certificates.duality.tangent_model import flat_parameters, tangent_model
from lemmata.constructions.parity.bias_grids import (
    even_kink_grid,
    odd_kink_grid,
    offset_grid,
    ramp_features,
    solve_readout,
)
from lemmata.constructions.parity.exact_sparsity import (
    kink_correlation,
    selected_network,
    selected_pairs,
    selection_sizes,
)
from lemmata.constructions.parity.frontier import (
    frontier_point,
    hidden_samples,
    printed_sizes,
    proof_sizes,
    sparse_start,
    usable_sparsities,
)
from lemmata.constructions.parity.frontier_runs import enough_samples
from lemmata.constructions.parity.one_step import one_step_network
from lemmata.constructions.parity.over_sparse import (
    SparseInitialization,
    draw_over_sparse,
    over_sparse_network,
    over_sparse_step,
    population_gradients,
    sample_gradients,
)
from lemmata.constructions.parity.over_sparse_sizes import frontier_constants, over_sparse_sizes
from lemmata.constructions.parity.polynet import polynet
from lemmata.constructions.parity.quadratic import quadratic_network
from lemmata.constructions.parity.transformer import parity_transformer
from lemmata.constructions.parity.two_layer import post_step_network, power_network, relu_network
from lemmata.constructions.parity.under_sparse import (
    draw_under_sparse,
    readout_error_bound,
    silent_neurons,
    under_sparse_error,
    under_sparse_margin,
    under_sparse_network,
    under_sparse_step,
)
from lemmata.constructions.parity.under_sparse_training import (
    FirstLayerStep,
    batch_gradients,
    pattern_features,
    train_first_layer,
    training_schedule,
    truncated_step,
)
from lemmata.numerics.fourier.boolean import (
    half_coefficient,
    majority_coefficient,
    majority_limit,
    majority_spectrum,
    majority_weight_limit,
    threshold_coefficient,
)
from lemmata.numerics.fourier.gaps import fourier_gap, majority_gap
from lemmata.numerics.learning.second_layer import (
    falling_rate_bound,
    falling_rate_descent,
    last_iterate_bound,
    second_layer_sizes,
    subgradient_descent,
    uniform_deviation,
)
from lemmata.numerics.parity.architecture_training import initial_architecture, train_architecture
from lemmata.numerics.parity.batch_noise import noise_tail, short_batch, short_loss_bound
from lemmata.numerics.parity.compiled_training import train_compiled
from lemmata.numerics.parity.exhaustive import margin_range
from lemmata.numerics.parity.feature_distance import feature_distance, feature_range
from lemmata.numerics.parity.good_neurons import balance_probability, good_pairs, good_probability, gradient_floor
from lemmata.numerics.parity.hinge_loss import parity_losses
from lemmata.numerics.parity.lower_bound import NoisyDescent, parity_view, relu_tables, run_hidden, view_bound
from lemmata.numerics.parity.margin_bounds import margin_bounds
from lemmata.numerics.parity.one_step import (
    batch_gradient,
    derivative_table,
    largest_entries,
    population_gradient,
    recovery_samples,
    sign_gradient,
)
from lemmata.numerics.parity.polynet_error import polynet_error
from lemmata.numerics.parity.polynet_flow import plateau_share
from lemmata.numerics.parity.quadratic_training import initial_quadratic, quadratic_accuracy, train_quadratic
from lemmata.numerics.parity.queries import empirical_answers, gradient_samples, query_samples, query_search
from lemmata.numerics.parity.random_networks import correlation_bound, correlation_limit
from lemmata.numerics.parity.seen_parity import seen_share, spread_share, step_spread
from lemmata.numerics.parity.sgd_sizes import feature_moment, regret_bound, sgd_loss_bound
from lemmata.numerics.parity.sign_classes import class_readout, no_class_bound, no_class_probability
from lemmata.numerics.parity.sparse_neurons import (
    SparseNeuron,
    enumerated_gradient,
    even_sparse_values,
    is_good,
    odd_under_sparse_values,
    over_sparse_neuron,
    over_sparse_values,
    sparse_gradient,
    summed_gradient,
    under_sparse_neuron,
    under_sparse_values,
)
from lemmata.numerics.parity.sparse_samples import TrackedCounts, sampled_counts, tabulated_counts, tracked_counts
from lemmata.numerics.parity.training import initial_network, train_parity
from lemmata.numerics.parity.under_sparse_sizes import slope_gradient, training_sizes, under_sparse_sizes

__all__ = _exported(globals())  # pyright: ignore[reportUnsupportedDunderAll]
