"""Faults planted in what settles once open statements on descent in context: deciding checks have to see them."""

from __future__ import annotations

import pytest

from lemmata.constructions.descent import products
from lemmata.theorems.deep_icgd import test_products
from tests.theorems.planted_faults import Fault, assert_seen, fault_name, rewritten


def product_fault(name: str, attribute: str, old: str, new: str, tokens: int = 4) -> Fault:
    check = "test_attention_and_one_hidden_layer_multiply_within_every_token"
    faulty = rewritten(getattr(products, attribute), old, new)
    return Fault(name, "remark-3", test_products, check, products, attribute, faulty, {"tokens": tokens})


FAULTS = [
    product_fault("the sum over later tokens dropped", "order_weights", " - sum(p[k + 1 :], fmpq(0))", ""),
    product_fault("places counted from one", "order_weights", "k * p[k]", "(k + 1) * p[k]"),
    product_fault("the sum with its own token", "order_weights", "p[k + 1 :]", "p[k:]"),
    product_fault("comparisons averaged, not summed", "_compare", "fmpq(T)", "fmpq(1)"),
    product_fault("comparisons 2 % too large", "_compare", "fmpq(T)", "fmpq(51 * T, 50)"),
    product_fault("comparisons added", "_compare", "name: -coefficient", "name: coefficient"),
    product_fault("the first comparison of x alone", "_compare", "_number(sign) if", '{"x": 1} if', 2),
    product_fault("the order averaged, not summed", "_order", "T * inverse[k, m]", "inverse[k, m]"),
    product_fault("the inverse transposed", "_order", "T * inverse[k, m]", "T * inverse[m, k]"),
    product_fault("the numbers themselves 2 % too large", "_order", "T * c * ", "fmpq(51 * T, 50) * c * "),
    product_fault("hinges at the negative", "_hinge_layer", "[1, factor, -1]", "[1, factor, 1]"),
    product_fault("hinges of x + y for both", "_hinge_layer", "[1, factor, -1]", "[1, 1, -1]"),
    product_fault("hinges for one sign only", "_hinge_layer", "layers[0].beside(layers[1])", "layers[0]", 3),
    product_fault(
        "the first square dropped", "_multiply", "query: list[Form] = [{o[0]: 1}]", "query: list[Form] = [{}]", 1
    ),
    product_fault("a slope of twice the first", "_multiply", "{o[0]: 1, o[1]: 1}", "{o[0]: 2}"),
    product_fault("a jump to the place itself", "_multiply", "o[k - 1]: -1", "o[k]: -1", 3),
    product_fault("a jump added", "_multiply", "o[k - 1]: -1", "o[k - 1]: 1", 3),
    product_fault("squares added", "_multiply", "fmpq(factor, 4)", "fmpq(1, 4)"),
    product_fault("a half for a quarter", "_multiply", "fmpq(factor, 4)", "fmpq(factor, 2)"),
    product_fault("products 2 % too large", "_multiply", "fmpq(factor, 4)", "fmpq(51 * factor, 200)"),
]


@pytest.mark.parametrize("fault", FAULTS, ids=fault_name)
def test_a_fault_is_seen(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_seen(fault, "deep-icgd", monkeypatch)
