"""Explicit max-margin networks, and certificates that pair them with class weights."""

from lemmata.certificates.saddle.groups import certify_cyclic, certify_real_type
from lemmata.certificates.saddle.parity import certify_parity
from lemmata.constructions.groups.any_type import quaternion_group_network
from lemmata.constructions.groups.cyclic import modular_addition_network
from lemmata.constructions.networks.inputs import group_blocks, group_inputs, sign_inputs
from lemmata.constructions.parity.max_margin import sparse_parity_network

__all__ = [
    "certify_cyclic",
    "certify_parity",
    "certify_real_type",
    "group_blocks",
    "group_inputs",
    "modular_addition_network",
    "quaternion_group_network",
    "sign_inputs",
    "sparse_parity_network",
]
