"""Theorems about neural sequence models and feature learning, made executable.

    import lemmata as lm

    lm.certify("S3").gamma                     # the largest margin of a finite group, exactly
    lm.ngram_head(2, 3).hard()([1, 2, 1, 2])   # an induction head, exactly
    lm.compile_machine("bb4", steps=107)       # a Turing machine as a transformer
    lm.show("turing:theorem-4.1")              # what the ledger says of a statement

Everything public is here; the packages inside (numerics, constructions, certificates, theorems) may move. A name is
loaded when it is used first.

Maximum margins of finite groups
    certify                   the certificate of a group, an operation, a character table: name, array or file
    certify_character_table   ... of every group with a character table: the Monster, or a file
    check, save, document_of  the independent kernel, and the files that it reads
    second_opinion            what GAP finds about a certificate (the optional extra gap)
    closed_form               the comparison with the closed form
    optimal_network           an explicit network that attains the maximum
    attained_margin           ... evaluated on all inputs
    regularisation_path       the least regularised losses, proved from both sides
    penalty_limit             the penalty from which on the zero network is optimal

Max-margin networks
    modular_addition_network, quaternion_group_network, sparse_parity_network
    certify_cyclic, certify_real_type, certify_parity   a network and class weights that prove each other
    group_inputs, sign_inputs, group_blocks             all inputs of a task; the weights by factor

Induction heads
    ngram_head, bayesian_ngram_head, printed_induction_head
    scales_for                weights that are large enough for a given error
    train_induction_head      one that learns

Circuits and Turing machines
    circuit_network           a Boolean circuit as a ReLU network
    machine, compile_machine  a Turing machine, and the transformer that runs it
    run_machine               its run in float64, in rationals, in torch, or by an index
    reference_run, violations the simulator, and what a run must hold
    margin_bound              a proved lower bound of the all-layer margin
    smallest_flip             an upper bound of it, by an attack

Sparse functions by attention
    compile_sparse            a function of a few of many symbols, as an attention layer and a perceptron
    certify_sparse            the proof that it is right on all strings, at once
    near_orthogonal_positions position vectors for up to millions of tokens
    select_positions          whether one head can select positions, and the best key

Gradient descent in context
    gradient_descent_block, softmax_descent_block
    approximate_activation    the sums of ReLUs for a smooth activation
    certify_step              how far one step is from the true one
    fast_trajectory           thousands of steps, in compiled loops

Programs of other projects
    certify_solution          the bounds of a linear or semidefinite CVXPY problem, proved from its solution

Every construction
    to_torch                  the same weights as a torch module
    layer_table               what every layer reads and writes

Numbers
    as_exact, to_float        arrays of rationals, and back
    precision                 the bits of balls, inside a block
    radical_string            an exact number as text

The ledger
    show, statement           what a document claims, and the verdict
    results                   the committed results of an experiment

Rooms, for work on one subject
    atlas                     a thousand certified margins, each with a certificate
    capacity                  how much attention can learn: covering numbers from norms of weights, training
    descent                   certificates of runs, and products of two numbers of a token by attention
    groups                    finite groups as tables and permutations
    margins                   margins measured, judged and trained for
    markov                    chains, predictors and losses; proofs about trained induction heads
    parity                    gaps, gradients, networks, frontiers and training for sparse parities
    recurrent                 complexities, Elman networks, their linearisation and the comparator
    functions                 sums of ReLUs and smooth functions
    networks                  the vocabulary of layers
    operations                any finite operation: its table, whole or partial
    tokens                    sparse token regression: prompts, position codes, attention
    zoo                       networks with named coordinates, also disguised, as ground truth
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what editors and type checkers see; a test compares it with the table below
    from lemmata import atlas as atlas
    from lemmata import capacity as capacity
    from lemmata import descent as descent
    from lemmata import functions as functions
    from lemmata import groups as groups
    from lemmata import margins as margins
    from lemmata import markov as markov
    from lemmata import networks as networks
    from lemmata import operations as operations
    from lemmata import parity as parity
    from lemmata import recurrent as recurrent
    from lemmata import tokens as tokens
    from lemmata import zoo as zoo
    from lemmata._certificates import attained_margin as attained_margin
    from lemmata._certificates import certify as certify
    from lemmata._certificates import certify_character_table as certify_character_table
    from lemmata._certificates import check as check
    from lemmata._certificates import closed_form as closed_form
    from lemmata._certificates import document_of as document_of
    from lemmata._certificates import optimal_network as optimal_network
    from lemmata._certificates import penalty_limit as penalty_limit
    from lemmata._certificates import regularisation_path as regularisation_path
    from lemmata._certificates import save as save
    from lemmata._certificates import second_opinion as second_opinion
    from lemmata._circuits import circuit_network as circuit_network
    from lemmata._constructions import layer_table as layer_table
    from lemmata._constructions import margin_bound as margin_bound
    from lemmata._constructions import smallest_flip as smallest_flip
    from lemmata._constructions import to_torch as to_torch
    from lemmata._descent import approximate_activation as approximate_activation
    from lemmata._descent import certify_step as certify_step
    from lemmata._descent import gradient_descent_block as gradient_descent_block
    from lemmata._descent import softmax_descent_block as softmax_descent_block
    from lemmata._fast_descent import fast_trajectory as fast_trajectory
    from lemmata._induction import bayesian_ngram_head as bayesian_ngram_head
    from lemmata._induction import ngram_head as ngram_head
    from lemmata._induction import printed_induction_head as printed_induction_head
    from lemmata._induction import scales_for as scales_for
    from lemmata._induction import train_induction_head as train_induction_head
    from lemmata._ledger import results as results
    from lemmata._ledger import show as show
    from lemmata._ledger import statement as statement
    from lemmata._machines import compile_machine as compile_machine
    from lemmata._machines import machine as machine
    from lemmata._machines import reference_run as reference_run
    from lemmata._machines import run_machine as run_machine
    from lemmata._machines import violations as violations
    from lemmata._max_margin import certify_cyclic as certify_cyclic
    from lemmata._max_margin import certify_parity as certify_parity
    from lemmata._max_margin import certify_real_type as certify_real_type
    from lemmata._max_margin import group_blocks as group_blocks
    from lemmata._max_margin import group_inputs as group_inputs
    from lemmata._max_margin import modular_addition_network as modular_addition_network
    from lemmata._max_margin import quaternion_group_network as quaternion_group_network
    from lemmata._max_margin import sign_inputs as sign_inputs
    from lemmata._max_margin import sparse_parity_network as sparse_parity_network
    from lemmata._numbers import as_exact as as_exact
    from lemmata._numbers import precision as precision
    from lemmata._numbers import radical_string as radical_string
    from lemmata._numbers import to_float as to_float
    from lemmata._solutions import certify_solution as certify_solution
    from lemmata._sparse import certify_sparse as certify_sparse
    from lemmata._sparse import compile_sparse as compile_sparse
    from lemmata._sparse import near_orthogonal_positions as near_orthogonal_positions
    from lemmata._sparse import select_positions as select_positions

    __version__: str

_ROOMS = (
    *("atlas", "capacity", "descent", "functions", "groups", "margins", "markov", "networks"),
    *("operations", "parity", "recurrent", "tokens", "zoo"),
)
_NAMES = {
    "_certificates": "attained_margin certify certify_character_table check closed_form document_of optimal_network "
    "penalty_limit regularisation_path save second_opinion",
    "_circuits": "circuit_network",
    "_constructions": "layer_table margin_bound smallest_flip to_torch",
    "_descent": "approximate_activation certify_step gradient_descent_block softmax_descent_block",
    "_fast_descent": "fast_trajectory",
    "_induction": "bayesian_ngram_head ngram_head printed_induction_head scales_for train_induction_head",
    "_ledger": "results show statement",
    "_machines": "compile_machine machine reference_run run_machine violations",
    "_max_margin": "certify_cyclic certify_parity certify_real_type group_blocks group_inputs "
    "modular_addition_network quaternion_group_network sign_inputs sparse_parity_network",
    "_numbers": "as_exact precision radical_string to_float",
    "_solutions": "certify_solution",
    "_sparse": "certify_sparse compile_sparse near_orthogonal_positions select_positions",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

_RENAMED = {"tables": "operations", "certify_table": "certify_character_table"}
"""Earlier names, and what they are called now."""

__all__ = [*_HOMES, *_ROOMS]  # pyright: ignore[reportUnsupportedDunderAll]


if not TYPE_CHECKING:  # type checkers and editors know the names above, and refuse others

    def _load(module: str) -> Any:
        from importlib import import_module

        try:
            return import_module(f"lemmata.{module}")
        except ModuleNotFoundError as error:
            from lemmata.extras import missing_extra

            raise ModuleNotFoundError(missing_extra(error) or str(error), name=error.name) from error

    def __getattr__(name: str) -> Any:
        if name in _ROOMS:
            return _load(name)
        if name in _HOMES:
            value = getattr(_load(_HOMES[name]), name)
            globals()[name] = value  # so that this function is not asked again
            return value
        if name == "__version__":
            from importlib.metadata import version

            return version("lemmata")
        if name in _RENAMED:
            raise AttributeError(f"lemmata.{name} is called lemmata.{_RENAMED[name]} now.")
        message = f"module 'lemmata' has no attribute {name!r}"
        if not name.startswith("_"):
            from difflib import get_close_matches

            close = get_close_matches(name, __all__, n=3)
            message += f"; close to it are {', '.join(close)}." if close else "; help(lemmata) lists what there is."
        raise AttributeError(message)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
