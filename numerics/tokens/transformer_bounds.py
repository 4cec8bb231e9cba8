"""What a single-layer transformer can fit, with every constant: covers, Rademacher complexity, excess risk.

The network has H softmax heads with merged matrices W^(h) in R^(D x D) and embeddings z as values, their outputs side
by side in R^(HD), and the readout a^T relu(W h + b) with m neurons. Its class is

    ||a||_2 <= A,   ||(W, b)||_F <= B,   ||W^(h)||_{2,1} <= rho for each head,

where the (2, 1) norm adds the Euclidean norms of the columns, and ||z||_2 <= r for all embeddings of the sample.
Logarithms are natural. Every function returns a ball; arguments are exact numbers, finite floats or balls. The proofs
are in theorems/qstr/proofs/transformer-generalisation.md, whose steps the functions name.

Source: qstr, lemmas 12 to 20, theorems 4 and 10.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from flint import arb

from lemmata.numerics.exact.balls import ball_max, ball_min, checked_bound, decided_less
from lemmata.numerics.exact.integers import checked_integer

__all__ = [
    "RiskTerms",
    "TokenTask",
    "TransformerClass",
    "chained_rademacher",
    "excess_risk",
    "generalisation_gap",
    "log_cover",
    "norm_ball_class",
    "query_key_cover",
    "readout_cover",
    "risk_terms",
    "safe_token_norm",
    "token_norm_tail",
    "truncated_rademacher",
    "truncation_level",
    "volumetric_cover",
]


_positive = partial(checked_bound, positive=True)


def _at_least_one(ball: arb) -> arb:
    return ball_max([arb(1), ball])


@dataclass(frozen=True)
class TransformerClass:
    """The class of networks.

    Attributes:
        heads: H.
        neurons: m, of the readout.
        dimension: D, of an embedding.
        outer: A, the bound of the output weights.
        inner: B, the bound of hidden weights and biases together.
        query_key: rho, the bound of the (2, 1) norm of one head.
        embedding_norm: r.
    """

    heads: int
    neurons: int
    dimension: int
    outer: arb
    inner: arb
    query_key: arb
    embedding_norm: arb

    def __post_init__(self) -> None:
        for name in ("heads", "neurons", "dimension"):
            object.__setattr__(self, name, checked_integer(f"The number {name}", getattr(self, name), 1))
        for name in ("outer", "inner", "query_key", "embedding_norm"):
            object.__setattr__(self, name, _positive(f"The bound {name}", getattr(self, name)))

    @property
    def lipschitz(self) -> arb:
        """A B, the Lipschitz constant of the readout in the outputs of the heads (step 1)."""
        return self.outer * self.inner

    @property
    def reach(self) -> arb:
        """s = sqrt(H r^2 + 1), the norm of the outputs of the heads with the 1 of the bias (step 1)."""
        return (self.heads * self.embedding_norm**2 + 1).sqrt()

    @property
    def readout_parameters(self) -> int:
        """m (H D + 2)."""
        return self.neurons * (self.heads * self.dimension + 2)

    @property
    def query_key_parameters(self) -> int:
        """H D^2."""
        return self.heads * self.dimension**2


def token_norm_tail(tokens: int, dimension: int, scale: object, norm: object) -> arb:
    """A bound on P(max ||x|| >= norm) over `tokens` = nN tokens: nN exp(-norm^2/(2 C_x e d)).

    The bound is attained: by a law of one token, and by tokens that are never large together (step 5).

    Args:
        tokens: nN.
        dimension: d.
        scale: C_x, with E[||x||^r]^(1/r) <= sqrt(C_x d r) for all r >= 1.
        norm: the threshold.

    Raises:
        ValueError: if there is one token and norm^2 < C_x e d, where the bound fails, or an argument is not positive.
    """
    count = checked_integer("The number of tokens", tokens, 1)
    d = checked_integer("The dimension of a token", dimension, 1)
    exponent = _positive("The norm", norm) ** 2 / (_positive("The scale C_x", scale) * arb(1).exp() * d)
    if count == 1 and decided_less(exponent, 1):
        raise ValueError(
            f"For one token the bound needs norm^2 >= C_x e d: it is false for the norm {norm}, where norm^2/(C_x e d) "
            f"is {exponent.str(5, radius=False)}."
        )
    return count * (-exponent / 2).exp()


def safe_token_norm(tokens: int, dimension: int, scale: object) -> arb:
    """r_x = sqrt(3 C_x e d ln(nN)), which the largest of nN >= 2 tokens exceeds with probability at most (nN)^(-1/2).

    Raises:
        ValueError: if there are fewer than two tokens, or an argument is not positive.
    """
    count = checked_integer("The number of tokens", tokens, 2)
    d = checked_integer("The dimension of a token", dimension, 1)
    return (3 * _positive("The scale C_x", scale) * arb(1).exp() * d * arb(count).log()).sqrt()


def volumetric_cover(parameters: int, radius: object, eps: object) -> arb:
    """p ln(1 + 2 radius/eps), which bounds the log-size of an eps-cover of a Euclidean ball in R^p (step 2).

    Raises:
        ValueError: if p < 1 or an argument is not positive.
    """
    p = checked_integer("The number of parameters", parameters, 1)
    return p * (1 + 2 * _positive("The radius", radius) / _positive("The accuracy eps", eps)).log()


def readout_cover(networks: TransformerClass, eps: object) -> arb:
    """The log-size of a cover of the readouts, over ||h|| <= sqrt(H) r: m (H D + 2) ln(1 + 4 A B s/eps).

    Half of eps for the output weights, half for the hidden ones (step 2).
    """
    half = _positive("The accuracy eps", eps) / 2
    outer = volumetric_cover(networks.neurons, networks.outer, half / (networks.inner * networks.reach))
    inner = volumetric_cover(
        networks.readout_parameters - networks.neurons, networks.inner, half / (networks.outer * networks.reach)
    )
    return outer + inner


def query_key_cover(networks: TransformerClass, eps: object, points: int) -> tuple[arb, arb]:
    """Two log-sizes of covers of the query-key matrices, in max_i ||(Theta - Theta')^T z_i||_2 over n points.

    The first counts codes, x ln(2 n H D (1 + log4 x) + 1) with x = 4 (H rho r/eps)^2, and is 0 for x < 1 (step 4); the
    second is volumetric, H D^2 ln(1 + 2 sqrt(H) rho r/eps) (step 3).

    Args:
        networks: the class.
        eps: the radius.
        points: n, the number of queries z_i.

    Raises:
        ValueError: if eps is not positive or there is no point.
    """
    n = checked_integer("The number of points", points, 1)
    radius = _positive("The accuracy eps", eps)
    reach = networks.query_key * networks.embedding_norm
    length = 4 * (networks.heads * reach / radius) ** 2
    codes = arb(0)
    if not length < 1:
        levels = 1 + length.log() / arb(4).log()
        symbols = 2 * n * networks.heads * networks.dimension * levels + 1
        codes = length * symbols.log()
    root = arb(networks.heads).sqrt() * reach
    return codes, volumetric_cover(networks.query_key_parameters, root, radius)


def log_cover(networks: TransformerClass, eps: object, points: int) -> arb:
    """The log-size of an eps-cover of the class on n queries: readout eps/2, query-key eps/(2 A B r^2) (step 6)."""
    radius = _positive("The accuracy eps", eps)
    attention = radius / (2 * networks.lipschitz * networks.embedding_norm**2)
    return readout_cover(networks, radius / 2) + ball_min(query_key_cover(networks, attention, points))


def chained_rademacher(log_sizes: list[arb], points: int) -> arb:
    """The chaining bound for losses in [0, 1]: 2^-J + sum_j 3 2^-j sqrt(2 (E_j + E_(j-1))/n) (step 8).

    Args:
        log_sizes: E_1, ..., E_J, the log-sizes of covers at radius 2^-j in the supremum over the sample; E_0 = 0.
        points: n.

    Raises:
        ValueError: if n < 1.
    """
    n = checked_integer("The number of points", points, 1)
    total = arb(1) / 2 ** len(log_sizes)
    for j, (before, now) in enumerate(zip([arb(0), *log_sizes], log_sizes, strict=False), start=1):
        total += 3 * (2 * (now + before) / n).sqrt() / 2**j
    return total


def truncated_rademacher(networks: TransformerClass, level: object, points: int) -> arb:
    """A bound on the empirical Rademacher complexity of min((f - y)^2, tau), tau = `level` (steps 7 and 8).

    The losses are 2 sqrt(tau)-Lipschitz in f: a cover of the class at 2^-j sqrt(tau)/2 is one of them at 2^-j tau.
    Trivially it is at most tau; else the best J up to log2(n) + 1.
    """
    return ball_min(_chained_sums(networks, level, points))


def _chained_sums(networks: TransformerClass, level: object, points: int) -> list[arb]:
    """The bounds with J = 0, 1, ..., log2(n) + 1 radii."""
    tau = _positive("The truncation level", level)
    n = checked_integer("The number of points", points, 1)
    sizes: list[arb] = []
    sums = [tau]
    for j in range(1, n.bit_length() + 1):
        sizes.append(log_cover(networks, tau.sqrt() / 2 ** (j + 1), n))
        sums.append(tau * chained_rademacher(sizes, n))
    return sums


def generalisation_gap(networks: TransformerClass, level: object, points: int, delta: object) -> arb:
    """A bound on truncated risk minus truncated empirical risk, for all networks at once, with probability 1 - delta.

    2 Rad + 3 tau sqrt(ln(2/delta)/(2 n)), on the event that the embeddings of the sample have norm at most r (step 9).

    Raises:
        ValueError: if delta is not inside (0, 1), or as `truncated_rademacher`.
    """
    failure = _positive("The failure probability delta", delta)
    if not decided_less(failure, 1):
        raise ValueError(f"The failure probability delta must lie in (0, 1), not be {delta!r}.")
    tau = _positive("The truncation level", level)
    chance = 3 * tau * ((2 / failure).log() / (2 * points)).sqrt()
    return 2 * truncated_rademacher(networks, tau, points) + chance


@dataclass(frozen=True)
class TokenTask:
    """The sizes and laws of a task, in the words of Assumption 1.

    Attributes:
        length: N, tokens of a prompt.
        dimension: d, of a token.
        sparsity: q.
        encoding: d_e, dimension of a position code.
        token_scale: C_x.
        label_scale: C_y.
        label_power: s >= 1, with E[|y|^r]^(1/r) <= sqrt(C_y r^s).
    """

    length: int
    dimension: int
    sparsity: int
    encoding: int
    token_scale: object = 1
    label_scale: object = 1
    label_power: int = 1

    def __post_init__(self) -> None:
        for name in ("length", "dimension", "sparsity", "encoding", "label_power"):
            checked_integer(f"The {name}", getattr(self, name), 1)
        if self.sparsity > self.length:
            raise ValueError(f"A label depends on {self.sparsity} of {self.length} tokens: the sparsity is at most N.")

    @property
    def embedding_dimension(self) -> int:
        """D_e = d + (q + 1) d_e."""
        return self.dimension + (self.sparsity + 1) * self.encoding

    @property
    def code_norm(self) -> arb:
        """d (1 + 1/q), the squared norm of the codes in an embedding."""
        return self.dimension * (1 + arb(1) / self.sparsity)

    def embedding_norm(self, samples: int) -> arb:
        """r_z = sqrt(r_x^2 + d (1 + 1/q)) with the token norm that n prompts exceed with probability (nN)^(-1/2)."""
        tokens = safe_token_norm(samples * self.length, self.dimension, self.token_scale)
        return (tokens**2 + self.code_norm).sqrt()


def truncation_level(task: TokenTask, networks: TransformerClass, samples: int) -> arb:
    """A level tau with risk - truncated risk <= n^(-1/2) for every network of the class, on fresh prompts (step 10)."""
    n = checked_integer("The number of samples", samples, 1)
    c_x, c_y = _positive("The scale C_x", task.token_scale), _positive("The scale C_y", task.label_scale)
    gain = networks.lipschitz**2
    rest = gain * (networks.heads * task.code_norm + 1)
    order = _at_least_one(arb(task.length).log())
    tokens = arb(task.length) ** (1 / order) * (4 * c_x * task.dimension * order) ** 2
    labels = (c_y * 4**task.label_power) ** 2
    fourth = 8 * (labels + 2 * (gain * networks.heads) ** 2 * tokens + 2 * rest**2)
    e = arb(1).exp()
    label_part = e**2 * c_y * _at_least_one((2 * n * fourth).log()) ** task.label_power
    token_part = c_x * e * task.dimension * _at_least_one(2 * (2 * n * task.length * fourth).log())
    return 4 * ball_max([label_part, gain * networks.heads * token_part + rest])


@dataclass(frozen=True)
class RiskTerms:
    """The parts of the bound on the excess risk, all balls.

    Attributes:
        level: tau, where losses are truncated (step 10).
        radius: the finest radius of the chain, in the outputs of the networks; sqrt(tau)/2 where no chain helps.
        readout: the log-size of the cover of the readouts at that radius.
        codes: that of the query-key matrices by codes (step 4).
        volume: that of the query-key matrices by volume (step 3).
        complexity: twice the bound on the Rademacher complexity (step 8).
        chance: the deviation of the sample (step 9).
        beyond: n^(-1/2), the risk beyond the level (step 10).
    """

    level: arb
    radius: arb
    readout: arb
    codes: arb
    volume: arb
    complexity: arb
    chance: arb
    beyond: arb

    @property
    def total(self) -> arb:
        """The bound: complexity, chance and the risk beyond the level."""
        return self.complexity + self.chance + self.beyond

    @property
    def dominant(self) -> str:
        """What the cover consists of mostly: "readout", "attention by codes" or "attention by volume"."""
        attention, name = min((self.codes, "codes"), (self.volume, "volume"), key=lambda one: float(one[0].mid()))
        return "readout" if self.readout > attention else f"attention by {name}"


def risk_terms(task: TokenTask, networks: TransformerClass, samples: int, delta: object) -> RiskTerms:
    """The bound of `excess_risk`, part by part.

    Raises:
        ValueError: as `excess_risk`.
    """
    needed = task.embedding_norm(samples)
    if networks.embedding_norm < needed:
        raise ValueError(
            f"The class bounds embeddings by {networks.embedding_norm.str(5, radius=False)}, and {samples} prompts "
            f"need {needed.str(5, radius=False)}: take task.embedding_norm(samples)."
        )
    level = truncation_level(task, networks, samples)
    gap = generalisation_gap(networks, level, samples, delta)
    sums = _chained_sums(networks, level, samples)
    depth = min(range(len(sums)), key=lambda j: float(sums[j].mid()))
    radius = level.sqrt() / 2 ** (depth + 1)
    attention = radius / (2 * networks.lipschitz * networks.embedding_norm**2)
    codes, volume = query_key_cover(networks, attention, samples)
    complexity = 2 * ball_min(sums)
    readout = readout_cover(networks, radius / 2)
    return RiskTerms(level, radius, readout, codes, volume, complexity, gap - complexity, 1 / arb(samples).sqrt())


def excess_risk(task: TokenTask, networks: TransformerClass, samples: int, delta: object) -> arb:
    """A bound on the risk of every empirical minimiser beyond 4 times the approximation error, n prompts (step 11).

    It holds with probability 1 - delta - (nN)^(-1/2) if the class contains a network within 2 sqrt(eps) of the link.

    Raises:
        ValueError: if the embeddings of the class are bounded by less than the task needs, or as `generalisation_gap`.
    """
    return risk_terms(task, networks, samples, delta).total


def norm_ball_class(task: TokenTask, neurons: int, radius: object, samples: int) -> TransformerClass:
    """A class with all networks of q heads and ||vec Theta||_2 <= R, on the embeddings of n prompts (step 12).

    The products of norms that matter are at most ||a|| ||(W, b)|| <= R^2/2, so the class has A = B = R/sqrt(2), up to a
    rescaling of the neurons; the (2, 1) norm of a D x D matrix is at most sqrt(D) times its Frobenius norm.
    """
    bound = _positive("The radius R", radius)
    side = bound / arb(2).sqrt()
    return TransformerClass(
        heads=task.sparsity,
        neurons=neurons,
        dimension=task.embedding_dimension,
        outer=side,
        inner=side,
        query_key=bound * arb(task.embedding_dimension).sqrt(),
        embedding_norm=task.embedding_norm(samples),
    )
