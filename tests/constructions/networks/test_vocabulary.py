"""What the shared vocabulary expresses, row by row of the table of ingredients in the design: each ingredient is built
from the vocabulary and compared with a loop over indices. Weights are small integers, so that integer results of
float64 are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.decoding import decode
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head, merged_head
from lemmata.constructions.networks.multiplication import Multiplication
from lemmata.constructions.networks.positions import binary_codes, one_hot_codes, relative_table
from lemmata.constructions.networks.projection import BallProjection, Clipping
from lemmata.constructions.networks.recurrent import RecurrentCell, RecurrentLayer
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.numbers import as_exact, to_float
from lemmata.numerics.groups.codes import near_orthogonal_codes, near_orthogonal_parameters

D = 3
ROUNDING = 1e-11  # scores below 1000, off by one rounding, a softmax off by 3 * 1000 * 2^-53, values below 30


def integers(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-2, 3, size=shape)


def times(row: Any, matrix: Any) -> list[Any]:
    return [sum(row[i] * matrix[i][j] for i in range(len(row))) for j in range(len(matrix[0]))]


def dot(a: Any, b: Any) -> Any:
    return sum(x * y for x, y in zip(a, b, strict=True))


def softmax(scores: Sequence[Any]) -> list[float]:
    weights = [math.exp(float(score)) for score in scores]
    return [weight / math.fsum(weights) for weight in weights]


def hardmax(scores: Sequence[Any]) -> list[Any]:
    best = max(scores)
    return [Fraction(int(score == best), sum(other == best for other in scores)) for score in scores]


def relu_share(scores: Sequence[Any]) -> list[Any]:
    return [Fraction(max(score, 0)) / len(scores) for score in scores]


def attention(
    rows: int,
    score: Callable[[int, int], Any],
    values: Any,
    seen: Callable[[int], Sequence[int]],
    weigh: Callable[[Sequence[Any]], Any] = softmax,
) -> list[list[Any]]:
    """sum_j p_ij v_j for each row i, over the seen j alone, with p_i the weighed scores."""
    result = []
    for i in range(rows):
        places = list(seen(i))
        p = weigh([score(i, j) for j in places])
        result.append([sum(p[a] * values[j][b] for a, j in enumerate(places)) for b in range(len(values[0]))])
    return result


def close(actual: Any, expected: Any) -> bool:
    return bool(np.abs(to_float(actual) - np.array(expected, dtype=float)).max() <= ROUNDING)


def everything(T: int) -> Callable[[int], range]:
    return lambda i: range(T)


def past(i: int) -> range:
    return range(i + 1)


class TestScores:
    """<W_Q h, W_K h'> with or without biases and scaling; one merged matrix; relative keys; free key dimensions."""

    @pytest.mark.parametrize("m", [1, 2, 5])
    @pytest.mark.parametrize("biased", [False, True])
    @pytest.mark.parametrize(("b", "t"), [(1, 1), (3, 1), (1, 2), (2, 4)])
    def test_projected_scores_of_any_key_dimension(self, m: int, biased: bool, b: int, t: int) -> None:
        W, K, V, z = integers(1, D, m), integers(2, D, m), integers(3, D, 2), integers(4, 5, D)
        c, k = (integers(5, m), integers(6, m)) if biased else (np.zeros(m, int), np.zeros(m, int))
        query, key = (Affine(W, c), Affine(K, k)) if biased else (W, K)
        head = Head(query, key, V, sharpness=b, temperature_squared=t, causal=False)  # type: ignore[arg-type]

        def score(i: int, j: int) -> float:
            q, key_of = [times(z[r].tolist(), M.tolist()) for r, M in ((i, W), (j, K))]
            q, key_of = ([x + y for x, y in zip(u, v.tolist(), strict=True)] for u, v in ((q, c), (key_of, k)))
            return b * dot(q, key_of) / math.sqrt(t)

        expected = attention(5, score, (z @ V).tolist(), everything(5))
        assert close(head(z.astype(float)), expected)

    def test_one_merged_matrix(self) -> None:
        """Scores z_i W z_j^T, values the tokens themselves; the identities are no weights, and not trained."""
        W, z = integers(1, D, D), integers(2, 5, D)
        head = merged_head(W, causal=False)
        expected = attention(
            5, lambda i, j: dot(times(z[i].tolist(), W.tolist()), z[j].tolist()), z.tolist(), everything(5)
        )
        assert close(head(z.astype(float)), expected)
        assert close(head.map(as_balls)(as_balls(z)), expected)
        assert (head.count, head.one_norm) == (np.count_nonzero(W), np.abs(W).sum())
        module = head.to_torch()
        assert close(module(torch.tensor(z.astype(float))).detach().numpy(), expected)
        assert [(name, part.tolist()) for name, part in module.named_parameters()] == [("query.weight", W.tolist())]
        assert close(
            merged_head(W, integers(3, D, 2), causal=False)(z.astype(float)), np.array(expected) @ integers(3, D, 2)
        )
        memory = integers(4, 6, 2)  # from a stream of another width
        expected = attention(
            5,
            lambda i, j: dot(times(z[i].tolist(), W[:, :2].tolist()), memory[j].tolist()),
            memory.tolist(),
            everything(6),
        )
        assert close(merged_head(W[:, :2])(z.astype(float), memory.astype(float)), expected)

    def test_relative_keys(self) -> None:
        """The key of the token at distance r has v_r added, nothing beyond the table."""
        W, K, v, z = integers(1, D, 2), integers(2, D, 2), integers(3, 3, 2), integers(4, 6, D)

        def score(i: int, j: int) -> Any:
            key = times(z[j].tolist(), K.tolist())
            if i - j < 3:
                key = [x + y for x, y in zip(key, v[i - j].tolist(), strict=True)]
            return dot(times(z[i].tolist(), W.tolist()), key)

        head = Head(W, K, np.eye(D), relative_keys=v)  # type: ignore[arg-type]
        assert close(head(z.astype(float)), attention(6, score, z.tolist(), past))
        hard = attention(6, score, z.tolist(), past, hardmax)
        exact = Head(W, K, np.eye(D, dtype=int), "hardmax", relative_keys=v)  # type: ignore[arg-type]
        assert (exact(z) == as_exact(hard)).all()

    def test_relative_keys_against_the_kept_keys_of_a_decoder(self) -> None:
        """The last tokens of a sequence score all its keys as in the whole sequence."""
        head = Head(integers(1, D, 2), integers(2, D, 2), np.eye(D), relative_keys=integers(3, 3, 2))  # type: ignore[arg-type]
        z = integers(4, 6, D).astype(float)
        keys = head.key(z)
        whole = head.scores(z, keys)
        module: Any = head.to_torch()
        for count in range(1, 7):
            assert (head.scores(z[-count:], keys) == whole[-count:]).all()
            weights = module.weights(torch.tensor(z[-count:]), torch.tensor(keys)).detach().numpy()
            assert np.abs(weights - head.weights(whole[-count:])).max() <= ROUNDING


