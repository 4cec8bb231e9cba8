"""Thirty checkpoints of six kinds, as people have them: their tensors, and a forward pass for those with a number.

Tokens are 0, 1, 2 at three positions, streams have width 4, unless a kind says otherwise. A forward pass gives, for
contexts (B, 3), the outputs that `lemmata capacity` bounds and the attention weights of each head at the last position.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import nn

import lemmata as lm
from tests.constructions.networks.planted_pairs import aligned, planted, random_state

Forward = Callable[[torch.Tensor], tuple[torch.Tensor, list[torch.Tensor]]]
TOKENS, PLACES, WIDTH = 3, 3, 4


@dataclass(frozen=True)
class Made:
    """A checkpoint: its tensors, what `lemmata capacity` must be told, and its forward pass, if there is one."""

    state: dict[str, torch.Tensor]
    told: tuple[str, ...] = ()
    forward: Forward | None = None


class Reader(nn.Module):
    """Heads of torch between an embedding with positions and a readout of the last token, perhaps with a perceptron."""

    def __init__(self, heads: int = 1, *, bias: bool = True, residual: bool = False, perceptron: bool = False) -> None:
        super().__init__()
        self.residual = residual
        self.emb = nn.Embedding(TOKENS, WIDTH)
        self.pos = nn.Parameter(torch.randn(PLACES, WIDTH))
        self.attn = nn.MultiheadAttention(WIDTH, heads, bias=bias, batch_first=True)
        if perceptron:
            self.linear1, self.linear2 = nn.Linear(WIDTH, 5), nn.Linear(5, WIDTH)
        self.readout = nn.Linear(WIDTH, 1, bias=bias)

    def forward(self, tokens: torch.Tensor) -> tuple[torch.Tensor, list[torch.Tensor]]:
        x = self.emb(tokens) + self.pos
        y, weights = self.attn(x[:, -1:], x, x, average_attn_weights=False)
        stream = y[:, 0] + (x[:, -1] if self.residual else 0)
        if hasattr(self, "linear1"):
            stream = stream + self.linear2(torch.relu(self.linear1(stream)))
        return self.readout(stream)[:, 0], list(weights[:, :, 0].unbind(1))


def drawn(seed: int, heads: int = 1, change: Callable[[Reader], None] | None = None, **options: bool) -> Reader:
    """A reader with normal weights and biases, perhaps changed."""
    torch.manual_seed(seed)
    module = Reader(heads, **options).double()
    with torch.no_grad():
        for weight in module.parameters():
            weight.normal_()
        if change is not None:
            change(module)
    return module


def of_torch(module: Reader, *told: str, rename: Callable[[str], str] = str) -> Made:
    """The state dict of a reader under other names."""
    state = {rename(name): value.detach() for name, value in module.state_dict().items()}
    heads = ("--heads", str(module.attn.num_heads))
    return Made(state, (*heads, *told), module)


def cancelling(module: Reader) -> None:
    """Two heads with scores of opposite sign, and values that nearly cancel behind the output map."""
    module.attn.in_proj_weight[2:4] = -module.attn.in_proj_weight[:2]
    module.attn.in_proj_weight[10:] = module.attn.in_proj_weight[8:10]
    module.attn.out_proj.weight[:, 2:] = -module.attn.out_proj.weight[:, :2]


def hidden(module: Reader) -> None:
    """The same norms of values, but a factor 1000 in the readout is taken out of the heads."""
    module.readout.weight *= 1000
    module.attn.out_proj.weight /= 1000


def zeros(module: Reader) -> None:
    """Heads that are nothing."""
    module.attn.in_proj_weight.zero_()
    module.attn.out_proj.weight.zero_()


def tied(module: Reader) -> None:
    """Keys are queries, and the readout is a row of the embedding."""
    module.attn.in_proj_weight[WIDTH : 2 * WIDTH] = module.attn.in_proj_weight[:WIDTH]
    module.readout.weight[0] = module.emb.weight[1]


def lens(state: dict[str, np.ndarray]) -> dict[str, torch.Tensor]:
    return {name: torch.tensor(value) for name, value in state.items()}


def hooked_forward(state: dict[str, torch.Tensor]) -> Forward:
    """One block of a HookedTransformer and the first of its logits, at the last token."""

    def bias(name: str, maps: torch.Tensor) -> torch.Tensor:
        return state.get(name, torch.zeros_like(maps[..., 0, :]))

    def mapped(x: torch.Tensor, place: str) -> torch.Tensor:
        weight = state[place.replace("*", "W")]
        return x @ weight + bias(place.replace("*", "b"), weight)

    def forward(tokens: torch.Tensor) -> tuple[torch.Tensor, list[torch.Tensor]]:
        x = state["embed.W_E"][tokens] + state["pos_embed.W_pos"][: tokens.shape[1]]
        stream, found = x[:, -1] + bias("blocks.0.attn.b_O", state["blocks.0.attn.W_O"][0]), []
        for h in range(len(state["blocks.0.attn.W_Q"])):
            weights = {part: state[f"blocks.0.attn.W_{part}"] for part in "QKV"}
            q, k, v = (x @ W[h] + bias(f"blocks.0.attn.b_{part}", W)[h] for part, W in weights.items())
            found.append(torch.softmax((k @ q[:, -1:].mT)[..., 0] / q.shape[-1] ** 0.5, dim=1))
            stream = stream + (found[-1][:, None] @ v)[:, 0] @ state["blocks.0.attn.W_O"][h]
        if "blocks.0.mlp.W_in" in state:
            stream = stream + mapped(torch.relu(mapped(stream, "blocks.0.mlp.*_in")), "blocks.0.mlp.*_out")
        return mapped(stream, "unembed.*_U")[:, 0], found

    return forward


def checkpoints() -> dict[str, Made]:
    """All thirty, by the names that the table of the documentation gives them."""
    torch.manual_seed(1)
    layer = nn.TransformerEncoderLayer(WIDTH, 2, 5)
    with_norm = {f"layer.{name}": value.detach() for name, value in layer.state_dict().items()}
    ends = {"emb.weight": torch.randn(3, WIDTH), "readout.weight": torch.randn(1, WIDTH)}
    plain, several, relu = drawn(2), drawn(3, 2), drawn(4, 2, perceptron=True)
    random, adding = lens(random_state(TOKENS, WIDTH)), lens(planted(3, aligned(3)))
    attention = {name: value for name, value in random.items() if ".mlp." not in name}
    two = {**attention, **{n.replace("s.0", "s.1"): v for n, v in attention.items() if n.startswith("blocks")}}
    optimal = lm.to_torch(lm.optimal_network(lm.certify("Z3"))).state_dict()
    both = {"input.weight": optimal["hidden"], "output.weight": optimal["readout"].T.contiguous()}
    embedded = {"embed.weight": torch.randn(3, 2).double(), "input.weight": torch.randn(7, 4).double()}
    first = ("--logit", "0")
    return {
        # heads of torch
        "MultiheadAttention, one head": of_torch(plain),
        "MultiheadAttention, two heads": of_torch(several),
        "MultiheadAttention, four heads, no biases": of_torch(drawn(5, 4, bias=False)),
        "two heads that nearly cancel": of_torch(drawn(6, 2, cancelling)),
        "a norm hidden in the readout": of_torch(drawn(2, 1, hidden)),
        "heads of zeros": of_torch(drawn(7, 2, zeros, residual=True)),
        "tied weights": of_torch(drawn(8, 1, tied)),
        "heads in 64 bits, NaN in one place": Made(
            {**plain.state_dict(), "attn.out_proj.bias": torch.full((WIDTH,), torch.nan)}, ("--heads", "1")
        ),
        # whole layers of torch
        "TransformerEncoderLayer": Made({**with_norm, **ends}, ("--heads", "2")),
        "the same without its LayerNorms": of_torch(relu, "--activation", "relu"),
        "the same, no activation told": replace(of_torch(relu), forward=None),
        "MultiheadAttention with bias_k": Made(
            {**plain.state_dict(), "attn.bias_k": torch.ones(1, 1, WIDTH)}, ("--heads", "1")
        ),
        # perceptrons
        "an optimal network of squares": Made(optimal),
        "the same as two linear layers": Made(both),
        "the same in 16 bits": Made({name: value.half() for name, value in both.items()}),
        "the same with a bias": Made({**both, "input.bias": torch.ones(len(both["input.weight"]))}),
        "the same with a NaN": Made({**both, "output.weight": both["output.weight"] * torch.nan}),
        "an embedding and two linear layers": Made({**embedded, "output.weight": torch.randn(3, 7).double()}),
        # renamed state dicts
        "heads behind a front, as model.": of_torch(several, rename=lambda name: f"model.{name}"),
        "heads called q_proj, k_proj, v_proj": Made(
            {f"attn.{part}_proj.weight": torch.randn(WIDTH, WIDTH) for part in "qkv"} | ends, ("--heads", "1")
        ),
        "an unknown tensor, temperature": Made({**plain.state_dict(), "temperature": torch.ones(1)}, ("--heads", "1")),
        "an embedding called w, and told": of_torch(
            plain, "--role", "w=embedding", rename=lambda name: name.replace("emb.weight", "w")
        ),
        # names of TransformerLens
        "HookedTransformer, attention only": Made(attention, first, hooked_forward(attention)),
        "HookedTransformer, two blocks": Made(two, first),
        "HookedTransformer with an MLP": Made(random, (*first, "--activation", "relu"), hooked_forward(random)),
        "HookedTransformer with LayerNorm": Made({**attention, "ln_final.w": torch.ones(WIDTH)}, first),
        "HookedTransformer that adds modulo 3": Made(adding, (*first, "--activation", "relu"), hooked_forward(adding)),
        # modules of this library
        "two heads over two symbols": Made(lm.markov.trained_head(1).model.to_torch().state_dict(), first),
        "one head, names of lm.to_torch": Made(
            lm.markov.trained_head(1).model.layers[0].to_torch().state_dict(), ("--heads", "1")
        ),
        "an integer step beside the weights": Made({**optimal, "step": torch.tensor(3)}),
    }
