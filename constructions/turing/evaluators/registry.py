"""The evaluators of a Turing-machine transformer, by name: four ways to run the same weights.

| name | numbers | a step costs | weights |
|---|---|---|---|
| indexed | integers | O(log^2 T) | integers, rationals, where the index can answer |
| dense | float64 | O(T) per attention layer | any, softmax attention too |
| torch | float64 or float32 | O(T) per attention layer | any, as parameters |
| exact | rationals | O(T) per attention layer, sparse | integers, rationals |

All share the interface of `Evaluator`: ``EVALUATORS["dense"].run(transformer, words)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.constructions.turing.evaluators.dense import evaluate_dense
from lemmata.constructions.turing.evaluators.exact import evaluate_exact
from lemmata.constructions.turing.evaluators.memory import INDEX_LIMIT, dense_memory, exact_memory, indexed_memory
from lemmata.constructions.turing.evaluators.run import Evaluator, Progress, TransformerRun, Words

if TYPE_CHECKING:
    import torch


def torch_evaluator(dtype: torch.dtype | None = None) -> Evaluator:
    """The evaluator that runs the torch module, with parameters in float64 by default."""

    def evaluate(
        transformer: TuringTransformer, words: Words, hidden: bool, progress: Progress | None = None
    ) -> TransformerRun:
        from lemmata.constructions.turing.evaluators.torch import TuringModule  # torch is slow to import

        return TuringModule(transformer, dtype).run(words, hidden, progress)

    return Evaluator("torch", dense_memory, evaluate)


def _evaluate_indexed(
    transformer: TuringTransformer, words: Words, hidden: bool, progress: Progress | None = None
) -> TransformerRun:
    from lemmata.constructions.turing.evaluators.indexed import evaluate_indexed  # Numba is slow to import

    return evaluate_indexed(transformer, words, hidden)


INDEXED = Evaluator("indexed", indexed_memory, _evaluate_indexed, INDEX_LIMIT)
DENSE = Evaluator("dense", dense_memory, evaluate_dense)
TORCH = torch_evaluator()
EXACT = Evaluator("exact", exact_memory, evaluate_exact)

EVALUATORS = {evaluator.name: evaluator for evaluator in (INDEXED, DENSE, TORCH, EXACT)}
"""The four evaluators, by name."""
