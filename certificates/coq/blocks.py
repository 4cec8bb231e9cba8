"""Blocks.v: the matrices of three blocks of in-context gradient descent, number by number, as this library builds them.

The blocks are those of `lemmata.constructions.descent.block`, with every head as matrices. Coq computes that they are
the matrices that `block` of Descent.v defines for all sizes, and concludes that they make a step of gradient descent:
neither this module nor the construction is trusted. A test makes the file anew and compares.

    python -m lemmata.certificates.coq.blocks          writes the file again
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np
from flint import fmpq

from lemmata.certificates.coq.compiler import THEORY
from lemmata.constructions.descent.block import DescentBlock, gradient_descent_block
from lemmata.constructions.descent.layout import PromptLayout
from lemmata.constructions.descent.step import StepLayer
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.multiplication import Multiplication
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.systems import Array
from lemmata.numerics.functions.relu_sums import (
    affine,
    constant,
    identity,
    relu,
    relu_derivative,
    squared_loss_derivative,
)
from lemmata.numerics.runs.files import write_atomically

__all__ = ["FILE", "blocks_file", "layer_term", "place_terms"]

FILE = THEORY / "Blocks.v"

HEAD = """\
(** Three blocks as the library builds them, number by number (written by blocks.py; [Exported.v] says what it means).

    The order of the places is that of the coordinates in the library.  What is
    claimed of each block stands at its end. *)

From Coq Require Import Reals QArith List.
From Lemmata Require Import Statement Descent Gradient Exported.
Import ListNotations.
Local Open Scope nat_scope.
"""

CLAIM = """\
Lemma {name}_order : places {name} = {name}_places.
Proof. reflexivity. Qed.
Lemma {name}_same : is_block {name} {name}_matrices = true.
Proof. vm_cast_no_check (eq_refl true). Qed.
Lemma {name}_fits : fits {name} {slack} {bounds} = true.
Proof. vm_cast_no_check (eq_refl true). Qed.

Theorem {name}_step (x y : nat -> nat -> R) (w : nat -> nat -> nat -> R) :
  (forall l, (l < {inputs})%nat -> Rabs (x {examples}%nat l) <= Q2R {bound}) -> in_box {name} w ->{premise}
  exists G, is_gradient {name} {activation} squared x y w G /\\
    makes {name} (map (layer_of {name}_places) {name}_matrices) x y w (stepped {name} w G).
Proof.
  intros X B{intro}; exact ({by} {name} {name}_matrices {bounds} {name}_same eq_refl x y w X B{arguments}).
