"""What the front door does with every construction alike."""

import numpy as np
import pytest
import torch

import lemmata as lm
from lemmata.certificates.margins.circuit_direct import direct_circuit_bound
from lemmata.certificates.margins.turing_direct import direct_margin_bound

ONE = lm.functions.constant(1)
BLOCK = (2, 2, 1), 2, "1/10", lm.functions.affine(1, 1), ONE, lm.functions.squared_loss_derivative(), (-1, 1), 1, 3
CONSTRUCTIONS = {
    "modular addition": lambda: lm.modular_addition_network(5),
    "quaternion group": lambda: lm.quaternion_group_network(),
    "sparse parity": lambda: lm.sparse_parity_network(4, 3),
    "optimal network": lambda: lm.optimal_network(lm.certify("S3")),
    "circuit": lambda: lm.circuit_network("0110"),
    "machine": lambda: lm.compile_machine("bb2", 4),
    "descent": lambda: lm.gradient_descent_block(*BLOCK),
    "softmax descent": lambda: lm.softmax_descent_block(*BLOCK, 2),
    "polynet": lambda: lm.parity.polynet(4, 2),
    "two-layer parity": lambda: lm.parity.relu_network(4, 2),
    "quadratic": lambda: lm.parity.quadratic_network(4, 2, 2),
    "transformer": lambda: lm.parity.parity_transformer(4, 2),
    "layer": lambda: lm.networks.Affine(np.eye(2)),
}


@pytest.mark.parametrize("name", CONSTRUCTIONS)
def test_every_construction_becomes_a_module(name):
    module = lm.to_torch(CONSTRUCTIONS[name]())
    assert isinstance(module, torch.nn.Module)
    parameters = list(module.parameters())
    assert parameters
    assert all(parameter.dtype == torch.float64 for parameter in parameters)


def test_the_module_has_the_weights_of_the_construction():
    network = lm.modular_addition_network(5)
    x = lm.group_inputs(5)
    outputs = lm.to_torch(network)(torch.from_numpy(x.astype(float))).detach().numpy()
    np.testing.assert_allclose(outputs, network(x), rtol=0, atol=1e-12)
    assert lm.to_torch(network, dtype=torch.float32)(torch.from_numpy(x).float()).dtype == torch.float32


def test_what_has_no_module_is_refused():
    with pytest.raises(TypeError, match="There is no torch module of a str"):
        lm.to_torch("S3")


def test_tables_of_layers():
    table = str(lm.layer_table(lm.gradient_descent_block(*BLOCK)))
    assert "reads" in table
    rows = lm.layer_table(lm.compile_machine("bb2", 4))
    assert "C.1b" in [row.name for row in rows]
    with pytest.raises(TypeError, match="A HomogeneousNetwork has no table of layers"):
        lm.layer_table(lm.modular_addition_network(5))
    with pytest.raises(TypeError, match="A GroupMarginCertificate has no table of layers"):
        lm.layer_table(lm.certify("Z2"))


def test_bounds_and_attacks_of_both_kinds_of_networks():
    circuit, machine = lm.circuit_network("0110"), lm.compile_machine("palindromes", 12)
    assert lm.margin_bound(circuit).value == direct_circuit_bound(circuit).value
    assert lm.margin_bound(machine).value == direct_margin_bound(machine).value
    flip = lm.smallest_flip(circuit, "01", starts=3, steps=70)
    assert float(lm.margin_bound(circuit).value) < flip.norm
    assert lm.smallest_flip(circuit, [0, 1], starts=3, steps=70).norm == flip.norm
    attack = lm.smallest_flip(machine, "aba")
    assert float(lm.margin_bound(machine).value) ** 2 < attack.norm_squared
    assert attack.norm_squared == lm.smallest_flip(machine, (1, 2, 1)).norm_squared
    with pytest.raises(TypeError, match="not for a HomogeneousNetwork"):
        lm.margin_bound(lm.modular_addition_network(5))
    with pytest.raises(TypeError, match="not for a HomogeneousNetwork"):
        lm.smallest_flip(lm.modular_addition_network(5), "01")
    with pytest.raises(ValueError, match=r"correct|round"):
        lm.margin_bound(lm.circuit_network("0110", "none"))
