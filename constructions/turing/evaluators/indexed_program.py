"""The weights of a Turing-machine transformer as a program of sparse integer kernels (`lemmata.numerics.turing.index`).

Everything is read off the weights themselves, in exact numbers, and nothing off the plan by which they were compiled.
What the index relies on is proved here from the weights, or refused: the coordinates that the keys and values of
self-attention read are copied unchanged through all layers between the first and the last search, every search compares
the same places and leading digits of the time, and a value that depends on the token is read from a single token only.
What depends on the run (that the stream stays in {0, 1}, that no other key can win, that there are no ties with the
null pair) is checked by the kernels at every step.

Source: turing, lemma-C.3, claims C.4 to C.6, lemma-C.7, construction-assembled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.decoder import DecoderLayer
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head
from lemmata.constructions.turing.compiler import TuringTransformer
from lemmata.numerics.exact.numbers import as_exact
from lemmata.numerics.exact.rationals import as_fraction
from lemmata.numerics.turing.index import CrossIndex, DecoderProgram

Ints = NDArray[np.int64]
Rational = int | Fraction

_LARGEST = 2**62  # all sums of the kernels stay below in magnitude
_MOST_PLACES = 31
_MOST_PAYLOAD = 62
_COMPARED_TIMES = 256  # from 0 on, at which the positional encoding is compared


def indexed_program(transformer: TuringTransformer) -> DecoderProgram:
    """The program of a transformer with integer or rational weights.

    Raises:
        ValueError: for weights that the index cannot answer exactly, with the layer and what is wrong there.
    """
    time = _time_digits(transformer)
    maps = [_map_of(layer.name, layer.feed_forward) for layer in transformer.layers]
    own = [_acting(layer.self_attention) for layer in transformer.layers]
    cross = [_acting(layer.cross_attention) for layer in transformer.layers]
    place, payload = _stored(transformer, own, time)
    searches = [number for number, head in enumerate(own) if head is not None]
    _refuse_changes(transformer, maps, searches, {*place, *time, *payload})

    keys = _encoder_keys(cross)
    if len(keys) > _MOST_PAYLOAD:
        raise ValueError(f"The keys of the encoder read {len(keys)} coordinates; at most {_MOST_PAYLOAD} fit a code.")
    classifier, scale = _classifier(transformer)
    code, known, rows = list[int](), dict[int, int](), 0
    for layer, self_head, cross_head, map_ in zip(transformer.layers, own, cross, maps, strict=True):
        code += [0] if self_head is None else _search_code(layer.name, self_head, place, time, payload)
        code += [0] if cross_head is None else _look_up_code(layer.name, cross_head, keys, rows)
        rows += 0 if cross_head is None else len(_touched(cross_head))
        known = {c: bit for c, bit in known.items() if c not in _written(layer)}
        code += _map_code(map_, known)
        known = map_.constants | {c: bit for c, bit in known.items() if c in map_.kept}
    return DecoderProgram(
        code=np.array(code, np.int64),
        layers=len(maps),
        place=np.array(place, np.int64),
        time=np.array(time, np.int64),
        payload=np.array(payload, np.int64),
        index_layer=searches[0] if searches else -1,
        cross_bits=len(keys),
        answer=np.flatnonzero(classifier),
        answer_weights=classifier[classifier != 0],
        answer_scale=scale,
    )


def _time_digits(transformer: TuringTransformer) -> list[int]:
    """The coordinates that the positional encoding sets, most significant digit of the time first.

    They are read off beta(2^j), and beta is then compared with them at the first times and around every power of 2.

    Raises:
        ValueError: unless beta(t) has a 1 for every binary digit 1 of t, at a coordinate of its own, and zeros else.
    """
    bits = transformer.layout.bits
    ones = [np.flatnonzero(transformer.beta(1 << j)).tolist() for j in reversed(range(bits))]
    time = [places[0] for places in ones if len(places) == 1]
    if len(time) < bits or len(set(time)) < bits:
        raise ValueError("The indexed evaluator needs one coordinate for each digit of the time in beta.")
    powers = [(1 << j) + shift for j in range(bits) for shift in (-1, 0, 1)]
    for t in [*range(min(transformer.steps + 2, _COMPARED_TIMES)), *(t for t in powers if t <= transformer.steps + 1)]:
        refuse_encoding(transformer, time, t)
    return time


def refuse_encoding(transformer: TuringTransformer, time: Sequence[int], t: int) -> None:
    """ValueError if beta(t) is not what the index takes it for: the binary digits of t at the coordinates ``time``."""
    expected = np.zeros(transformer.layout.width, np.int64)
    expected[list(time)] = [t >> j & 1 for j in reversed(range(len(time)))]
    if not np.array_equal(transformer.beta(t), expected):
        raise ValueError(f"The positional encoding beta({t}) does not hold the binary digits of {t}.")


def _classifier(transformer: TuringTransformer) -> tuple[Ints, int]:
    """The classifier in integers, and by what it was multiplied."""
    scale = _denominator(transformer.classifier)
    classifier = _integer(transformer.classifier, scale)
    if int(np.abs(classifier).astype(object).sum()) >= _LARGEST:
        raise ValueError("The classifier is too large for integers of 64 bits.")
    return classifier, scale


def cross_index(transformer: TuringTransformer, word: Sequence[int]) -> CrossIndex:
    """The encoder's outputs on a word, by the code of the coordinates that the keys read.

    Raises:
        ValueError: for a word that cannot be encoded, outputs that are no bits, or equal codes of two of them.
    """
    outputs = transformer.encode(word)
    if not np.isin(outputs, (0, 1)).all():
        raise ValueError("The indexed evaluator needs the encoder's outputs to be zeros and ones.")
    heads = [head for head in (_acting(layer.cross_attention) for layer in transformer.layers) if head is not None]
    keys = _encoder_keys(heads)
    codes = [int("0" + "".join(str(bit) for bit in row), 2) for row in outputs[:, keys].tolist()]
    if len(set(codes)) < len(codes):
        raise ValueError(f"Two of the {len(codes)} input symbols have the same key: too few position bits.")
    order = np.argsort(np.array(codes, np.int64), kind="stable")
    values = [outputs @ _integer(head.value.weight) + _integer(head.value.offset) for head in heads]
    rows = [value[order][:, _touched(head)] for value, head in zip(values, heads, strict=True)]
    entries = np.concatenate(rows, axis=1).T if rows else np.zeros((0, len(codes)))
    return CrossIndex(np.array(codes, np.int64)[order], np.ascontiguousarray(entries, np.int64))


def _encoder_keys(heads: Sequence[Head | None]) -> list[int]:
    """The coordinates of the encoder's outputs that the keys read."""
    return sorted({int(c) for head in heads if head for c in np.flatnonzero(head.key.read_mask())})


