"""Trained heads read from a module or from named tensors, with a role for every tensor.

Read are `torch.nn.MultiheadAttention` and the heads of this library, with embedding, positions and readout by the
names of `ROLES`; and attention-only transformers by the names of
`lemmata.constructions.networks.attention_checkpoints`. Behind the heads there may be a perceptron of one hidden layer
of ReLUs. A tensor without a role is refused, by its name, and so are parts that the theory does not cover: LayerNorm,
other MLPs, several layers, null pairs. What no weight shows, how many heads lie side by side, what their scores are
multiplied by or what the activation of a perceptron is, is asked for and not assumed.

Source: variable-creation, definition-4.4.2, ext-perceptron.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from flint import arb

from lemmata.certificates.capacity.trained import TrainedPerceptron, TrainedReader
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention_checkpoints import PARTS, AttentionParts, attention_parts, cut_heads
from lemmata.constructions.networks.head import Head
from lemmata.constructions.networks.hooked_perceptrons import hooked_perceptron, without_hooked_perceptron
from lemmata.numerics.exact.balls import as_balls
from lemmata.numerics.exact.integers import checked_integer
from lemmata.numerics.exact.systems import Array

__all__ = ["ROLES", "read_trained"]

ROLES = {
    "positions": re.compile(r"(^|[._])(pos|positions?|pos_emb\w*|position_emb\w*|w_pos|wpe)(\.weight)?$", re.I),
    "token": re.compile(r"(^|[._])(cls|bos|class_token|cls_token)(\.weight)?$", re.I),
    "embedding": re.compile(r"(^|[._])(emb|embed|embeddings?|tok_emb\w*|token_emb\w*|w_e|wte)(\.weight)?$", re.I),
    "readout": re.compile(r"(^|[._])(readout|unembed|lm_head|head|classifier|decoder|w_u)(\.weight)?$", re.I),
    "perceptron": re.compile(
        r"(^|[._])(linear[12]|fc[12]|(mlp|ffn?|feed_forward)\.([023]|fc[12]|linear[12]))\.(weight|bias)$", re.I
    ),
    "readout bias": re.compile(r"(^|[._])(readout|unembed|lm_head|head|classifier|decoder)\.bias$", re.I),
}
"""What a tensor beside the heads is taken for, by its name; "unused" is a role that can only be told."""
_TORCH = ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias")
_SECOND = re.compile(r"(linear2|fc2|\.[23])\.(weight|bias)$", re.I)
_PARTS: tuple[str, ...] = ("query", "key", "value", "output")
_OWN = tuple(f"{part}.{kind}" for part in _PARTS for kind in ("weight", "bias"))
_MASKS = (".attn.mask", ".attn.IGNORE")
_NO_SCALE = "The weights of these heads do not say by what their scores are multiplied: give the factor (--scale)."
_LAYERS = (
    "The theory of several layers is for layers that project tokens on the unit ball (--layers): train with these, or "
    "one layer."
)
_ONE_LAYER = "The bound for a perceptron is for one hidden layer, a map from the stream and one back."
_LINEAR_MODULES = {
    "MultiheadAttention",
    "NonDynamicallyQuantizableLinear",
    "Linear",
    "Embedding",
    "Dropout",
    "Identity",
}


def read_trained(
    source: Any,
    *,
    heads: int | None = None,
    scale: float | None = None,
    roles: Mapping[str, str] | None = None,
    logit: str | None = None,
    activation: str | None = None,
) -> TrainedReader:
    """The heads of a module or of named tensors, and what is around them.

    Read are `torch.nn.MultiheadAttention` (``in_proj_weight``, ``out_proj.weight``) and the heads of this library
    (``query.weight``, ``key.weight``, ``value.weight``, perhaps ``output.weight``), with embedding, positions and
    readout by the names of `ROLES`; and attention-only transformers as `attention_parts` reads them.

    Args:
        source: a torch module, or tensors or arrays by name.
        heads: how many heads lie side by side, where neither module nor names say it.
        scale: the factor on the scores; 1/sqrt(k), and 1 for the heads of this library alone, if None.
        roles: of tensors by name, where their names do not tell or tell wrongly; "unused" for one that no forward pass
            reads.
        logit: which output is read, where there are several: "3", or "1-0" for a difference.
        activation: of the hidden layer of a perceptron, "relu", where there is one and no module says it.

    Raises:
        ValueError: for a module or tensors that the theory does not cover, naming what it is; for tensors without a
            role, of other shapes, or that are not finite; for several layers; where the number of heads, the output or
            a role is missing.
    """
    tensors, heads, activation = _state_of(source, heads, activation)
    told = dict(roles or {})
    foreign = [name for name in told if name not in tensors]
    if foreign:
        raise ValueError(f"There is no tensor {foreign[0]}, but {', '.join(sorted(tensors)) or 'none'}.")
    arrays = {name: _tensor(name, value) for name, value in tensors.items() if told.get(name) != "unused"}
    unknown = [role for role in told.values() if role not in (*ROLES, "unused")]
    if unknown:
        raise ValueError(f"The role of a tensor is one of {', '.join(ROLES)} and unused, not {unknown[0]!r}.")
    if any(
        re.search(r"(^|\.)(embed\.W_E|blocks\.\d+\.attn\.q\.weight|layers\.\d+\.heads\.\d+\.query\.weight)$", n)
        for n in arrays
    ):
        rest, hooked = without_hooked_perceptron(arrays)
        parts = attention_parts(rest, heads=heads)
        reader = _of_parts(parts, scale, logit, told)
        if not hooked:
            return reader
        maps = list(hooked_perceptron(hooked, parts.embedding.shape[1]))
        return replace(reader, perceptron=_checked_perceptron(maps, True, activation, sorted(hooked)))
    return _of_names(arrays, told, heads, scale, logit, activation)


def _state_of(
    source: Any, heads: int | None, activation: str | None
) -> tuple[Mapping[str, Any], int | None, str | None]:
    """The tensors by name, and the number of heads and the activation if a module says them."""
    if isinstance(source, Mapping):
        return {str(name): value for name, value in source.items()}, heads, activation
    if not hasattr(source, "named_modules"):
        raise ValueError(f"Give a torch module, or tensors by name, not a {type(source).__name__}.")
    found = [part for part in source.modules() if type(part).__name__ == "MultiheadAttention"]
    if any(part.add_zero_attn or part.bias_k is not None for part in found):
        raise ValueError(
            "The capacity bounds are for softmax heads without a null pair: add_bias_kv, add_zero_attn False."
        )
    units = [name for name, part in source.named_modules() if type(part).__name__ == "ReLU"]
    if len(units) == 1 and any(ROLES["perceptron"].search(name) for name in source.state_dict()):
        activation = "relu"
    else:
        units = []
    foreign = sorted(
        {f"{name} ({type(part).__name__})" for name, part in source.named_modules()
         if not any(part.children()) and type(part).__module__.startswith("torch.")
         and type(part).__name__ not in _LINEAR_MODULES and name not in units}
    )  # fmt: skip
    if foreign:
        raise ValueError(
            f"The theory covers heads between an embedding and a linear readout, not {', '.join(foreign)}."
        )
    numbers = {part.num_heads for part in found}
    if len(numbers) == 1:
        [number] = numbers
        if heads not in (None, number):
            raise ValueError(f"The module has {number} heads, not {heads}.")
        heads = number
    return dict(source.state_dict()), heads, activation


def _tensor(name: object, value: Any) -> np.ndarray:
    plain = value.detach().cpu() if hasattr(value, "detach") else value
    real = plain.is_floating_point() if hasattr(plain, "is_floating_point") else np.asarray(plain).dtype.kind == "f"
    if not real and not str(name).endswith(_MASKS):
        raise ValueError(f"The entry {name} of the state dict is no tensor of real floating-point numbers.")
    result = np.asarray(plain.double().numpy() if hasattr(plain, "double") else plain, dtype=np.float64)
    if not np.isfinite(result).all() and not str(name).endswith(_MASKS):
        raise ValueError(f"The tensor {name} holds numbers that are not finite.")
    return result


def _of_parts(parts: AttentionParts, scale: float | None, logit: str | None, told: Mapping[str, str]) -> TrainedReader:
    """The reader of an attention-only transformer."""
    if len(parts.layers) > 1:
        raise ValueError(f"There are {len(parts.layers)} layers of heads. {_LAYERS}")
    if scale is None and parts.source.endswith("lm.to_torch"):
        raise ValueError(_NO_SCALE)
    layer = next(iter(parts.layers))
    made = [_head(maps, scale, causal=True) for maps in layer]
    readout, shift = _logit(parts.readout.T, parts.shift, logit)
    table = np.concatenate([parts.embedding, parts.prefix, parts.positions])
    roles = {"all tensors": parts.source, **{name: role for name, role in told.items() if role == "unused"}}
    words = _words(layer[0]["query"].outputs if scale is None else None, scale)
    return TrainedReader(tuple(made), table, len(parts.positions), readout, shift, True, roles, words)


def _of_names(
    arrays: Mapping[str, np.ndarray],
    told: Mapping[str, str],
    heads: int | None,
    scale: float | None,
    logit: str | None,
    activation: str | None,
) -> TrainedReader:
    """The reader among named arrays, every one of which has a role."""
    marks = ("in_proj_weight", "query.weight")
    places = sorted({name[: -len(mark)] for name in arrays for mark in marks if name.endswith(mark)})
    if not places:
        raise ValueError(
            "There are no heads: no tensor is named in_proj_weight or query.weight, among "
            f"{', '.join(sorted(arrays)[:8]) or 'none'}."
        )
    known = [f"{place}{name}" for place in places for name in (*_TORCH, *_OWN)]
    roles, strange = dict(told), {}
    for name in arrays:
        if name in told or name in known:
            roles.setdefault(name, "heads")
            continue
        role = next((role for role, pattern in ROLES.items() if pattern.search(name)), None)
        kind = next((kind for kind, pattern in PARTS.items() if pattern.search(name)), None)
        if role is None or (kind is not None and role != "perceptron"):
            strange.setdefault(kind or "unknown", []).append(name)
        else:
            roles[name] = role
    if strange:
        parts = "; ".join(f"{kind} ({', '.join(names)})" for kind, names in strange.items())
        raise ValueError(
            f"The theory covers heads between an embedding and a linear readout, but there are more tensors: {parts}. "
            "If a name misleads, say what it is (--role NAME=ROLE)."
        )
    if len(places) > 1:
        raise ValueError(f"There are {len(places)} layers of heads, behind {', '.join(map(repr, places))}. {_LAYERS}")
    found = {name[len(places[0]) :]: arrays[name] for name, role in roles.items() if role == "heads"}
    if heads is None:
        raise ValueError("The weights do not say how many heads lie side by side in them: give it (--heads).")
    H = checked_integer("The number of heads", heads, 1)
    made = _torch_heads(found, H, scale) if "in_proj_weight" in found else _own_heads(found, H, scale)
    if found:
        raise ValueError(f"Beside the heads there are tensors that no head has: {', '.join(sorted(found))}.")
    reader = _around(made, arrays, roles, told, logit, _words(made[0].key_dimension if scale is None else None, scale))
    units = {name: arrays[name] for name, role in roles.items() if role == "perceptron"}
    return replace(reader, perceptron=_perceptron(units, made[0].outputs, activation)) if units else reader


def _perceptron(units: dict[str, np.ndarray], width: int, activation: str | None) -> TrainedPerceptron:
    """Two linear maps (out, in), which act on columns, by their order in the names."""
    weights = {second: [n for n in units if n.endswith("weight") and bool(_SECOND.search(n)) is second]
               for second in (False, True)}  # fmt: skip
    if any(len(names) != 1 for names in weights.values()):
        raise ValueError(f"{_ONE_LAYER} There are {', '.join(sorted(units))}.")
    maps = []
    for second in (False, True):
        (name,) = weights[second]
        bias = next((n for n in units if n.endswith("bias") and bool(_SECOND.search(n)) is second), None)
        shape = (width, None) if second else (None, width)
        weight = _take(dict(units), name, *shape)
        maps.append(Affine(weight.T, np.zeros(len(weight)) if bias is None else _take(dict(units), bias, len(weight))))
    return _checked_perceptron(maps, None, activation, sorted(units))


def _checked_perceptron(
    maps: list[Affine], residual: bool | None, activation: str | None, names: list[str]
) -> TrainedPerceptron:
    if activation is None:
        raise ValueError(
            f"There is an MLP ({', '.join(names)}), and the weights do not say its activation: if it has one hidden "
            "layer of ReLUs, say so (--activation relu). There is no bound for another one."
        )
    if activation != "relu":
        raise ValueError(f"The bound for a perceptron is for ReLUs (--activation relu), not for {activation!r}.")
    if maps[0].outputs != maps[1].inputs:
        raise ValueError(
            f"{_ONE_LAYER} The first map has {maps[0].outputs} outputs, the second {maps[1].inputs} inputs."
        )
    return TrainedPerceptron(maps[0], maps[1], residual)


def _words(divided: int | None, scale: float | None) -> str:
    return f"times {scale:g}, as told" if divided is None else f"divided by sqrt({divided})"


def _around(
    made: list[Head],
    arrays: Mapping[str, np.ndarray],
    roles: Mapping[str, str],
    told: Mapping[str, str],
    logit: str | None,
    scale: str,
) -> TrainedReader:
    """The heads with the tensors that have the other roles, some of which were told."""
    d, e = made[0].inputs, made[0].outputs

    def rows(role: str) -> list[np.ndarray]:
        result = []
        for name in (name for name, its in roles.items() if its == role):
            array = arrays[name]
            while array.ndim > 2 and len(array) == 1:
                array = array[0]
            array = np.atleast_2d(array) if role == "token" else array
            if array.ndim != 2 or array.shape[1] != d or not len(array):
                raise ValueError(f"{name}, taken for {role}, must have rows of {d} numbers, not {arrays[name].shape}.")
            result.append(array)
        return result

    tokens, positions = [*rows("embedding"), *rows("token")], rows("positions")
    if len(positions) > 1:
        raise ValueError("There are two tables of positions: say which is which (--role NAME=ROLE).")
    guessed = [name for name, its in roles.items() if its == "embedding" and name not in told]
    if len(guessed) > 1:
        raise ValueError(
            f"There are several embeddings, {', '.join(guessed)}: say which have rows that are tokens, if none are "
            "added or multiplied (--role NAME=embedding)."
        )
    table = np.concatenate([*tokens, *positions]) if tokens or positions else None
    names = [name for name, role in roles.items() if role == "readout"]
    shifts = [arrays[name] for name, role in roles.items() if role == "readout bias"]
    if len(names) > 1 or len(shifts) > len(names):
        raise ValueError(f"There must be one readout with at most one bias, not {', '.join(names) or 'none'}.")
    readout, shift = None, arb(0)
    if names:
        matrix = np.atleast_2d(arrays[names[0]])
        if matrix.ndim != 2 or e not in matrix.shape or not matrix.size:
            raise ValueError(f"{names[0]}, taken for the readout, must have rows of {e} numbers, not {matrix.shape}.")
        if len(matrix) == e > 1 and not names[0].endswith("weight"):
            raise ValueError(
                f"{names[0]} is square, so that outputs may be its rows or its columns: call it readout.weight."
            )
        matrix = matrix if matrix.shape[1] == e else matrix.T
        bias = np.atleast_1d(shifts[0]) if shifts else np.zeros(len(matrix))
        if bias.shape != (len(matrix),):
            raise ValueError(f"The bias of the readout must have {len(matrix)} numbers, not the shape {bias.shape}.")
        readout, shift = _logit(matrix, bias, logit)
    elif logit is not None:
        raise ValueError("There is no readout among the weights, so that no output can be chosen.")
    places = len(positions[0]) if positions else 0
    return TrainedReader(tuple(made), table, places, readout, shift, None, roles, scale)


def _logit(matrix: np.ndarray, bias: np.ndarray, logit: str | None) -> tuple[Array, arb]:
    """The row that is read, or an exact difference of two."""
    if logit is None:
        if len(matrix) > 1:
            raise ValueError(
                f"The readout has {len(matrix)} outputs, and the theory is for one number: say which (--logit 0), or a "
                "difference (--logit 1-0)."
            )
        logit = "0"
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", logit)
    numbers = [int(part) for part in match.groups() if part is not None] if match else []
    if not numbers or max(numbers) >= len(matrix):
        raise ValueError(
            f"The outputs are 0, ..., {len(matrix) - 1}: give one, or a difference such as 1-0, not {logit!r}."
        )
    rows = as_balls(np.concatenate([matrix, bias[:, None]], axis=1))[numbers]
    row = rows[0] if len(numbers) == 1 else rows[0] - rows[1]
    return row[:-1], row[-1]


def _factor(scale: float) -> float:
    if not (math.isfinite(scale) and scale > 0):
        raise ValueError(f"The factor on the scores must be positive and finite, not {scale}.")
    return float(scale)


def _take(found: dict[str, np.ndarray], name: str, *shape: int | None) -> np.ndarray:
    """A tensor of a shape, in which None fits every size; it is removed."""
    if name not in found:
        raise ValueError(f"The state dict has no tensor {name}; it has {', '.join(sorted(found)) or 'none'}.")
    value = found.pop(name)
    if value.ndim != len(shape) or any(
        want is not None and want != size for want, size in zip(shape, value.shape, strict=True)
    ):
        raise ValueError(f"The tensor {name} must have the shape {shape}, not {value.shape}.".replace("None", "any"))
    return value


def _torch_heads(found: dict[str, np.ndarray], H: int, scale: float | None) -> list[Head]:
    """The heads of `torch.nn.MultiheadAttention`, whose matrices act on columns."""
    d = found["in_proj_weight"].shape[-1]
    weight = _take(found, "in_proj_weight", 3 * d, d).reshape(3, d, d)
    output = _take(found, "out_proj.weight", d, d)
    bias = _take(found, "in_proj_bias", 3 * d).reshape(3, d) if "in_proj_bias" in found else np.zeros((3, d))
    shift = _take(found, "out_proj.bias", d) if "out_proj.bias" in found else np.zeros(d)
    maps = {name: part.T for name, part in zip(_PARTS, (*weight, output), strict=True)}
    biases = dict(zip(_PARTS, (*bias, shift), strict=True))
    return [_head(part, scale) for part in cut_heads("in_proj_weight", maps, biases, H)]


def _own_heads(found: dict[str, np.ndarray], H: int, scale: float | None) -> list[Head]:
    """The heads of `HeadModule`, whose matrices act on rows."""
    if scale is None:
        raise ValueError(_NO_SCALE)
    query = _take(found, "query.weight", None, None)
    maps = {
        "query": query,
        "key": _take(found, "key.weight", *query.shape),
        "value": _take(found, "value.weight", len(query), None),
    }
    if "output.weight" in found:
        maps["output"] = _take(found, "output.weight", maps["value"].shape[1], None)
    biases = {
        name: _take(found, f"{name}.bias", size) if f"{name}.bias" in found else np.zeros(size)
        for name, (_, size) in ((name, part.shape) for name, part in maps.items())
    }
    return [_head(part, scale) for part in cut_heads("query.weight", maps, biases, H)]


def _head(maps: Mapping[str, Any], scale: float | None, causal: bool = False) -> Head:
    """A softmax head of these maps; its scores are divided by the root of the key dimension if no factor is told."""
    factor: dict[str, Any] = (
        {"temperature_squared": maps["query"].outputs} if scale is None else {"sharpness": _factor(scale)}
    )
    return Head(**maps, **factor, causal=causal)
