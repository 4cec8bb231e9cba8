"""The class of recurrent networks of the lower bound, and what belongs to it; `proofs/recurrent-class.md`."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pytest
import torch
from flint import fmpq

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.projection import Clipping
from lemmata.constructions.networks.recurrent import RecurrentCell, RecurrentLayer
from lemmata.constructions.tokens.codebook import Codebook
from lemmata.constructions.tokens.general_recurrence import GeneralRecurrence
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.theorems.evidence import check, proof_steps

DEFINITION = "qstr:definition-rnn-lower"


def _token(x: Any, t: Any, i: int) -> Any:
    """What a network reads at a position: the token, its indices and the position, as numbers."""
    return np.concatenate([x, t / 10, [math.cos(i), math.sin(i)]])


def _prompt(seed: int, N: int = 6, d: int = 2, q: int = 1) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(N, d)), rng.integers(0, N, (N, q))


@check(
    DEFINITION, grade="sampled", target="printed", cases="all positions of prompts of 5 tokens, random exact networks"
)
@proof_steps("recurrent-class.md: 1")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_states_do_not_see_their_own_token(seed: int) -> None:
    """Interventions: another (x_j, t_j) changes no state at j, and only later (earlier) forward (backward) states."""
    rng = np.random.default_rng(seed)
    weights = [as_exact(rng.integers(-2, 3, (3, 3 + 2 + 1))) for _ in range(2)]
    clip = Clipping(3, -1, 1)
    steps = [
        lambda h, x, t, i, W=W: (W @ np.concatenate([h, x, t])) * fmpq(i + 2, 40) + as_exact([1, 0, -1]) / fmpq(3)
        for W in weights
    ]
    eye = as_exact(np.eye(3, dtype=int))
    moved = 0
    network = GeneralRecurrence(
        steps[0], steps[1], clip, 2, eye, 2 * eye, lambda u, w, x, t, i: u.sum() - w.sum() + x[0] * t[0]
    )
    x, t = as_exact(rng.integers(-3, 4, (5, 2))) / fmpq(7), as_exact(rng.integers(0, 5, (5, 1)))
    there, back = network.states(x, t)
    assert not (there[0] != 0).any()
    assert not (back[-1] != 0).any()
    for j in range(5):
        other_x, other_t = x.copy(), t.copy()
        other_x[j], other_t[j] = other_x[j] + fmpq(1, 5), other_t[j] + 1
        moved_there, moved_back = network.states(other_x, other_t)
        assert (moved_there[: j + 1] == there[: j + 1]).all()
        assert (moved_back[j:] == back[j:]).all()
        moved += (moved_there != there).any() + (moved_back != back).any()
        expected = there[j].sum() - 2 * back[j].sum() + other_x[j, 0] * other_t[j, 0]
        assert network(other_x, other_t)[j] == expected
    assert moved == 5
    for i in range(4):  # the recursion, from the states themselves
        assert (there[i + 1] == clip(steps[0](there[i], x[i], t[i], i))).all()
        assert (back[i] == clip(steps[1](back[i + 1], x[i + 1], t[i + 1], i + 1))).all()


@check(DEFINITION, grade="exact", target="printed")
@proof_steps("recurrent-class.md: 2")
@pytest.mark.parametrize("seed", [0, 1])
def test_the_residual_network_is_a_member(seed: int) -> None:
    """Residual cells of two layers with a clipping, states before the token, a read-out of states and token."""
    rng = np.random.default_rng(seed)

    def affine(rows: int, columns: int) -> Affine:
        return Affine(as_exact(rng.integers(-2, 3, (rows, columns))), as_exact(rng.integers(-2, 3, columns)))

    cells = [
        RecurrentCell(
            FeedForward((affine(5, 4), affine(4, 2)), activations=("relu", "identity")),
            residual=True,
            bound=Clipping(2, -3, 3),
        )
        for _ in range(2)
    ]
    readout = FeedForward((affine(7, 3), affine(3, 1)), activations=("relu", "identity"))
    layer = RecurrentLayer(*cells, moment="before", keep_token=True, readout=readout)
    eye = as_exact(np.eye(2, dtype=int))
    steps = [lambda h, x, t, i, c=cell: h + c.transition(np.concatenate([h, x, t])) for cell in cells]
    member = GeneralRecurrence(
        steps[0],
        steps[1],
        Clipping(2, -3, 3),
        5,
        eye,
        eye,
        lambda u, w, x, t, i: readout(np.concatenate([u, w, x, t]))[0],
    )
    x, t = as_exact(rng.integers(-2, 3, (6, 2))) / fmpq(3), as_exact(rng.integers(0, 6, (6, 1)))
    outputs = member(x, t)
    assert (outputs == layer(np.concatenate([x, t], axis=1))[:, 0]).all()
    assert len(set(outputs.tolist())) > 2


@check(DEFINITION, grade="numeric", target="printed")
@proof_steps("recurrent-class.md: 3, 5")
@pytest.mark.parametrize("kind", ["GRU", "LSTM"])
def test_gated_networks_are_members(kind: Literal["GRU", "LSTM"]) -> None:
    """Networks of torch in both directions: the same outputs, with the last step in the read-out."""
    torch.manual_seed(0)
    m, N = 3, 6
    network = getattr(torch.nn, kind)(5, m, bidirectional=True, batch_first=True, dtype=torch.float64)
    cells = []
    for suffix in ("", "_reverse"):
        cell = getattr(torch.nn, f"{kind}Cell")(5, m, dtype=torch.float64)
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            getattr(cell, name).data = getattr(network, f"{name}_l0{suffix}").data * 2
            getattr(network, f"{name}_l0{suffix}").data *= 2
        cells.append(cell)
    parts = 1 if kind == "GRU" else 2
    largest = np.array([1.0] * m + [float(N)] * (m * (parts - 1)))

    def step(cell: Any, h: Any, z: Any) -> Any:
        pieces = [torch.tensor(piece)[None] for piece in np.split(h, parts)]
        with torch.no_grad():
            result = cell(torch.tensor(z)[None], pieces[0] if parts == 1 else tuple(pieces))
        return torch.cat([result] if parts == 1 else list(result), dim=1)[0].numpy()

    def clip(h: Any) -> Any:
        return np.clip(h, -largest, largest)

    final = np.random.default_rng(1).normal(size=2 * m)

    def readout(u: Any, w: Any, x: Any, t: Any, i: int) -> float:
        both = [step(cell, clip(h), _token(x, t, i))[:m] for cell, h in zip(cells, (u, w), strict=True)]
        return float(final @ np.concatenate(both))

    steps = [lambda h, x, t, i, c=cell: step(c, h, _token(x, t, i)) for cell in cells]
    member = GeneralRecurrence(
        steps[0],
        steps[1],
        clip,
        float(np.linalg.norm(largest)),
        np.eye(m * parts),
        np.eye(m * parts),
        readout,
    )
    for seed in range(3):
        x, t = _prompt(seed, N)
        tokens = np.stack([_token(x[i], t[i], i) for i in range(N)])
        with torch.no_grad():
            hidden = network(torch.tensor(tokens)[None])[0][0].numpy()
        outputs = member(x, t)
        assert np.abs(outputs - hidden @ final).max() < 1e-12
        assert np.ptp(outputs) > 0.01
        states = np.concatenate(member.states(x, t))
        assert (np.abs(states) <= largest).all()  # clipping changed nothing


@check(DEFINITION, grade="sampled", target="printed", supporting=True, cases="2000 pairs, seed 0")
@proof_steps("recurrent-class.md: 4")
def test_the_last_step_is_lipschitz() -> None:
    """The bound of step 4 for a GRU, at tokens of all sizes."""
    torch.manual_seed(1)
    m = 4
    cell = torch.nn.GRUCell(3, m, dtype=torch.float64)
    W, b = cell.weight_hh.detach().numpy() * 3, cell.bias_hh.detach().numpy()
    cell.weight_hh.data *= 3
    U_r, U_s, U_n = np.split(W, 3)
    within = (np.abs(U_n).sum(axis=1) + np.abs(b[2 * m :])).max()
    norms = [np.linalg.norm(part, 2) for part in (U_r, U_s, U_n)]
    bound = 1 + norms[1] / 2 + norms[2] + norms[0] * within / 4
    rng, ratios = np.random.default_rng(0), []
    for _ in range(2000):
        h = rng.uniform(-1, 1, m)
        near = np.clip(h + rng.normal(size=m) * 10.0 ** rng.uniform(-3, 0), -1, 1)
        x = torch.tensor(rng.normal(size=(1, 3)) * 10.0 ** rng.uniform(-2, 4))
        with torch.no_grad():
            images = [cell(x, torch.tensor(one)[None])[0].numpy() for one in (h, near)]
        ratios.append(np.linalg.norm(images[0] - images[1]) / np.linalg.norm(h - near))
    assert max(ratios) <= bound
    assert max(ratios) > 0.9


@check(DEFINITION, grade="numeric", target="printed", cases="N = 5 numbers of 2 bits, 3 prompts")
def test_the_codebook_network_is_a_member() -> None:
    """With transitions that multiply signs, states of norm 1, U = I, and the read-out that decodes."""
    book = Codebook(5, 2)
    Q, D = book.order, book.width

    def step(h: Any, x: Any, t: Any, i: int) -> Any:
        slots = np.zeros(5, dtype=np.int64)
        slots[i] = int(book.quantise(x)[0])
        before = np.sign(h) if h.any() else np.ones(D)  # the first state, 0, stands for the empty word
        return before * book.words(slots)[i] / Q

    def readout(u: Any, w: Any, x: Any, t: Any, i: int) -> float:
        k = int(t[0])
        if k == i:
            return float(x[0])
        state = u if k < i else w
        signs = np.sign(state).astype(np.int64) if state.any() else np.ones(D, dtype=np.int64)
        return float(to_float(book.midpoints(book.decode(signs)))[k])

    member = GeneralRecurrence(step, step, lambda h: h, 1, np.eye(D), np.eye(D), readout)
    for seed in range(3):
        x, t = _prompt(seed, 5, 1)
        assert np.abs(member(x, t) - to_float(book.predict(x[:, 0], t[:, 0]))).max() < 1e-12
