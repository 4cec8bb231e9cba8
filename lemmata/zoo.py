"""A zoo of small networks that are understood completely, as ground truth for methods of interpretability.

    model = lm.zoo.load("induction head")
    model.stream, model.parts, model.to_torch()     # names of coordinates, what the heads do, a module
    hidden, key = lm.zoo.disguise(model, seed=7)    # the same outputs in a random basis, without names
    key.directions("back 1")                        # where the block is now

models    names, load: a ZooModel, with a Part for each head or layer
disguise  disguise, undo, Key
"""
# ruff: noqa: F401 - the imports are the list of what is public here

from lemmata._rooms import exported as _exported
from lemmata.constructions.zoo.disguise import Key, disguise, undo
from lemmata.constructions.zoo.models import Part, ZooModel, load, names

__all__ = _exported(globals())  # pyright: ignore[reportUnsupportedDunderAll]
