"""The vocabulary of layers from which every construction is assembled, and the networks that are no stack of them.

stream     ResidualStream: the named coordinates of a token
layers     Affine, FeedForward, Head, AttentionLayer, Multiplication
stored     HeadFamily, StoredAttention, StoredFeedForward, StoredMultiplication: layers kept without their matrices
networks   HomogeneousNetwork, AttentionTransformer; to_transformer_lens (an export, with the extra lens)
"""

from constructions.networks.affine import Affine
from constructions.networks.attention import AttentionLayer
from constructions.networks.feed_forward import FeedForward
from constructions.networks.head import Head
from constructions.networks.homogeneous import HomogeneousNetwork
from constructions.networks.multiplication import Multiplication
from constructions.networks.stored import HeadFamily, StoredAttention, StoredFeedForward, StoredMultiplication
from constructions.networks.stream import ResidualStream
from constructions.networks.transformer import AttentionTransformer
from constructions.networks.transformer_lens import to_transformer_lens

__all__ = [
    "Affine",
    "AttentionLayer",
    "AttentionTransformer",
    "FeedForward",
    "Head",
    "HeadFamily",
    "HomogeneousNetwork",
    "Multiplication",
    "ResidualStream",
    "StoredAttention",
    "StoredFeedForward",
    "StoredMultiplication",
    "to_transformer_lens",
]
