"""Shattered points: heads against formulas written out here, and what is refused."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from flint import arb, fmpq

from lemmata.certificates.capacity.shattering import (
    CircleFamily,
    SignFamily,
    certify_sinusoids,
    largest_sign_family,
    sinusoid_parameter,
    sinusoid_points,
    sinusoid_sign,
)
from lemmata.numerics.exact.numbers import to_float


@pytest.mark.parametrize("length", [2, 5, 8, 11])
def test_circle_heads_have_the_outputs_of_the_weights(length):
    family = CircleFamily(length, 3)
    for i in range(1, family.points + 1):
        tokens = family.sequence(i)
        for s in range(length):
            found = family.head(s)(tokens[:1], memory=tokens)[0, 0]
            assert found.overlaps(family.output(s, i))
            t = 2 * np.pi * (np.arange(length) - s) / length
            p = np.exp(3 * np.cos(t)) / np.exp(3 * np.cos(t)).sum()
            bits = np.arange(length) // 2 ** (family.points - i) % 2
            assert abs(float(found.mid()) - float(p @ bits)) < 1e-9


def test_circle_heads_that_are_too_weak_are_refused():
    assert CircleFamily(64).certify() > 0
    assert CircleFamily(64, 64**2 * fmpq(41, 1000)).certify() > 0
    with pytest.raises(ValueError, match="a weight of"):
        CircleFamily(64, 64**2 * fmpq(39, 1000)).certify()


def test_one_token_shatters_nothing():
    assert CircleFamily(1).points == 0


@pytest.mark.parametrize("length", [0, -3, 2.5, True])
def test_bad_lengths_are_refused(length):
    with pytest.raises(ValueError, match="length T"):
        CircleFamily(length)


@pytest.mark.parametrize("scale", [0, -1, 0.5])
def test_bad_scales_are_refused(scale):
    with pytest.raises(ValueError, match=r"positive|exact"):
        CircleFamily(4, scale)


@pytest.mark.parametrize("count", [1, 3, 6])
def test_sinusoids_shatter_their_points(count):
    points = to_float(sinusoid_points(count))
    for labels in product((1, -1), repeat=count):
        assert np.sign(np.sin(np.pi * sinusoid_parameter(labels) * points)).tolist() == list(labels)
    assert certify_sinusoids(count) == 2**count


def test_signs_of_sines():
    assert [sinusoid_sign(fmpq(k, 2)) for k in range(-4, 5)] == [0, 1, 0, -1, 0, 1, 0, -1, 0]


def test_bad_labels_are_refused():
    for labels in ([], [1, 0], [2]):
        with pytest.raises(ValueError, match="Labels are"):
            sinusoid_parameter(labels)
    with pytest.raises(ValueError, match="number of points"):
        sinusoid_points(0)
    with pytest.raises(ValueError, match="labellings"):
        certify_sinusoids(17)
    with pytest.raises(ValueError, match="3 labels"):
        SignFamily(3).matrices([1, 1])


@pytest.mark.parametrize(("m", "R", "B", "V"), [(1, 4, 1, 1), (4, "3/2", 2, "1/2"), (3, "1/16", 8, "1/8")])
def test_sign_heads_have_the_outputs_of_the_closed_form(m, R, B, V):
    family = SignFamily(m, R, B, V)
    assert family.certify().overlaps(family.margin)
    r, b, v = (float(fmpq(*map(int, str(x).split("/")))) for x in (R, B, V))
    s = 0.6 * r * b * b
    assert math.isclose(float(family.margin.mid()), 0.8 * b * v * 2 * math.sinh(s) / (2 * math.cosh(s) + 1))
    scores, values = (to_float(part) for part in family.matrices([1] * m))
    assert math.isclose(np.linalg.norm(scores) ** 2, float(family.squared_key_norm))
    assert math.isclose(np.linalg.norm(scores.T, axis=0).sum() ** 2, float(family.squared_key_norm))
    assert math.isclose(np.linalg.norm(values, axis=0).sum(), v)
    for i in range(1, m + 1):
        assert np.allclose(np.linalg.norm(to_float(family.sequence(i)), axis=1), b)


def test_the_largest_family_has_the_norms_that_are_asked_for():
    family = largest_sign_family(100, 2, score="3/2", value_norm="1/2")
    assert family.points == int((0.6 * 10 * 4 / 1.5) ** 2 + 1e-9) == 256
    assert family.squared_key_norm <= 100 < family.squared_key_norm + family.key_scale**2
    assert family.score == fmpq(3, 2)
    assert family.log_covering_number.overlaps(256 * arb(2).log())


def test_bad_families_are_refused():
    with pytest.raises(ValueError, match="number of sequences"):
        SignFamily(0)
    with pytest.raises(ValueError, match="token norm"):
        SignFamily(2, 1, -1)
    with pytest.raises(ValueError, match="not exact"):
        SignFamily(2, 0.5)
    with pytest.raises(ValueError, match="too many"):
        SignFamily(20).certify()
    with pytest.raises(ValueError, match="on no sequence"):
        largest_sign_family("1/100", 1)
