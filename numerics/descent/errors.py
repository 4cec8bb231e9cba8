"""How the errors of approximate activations add up in one step of back-propagation, and along gradient descent.

An N-layer network p(j) = r(V_j p(j-1)) is trained by a machine that has only approximations rbar, rbar', ubar of r, r'
and of the gradient u of the loss, and computes pbar, sbar and a gradient with them. `gradient_error` bounds the
distance of that gradient from the true one by a recursion in the 2-norm, forward through e_p and back through e_s:

    e_p(j)  = sqrt(K_j) eps_r + L_r nu_j e_p(j-1),                   e_p(0) = 0
    e_r'(j) = eps_r' + L_r' B_v e_p(j-1)                             (one coordinate)
    e_g     = sqrt(K_N) eps_l + L_u e_p(N)
    S_N     = B_r' G,             S_j   = B_r' nu_{j+1} S_{j+1}      >= |s(j)|, |sbar(j)|
    e_s(N)  = e_r'(N) G + B_r' e_g,
    e_s(j)  = nu_{j+1} (e_r'(j) S_{j+1} + B_r' e_s(j+1))
    |gradbar - grad L_n| <= (1/2) sqrt( sum_j ( e_s(j) pi_{j-1} + S_j e_p(j-1) )^2 )

with nu_j >= |V_j|_2 (sqrt(K_j) B_v for rows of norm <= B_v), pi_j >= |p(j)|_2 and |pbar(j)|_2, and G >= |u|_2 and
|ubar|_2. The same scheme with other sources bounds the Lipschitz constant of grad L_n (`gradient_lipschitz`). All
numbers are balls.

Source: deep-icgd, lemma-2 to lemma-6 and theorem-1, corrected; lemma-14 and corollary-1.1, corrected.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flint import arb

from lemmata.numerics.exact.balls import as_balls, decided_less


@dataclass(frozen=True)
class LayerBounds:
    """What is known of layer j of the network, and of its approximation.

    Attributes:
        width: K_j, the number of its outputs.
        norm: nu_j >= |V_j|_2, the operator norm.
        row: B_v >= the 2-norm of every row of V_j.
        activation: pi_j >= |p(j)|_2.
        lipschitz: L_r, a Lipschitz constant of r on the interval of its arguments.
        slope: B_r' >= |r'| and |rbar'| there.
        slope_lipschitz: L_r', a Lipschitz constant of r' there.
        error: eps_r >= |rbar - r| there.
        slope_error: eps_r' >= |rbar' - r'| there.
    """

    width: int
    norm: arb
    row: arb
    activation: arb
    lipschitz: arb
    slope: arb
    slope_lipschitz: arb
    error: arb
    slope_error: arb


@dataclass(frozen=True)
class LossBounds:
    """What is known of the gradient u of the loss in the prediction, and of its approximation ubar.

    Attributes:
        size: G >= |u|_2, |ubar|_2.
        lipschitz: L_u, a Lipschitz constant of t -> u(t, y) in the 2-norm (of one coordinate, if u is separable).
        error: eps_l >= |ubar - u| in every coordinate.
    """

    size: arb
    lipschitz: arb
    error: arb


@dataclass(frozen=True)
class ErrorRecursion:
    """The bounds of the recursion, layer by layer (index 0 of a tuple is layer 1; `forward` begins with e_p(0) = 0).

    Attributes:
        forward: e_p(0), ..., e_p(N), in the 2-norm.
        slopes: e_r' of layers 1..N, per coordinate.
        loss: e_g, in the 2-norm.
        sizes: S_1, ..., S_N.
        backward: e_s(1), ..., e_s(N), in the 2-norm.
        gradient: the bound of |gradbar - grad L_n|_2.
    """

    forward: tuple[arb, ...]
    slopes: tuple[arb, ...]
    loss: arb
    sizes: tuple[arb, ...]
    backward: tuple[arb, ...]
    gradient: arb


def gradient_error(layers: Sequence[LayerBounds], loss: LossBounds, inputs: object) -> ErrorRecursion:
    """The recursion above.

    Args:
        layers: bounds for layers 1..N.
        loss: bounds for the gradient of the loss.
        inputs: B_x >= |x_i|_2 for all examples.

    Raises:
        ValueError: if there is no layer, or a bound is negative; the message names the bound.
    """
    pi = _inputs(layers, loss, inputs)
    forward = [arb(0)]
    for layer in layers:
        forward.append(arb(layer.width).sqrt() * layer.error + layer.lipschitz * layer.norm * forward[-1])
    slopes = [
        layer.slope_error + layer.slope_lipschitz * layer.row * before
        for layer, before in zip(layers, forward, strict=False)
    ]
    e_g = arb(layers[-1].width).sqrt() * loss.error + loss.lipschitz * forward[-1]
    sizes = _sizes(layers, loss)
    backward = [slopes[-1] * loss.size + layers[-1].slope * e_g]
    for j in range(len(layers) - 2, -1, -1):
        after = layers[j + 1].norm
        backward.insert(0, after * (slopes[j] * sizes[j + 1] + layers[j].slope * backward[0]))
    gradient = _half_norm(e_s * p + S * e_p for e_s, p, S, e_p in zip(backward, pi, sizes, forward, strict=False))
    return ErrorRecursion(tuple(forward), tuple(slopes), e_g, tuple(sizes), tuple(backward), gradient)


def gradient_lipschitz(layers: Sequence[LayerBounds], loss: LossBounds, inputs: object) -> arb:
    """An upper bound L_f of |grad L_n(w) - grad L_n(w')|_2 / |w - w'|_2, for all weights that satisfy the bounds.

    The same scheme with the exact r, r', u: per unit of |w - w'|, which bounds every |V_j - V_j'|, p(j) moves by d(j),
    r' of layer j by q_j and s(j) by t_j, where d(0) = 0, t_N = q_N G + B_r' L_u d(N) and

        d(j) = L_r a_j,  q_j = L_r' a_j  with  a_j = pi_{j-1} + nu_j d(j-1),
        t_j = nu_{j+1} (q_j S_{j+1} + B_r' t_{j+1}) + B_r' S_{j+1}.

    The errors eps of the layers do not matter.

    Args and errors as for `gradient_error`.
    """
    pi = _inputs(layers, loss, inputs)
    moved, slopes = [arb(0)], []
    for layer, before in zip(layers, pi, strict=False):
        argument = before + layer.norm * moved[-1]
        slopes.append(layer.slope_lipschitz * argument)
        moved.append(layer.lipschitz * argument)
    sizes = _sizes(layers, loss)
    backward = [slopes[-1] * loss.size + layers[-1].slope * loss.lipschitz * moved[-1]]
    for j in range(len(layers) - 2, -1, -1):
        after = layers[j + 1].norm
        own = after * (slopes[j] * sizes[j + 1] + layers[j].slope * backward[0])
        backward.insert(0, own + layers[j].slope * sizes[j + 1])
    return _half_norm(t * p + S * d for t, p, S, d in zip(backward, pi, sizes, moved, strict=False))


def trajectory_error(step_errors: Sequence[object], eta: object, lipschitz: object) -> list[arb]:
    """The bounds d_0 = 0, d_1, ..., d_L of |wbar^l - w^l| for projected gradient descent with inexact gradients.

    d_l = (1 + eta L_f) d_{l-1} + eta eps_l, where eps_l bounds the error of the gradient in step l, at the iterate
    wbar^(l-1). For constant eps it is eps ((1 + eta L_f)^l - 1) / L_f. The projection must be that onto one convex set,
    on which grad L_n is L_f-Lipschitz, and the start the same.

    Raises:
        ValueError: if an error, eta or the Lipschitz constant is negative.
    """
    eps, (rate, L) = as_balls(list(step_errors)).tolist(), as_balls([eta, lipschitz]).tolist()
    for name, value in [*(("step_errors", e) for e in eps), ("eta", rate), ("lipschitz", L)]:
        if decided_less(value, 0):
            raise ValueError(f"{name} must be nonnegative, not {value}.")
    distances = [arb(0)]
    for error in eps:
        distances.append((1 + rate * L) * distances[-1] + rate * error)
    return distances


def _inputs(layers: Sequence[LayerBounds], loss: LossBounds, inputs: object) -> list[arb]:
    """The bounds pi_0, ..., pi_N, after a check of all bounds."""
    if not layers:
        raise ValueError("layers must not be empty: the network has N >= 1 layers.")
    B_x = as_balls([inputs]).tolist()[0]
    named = [("inputs", B_x), *vars(loss).items()]
    named += [(f"{name} of layer {j}", x) for j, layer in enumerate(layers, 1) for name, x in vars(layer).items()]
    for name, value in named:
        if decided_less(value, 0):
            raise ValueError(f"The bound {name} must be nonnegative, not {value}.")
    return [B_x, *(layer.activation for layer in layers)]


def _sizes(layers: Sequence[LayerBounds], loss: LossBounds) -> list[arb]:
    """The bounds S_1, ..., S_N."""
    sizes = [layers[-1].slope * loss.size]
    for j in range(len(layers) - 2, -1, -1):
        sizes.insert(0, layers[j].slope * layers[j + 1].norm * sizes[0])
    return sizes


def _half_norm(terms: Iterable[arb]) -> arb:
    return sum((x * x for x in terms), arb(0)).sqrt() / 2
