"""The matrix of queries and keys of a trained head beside the one that lemma 11 builds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from lemmata.numerics.runs.comparison import above, below
from lemmata.theorems.experiments import Criterion, Experiment, Findings
from lemmata.theorems.qstr.experiments.training import (
    LAST_DIGIT,
    admissible_codes,
    attention_network,
    one_thread,
    steps,
)

__all__ = ["QUERY_KEY", "trained_matrices"]

_FIGURE = "qstr:figure-2"


def trained_matrices(settings: dict[str, Any]) -> dict[str, Any]:
    """At every check what W_Q^T W_K looks like in the block of index codes against position codes.

    ``share`` is the share of the squared entries of the whole matrix that lies in the block; ``ratio`` the mean of its
    diagonal over the root mean square of its other entries; ``found`` the share of positions j whose code has the
    largest score <omega_i, M omega_j> with the index code i = j; ``error`` the mean squared error on test prompts.
    ``correlation`` is the largest of the codes.
    """
    import torch

    d, de, seed = settings["dimension"], settings["codes"], settings["seed"]
    codes = admissible_codes(settings["length"], de, settings["largest"], seed)
    omega = codes.vectors / np.sqrt(codes.square)
    correlation = float(f"{np.abs(omega @ omega.T - np.eye(len(omega))).max():.4g}")
    result: dict[str, Any] = {"share": [], "ratio": [], "found": [], "error": [], "correlation": correlation}

    def check(_: int, error: float) -> bool:
        matrix = (model.query.weight.T @ model.key.weight).detach().numpy().astype(np.float64)
        block = matrix[d + de :, d : d + de]
        other = block[~np.eye(de, dtype=bool)]
        scores = omega @ block @ omega.T
        for name, value in (
            ("share", (block**2).sum() / (matrix**2).sum()),
            ("ratio", np.diag(block).mean() / np.sqrt((other**2).mean())),
            ("found", (scores.argmax(axis=1) == np.arange(len(omega))).mean()),
            ("error", error),
        ):
            result[name].append(float(f"{value:.4g}"))
        return False

    with one_thread():
        torch.manual_seed(seed)
        model = attention_network(d + 2 * de)
        steps(settings, model, codes, seed, check)
    return result


def _summarise(settings: Mapping[str, Any], results: Mapping[str, Any]) -> Findings:
    last = {name: [results[key][name][-1] for key in settings] for name in ("share", "ratio", "found", "error")}
    shares = {s["codes"]: (s["codes"] / (s["dimension"] + 2 * s["codes"])) ** 2 for s in settings.values()}
    return Findings(
        {
            "networks": list(settings),
            "share of the block": last["share"],
            "share of the block in a random matrix": {str(de): float(f"{x:.4g}") for de, x in shares.items()},
            "diagonal over the rest of the block": last["ratio"],
            "positions found": last["found"],
            "error": last["error"],
            "largest correlation of the codes": [results[key]["correlation"] for key in settings],
        },
        (
            Criterion(_FIGURE, "every network learns: its error is below 0.1, that of the constant 0 being 1",
                      below(max(last["error"]), 0.1)),
            Criterion(_FIGURE, "90 % of the squared entries or more lie in the block of index against position codes",
                      above(min(last["share"]), 0.9)),
            Criterion(_FIGURE, "the diagonal of the block is on the average at least 4 times the root mean square of "
                      "its other entries", above(min(last["ratio"]), 4)),
            Criterion(_FIGURE, "every index code has its largest score with its own position", min(last["found"]) == 1),
        ),
    )  # fmt: skip


def _head(length: int, codes: int, largest: float, seed: int, **changes: Any) -> dict[str, Any]:
    return {
        "model": "attention", "simple": False, "length": length, "dimension": 10, "codes": codes, "largest": largest,
        "batch": 64, "rate": 1e-3, "decay": 0.2, "steps": 600, "check_every": 50, "test": 100, "seed": seed, **changes,
    }  # fmt: skip


QUERY_KEY = Experiment(
    name="trained-query-key",
    statements=(_FIGURE,),
    title="The query-key matrix of a trained head: N = 100 with the printed codes, N = 50 with admissible ones",
    scales={
        "quick": {
            "printed-500": _head(16, 13, 0.99, 500, steps=250),
            "admissible-500": _head(12, 24, 0.5, 500, steps=250),
        },
        "full": {
            **{f"printed-{seed}": _head(100, 23, 0.99, seed, steps=400) for seed in range(100, 105)},
            **{f"admissible-{seed}": _head(50, 68, 0.5, seed, steps=300) for seed in range(100, 105)},
        },
    },
    work=trained_matrices,
    summarise=_summarise,
    slice=("printed-100", {"steps": 50}),
    others=(("admissible-104", {"steps": 50}),),
    unrepeated="a seed in between, which takes two seconds",
    rounding=LAST_DIGIT,
)