Qed.
"""


@dataclass(frozen=True)
class Exported:
    """A block with the words of Gradient.v for what it is about.

    Attributes:
        name: of the problem in Coq.
        block: as the library builds it.
        sums: the names of the activation, of its derivative and of the derivative of the loss.
        activation: what the activation is, a function of Coq.
        slack: s, where the activation is at most s + |t| in size.
        by: the theorem of Exported.v.
        window: delta, of a ReLU network; else None.
    """

    name: str
    block: DescentBlock
    sums: tuple[str, str, str]
    activation: str
    slack: fmpq
    by: str
    window: fmpq | None = None

    def bounds(self) -> list[fmpq]:
        """Of the inputs, and of the outputs of each layer."""
        return [self.block.input_bound, *(self.slack + rho for rho in self.block.preactivations)]


def blocks_file() -> str:
    """The text of Blocks.v, in lines of at most 120 characters."""
    lines = "\n".join([HEAD, *map(_block, _exported())]).splitlines()
    return "\n".join(fill(line, 120, subsequent_indent=8 * " ") for line in lines) + "\n"


def _exported() -> Iterable[Exported]:
    one, residual = constant(1), squared_loss_derivative()
    block = gradient_descent_block((2, 3, 1), 5, "1/10", identity(), one, residual, (-1, 1), 1, 1)
    words = ("identity_sum", "one_sum", "residual_sum")
    yield Exported("linear", block, words, "(fun t => t)", fmpq(0), "linear_descends")

    lower = np.array([fmpq(-k, 4) for k in range(1, 9)], dtype=object)  # another interval for each of the 8 weights
    block = gradient_descent_block((1, 2, 2, 1), 2, "3/7", affine(1, 1), one, residual, (lower, 1 - lower), 2, 1)
    words = ("shifted_sum", "one_sum", "residual_sum")
    yield Exported("deep", block, words, "(fun t => 1 + t)", fmpq(1), "affine_descends")

    delta = fmpq(1, 4)
    block = gradient_descent_block((2, 2, 2), 3, "1/3", relu(), relu_derivative(delta), residual, (-1, 2), 1, "1/2")
    words = ("relu_sum", f"(step_sum {_number(delta)})", "residual_sum")
    yield Exported("rectified", block, words, "relu", fmpq(0), "relu_descends", delta)


def _block(one: Exported) -> str:
    block, name = one.block, one.name
    widths = block.layout.widths
    ends = (
        "weights_of_table " + _nested([V.tolist() for V in block.layout.matrices(end)])
        for end in (block.lower, block.upper)
    )
    width = f"fun j => nth j {_list(map(str, widths))} O"
    problem = (
        f"Problem {block.layout.depth} ({width}) {block.examples} {_number(block.step_size)}\n  {' '.join(one.sums)}\n"
        + "".join(f"  ({end})\n" for end in ends)
        + f"  {_number(block.mask_bound)}"
    )
    layers = ";\n  ".join(layer_term(layer) for layer in block.dense().layers)
    premise, arguments = "", " eq_refl eq_refl"
    if one.window is not None:
        premise = (
            f"\n  (forall i j k, (i < {block.examples})%nat -> (1 <= j <= {block.layout.depth})%nat -> "
            f"(k < width {name} j)%nat ->\n"
            f"    let t := argument {name} relu w (x i) j k in t < 0 \\/ Q2R {_number(one.window)} <= t) ->"
        )
        arguments = f" {_number(one.window)} eq_refl eq_refl eq_refl"
    claim = CLAIM.format(
        name=name,
        slack=_number(one.slack),
        bounds=_list(map(_number, one.bounds())),
        inputs=widths[0],
        examples=block.examples,
        bound=_number(block.input_bound),
        premise=premise,
        activation=one.activation,
        intro=" M" if premise else "",
        by=one.by,
        arguments=f"{arguments} {name}_fits" + (" M" if premise else ""),
    )
    return "\n".join(
        [
            f"Definition {name} : problem := {problem}.",
            f"Definition {name}_places : list place :=\n  {_list(place_terms(block.layout))}.",
            f"Definition {name}_matrices : list layer_matrices := [\n  {layers}].",
            "Local Open Scope R_scope.",
            claim,
            "Local Close Scope R_scope.",
            "",
        ]
    )


def place_terms(layout: PromptLayout) -> list[str]:
    """The coordinates of a token, in order, as terms of the type ``place``."""
    result = []
    for name, size in layout.stream.sizes.items():
        kind, j = name.rstrip("0123456789"), name.lstrip("xywprsgt'")
        for i in range(size):
            match kind:
                case "x":
                    term = f"Output 0 {i}"
                case "y":
                    term = f"Label {i}"
                case "w":
                    term = f"Weight {j} {i // layout.widths[int(j) - 1]} {i % layout.widths[int(j) - 1]}"
                case "p":
                    term = f"Output {j} {i}"
                case "r'":
                    term = f"Slope {int(j) + 1} {i}"
                case "g":
                    term = f"Loss {i}"
                case "s":
                    term = f"Error {j} {i}"
                case _:
                    term = "One" if name == "1" else "Example"
            result.append(term)
    return result


def layer_term(layer: StepLayer | FeedForward | Multiplication) -> str:
    """A layer with matrices as a term of the type ``layer_matrices``.

    Raises:
        ValueError: for a layer that is none of the three kinds: heads with ReLU that see all tokens, on a residual
            stream; one hidden layer of ReLUs with a residual; multiplication within a token; all without biases.
    """
    match layer:
        case AttentionLayer(combination="residual", attending="all") if all(map(_plain, layer.heads)):
            heads = [(head.query.weight, head.key.weight, head.value.weight) for head in layer.heads]
            return f"AttentionMatrices {_heads(heads)}"
        case FeedForward(residual=True, activations=("relu", "identity")) if not any(map(_biased, layer.layers)):
            first, second = (_matrix(part.weight) for part in layer.layers)
            return f"MlpMatrices {layer.unit_count}\n    {first}\n    {second}"
        case Multiplication():
            return f"MultiplyMatrices {_heads(zip(layer.query, layer.key, layer.value, strict=True))}"
    raise ValueError(f"Descent.v has no layer of this kind: {layer!r}.")


def _plain(head: Head) -> bool:
    """Whether a head has scores <z W_Q, z' W_K>, their ReLUs over the number of tokens, and values z' W_V alone."""
    bare = head.weigh == "relu" and not head.causal and head.sharpness == head.temperature_squared == 1
    bare = bare and head.null is None and head.output is None and not len(head.relative_keys)
    return bare and not any(map(_biased, (head.query, head.key, head.value)))


def _biased(part: Affine) -> bool:
    return part.bias.size > 0


def _heads(heads: Iterable[tuple[Array, Array, Array]]) -> str:
    terms = (
        f"HeadMatrices {query.shape[1]} {_matrix(query)} {_matrix(key)}\n      {_matrix(value)}"
        for query, key, value in heads
    )
    return "[\n    " + ";\n    ".join(terms) + "]"


def _matrix(array: Array) -> str:
    """The entries that are not zero: row, column, number."""
    exact = as_exact(array)
    found = np.argwhere((exact != 0).astype(bool)).tolist()
    return _list(f"({i}, {j}, {_number(exact[i, j])})" for i, j in found)


def _number(value: fmpq) -> str:
    return f"({value.p} # {value.q})"


def _nested(value: Any) -> str:
    return _list(map(_nested, value)) if isinstance(value, list) else _number(value)


def _list(terms: Iterable[str]) -> str:
    return f"[{'; '.join(terms)}]"


if __name__ == "__main__":
    write_atomically(blocks_file().encode(), FILE)