def _acting(head: Head | None) -> Head | None:
    """The head, or None if all its values are zero, so that it adds nothing whatever it attends to."""
    if head is None or not head.write_mask().any():
        return None
    if head.weigh != "hardmax":
        raise ValueError("The indexed evaluator answers hard attention only, not softmax.")
    return head


def _stored(
    transformer: TuringTransformer, heads: Sequence[Head | None], time: list[int]
) -> tuple[list[int], list[int]]:
    """The places that all searches compare, and the coordinates that their values read."""
    place, payload = set[int](), set[int]()
    for layer, head in zip(transformer.layers, heads, strict=True):
        if head is None:
            continue
        read = {int(c) for c in np.flatnonzero(head.key.read_mask())} - set(time)
        if place and read != place:
            raise ValueError(f"Layer {layer.name}: its keys read other places than those of the searches before it.")
        place = read
        payload |= {int(c) for c in np.flatnonzero(head.value.read_mask())}
    for what, coordinates, most in (("places", place, _MOST_PLACES), ("copied values", payload, _MOST_PAYLOAD)):
        if len(coordinates) > most:
            raise ValueError(f"The index has room for {most} bits of {what}, not for {len(coordinates)}.")
    return sorted(place), sorted(payload)


def _refuse_changes(
    transformer: TuringTransformer, maps: Sequence[_Map], searches: Sequence[int], stored: set[int]
) -> None:
    """Between the first and the last search nothing may change what the index has stored."""
    if not searches:
        return
    for number in range(searches[0], searches[-1] + 1):
        layer = transformer.layers[number]
        if changed := stored & _written(layer):
            raise ValueError(f"Layer {layer.name}: its attention writes to the indexed coordinates {sorted(changed)}.")
        if number < searches[-1] and (changed := stored - maps[number].kept):
            raise ValueError(f"Layer {layer.name}: its map does not copy the indexed coordinates {sorted(changed)}.")


def _written(layer: DecoderLayer) -> set[int]:
    """The coordinates that the attention of a layer may change."""
    return {c for head in layer.attentions() for c in _touched(head)}


def _touched(head: Head) -> list[int]:
    """The coordinates that the head may change."""
    return np.flatnonzero(head.write_mask()).tolist()


