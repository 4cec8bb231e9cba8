"""The vocabulary of layers from which every construction is assembled, and the networks that are no stack of them.

stream     ResidualStream: the named coordinates of a token
layers     Affine, FeedForward, Head, merged_head, AttentionLayer, Multiplication, BallProjection, Clipping, LayerNorm;
           Residual: layers with a residual around them
recurrent  RecurrentCell, elman_cell, RecurrentLayer: one or two directions
positions  one_hot_codes, binary_codes, binary_digits, relative_table, near_orthogonal_codes, near_orthogonal_parameters
time       decode: a stack of layers that is fed its own outputs
stored     HeadFamily, StoredAttention, StoredFeedForward, StoredMultiplication: layers kept without their matrices
networks   HomogeneousNetwork, Transformer; to_transformer_lens, lens_tokens (an export, with the extra lens)
files      load_attention_only: an attention-only transformer that was trained elsewhere; AttentionOnly
classifiers encode, discretize, accuracy: symbols to inputs, outputs to labels, and how many are right
"""
# ruff: noqa: F401 - the imports are the list of what is public here

from lemmata._rooms import exported as _exported
from lemmata.constructions.networks.affine import Affine
from lemmata.constructions.networks.attention import AttentionLayer
from lemmata.constructions.networks.attention_checkpoints import AttentionOnly, load_attention_only
from lemmata.constructions.networks.classification import accuracy, discretize, encode
from lemmata.constructions.networks.decoding import decode
from lemmata.constructions.networks.feed_forward import FeedForward
from lemmata.constructions.networks.head import Head, merged_head
from lemmata.constructions.networks.homogeneous import HomogeneousNetwork
from lemmata.constructions.networks.layer_norm import LayerNorm
from lemmata.constructions.networks.multiplication import Multiplication
from lemmata.constructions.networks.positions import binary_codes, binary_digits, one_hot_codes, relative_table
from lemmata.constructions.networks.projection import BallProjection, Clipping
from lemmata.constructions.networks.recurrent import RecurrentCell, RecurrentLayer, elman_cell
from lemmata.constructions.networks.residual import Residual
from lemmata.constructions.networks.stored import HeadFamily, StoredAttention, StoredFeedForward, StoredMultiplication
from lemmata.constructions.networks.stream import ResidualStream
from lemmata.constructions.networks.transformer import Transformer
from lemmata.constructions.networks.transformer_lens import lens_tokens, to_transformer_lens
from lemmata.numerics.groups.codes import near_orthogonal_codes, near_orthogonal_parameters

__all__ = _exported(globals())  # pyright: ignore[reportUnsupportedDunderAll]
