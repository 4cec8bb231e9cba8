"""Manifests of data: hashes of their parts, with which a leaf that changed is found by its place.

A leaf is a number, text, truth value or null in JSON data, or an empty list or dictionary, and has a hash of 32 bits,
of its place and value. The line of a part holds its name, its number of leaves, a hash of 64 bits of the whole, and
sums without carry (exclusive or) of the hashes of leaves: of all, then for each binary digit, from the lowest on, of
those whose number, counted from 0, has a 1 there. So where one leaf changed its value, each of these sums changes by
the same word or stays, and those that change spell the number of the leaf (a Hamming code).

Whoever changes data can change their manifest too: it guards against slips and against changes that say nothing of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["differences", "manifest"]

Json = Any


def manifest(parts: Mapping[str, Json]) -> str:
    """A line for each part of data, by name.

    Raises:
        ValueError: for a name with a space in it, or that is empty.
    """
    if odd := [name for name in parts if len(name.split()) != 1 or name != name.strip()]:
        raise ValueError(f"The name {odd[0]!r} of a part is empty or has a space in it.")
    return "".join(f"{name} {_line(data)}\n" for name, data in parts.items())


def differences(text: str, parts: Mapping[str, Json]) -> list[str]:
    """A sentence for each part that is not as its manifest says: which leaf changed, or what else.

    Args:
        text: a manifest.
        parts: the data as they are now.

    Raises:
        ValueError: if the text is no manifest.
    """
    kept = dict(_read(line) for line in text.splitlines())
    found = [f"{name}: it is {'missing' if name in kept else 'new'}" for name in sorted(kept.keys() ^ parts.keys())]
    for name in kept.keys() & parts.keys():
        if kept[name] != (line := _line(parts[name])):
            found.append(f"{name}: {_change(kept[name].split(), line.split(), parts[name])}")
    return sorted(found)


def _read(line: str) -> tuple[str, str]:
    name, _, rest = line.partition(" ")
    words = rest.split()
    if len(words) < 3 or not words[0].isdecimal() or len(words) != 3 + _digits(int(words[0])):
        raise ValueError(f"No line of a manifest: {line!r}.")
    return name, rest


def _line(data: Json) -> str:
    whole = hashlib.sha256(json.dumps(data, sort_keys=True).encode("utf-8")).hexdigest()[:16]
    leaves = list(_leaves(data, ""))
    sums = [0] * (1 + _digits(len(leaves)))
    for number, (place, value) in enumerate(leaves):
        word = int.from_bytes(hashlib.sha256(f"{place}: {json.dumps(value)}".encode()).digest()[:4], "big")
        sums[0] ^= word
        for digit in range(number.bit_length()):
            if number >> digit & 1:
                sums[1 + digit] ^= word
    return " ".join([str(len(leaves)), whole, *(f"{word:08x}" for word in sums)])


def _digits(count: int) -> int:
    """How many binary digits the numbers below a count have."""
    return max(count - 1, 0).bit_length()


def _leaves(data: Json, place: str) -> Iterator[tuple[str, Json]]:
    if isinstance(data, dict | list) and data:
        inner = data.items() if isinstance(data, dict) else enumerate(data)
        for key, value in inner:
            yield from _leaves(value, f"{place}[{key!r}]")
    else:
        yield place, data


def _change(kept: list[str], now: list[str], data: Json) -> str:
    if kept[0] != now[0]:
        return f"it has {now[0]} leaves, and had {kept[0]}"
    total, *sums = [int(one, 16) ^ int(other, 16) for one, other in zip(kept[2:], now[2:], strict=True)]
    number = sum(1 << digit for digit, word in enumerate(sums) if word)
    leaves = list(_leaves(data, ""))
    if total and all(word in (0, total) for word in sums) and number < len(leaves):
        place, value = leaves[number]
        return f"the leaf {place or 'that it is'} changed, to {json.dumps(value)}"
    return "several leaves changed, or their order"