def _rationals(array: NDArray[Any]) -> list[Rational]:
    """The entries, integers as `int`, since fractions are slow. Raises ValueError for numbers that are not rational."""
    if array.dtype.kind in "iu":
        return array.ravel().tolist()
    fractions = [as_fraction(x) for x in as_exact(array).ravel().tolist()]
    return [x.numerator if x.denominator == 1 else x for x in fractions]


def _integer(array: NDArray[Any], scale: int = 1) -> Ints:
    """scale times the array, in integers. Raises ValueError if that is not integral or too large."""
    if array.dtype.kind in "iu" and scale == 1:
        return array.astype(np.int64)
    scaled = [x * scale for x in _rationals(array)]
    if any(x.denominator != 1 or abs(x) >= _LARGEST for x in scaled):
        raise ValueError("The indexed evaluator needs values of attention that are integers.")
    return np.array([x.numerator for x in scaled], np.int64).reshape(array.shape)


def _denominator(*arrays: NDArray[Any]) -> int:
    parts = [x.denominator for array in arrays if array.dtype.kind not in "iu" for x in _rationals(array)]
    return math.lcm(*parts)


def _form_code(terms: dict[int, int], constant: int) -> list[int]:
    if sum(map(abs, terms.values())) + abs(constant) >= _LARGEST:
        raise ValueError("The weights have too large denominators for integers of 64 bits.")
    return [constant, len(terms), *(x for term in terms.items() for x in term)]


def _search_code(name: str, head: Head, place: list[int], time: list[int], payload: list[int]) -> list[int]:
    """The code of a layer's self-attention."""
    read = head.key.read_mask()[time]
    digits = int(read.sum())
    if not read[:digits].all():
        raise ValueError(f"Layer {name}: its keys read digits of the time that are not the leading ones.")
    if (head.value.weight != 0).any() and digits < len(time):
        raise ValueError(f"Layer {name}: its values depend on the token, but several tokens may match.")
    weight, bias, null = (_integer(part) for part in (head.value.weight, head.value.offset, head.null_value))
    values = list[tuple[int, int, int, int, int]]()
    for c in _touched(head):
        values.append((c, int(bias[c]), -1, 0, int(null[c])))
        sources = np.flatnonzero(weight[:, c])
        values += [(c, 0, payload.index(int(source)), int(weight[source, c]), 0) for source in sources]
    forms = _attention_forms(name, head, [*place, *time[:digits]])
    return [1, digits, *forms, len(values), *(x for value in values for x in value)]


def _look_up_code(name: str, head: Head, keys: list[int], row: int) -> list[int]:
    """The code of a layer's attention to the encoder; its values are rows of `cross_index`, from ``row`` on."""
    if not head.key.read_mask()[keys].all():
        raise ValueError(f"Layer {name}: its keys read other places than those of other layers.")
    null, touched = _integer(head.null_value), _touched(head)
    values = [(c, row + n, int(null[c])) for n, c in enumerate(touched)]
    return [1, *_attention_forms(name, head, keys), len(values), *(x for value in values for x in value)]


def _attention_forms(name: str, head: Head, keys: list[int]) -> list[int]:
    """What does not depend on the key, the null pair's score, and the coefficients of the bits of a key."""
    query_scale = _denominator(*head.query.arrays())
    key_scale = _denominator(*head.key.arrays(), head.null_key)
    W, b = (_integer(part, query_scale) for part in (head.query.weight, head.query.offset))
    sides = np.vstack([_integer(part, key_scale) for part in (head.key.offset, head.null_key, head.key.weight[keys])])
    largest = [int(abs(part).max(initial=0)) for part in (W, b, sides)]
    if max(largest[:2]) * largest[2] * W.shape[1] * (1 + W.shape[0]) >= _LARGEST:
        raise ValueError(f"Layer {name}: the weights have too large denominators for integers of 64 bits.")
    code = list[int]()
    for weights, constant in zip((W @ sides.T).T, b @ sides.T, strict=True):
        code += _form_code({int(c): int(weights[c]) for c in np.flatnonzero(weights)}, int(constant))
    return code


@dataclass(frozen=True)
class _Row:
    """One output of a token-wise map as an integer network, two hidden layers: `lemmata.numerics.turing.index.Rows`."""

    inner: list[tuple[dict[int, int], int]]
    outer: list[tuple[dict[int, int], int, int]]  # entries by position in inner, b2, w3
    b3: int
    scale: int