class TestNormalisation:
    """Softmax of any temperature, hard maximum with ties averaged, ReLU of the score over the number of tokens."""

    z = integers(7, 5, D)
    W = integers(8, D, D)

    def score(self, i: int, j: int) -> int:
        return int(self.z[i] @ self.W @ self.z[j])

    @pytest.mark.parametrize("sharpness", [Fraction(1, 3), 1, 2])
    def test_softmax(self, sharpness: Any) -> None:
        head = merged_head(self.W, sharpness=sharpness)
        expected = attention(5, lambda i, j: sharpness * self.score(i, j), self.z.tolist(), past)
        assert close(head.map(to_float)(self.z.astype(float)), expected)
        assert close(head.map(as_balls)(as_balls(self.z)), expected)

    def test_hard_maximum_averages_ties(self) -> None:
        z = np.concatenate([self.z, self.z])  # so that every maximum is attained twice
        expected = attention(10, lambda i, j: int(z[i] @ self.W @ z[j]), z.tolist(), everything(10), hardmax)
        head = merged_head(self.W, weigh="hardmax", causal=False)
        assert (head(z) == as_exact(expected)).all()
        assert close(head(z.astype(float)), expected)
        assert close(head.map(as_balls)(as_balls(z)), expected)
        assert all(2 <= sum(p > 0 for p in row) < 10 for row in head.attention(z))

    def test_relu_of_the_score(self) -> None:
        expected = attention(5, self.score, self.z.tolist(), everything(5), relu_share)
        head = merged_head(self.W, weigh="relu", causal=False)
        assert (head(self.z) == as_exact(expected)).all()
        assert close(head(self.z.astype(float)), expected)
        assert close(head.to_torch()(torch.tensor(self.z.astype(float))).detach().numpy(), expected)
        masked = merged_head(self.W, weigh="relu")
        expected = attention(5, self.score, self.z.tolist(), past, relu_share)
        assert (masked(self.z) == as_exact(expected)).all()
        assert close(masked(self.z.astype(float)), expected)
        assert close(masked.to_torch()(torch.tensor(self.z.astype(float))).detach().numpy(), expected)


