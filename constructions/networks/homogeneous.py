"""One-hidden-layer homogeneous networks in mass form: the one type that all max-margin constructions share.

A network is a sum of neurons ``phi(omega, x) = (u . x)^k w`` with ``omega = (u, w)``, homogeneous of degree
``nu = k + 1``. Every neuron is written ``omega_i = lambda_i * omegahat_i / sqrt(r)``, where the *direction*
``omegahat_i`` has squared norm ``r`` (the same for all neurons) and the *mass* is ``mu_i >= 0``, where
``mu_i = lambda_i^nu``. Then

    f_theta(x)               = r^(-nu/2) sum_i mu_i (u_i . x)^k w_i,
    ||theta||_{2,nu}^nu      = sum_i mu_i.

Neither a root of a mass nor the root of ``r`` is needed to evaluate or to compare networks exactly: they
enter only the weights that `HomogeneousNetwork.weights` exports. The group tasks have
x = (onehot(a), onehot(b)), so D = 2n, L = n, k = 2; sparse parity has sign vectors of length D = n, and
L = 2, where label 0 stands for y = +1.

Source: feature-emergence, definition-7.2 and definition-7.3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import ArrayLike, NDArray

from lemmata.constructions.networks.export import Translated
from lemmata.constructions.networks.held import checked_inputs
from lemmata.numerics.exact.numbers import sign_of, to_float
from lemmata.numerics.exact.systems import (
    Arithmetic,
    Array,
    in_one_system,
    listing,
    matrix_product,
    power,
    require_finite,
)


@dataclass(frozen=True, eq=False)
class HomogeneousNetwork(Translated):
    """A homogeneous one-hidden-layer network with m neurons, D inputs and L outputs, in mass form.

    Attributes:
        hidden: the vectors u_i, shape (m, D).
        readout: the vectors w_i, shape (m, L).
        masses: the masses mu_i >= 0, shape (m,).
        degree: the power k >= 1 of the activation; nu = k + 1.
        norm_squared: r > 0, the squared norm of every (u_i, w_i) of positive mass.
        arithmetic: the number system of the weights: "float", "exact" or "ball" (computed, not an argument).

    The three arrays and r share one arithmetic (`lemmata.numerics.exact.systems.common_system`): float64, exact
    numbers, or balls, where integers fit every one and are exact among themselves. They are copied, read-only.

    Raises:
        ValueError: naming the first violation among: degree, shapes, kinds of numbers, NaN or infinity,
            norm_squared, negative masses, squared norms. In exact arithmetic a squared norm must equal r. In
            ball arithmetic what the balls do not exclude is not refused: a squared norm must overlap r, and a
            mass may reach below 0. In float64 a squared norm may differ from r by (D + L + 2) * eps * r: with
            N = D + L squares the check has relative error N * eps / 2, and a direction that was divided by
            its own computed norm is off by (N / 2 + 2) * eps.
    """

    hidden: Array = field(repr=False)
    readout: Array = field(repr=False)
    masses: Array = field(repr=False)
    degree: int
    norm_squared: Any
    arithmetic: Arithmetic = field(init=False)

    def __post_init__(self) -> None:
        if isinstance(self.degree, bool) or not isinstance(self.degree, int | np.integer) or self.degree < 1:
            raise ValueError(f"The degree of the activation must be an integer >= 1, not {self.degree!r}.")
        arrays = {name: np.asarray(getattr(self, name)) for name in ("hidden", "readout", "masses")}
        _check_shapes(arrays)
        if np.ndim(self.norm_squared) != 0:
            shape = np.shape(self.norm_squared)
            raise ValueError(f"norm_squared must be one number, not an array of shape {shape}.")
        held, arithmetic = in_one_system({**arrays, "norm_squared": self.norm_squared})
        for name, array in held.items():
            object.__setattr__(self, name, array if array.ndim else array.item())
        object.__setattr__(self, "degree", int(self.degree))
        object.__setattr__(self, "arithmetic", arithmetic)
        self._check_values()

    @property
    def width(self) -> int:
        """The number m of neurons, those of mass zero included."""
        return self.hidden.shape[0]

    @property
    def nu(self) -> int:
        """The degree of homogeneity nu = k + 1 of the network in its weights."""
        return self.degree + 1

    @property
    def norm_power(self) -> Any:
        """``||theta||_{2,nu}^nu``, the sum of the masses (float, exact number or ball)."""
        return math.fsum(self.masses) if self.arithmetic == "float" else sum(self.masses, start=0)

    @property
    def scale(self) -> float:
        """The factor r^(-nu/2) between `raw` and the output of the network."""
        return float(self.norm_squared) ** (-self.nu / 2)

    def raw(self, x: ArrayLike) -> Array:
        """``sum_i mu_i (u_i . x)^k w_i``, the output but for r^(-nu/2), in the network's own numbers.

        Args:
            x: inputs, shape (..., D). A float64 network takes finite real numbers. Exact networks and balls
                take integers or object arrays (exact numbers; for balls also arb).

        Returns:
            Shape (..., L); float64 or object.

        Raises:
            ValueError: if the last axis has not length D, or if the numbers do not fit the arithmetic.
        """
        inputs = checked_inputs(x, self.hidden.shape[1], self.arithmetic)
        points = inputs.reshape(-1, inputs.shape[-1])
        weighted = self.masses[:, None] * self.readout
        outputs = matrix_product(power(matrix_product(points, self.hidden.T), self.degree), weighted)
        return outputs.reshape(*inputs.shape[:-1], self.readout.shape[1])

    def __call__(self, x: ArrayLike) -> NDArray[np.float64]:
        """The output f_theta(x), shape (..., L): `raw`, rounded to float64, times `scale`."""
        return to_float(self.raw(x)) * self.scale

    def normalised_squared(self, raw_value: Any) -> Any:
        """The square of ``(raw_value r^(-nu/2)) / ||theta||^nu``, which needs no root of r.

        For a margin that is a difference of two outputs of `raw`, this is the square of the normalised
        margin, and the sign of raw_value is its sign.

        Raises:
            ValueError: if the network has total mass zero.
        """
        total = self.norm_power
        if not total > 0:
            raise ValueError("The network has total mass zero; a normalised value needs a positive mass.")
        return raw_value * raw_value / (total * total * self.norm_squared**self.nu)

    def weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The actual weights mu_i^(1/nu) * omegahat_i / sqrt(r) as float64: (hidden, readout).

        The shapes are (m, D) and (m, L); ``((x @ hidden.T) ** k) @ readout`` is the network.
        """
        factors = to_float(self.masses) ** (1 / self.nu) / math.sqrt(float(self.norm_squared))
        return factors[:, None] * to_float(self.hidden), factors[:, None] * to_float(self.readout)

    @staticmethod
    def from_weights(hidden: ArrayLike, readout: ArrayLike, degree: int) -> HomogeneousNetwork:
        """The mass form, with r = 1, of the network with weights ``hidden`` (m, D) and ``readout`` (m, L).

        Zero neurons are dropped. Float64 only: masses are powers of norms, which are irrational in general.

        Raises:
            ValueError: for shapes that do not fit, NaN, infinity, a mass that overflows, or degree < 1.
        """
        u, w = np.asarray(hidden, dtype=np.float64), np.asarray(readout, dtype=np.float64)
        _check_shapes({"hidden": u, "readout": w, "masses": np.ones(len(u) if u.ndim else 0)})
        omega = np.concatenate([u, w], axis=1)
        for name, part in (("hidden", u), ("readout", w)):
            require_finite(name, part)
        omega = omega[np.any(omega != 0, axis=1)]
        # Dividing by the largest entry first keeps the squares from under- and overflowing.
        largest = np.abs(omega).max(axis=1, initial=0.0, keepdims=True)
        direction = omega / largest
        length = np.sqrt(np.sum(direction**2, axis=1, keepdims=True))
        direction /= length
        with np.errstate(over="ignore"):  # an infinite mass is refused by the constructor
            masses = (length * largest)[:, 0] ** (degree + 1)
        inputs = u.shape[1]
        return HomogeneousNetwork(direction[:, :inputs], direction[:, inputs:], masses, degree, 1.0)

    def to_float(self) -> HomogeneousNetwork:
        """The same network with float64 directions and masses (midpoints of balls)."""
        return HomogeneousNetwork(
            to_float(self.hidden),
            to_float(self.readout),
            to_float(self.masses),
            self.degree,
            float(self.norm_squared),
        )

    def _check_values(self) -> None:
        """The checks that look at numbers: r > 0, masses >= 0, squared norms equal to r."""
        r = self.norm_squared
        if not (r > 0 if self.arithmetic == "float" else _sign(r) > 0):
            raise ValueError(f"norm_squared must be a positive finite number, not {r}.")
        negative = [i for i, mass in enumerate(self.masses) if _certainly_negative(mass)]
        if negative:
            raise ValueError(
                f"Masses must be >= 0, but those of the neurons {listing(negative)} are negative: "
                "the network is only positively homogeneous, so a negative factor belongs into the direction."
            )
        norms = np.sum(self.hidden * self.hidden, axis=1) + np.sum(self.readout * self.readout, axis=1)
        if self.arithmetic == "float":
            allowed = (self.hidden.shape[1] + self.readout.shape[1] + 2) * np.finfo(np.float64).eps * r
            wrong = np.flatnonzero((self.masses > 0) & ~(np.abs(norms - r) <= allowed)).tolist()
        else:
            wrong = [i for i in range(self.width) if not _is_zero(self.masses[i]) and not _agree(norms[i], r)]
        if wrong:
            raise ValueError(
                f"Every direction of positive mass must have squared norm norm_squared = {r}, but the "
                f"neurons {listing(wrong)} have not; the first of them has {norms[wrong[0]]}."
            )