@dataclass
class _Map:
    """The outputs of a token-wise map, by coordinate: constant bits, copied bits, and all others."""

    constants: dict[int, int] = field(default_factory=dict)
    copies: dict[int, int] = field(default_factory=dict)
    rows: dict[int, _Row] = field(default_factory=dict)

    @property
    def kept(self) -> set[int]:
        """The coordinates that are copied to themselves."""
        return {target for target, source in self.copies.items() if target == source}


Column = tuple[dict[int, Rational], Rational]


def _columns(layer: Affine) -> list[Column]:
    """The nonzero weights and the bias of every output."""
    inputs, outputs = np.nonzero(layer.weight)
    columns: list[Column] = [({}, bias) for bias in _rationals(layer.offset)]
    for i, o, value in zip(inputs.tolist(), outputs.tolist(), _rationals(layer.weight[inputs, outputs]), strict=True):
        columns[o][0][i] = value
    return columns


def _map_of(name: str, feed_forward: FeedForward) -> _Map:
    """Every output of a map of three ReLU layers, with the inputs that it depends on."""
    if len(feed_forward.layers) != 3 or feed_forward.residual:
        raise ValueError(f"Layer {name}: the indexed evaluator needs three ReLU layers without a residual.")
    first, second, third = (_columns(layer) for layer in feed_forward.layers)
    result = _Map()
    for target, (outer, bias) in enumerate(third):
        inner = list(dict.fromkeys(unit for v in outer for unit in second[v][0]))
        sources = sorted({source for unit in inner for source in first[unit][0]})
        network = [first[unit] for unit in inner], [(*second[v], w) for v, w in outer.items()], bias
        if len(sources) <= 1:
            low, high = (_evaluate(network, inner, dict.fromkeys(sources, bit)) for bit in (0, 1))
            if low == high and low in (0, 1):
                result.constants[target] = int(low)
                continue
            if (low, high) == (0, 1):
                result.copies[target] = sources[0]
                continue
        result.rows[target] = _scaled(network, inner)
    return result


Network = tuple[list[Column], list[tuple[dict[int, Rational], Rational, Rational]], Rational]


def _evaluate(network: Network, inner: list[int], bits: dict[int, int]) -> Rational:
    """The output of one row for the given values of its inputs."""
    units = {
        unit: max(0, bias + sum(w * bits[source] for source, w in terms.items()))
        for unit, (terms, bias) in zip(inner, network[0], strict=True)
    }
    total = network[2]
    for terms, bias, w in network[1]:
        total += w * max(0, bias + sum(value * units[unit] for unit, value in terms.items()))
    return max(0, total)


def _scaled(network: Network, inner: list[int]) -> _Row:
    """The network in integers; its output is then multiplied by the product of the three denominators."""
    units, outer, b3 = network
    s1 = math.lcm(*(x.denominator for terms, bias in units for x in (*terms.values(), bias)))
    s2 = math.lcm(*(x.denominator for terms, bias, _ in outer for x in (*terms.values(), bias)))
    s3 = math.lcm(b3.denominator, *(w.denominator for _, _, w in outer))
    first = [({c: int(x * s1) for c, x in terms.items()}, int(bias * s1)) for terms, bias in units]
    second = [
        ({inner.index(unit): int(x * s2) for unit, x in terms.items()}, int(bias * s1 * s2), int(w * s3))
        for terms, bias, w in outer
    ]
    row = _Row(first, second, int(b3 * s1 * s2 * s3), s1 * s2 * s3)
    largest = [sum(map(abs, terms.values())) + abs(bias) for terms, bias in first]
    outputs = [
        (sum(abs(x) * largest[unit] for unit, x in terms.items()) + abs(bias)) * abs(w) for terms, bias, w in second
    ]
    if sum(outputs) + abs(row.b3) >= _LARGEST:
        raise ValueError("The weights have too large denominators for integers of 64 bits.")
    return row


def _map_code(map_: _Map, known: dict[int, int]) -> list[int]:
    """The code of a map; constants that are known to hold already are not set again."""
    copies = [pair for pair in map_.copies.items() if pair[0] != pair[1]]
    constants = [pair for pair in map_.constants.items() if known.get(pair[0]) != pair[1]]
    code = [len(copies), *(x for pair in copies for x in pair), len(map_.rows)]
    for target, row in map_.rows.items():
        code += [target, row.scale, row.b3, len(row.inner)]
        for terms, bias in row.inner:
            code += _form_code(terms, bias)
        code.append(len(row.outer))
        for terms, bias, weight in row.outer:
            code += [bias, weight, len(terms), *(x for term in terms.items() for x in term)]
    return [*code, len(constants), *(x for pair in constants for x in pair)]