class TestWhoIsAttended:
    """Causal, full, past only plus a learned null pair, encoder outputs, a class token alone."""

    z = integers(9, 5, D)
    W = integers(10, D, D)

    def score(self, i: int, j: int) -> int:
        return int(self.z[i] @ self.W @ self.z[j])

    def test_causal_and_full(self) -> None:
        for causal, seen in ((True, past), (False, everything(5))):
            expected = attention(5, self.score, self.z.tolist(), seen)
            assert close(merged_head(self.W, causal=causal)(self.z.astype(float)), expected)

    def test_a_mask_hides_more_of_the_past_but_shows_no_future(self) -> None:
        """Every second token from the own one back, through a mask that would show tokens of the future too."""
        seen = np.array([[(i - j) % 2 == 0 for j in range(5)] for i in range(5)])
        expected = attention(5, self.score, self.z.tolist(), lambda i: [j for j in range(i + 1) if (i - j) % 2 == 0])
        head = merged_head(self.W)
        assert close(head(self.z.astype(float), visible=seen), expected)
        assert close(head.map(as_balls)(as_balls(self.z), visible=seen), expected)
        output = head.to_torch()(torch.tensor(self.z.astype(float)), visible=torch.tensor(seen))
        assert close(output.detach().numpy(), expected)

    def test_the_strict_past_and_a_learned_null_pair(self) -> None:
        """The first token sees the null pair alone; the pair is trained."""
        key, value = integers(11, D), integers(12, D)
        head = merged_head(self.W, weigh="hardmax", null=(key, value))
        strict = np.tril(np.ones((5, 5), dtype=bool), -1)

        def with_null(weigh: Any) -> list[list[Any]]:
            """The null pair is the token -1."""
            return attention(
                5,
                lambda i, j: int(self.z[i] @ self.W @ key) if j < 0 else self.score(i, j),
                [*self.z.tolist(), value.tolist()],
                lambda i: range(-1, i),
                weigh,
            )

        assert (head(self.z, visible=strict) == as_exact(with_null(hardmax))).all()
        assert head(self.z, visible=strict)[0].tolist() == value.tolist()
        soft = merged_head(self.W, null=(key, value))
        assert close(soft(self.z.astype(float), visible=strict), with_null(softmax))
        module = soft.to_torch()
        output = module(torch.tensor(self.z.astype(float)), visible=torch.tensor(strict))
        assert close(output.detach().numpy(), with_null(softmax))
        assert {name for name, _ in module.named_parameters()} == {"query.weight", "null_key", "null_value"}

    def test_outputs_of_an_encoder(self) -> None:
        """Of another width, and of another length for each sequence of a batch."""
        K, V, memory = integers(13, 2, D), integers(14, 2, 4), integers(15, 2, 6, 2)
        head = Head(Affine(self.W), Affine(K), Affine(V), causal=False)
        lengths = [6, 4]
        visible = np.array([[j < length for j in range(6)] for length in lengths])[:, None, :]
        output = head(np.stack([self.z, self.z]).astype(float), memory.astype(float), visible)
        for b, length in enumerate(lengths):
            keys = (memory[b] @ K).tolist()
            scores = (self.z @ self.W).tolist()
            expected = attention(
                5, lambda i, j, k=keys, s=scores: dot(s[i], k[j]), (memory[b] @ V).tolist(), everything(length)
            )
            assert close(output[b], expected)

    def test_a_class_token_alone(self) -> None:
        """It stands in front, takes part in its own softmax, and is all that is left."""
        token = integers(16, D)
        stream = np.concatenate([[token], self.z])
        layer = AttentionLayer((merged_head(self.W, causal=False),), attending="first")
        score = [int(token @ self.W @ row) for row in stream]
        p = softmax(score)
        expected = [token[b] + sum(p[j] * stream[j, b] for j in range(6)) for b in range(D)]
        output = layer(stream.astype(float))
        assert output.shape == (1, D)
        assert close(output[0], expected)
        assert close(layer.to_torch()(torch.tensor(stream.astype(float))).detach().numpy()[0], expected)


