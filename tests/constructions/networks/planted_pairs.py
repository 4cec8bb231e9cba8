"""Transformers for a, b, = by hand, with tensors named as in a HookedTransformer, and their forward pass by loops."""

from collections.abc import Callable, Sequence
from math import cos, exp, pi

import numpy as np

Neuron = tuple[float, Callable[[int], float], Callable[[int], float], Callable[[int], float]]


def wave(n: int, frequency: int, phase: float, amplitude: float = 1.0) -> Callable[[int], float]:
    """amplitude cos(2 pi (phase + frequency x/n))."""
    return lambda x: amplitude * cos(2 * pi * (phase + frequency * x / n))


def planted(n: int, neurons: Sequence[Neuron]) -> dict[str, np.ndarray]:
    """The transformer sum_i relu(m_i + u_i(a) + v_i(b)) w_i(c) of neurons (m, u, v, w), exactly.

    Tokens are one-hot. The first head sees the first position alone, and copies its token to one block of the stream,
    the second head the second position: their scores differ by 1000, and exp(-1000) is no float. The MLP writes to a
    block that nothing else writes to, and that the readout reads.
    """
    token, left, right, answer = (slice(k * n, (k + 1) * n) for k in range(4))
    places, equals, d, m = (4 * n, 4 * n + 1), 4 * n + 2, 4 * n + 3, len(neurons)
    state = {
        "embed.W_E": np.zeros((n + 1, d)),
        "pos_embed.W_pos": np.zeros((3, d)),
        **{f"blocks.0.attn.W_{part}": np.zeros((2, d, n)) for part in "QKV"},
        "blocks.0.attn.W_O": np.zeros((2, n, d)),
        "blocks.0.mlp.W_in": np.zeros((d, m)),
        "blocks.0.mlp.b_in": np.array([neuron[0] for neuron in neurons], dtype=float),
        "blocks.0.mlp.W_out": np.zeros((m, d)),
        "unembed.W_U": np.zeros((d, n)),
    }
    state["embed.W_E"][:n, token] = np.eye(n)
    state["embed.W_E"][n, equals] = 1
    for head, (place, block) in enumerate(zip(places, (left, right), strict=True)):
        state["pos_embed.W_pos"][head, place] = 1
        state["blocks.0.attn.W_Q"][head, equals, 0] = 1000 * n**0.5
        state["blocks.0.attn.W_K"][head, place, 0] = 1
        state["blocks.0.attn.W_V"][head, token] = np.eye(n)
        state["blocks.0.attn.W_O"][head, :, block] = np.eye(n)
    for block, part in ((left, 1), (right, 2)):
        state["blocks.0.mlp.W_in"][block] = [[neuron[part](x) for neuron in neurons] for x in range(n)]
    state["blocks.0.mlp.W_out"][:, answer] = [[neuron[3](c) for c in range(n)] for neuron in neurons]
    state["unembed.W_U"][answer] = np.eye(n)
    return state


def aligned(n: int, phases: int = 5, error: float = 0.0) -> list[Neuron]:
    """Waves of all frequencies below n/2, all pairs of so many phases, and their sum, wrong by an error, in turns."""
    return [
        (0.0, wave(n, z, s / phases), wave(n, z, t / phases), wave(n, z, (s + t) / phases + error))
        for z in range(1, (n + 1) // 2)
        for s in range(phases)
        for t in range(phases)
    ]


def memorising(n: int) -> list[Neuron]:
    """One unit for every cell: relu(1[a = i] + 1[b = j] - 1) is 1 on the cell (i, j) alone, and answers i + j."""

    def at(i: int) -> Callable[[int], float]:
        return lambda x: float(x == i)

    return [(-1.0, at(i), at(j), at((i + j) % n)) for i in range(n) for j in range(n)]


def random_state(n: int, d: int = 5, heads: int = 2, units: int = 4, seed: int = 0) -> dict[str, np.ndarray]:
    """Normal weights, and biases everywhere."""
    rng = np.random.default_rng(seed)
    shapes = {
        "embed.W_E": (n + 1, d),
        "pos_embed.W_pos": (4, d),
        **{f"blocks.0.attn.W_{part}": (heads, d, 3) for part in "QKV"},
        **{f"blocks.0.attn.b_{part}": (heads, 3) for part in "QKV"},
        "blocks.0.attn.W_O": (heads, 3, d),
        "blocks.0.attn.b_O": (d,),
        "blocks.0.mlp.W_in": (d, units),
        "blocks.0.mlp.b_in": (units,),
        "blocks.0.mlp.W_out": (units, d),
        "blocks.0.mlp.b_out": (d,),
        "unembed.W_U": (d, n + 1),
        "unembed.b_U": (n + 1,),
    }
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


def loops(state: dict[str, np.ndarray], a: int, b: int) -> tuple[list[float], list[float]]:
    """The pre-activations and all logits at the token = behind a and b, by the definition, number by number."""
    E, P = state["embed.W_E"], state["pos_embed.W_pos"]
    d, tokens = E.shape[1], (a, b, len(E) - 1)
    x = [[E[token, i] + P[place, i] for i in range(d)] for place, token in enumerate(tokens)]

    def through(rows, weight, bias):
        return [sum(rows[i] * weight[i, j] for i in range(len(rows))) + bias[j] for j in range(weight.shape[1])]

    def named(name, size):
        return state.get(name, np.zeros(size))

    stream = [value + shift for value, shift in zip(x[2], named("blocks.0.attn.b_O", d), strict=True)]
    heads, _, k = state["blocks.0.attn.W_Q"].shape
    for h in range(heads):
        q = through(x[2], state["blocks.0.attn.W_Q"][h], named("blocks.0.attn.b_Q", (heads, k))[h])
        keys, values = (
            [
                through(row, state[f"blocks.0.attn.W_{part}"][h], named(f"blocks.0.attn.b_{part}", (heads, k))[h])
                for row in x
            ]
            for part in "KV"
        )
        scores = [sum(s * t for s, t in zip(q, key, strict=True)) / k**0.5 for key in keys]
        weights = [exp(score - max(scores)) for score in scores]
        mixed = [sum(w * value[i] for w, value in zip(weights, values, strict=True)) / sum(weights) for i in range(k)]
        added = through(mixed, state["blocks.0.attn.W_O"][h], np.zeros(d))
        stream = [one + more for one, more in zip(stream, added, strict=True)]
    z = through(stream, state["blocks.0.mlp.W_in"], named("blocks.0.mlp.b_in", state["blocks.0.mlp.W_in"].shape[1]))
    added = through([max(0.0, one) for one in z], state["blocks.0.mlp.W_out"], named("blocks.0.mlp.b_out", d))
    W_U = state["unembed.W_U"]
    final = [one + more for one, more in zip(stream, added, strict=True)]
    return z, through(final, W_U, named("unembed.b_U", W_U.shape[1]))
