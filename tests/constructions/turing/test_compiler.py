"""The compiler of Turing machines: attention with a null pair, evaluators of the same weights, faults, bad input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from constructions.networks.affine import Affine
from constructions.networks.decoder import DecoderAttention, DecoderLayer, identity_attention
from constructions.turing.compiler import TuringTransformer, compile_turing_machine, layer_table, needed_bits
from constructions.turing.evaluators.dense import dense_memory, run_dense
from constructions.turing.evaluators.exact import run_exact
from constructions.turing.evaluators.torch import run_torch, turing_module
from constructions.turing.invariants import expected_hidden, reference_run, violations
from constructions.turing.layout import TuringLayout, rounding_layers
from constructions.turing.machine import TuringMachine, busy_beaver, palindrome_machine, random_machine
from numerics.exact.balls import as_balls, precision
from numerics.exact.numbers import as_exact, to_float

SEEDS = st.integers(0, 10**6)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Torch runs on one thread: for vectors this short several only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def random_head(seed: int, d: int = 3, m: int = 2, **options: Any) -> DecoderAttention:
    rng = np.random.default_rng(seed)

    def affine(outputs: int) -> Affine:
        return Affine(rng.integers(-2, 3, size=(d, outputs)), rng.integers(-2, 3, size=outputs))

    return DecoderAttention(
        affine(m), affine(m), affine(d), rng.integers(-2, 3, size=m), rng.integers(-2, 3, size=d), **options
    )


def head_by_loops(head: DecoderAttention, z: list[int], memory: list[list[int]]) -> list[fmpq]:
    def affine(layer: Affine, x: list[int]) -> list[int]:
        W, b = layer.weight.tolist(), layer.bias.tolist()
        return [b[j] + sum(x[i] * W[i][j] for i in range(len(x))) for j in range(len(b))]

    query = affine(head.query, z)
    keys = [head.null_key.tolist(), *(affine(head.key, m) for m in memory)]
    values = [head.null_value.tolist(), *(affine(head.value, m) for m in memory)]
    scores = [sum(a * b for a, b in zip(query, key, strict=True)) for key in keys]
    chosen = [v for s, v in zip(scores, values, strict=True) if s == max(scores)]
    return [fmpq(x) + fmpq(sum(v[c] for v in chosen), len(chosen)) for c, x in enumerate(z)]


class TestDecoderAttention:
    @given(seed=SEEDS, n=st.integers(0, 5))
    def test_three_number_systems_agree_with_loops(self, seed: int, n: int) -> None:
        head = random_head(seed)
        rng = np.random.default_rng(seed + 1)
        z, memory = rng.integers(-1, 2, size=3), rng.integers(-1, 2, size=(n, 3))
        expected = head_by_loops(head, z.tolist(), memory.tolist())
        assert head(as_exact(z), as_exact(memory)).tolist() == expected
        # scores are integers, so that ties within 1/2 are exact; a mean of at most six small integers is rounded
        found = head.map(to_float)(z.astype(float), memory.astype(float))
        assert np.abs(found - to_float(expected)).max() < 1e-13
        with precision(100):
            balls = head.map(as_balls)(as_balls(z), as_balls(memory))
        assert all(ball.overlaps(arb(x)) for ball, x in zip(balls, expected, strict=True))

    @given(seed=SEEDS)
    def test_batches_and_hidden_tokens(self, seed: int) -> None:
        """A padded memory with tokens that are not visible equals the shorter memory."""
        rng = np.random.default_rng(seed)
        for options in ({}, {"normalisation": "softmax", "sharpness": 0.7}):
            head = random_head(seed, **options).map(to_float)
            z, memory = rng.normal(size=(2, 3)), rng.normal(size=(2, 4, 3))
            visible = np.array([[True, True, False, False], [True] * 4])
            scores = head.scores(z, head.key(memory))
            batch = head.combine(z, head.probabilities(scores, visible), head.value(memory))
            np.testing.assert_allclose(batch[0], head(z[0], memory[0, :2]), rtol=0, atol=1e-12)
            np.testing.assert_allclose(batch[1], head(z[1], memory[1]), rtol=0, atol=1e-12)

    def test_softmax_tends_to_the_hard_maximum(self) -> None:
        head = random_head(5)
        z, memory = np.array([1.0, -1.0, 2.0]), np.array([[1.0, 0, 1], [1, 0, 1], [0, 2, 0]])
        soft = replace(head, normalisation="softmax", sharpness=200.0).map(to_float)
        np.testing.assert_allclose(soft(z, memory), head.map(to_float)(z, memory), rtol=0, atol=1e-12)
        with pytest.raises(ValueError, match="float64 only"):
            soft.map(as_balls)(as_balls(z), as_balls(memory))

    def test_undecided_ties_of_balls_are_refused(self) -> None:
        one, zero = np.ones((1, 1), dtype=int), np.zeros(1, dtype=int)
        head = DecoderAttention(Affine(one, zero), Affine(one, zero), Affine(one, zero), zero, zero)
        wide = np.array([[arb(0, "1e-5")]], dtype=object)
        with pytest.raises(ValueError, match="undecided"):
            head(np.array([arb(1)], dtype=object), wide)

    def test_bad_heads_are_refused(self) -> None:
        head = random_head(1)
        for changes, message in [
            ({"null_key": np.zeros(3)}, "the shapes are"),
            ({"value": Affine(np.eye(2), np.zeros(2))}, "the shapes are"),
            ({"normalisation": "relu"}, "softmax or hardmax"),
            ({"sharpness": 0.0}, "must be positive"),
            ({"tie_width": -1.0}, "must be positive"),
        ]:
            with pytest.raises(ValueError, match=message):
                replace(head, **changes)  # type: ignore[arg-type]


def random_case(seed: int, longest: int = 14) -> tuple[TuringTransformer, list[tuple[int, ...]]]:
    rng = np.random.default_rng(seed)
    machine = random_machine(rng, int(rng.integers(1, 6)), int(rng.integers(1, 4)))
    rule: Any = ("stay", "two-way")[rng.integers(2)]
    words = [tuple(rng.integers(len(machine.symbols), size=int(rng.integers(6))).tolist()) for _ in range(2)]
    transformer = compile_turing_machine(machine, int(rng.integers(1, longest)), left_end=rule, max_length=6)
    return transformer, words


class TestEvaluators:
    @given(seed=SEEDS)
    def test_dense_exact_and_torch_agree(self, seed: int) -> None:
        """All layers at all times; float32 within 1e-5 (a few roundings of numbers below 10, then the rounding)."""
        transformer, words = random_case(seed)
        exact = [run_exact(transformer, word, hidden=True) for word in words]
        expected = np.array([expected_hidden(transformer, word) for word in words])
        for b, run in enumerate(exact):
            assert np.array_equal(run.hidden[0], expected[b])
        runs = [
            (run_dense(transformer, words, hidden=True), 1e-12),
            (run_torch(transformer.to_torch(), words, hidden=True), 1e-12),
            (run_torch(transformer.to_torch(dtype=torch.float32), words, hidden=True), 1e-5),
        ]
        for run, tolerance in runs:
            assert np.abs(run.hidden - expected).max() < tolerance
            for name in ("states", "symbols", "heads"):
                assert np.array_equal(getattr(run, name), np.concatenate([getattr(e, name) for e in exact]))

    def test_softmax_is_the_same_in_numpy_and_torch(self) -> None:
        """With a smooth temperature, where no rounding to bits hides a difference; the first 6 steps."""
        transformer = compile_turing_machine(palindrome_machine(), 6)
        words = [(1, 2, 1), ()]
        dense = run_dense(transformer, words, softmax=3.3, hidden=True)
        module = run_torch(turing_module(transformer, softmax=3.3), words, hidden=True)
        assert np.abs(dense.hidden - module.hidden).max() < 1e-10

    def test_gradients_pass_through_the_soft_attention(self) -> None:
        """The rounding is flat at bits, so that a layer is differentiated before it: all parts of the head matter."""
        module = turing_module(compile_turing_machine(palindrome_machine(), 4), softmax=0.3)
        head = next(layer.own for layer in module.stack if layer.own is not None)
        z = torch.eye(head.query.weight.shape[0], dtype=torch.float64)[:3]
        memory = torch.stack([z, z.flip(0)], dim=1)
        (head(z, head.key(memory), head.value(memory)) ** 2).sum().backward()
        assert all(bool(part.weight.grad.any()) for part in (head.query, head.key, head.value))

    @given(seed=SEEDS)
    def test_dyadic_rounding_works_too(self, seed: int) -> None:
        transformer, words = random_case(seed, longest=6)
        dyadic = compile_turing_machine(
            transformer.machine, transformer.steps, left_end=transformer.left_end, max_length=6, threshold=fmpq(1, 4)
        )
        run = run_exact(dyadic, words[0], hidden=True)
        assert not violations(dyadic, words[0], run.hidden[0])
        layers = dyadic.layers[0].feed_forward.layers
        weights = {float(x) for layer in layers for array in layer.arrays() for x in array.ravel().tolist()}
        assert weights <= {0, 1, -1, 2, -2, -0.25, -0.75}

    def test_words_of_a_batch_do_not_disturb_each_other(self) -> None:
        transformer = compile_turing_machine(palindrome_machine(), 12)
        words = [(), (1,), (1, 2, 1), (2, 2, 1, 1)]
        batch = run_dense(transformer, words)
        for b, word in enumerate(words):
            alone = run_dense(transformer, [word])
            assert np.array_equal(batch.heads[b], alone.heads[0])
            assert np.array_equal(batch.states[b], alone.states[0])

    def test_outputs_that_are_no_codes_are_marked(self) -> None:
        """With a null key of C.4 that ties with a match, the output is half a symbol: states stay, symbols are -1."""
        transformer = compile_turing_machine(palindrome_machine(), 10)
        layers = list(transformer.layers)
        index = next(i for i, layer in enumerate(layers) if layer.name == "C.4")
        head = layers[index].self_attention
        null = head.null_key.copy()
        null[-1] += 1
        layers[index] = replace(layers[index], self_attention=replace(head, null_key=null))
        run = run_exact(replace(transformer, layers=tuple(layers)), (1, 2, 1))
        assert -1 in run.symbols[0]


class TestCompiler:
    def test_large_numbers_of_steps_compile_without_tables(self) -> None:
        transformer = compile_turing_machine(busy_beaver(5), 47_176_870)
        assert transformer.layout.bits == 27
        assert transformer.start_cell == 47_176_871
        assert len(transformer.layers) == 11 + 27
        assert transformer.beta(5)[transformer.layout.stream["pos1"]][-3:].tolist() == [1, 0, 1]
        with pytest.raises(ValueError, match=r"need \d+\.\d GiB in the dense evaluator"):
            run_dense(transformer, [()])
        with pytest.raises(ValueError, match=r"need \d+\.\d GiB in the torch evaluator"):
            run_torch(transformer.to_torch(), [()])
        with pytest.raises(ValueError, match=r"need \d+\.\d GiB in the exact evaluator"):
            run_exact(transformer, ())

    def test_memory_is_what_the_arrays_take(self) -> None:
        transformer = compile_turing_machine(palindrome_machine(), 10)
        keys = sum(l.self_attention.key.weight.shape[1] + 1 for l in transformer.layers if l.self_attention)
        d = transformer.layout.width
        heads = sum(l.self_attention is not None for l in transformer.layers)
        assert dense_memory(transformer, 3) == 8 * 3 * 11 * (keys - heads + heads * d + d)
        assert dense_memory(transformer, 1, hidden=True) - dense_memory(transformer, 1) == 8 * 11 * 15 * d

    def test_stay_rule_adds_two_layers_that_are_reported(self) -> None:
        machine = random_machine(np.random.default_rng(0), 3, 2, "stay")
        plain, stay = (compile_turing_machine(machine, 5, left_end=rule) for rule in ("refuse", "stay"))
        assert len(stay.layers) == len(plain.layers) + 2
        rows = {row.name: row for row in layer_table(stay)}
        assert (rows["C.2 end"].reads, rows["C.2 end"].writes) == (("pos2",), ("aux",))
        assert (rows["C.2 stay"].reads, rows["C.2 stay"].writes) == (("aux",), ("q",))
        assert compile_turing_machine(machine, 5).left_end == "stay"

    def test_bits_grow_with_steps_rule_and_input(self) -> None:
        assert [needed_bits(T) for T in (1, 2, 3, 6, 7, 30, 31)] == [2, 2, 3, 3, 4, 5, 6]
        assert needed_bits(3, "two-way") == 3
        assert needed_bits(4, "two-way") == 4
        assert needed_bits(2, "refuse", 7) == 3
        assert needed_bits(2, "refuse", 8) == 4
        assert compile_turing_machine(palindrome_machine(), 6).max_length == 7

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"steps": 0}, "steps must be an integer >= 1, not 0"),
            ({"steps": True}, "steps must be an integer"),
            ({"steps": 2.0}, "steps must be an integer"),
            ({"max_length": -1}, "max_length must be an integer >= 0"),
            ({"bits": 0}, "bits must be an integer >= 1"),
            ({"bits": 3}, "need 4 bits of position, not 3"),
            ({"left_end": "wall"}, "left_end is one of"),
            ({"threshold": fmpq(1, 2)}, "between 0 and 1/2"),
        ],
    )
    def test_bad_options_are_refused(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            compile_turing_machine(palindrome_machine(), **{"steps": 10, **options})

    def test_bad_words_are_refused_before_any_work(self) -> None:
        transformer = compile_turing_machine(palindrome_machine(), 6)
        for run in (lambda word: run_dense(transformer, [(), word]), lambda word: run_exact(transformer, word)):
            with pytest.raises(ValueError, match="compiled for at most 7"):
                run((1,) * 8)
            with pytest.raises(ValueError, match=r"the input holds \[-1, 4\]"):
                run((1, 4, -1))
        module = turing_module(transformer)
        for empty in (lambda: run_dense(transformer, []), lambda: run_torch(module, [])):
            with pytest.raises(ValueError, match="at least one word"):
                empty()
        with pytest.raises(ValueError, match="sharpness of a softmax must be positive"):
            turing_module(transformer, softmax=0.0)

    def test_floats_and_softmax_are_refused_by_the_exact_evaluator(self) -> None:
        transformer = compile_turing_machine(palindrome_machine(), 3)
        floats = replace(transformer, layers=tuple(layer.map(to_float) for layer in transformer.layers))
        with pytest.raises(ValueError, match="not the float"):
            run_exact(floats, ())
        soft = tuple(
            replace(
                layer, self_attention=layer.self_attention and replace(layer.self_attention, normalisation="softmax")
            )
            for layer in transformer.layers
        )
        with pytest.raises(ValueError, match="hard attention only"):
            run_exact(replace(transformer, layers=soft), ())

    def test_identity_layers_of_the_width(self) -> None:
        """A layer of zero attention and an identity map keeps bits: how the source pads the depth."""
        layout = TuringLayout(2, 2, 2)
        eye = layout.affine({}, copies=tuple(layout.stream.sizes))
        head = identity_attention(layout.width)
        padding = DecoderLayer("padding", layout.rounded(eye, fmpq(1, 3)), head, head)
        bits = np.random.default_rng(0).integers(0, 2, size=layout.width).astype(float)
        z = padding.map(to_float).feed_forward(head.map(to_float)(bits, bits[None]))
        assert np.abs(z - bits).max() < 1e-14
        assert padding.one_norm == 10 * layout.width

    def test_rounding_is_flat_near_the_bits(self) -> None:
        expand, collapse = rounding_layers(1, fmpq(1, 3))
        values = as_exact([[-5], [0], ["1/3"], ["1/2"], ["2/3"], [1], [7]])
        hidden = np.maximum(expand(values), fmpq(0))
        assert np.maximum(collapse(hidden), fmpq(0))[:, 0].tolist() == [0, 0, 0, fmpq(1, 2), 1, 1, 1]


class TestInvariants:
    def test_run_that_leaves_the_tape_is_refused(self) -> None:
        machine = busy_beaver(2)
        transformer = compile_turing_machine(machine, 6, left_end="refuse")
        with pytest.raises(ValueError, match="moves left from its first cell"):
            reference_run(transformer, ())

    def test_shape_is_checked(self) -> None:
        transformer = compile_turing_machine(palindrome_machine(), 3)
        with pytest.raises(ValueError, match="must have shape"):
            violations(transformer, (), np.zeros((3, 3, 3)))

    def test_every_single_wrong_entry_is_named(self) -> None:
        transformer = compile_turing_machine(palindrome_machine(), 3)
        right = expected_hidden(transformer, (1,)).astype(float)
        rng = np.random.default_rng(0)
        for _ in range(50):
            where = tuple(int(rng.integers(n)) for n in right.shape)
            wrong = right.copy()
            wrong[where] += 0.5
            (found,) = violations(transformer, (1,), wrong, tolerance=1e-9)
            assert (found.time, found.layer) == (where[0], transformer.layers[where[1]].name)
            assert transformer.layout.stream[found.block].start + found.index == where[2]
            assert found.found == found.expected + 0.5
        nan = right.copy()
        nan[1, 2, 3] = np.nan
        assert len(violations(transformer, (1,), nan, tolerance=1e-9)) == 1

    def test_machines_without_terminal_states_answer_zero(self) -> None:
        machine: TuringMachine = random_machine(np.random.default_rng(3), 2, 2)
        transformer = compile_turing_machine(machine, 5)
        assert run_exact(transformer, (1,)).predictions.tolist() == [0]