class TestHeads:
    """Summed into the residual stream, or concatenated without a residual."""

    z = integers(17, 5, D)

    def outputs(self) -> tuple[tuple[Head, Head], list[np.ndarray]]:
        W, U = integers(18, D, D), integers(19, D, D)
        values = [integers(20, D, D), integers(21, D, D)]
        expected = [
            np.array(attention(5, lambda i, j, M=M: int(self.z[i] @ M @ self.z[j]), (self.z @ V).tolist(), past))
            for M, V in zip((W, U), values, strict=True)
        ]
        return (merged_head(W, values[0]), merged_head(U, values[1])), expected

    def test_summed_into_the_stream(self) -> None:
        heads, expected = self.outputs()
        assert close(AttentionLayer(heads)(self.z.astype(float)), self.z + expected[0] + expected[1])

    def test_concatenated_without_a_residual(self) -> None:
        heads, expected = self.outputs()
        layer = AttentionLayer(heads, "concatenate")
        assert close(layer(self.z.astype(float)), np.concatenate(expected, axis=-1))
        module = layer.to_torch()
        assert close(module(torch.tensor(self.z.astype(float))).detach().numpy(), np.concatenate(expected, axis=-1))

    def test_an_activation_between_head_and_output_matrix(self) -> None:
        """Y = relu(RowSoftmax(Z W_QK Z^T) Z W_V) W_C of one head, and the sum over heads, as two layers."""
        heads, expected = self.outputs()
        C = integers(22, 2 * D, D)
        combined = FeedForward((Affine.identity(2 * D), Affine(C)), activations=("relu", "identity"))
        output = combined(AttentionLayer(heads, "concatenate")(self.z.astype(float)))
        by_head = [np.maximum(part, 0) @ C[D * h : D * (h + 1)] for h, part in enumerate(expected)]
        assert close(output, by_head[0] + by_head[1])


