"""A transformer that trains a network by gradient descent in its forward pass."""

from lemmata.certificates.descent import certify_step
from lemmata.constructions.descent.block import gradient_descent_block
from lemmata.constructions.descent.bounds import approximate_activation
from lemmata.constructions.descent.softmax import softmax_descent_block

__all__ = ["approximate_activation", "certify_step", "gradient_descent_block", "softmax_descent_block"]