def _check_shapes(arrays: dict[str, Array]) -> None:
    """ValueError unless hidden is (m, D), readout (m, L), masses (m,) with D, L >= 1."""
    shapes = {name: array.shape for name, array in arrays.items()}
    hidden, readout, masses = shapes["hidden"], shapes["readout"], shapes["masses"]
    fits = len(hidden) == len(readout) == 2 and len(masses) == 1 and hidden[0] == readout[0] == masses[0]
    if not fits or hidden[1] < 1 or readout[1] < 1:
        raise ValueError(
            "The shapes must be hidden (m, D), readout (m, L), masses (m,) with D, L >= 1, "
            f"not {hidden}, {readout}, {masses}."
        )


def _sign(x: Any) -> int:
    """The sign of an exact number; for balls +1 only if it is certain, and 0 if undecided."""
    return (bool(x > 0) - bool(x < 0)) if isinstance(x, arb) else sign_of(x)


def _certainly_negative(x: Any) -> bool:
    return bool(x < 0) if isinstance(x, float | arb) else _sign(x) < 0


def _is_zero(x: Any) -> bool:
    return x.is_zero() if isinstance(x, arb) else bool(x == 0)


def _agree(x: Any, y: Any) -> bool:
    """Equality of exact numbers; overlap as soon as one of the two is a ball."""
    if isinstance(x, arb) or isinstance(y, arb):
        return (arb(x) if not isinstance(x, arb) else x).overlaps(arb(y) if not isinstance(y, arb) else y)
    return bool(x == y)