class TestTokenWiseMaps:
    """ReLU layers with or without residual, GeLU, element-wise multiplication, projection on a ball, clipping."""

    z = integers(23, 5, D)

    @pytest.mark.parametrize("depth", [1, 2, 3, 5])
    @pytest.mark.parametrize("residual", [False, True])
    @pytest.mark.parametrize("last", ["relu", "identity"])
    def test_layers_of_relu(self, depth: int, residual: bool, last: Any) -> None:
        maps = [(integers(24 + k, D, D), integers(30 + k, D)) for k in range(depth)]
        activations = ("relu",) * (depth - 1) + (last,)
        network = FeedForward(tuple(Affine(W, b) for W, b in maps), residual, activations)
        for row, output in zip(self.z.tolist(), network(self.z).tolist(), strict=True):
            hidden = row
            for (W, b), name in zip(maps, activations, strict=True):
                hidden = [x + c for x, c in zip(times(hidden, W.tolist()), b.tolist(), strict=True)]
                hidden = [max(x, 0) for x in hidden] if name == "relu" else hidden
            assert output == ([x + y for x, y in zip(row, hidden, strict=True)] if residual else hidden)
        module = network.to_torch()
        assert (module(torch.tensor(self.z.astype(float))).detach().numpy() == to_float(network(self.z))).all()

    def test_gelu(self) -> None:
        """x Phi(x), with Phi by the error function of the standard library."""
        W, U = integers(36, D, 4), integers(37, 4, D)
        network = FeedForward((Affine(W), Affine(U)), residual=True, activations=("gelu", "identity"))
        expected = [
            [
                x
                + sum(h * (1 + math.erf(h / math.sqrt(2))) / 2 * U[k, b] for k, h in enumerate(times(row, W.tolist())))
                for b, x in enumerate(row)
            ]
            for row in self.z.tolist()
        ]
        assert close(network(self.z.astype(float)), expected)
        assert close(network.map(as_balls)(as_balls(self.z)), expected)
        assert close(network.to_torch()(torch.tensor(self.z.astype(float))).detach().numpy(), expected)

    def test_element_wise_multiplication(self) -> None:
        """z + sum_m <z W_Q^m, z W_K^m> z W_V^m, no other token taking part: here of two heads, exactly."""
        Q, K, V = integers(43, 2, D, 2), integers(44, 2, D, 2), integers(45, 2, D, D)
        layer = Multiplication(Q, K, V)
        for row, output in zip(self.z.tolist(), layer(self.z).tolist(), strict=True):
            expected = row
            for W, U, C in zip(Q.tolist(), K.tolist(), V.tolist(), strict=True):
                factor = dot(times(row, W), times(row, U))
                expected = [x + factor * y for x, y in zip(expected, times(row, C), strict=True)]
            assert output == expected
        assert close(layer.to_torch()(torch.tensor(self.z.astype(float))).detach().numpy(), to_float(layer(self.z)))

    def test_projection_and_clipping(self) -> None:
        """A block of attention, ReLU and projections: P(relu(P(f(Z))) W_C)."""
        W, C = integers(38, D, D), integers(39, D, D)
        block = (
            AttentionLayer((merged_head(W, causal=False),), "concatenate"),
            BallProjection(D),
            FeedForward((Affine.identity(D), Affine(C)), activations=("relu", "identity")),
            BallProjection(D),
            Clipping(D, Fraction(-1, 4), Fraction(1, 4)),
        )

        def projected(row: list[float]) -> list[float]:
            return [x / max(1, math.sqrt(dot(row, row))) for x in row]

        z: Any = self.z.astype(float)
        for layer in block:
            z = layer(z)
        heads = attention(5, lambda i, j: int(self.z[i] @ W @ self.z[j]), self.z.tolist(), everything(5))
        rows = [projected(times([max(x, 0) for x in projected(row)], C.tolist())) for row in heads]
        assert close(z, [[min(max(x, -0.25), 0.25) for x in row] for row in rows])
        assert max(abs(x) for row in rows for x in row) > 0.25


class TestPositions:
    """One-hot, binary with the most significant bit first, near-orthogonal, relative tables, a token in front."""

    def test_one_hot_positions_look_up_another_place(self) -> None:
        """Token i attends to the place that its pointer names, among one-hot codes: exactly, by the hard maximum."""
        T, stream = 6, ResidualStream({"x": 1, "place": 6, "pointer": 6})
        pointers = [3, 0, 5, 5, 1, 2]
        codes = one_hot_codes(T)
        z = stream.rows(T, {"x": np.arange(10, 16)[:, None], "place": codes, "pointer": codes[pointers]})
        scores = stream.matrix({("pointer", "place"): np.eye(T, dtype=int)})
        read = stream.matrix({("x", "x"): 1})
        output = merged_head(scores, read, weigh="hardmax", causal=False)(z)
        assert stream.directions("x").of(output).ravel().tolist() == [10 + p for p in pointers]

    def test_binary_positions_look_up_another_place(self) -> None:
        """The same with signs 2 b - 1 of binary codes, whose scores are largest at equal codes alone."""
        T, stream = 6, ResidualStream({"x": 1, "place": 3, "pointer": 3})
        pointers = [3, 0, 5, 5, 1, 2]
        codes = 2 * binary_codes(T) - 1
        z = stream.rows(T, {"x": np.arange(10, 16)[:, None], "place": codes, "pointer": codes[pointers]})
        scores = stream.matrix({("pointer", "place"): np.eye(3, dtype=int)})
        output = merged_head(scores, stream.matrix({("x", "x"): 1}), weigh="hardmax", causal=False)(z)
        assert stream.directions("x").of(output).ravel().tolist() == [10 + p for p in pointers]

    def test_near_orthogonal_positions_look_up_another_place(self) -> None:
        """Softmax with the margin A/2: 64 codes in 16 dimensions, off by at most 2 (N - 1) e^(-A/2) max|x|."""
        N, A, stream = 64, 60, ResidualStream({"x": 1, "place": 16, "pointer": 16})
        codes = near_orthogonal_codes(N, *near_orthogonal_parameters(N)) / 4
        pointers = np.random.default_rng(1).integers(0, N, size=N)
        x = np.random.default_rng(2).uniform(-1, 1, size=(N, 1))
        z = stream.rows(N, {"x": x, "place": codes, "pointer": codes[pointers]}).astype(float)
        scores = A * stream.matrix({("pointer", "place"): np.eye(16)}).astype(float)
        output = merged_head(scores, stream.matrix({("x", "x"): 1}).astype(float), causal=False)(z)
        error = np.abs(stream.directions("x").of(output) - x[pointers]).max()
        assert error <= 2 * (N - 1) * math.exp(-A / 2)

    def test_a_relative_table_and_a_token_in_front(self) -> None:
        """The head that reads the token before: the first token reads the marked beginning of the sequence."""
        stream = ResidualStream({"x": 1, "bos": 1, "one": 1})
        rows = {"x": np.array([[0], [7], [8], [9]]), "bos": np.array([[1], [0], [0], [0]]), "one": np.ones((4, 1), int)}
        z = stream.rows(4, rows)
        one = stream.matrix({("one", "one"): 1})
        head = Head(
            Affine(one), Affine(0 * one), Affine(stream.matrix({("x", "x"): 1, ("bos", "bos"): 1})), "hardmax",
            relative_keys=relative_table({1: [0, 0, 1]}, 3),
        )  # fmt: skip
        output = head(z)
        assert stream.directions("x").of(output).ravel().tolist() == [0, 0, 7, 8]
        assert stream.directions("bos").of(output).ravel().tolist() == [1, 1, 0, 0]


