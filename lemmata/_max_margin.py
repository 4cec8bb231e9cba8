"""Explicit max-margin networks, and certificates that pair them with class weights."""

from certificates.saddle.groups import certify_cyclic, certify_real_type
from certificates.saddle.parity import certify_parity
from constructions.groups.any_type import quaternion_group_network
from constructions.groups.cyclic import modular_addition_network
from constructions.networks.inputs import group_blocks, group_inputs, sign_inputs
from constructions.parity.max_margin import sparse_parity_network

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