class TestTime:
    """One pass over a sequence; a decoder that is fed its output; recurrent cells in one or two directions."""

    def test_a_decoder_counts(self) -> None:
        """Its attention copies the last token (recency by a relative key), a token-wise map adds one."""
        stream = ResidualStream({"count": 1, "one": 1})
        one = stream.matrix({("one", "one"): 1})
        copy = Head(
            Affine(one), Affine(0 * one), Affine.identity(2), "hardmax", relative_keys=relative_table({0: [0, 1]}, 2)
        )
        increment = Affine(stream.matrix({("count", "count"): 1, ("one", "one"): 1, ("one", "count"): 1}))
        layers = [AttentionLayer((copy,), "concatenate"), FeedForward((increment,))]
        outputs = decode(layers, np.array([[5, 1]]), 4)
        assert stream.directions("count").of(outputs).ravel().tolist() == [6, 7, 8, 9]

    def test_recurrent_networks_sum_the_past_and_the_future(self) -> None:
        """Transitions h + x, projected; before a token, from both sides; the read-out adds the token."""
        transition = FeedForward((Affine(np.array([[0], [1]])),), activations=("identity",))
        cell = RecurrentCell(transition, residual=True, bound=BallProjection(1, 100))
        layer = RecurrentLayer(cell, cell, moment="before", keep_token=True, readout=Affine(np.array([[1], [10], [0]])))
        x = [3, -1, 4, 1, 5]
        expected = [sum(x[:i]) + 10 * sum(x[i + 1 :]) for i in range(5)]
        assert layer(np.array(x)[:, None]).ravel().tolist() == expected


class TestReadOut:
    """Linear, two-layer, a named group of coordinates."""

    def test_read_outs(self) -> None:
        stream = ResidualStream({"x": 2, "answer": 1})
        z = integers(40, 5, 3)
        linear = Affine(stream.readout(1, {"x": [[1], [-1]]}))
        two_layer = FeedForward(
            (Affine(integers(41, 3, 4)), Affine(integers(42, 4, 1))), activations=("relu", "identity")
        )
        for row, a, b, c in zip(z, linear(z), two_layer(z), stream.directions("answer").of(z), strict=True):
            assert a.tolist() == [row[0] - row[1]]
            assert b.tolist() == times([max(h, 0) for h in times(row, integers(41, 3, 4))], integers(42, 4, 1))
            assert c.tolist() == [row[2]]
