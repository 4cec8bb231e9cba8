"""The kernel: what it accepts, what it refuses, its arithmetic, and what hostile files cost."""

import ast
import json
import random
import resource
import subprocess
import sys
from fractions import Fraction
from itertools import combinations
from math import gcd
from pathlib import Path

import pytest
import sympy
from flint import arb, fmpq

from lemmata.certificates import kernel
from lemmata.certificates.characters.dixon import character_table
from lemmata.certificates.groups.document import certificate_document
from lemmata.certificates.groups.format import dumps
from lemmata.certificates.groups.scaled_pair import ScaledPair
from lemmata.numerics.exact.cyclotomic.numbers import Cyclotomic
from lemmata.numerics.groups.names import parse_group
from tests.certificates.documents import document_bytes, margin_document

KERNEL = Path(kernel.__file__)

# gamma of the published table of margins, and closed forms that were derived by hand
MARGINS = {
    "Z2": "2.7216552698e-01",
    "Z4": "5.0268709175e-02",
    "Z2^2": "6.4150029910e-02",
    "S3": "2.3604969310e-02",
    "Z6": "2.3604969310e-02",
    "Q8": "1.2371160317e-02",
    "D4": "1.5719655150e-02",
    "Z9": "1.1340230291e-02",
    "Dic3": "6.3545509353e-03",
    "A4": "6.0331111789e-03",
    "C7:C3": "1.7901419683e-03",
    "SL(2,3)": "1.8522675877e-03",
    "D4xS3": "7.6555975421e-04",
    "A5": "4.3157089877e-04",
    "S5": "1.3259774900e-04",
    "PSL(2,7)": "6.7755456455e-05",
}


def run(*paths: Path | str, memory: int = 0, seconds: int = 60) -> subprocess.CompletedProcess[str]:
    """Run the kernel as a stranger would, isolated, in a process with bounded address space."""

    def limit() -> None:
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    command = [sys.executable, "-I", str(KERNEL), *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds, preexec_fn=limit, cwd="/")


# ---- what it accepts


@pytest.mark.parametrize("name", MARGINS)
def test_the_published_margins_are_proved(name):
    document = margin_document(name)
    line = kernel.check(document_bytes(name))
    assert line.endswith("(exact)")
    assert document["margin"]["lower"] in line
    expected = sympy.Rational(MARGINS[name])
    half_unit = sympy.Rational(10) ** (sympy.floor(sympy.log(expected, 10)) - 10) / 2
    assert abs(sympy.Rational(document["margin"]["lower"]) - expected) <= half_unit


def test_the_exact_margin_of_a5_is_the_closed_form():
    claimed = sympy.sympify(margin_document("A5")["margin"]["exact"])
    assert sympy.simplify(claimed - (3 * sympy.sqrt(3) - 2) / (3312 * sympy.sqrt(5))) == 0


@pytest.mark.parametrize("factors", range(2, 9))
def test_products_of_k_signs_have_the_closed_form(factors):
    k = factors
    claimed = sympy.sympify(margin_document("Z2", factors)["margin"]["exact"])
    kernel.check(document_bytes("Z2", factors))
    expected = sympy.factorial(k) * sympy.Integer(2) ** sympy.Rational(1 - k, 2)
    expected *= sympy.Integer(k + 1) ** sympy.Rational(-(k + 1), 2)
    assert sympy.simplify(claimed / expected) == 1


@pytest.mark.parametrize("name", ["Z3", "Z4", "S3", "Q8", "A4", "SL(2,3)"])
def test_three_factors_are_proved(name):
    assert "3 factors" in kernel.check(document_bytes(name, 3))


@pytest.mark.parametrize("name", ["S6", "S7", "M11", "M12", "Z63"])
def test_large_groups_are_proved_in_seconds(name):
    assert kernel.check(document_bytes(name)).endswith("(exact)")


def test_rational_bounds_are_accepted_as_enclosed_and_never_as_exact():
    group = parse_group("A5")
    table = character_table(group)
    exact = margin_document("A5")

    def weight(entry):
        total = sum(
            arb(int(m)).sqrt() * fmpq(q)
            for m, q in ((m, fmpq(*map(int, (*q.split("/"), 1)[:2]))) for m, q in entry["scaled_weight"].items())
        )
        units = int((arb(total) * 10**6).floor().unique_fmpz()) - 1 if entry["scaled_weight"] else 0
        return {1: Fraction(units, 10**6)} if units > 0 else {}

    masses = [Fraction(row["scaled_mass"]) * Fraction(1000001, 1000000) for row in exact["characters"]["rows"]]
    pair = ScaledPair(tuple(masses), tuple(weight(entry) for entry in exact["classes"]))
    document = certificate_document(group, table, pair, digits=12)
    assert document["grade"] == "enclosed"
    assert document["margin"]["exact"] is None
    assert kernel.check(dumps(document)).endswith("(enclosed)")
    truth = Fraction(exact["margin"]["lower"])
    lower, upper = Fraction(document["margin"]["lower"]), Fraction(document["margin"]["upper"])
    assert lower < truth < upper < lower * Fraction(10001, 10000)
    document["grade"] = "exact"
    with pytest.raises(kernel.ViolatedError, match="grade"):
        kernel.check(dumps(document))


# ---- running it


def test_exit_status_and_lines(tmp_path):
    valid, invalid, malformed = (tmp_path / f"{name}.json" for name in ("valid", "invalid", "malformed"))
    valid.write_bytes(document_bytes("S3"))
    document = margin_document("S3")
    document["classes"][1]["size"] = 2
    invalid.write_bytes(dumps(document))
    malformed.write_text("{")
    assert run(valid).returncode == 0
    outcome = run(invalid)
    assert (outcome.returncode, "classes[1].size: the class has 3 elements" in outcome.stdout) == (1, True)
    assert run(malformed).returncode == 2
    assert run(tmp_path / "missing").returncode == 2
    assert run().returncode == 2
    outcome = run(valid, invalid, malformed)
    assert outcome.returncode == 2
    assert [line.split(": ")[1] for line in outcome.stdout.splitlines()] == ["valid", "invalid", "malformed"]
    assert outcome.stderr == ""


def test_it_imports_the_standard_library_only_and_computes_without_floats():
    tree = ast.parse(KERNEL.read_text())
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or "."]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= sys.stdlib_module_names
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, float)]
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert not names & {"float", "complex", "round", "eval", "exec", "open"}
    functions = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert not functions & {"sqrt", "log", "exp", "cos", "pi", "pow"}


# ---- its arithmetic, against other libraries


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5, 6, 8, 9, 12, 15, 20, 30, 60, 84, 105])
def test_zero_in_a_cyclotomic_field_is_decided_as_flint_decides_it(order):
    generator = random.Random(order)
    packing = kernel.Packing(order, 2000)
    primes = sympy.primefactors(order)
    zeros = 0
    for _ in range(200):
        terms = {e: generator.randint(-3, 3) for e in generator.sample(range(order), generator.randint(1, order))}
        if primes and generator.random() < 0.5:  # sums over cosets of the p-th roots of unity vanish
            terms = {}
            for _ in range(generator.randint(1, 4)):
                p, start = generator.choice(primes), generator.randrange(order)
                for j in range(p):
                    e = (start + j * order // p) % order
                    terms[e] = terms.get(e, 0) + 1
            terms[0] = terms.get(0, 0) + (generator.random() < 0.2)
        expected = bool(Cyclotomic(order, [terms.get(e, 0) for e in range(order)]))
        assert (packing.times_z(terms) != 0) == expected
        zeros += not expected
    assert zeros > 20 or not primes


@pytest.mark.parametrize("order", [1, 4, 5, 12, 21, 45])
def test_packed_products_are_those_of_the_field(order):
    generator = random.Random(order)
    packing = kernel.Packing(order, 10**6)

    def element():
        return {e: generator.randint(-9, 9) for e in generator.sample(range(order), generator.randint(1, order))}

    def flint(terms):
        return Cyclotomic(order, [terms.get(e, 0) for e in range(order)])

    for _ in range(50):
        x, y = element(), element()
        product = flint(x) * flint(y)
        terms = {e: int(c.p) for e, c in enumerate(product.lifted(product.order).coeffs()) if c != 0}
        step = order // product.order
        claimed = packing.times_z({e * step: c for e, c in terms.items()})
        assert packing.reduce(packing.pack(x) * packing.times_z(y)) == claimed


@pytest.mark.parametrize("order", [1, 2, 4, 6, 9, 12, 30, 36, 105])
def test_galois_means_are_means_over_the_automorphisms(order):
    generator = random.Random(order)
    terms = {e: generator.randint(-5, 5) for e in range(order)}
    units = [k for k in range(1, order + 1) if gcd(k, order) == 1]
    conjugates = [
        Cyclotomic(order, [sum(c for e, c in terms.items() if e * k % order == i) for i in range(order)]) for k in units
    ]
    mean = sum(conjugates[1:], start=conjugates[0]) / len(units)
    assert mean == kernel.galois_means(order, [[terms]])[0][0]


def test_signs_of_sums_of_square_roots():
    generator = random.Random(1)
    for _ in range(500):
        x = {
            m: Fraction(generator.randint(-50, 50) or 1, generator.randint(1, 50))
            for m in generator.sample([1, 2, 3, 5, 6, 7, 10, 30], generator.randint(1, 4))
        }
        ball = sum((arb(m).sqrt() * fmpq(q.numerator, q.denominator) for m, q in x.items()), arb(0))
        assert kernel.sign(x) == (1 if ball > 0 else -1 if ball < 0 else pytest.fail("the ball is undecided"))
    assert kernel.sign({}) == 0
    near = Fraction(sympy.integer_nthroot(2 * 10**600, 2)[0], 10**300)
    assert (kernel.sign({1: -near, 2: kernel.ONE}), kernel.sign({1: near, 2: -kernel.ONE})) == (1, -1)


@pytest.mark.parametrize("number", [1, 2, 4, 12, 72, 97, 9801, 2**13 * 3**5])
def test_square_roots_are_split_into_rational_and_squarefree_part(number):
    ((m, q),) = kernel.times_root({6: kernel.ONE}, number).items()
    assert q * q * m == 6 * number
    assert all(exponent == 1 for exponent in sympy.factorint(m).values())


# ---- hostile files: refused with status 2 in bounded time and memory

LIMIT = 700_000_000  # bytes of address space, a little above what the interpreter and the largest file need


def nested(opening: bytes, count: int) -> bytes:
    return opening * count


HOSTILE = {
    "deep lists": nested(b"[", 900_000),
    "deep objects": nested(b'{"a":', 900_000),
    "many lists": b"[" + b"[]," * 5_000_000 + b"[]]",
    "many integers": b"[" + b"1," * 7_000_000 + b"1]",
    "a long string": b'"' + b"a" * 15_000_000 + b'"',
    "a huge integer": b'{"version":' + b"9" * 10_000_000 + b"}",
    "a huge float": b'{"version":1e999999999}',
    "a float": b'{"version":1.0}',
    "not a number": b"[NaN]",
    "infinity": b"[-Infinity]",
    "a key twice": b'{"version":1,"version":1}',
    "not UTF-8": b"\xff\xfe",
    "nothing": b"",
    "null": b"null",
    "another format": b'{"format":"other","version":1}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bytes_are_refused(name, tmp_path):
    path = tmp_path / "hostile.json"
    path.write_bytes(HOSTILE[name])
    outcome = run(path, memory=LIMIT, seconds=20)
    assert outcome.returncode == 2, outcome.stderr
    assert "malformed" in outcome.stdout


def test_a_file_of_100_megabytes_is_refused_without_reading_it(tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(100_000_000)
    outcome = run(path, memory=LIMIT, seconds=10)
    assert (outcome.returncode, "16000000 bytes" in outcome.stdout) == (2, True)
    assert run("/dev/zero", memory=LIMIT, seconds=10).returncode == 2


def edited(name, edit):
    document = margin_document(name)
    edit(document)
    return json.dumps(document).encode()


def large_group(document):
    """Claim order 1000000 for generators of the symmetric group of degree 12."""
    group = document["group"]
    group.update(order=1_000_000, degree=12, generators=[[*range(1, 12), 0], [1, 0, *range(2, 12)]])
    for entry in document["classes"]:
        entry["representative"] = list(range(12))


EXPENSIVE = {
    "a group larger than claimed": (1, large_group),
    "an order beyond the limit": (2, lambda d: d["group"].update(order=10**15)),
    "a degree beyond the limit": (2, lambda d: d["group"].update(degree=10**9)),
    "a root order beyond the limit": (2, lambda d: d["characters"].update(root_order=10**9)),
    "too many factors": (2, lambda d: d.update(factors=10**6)),
    "a huge power": (2, lambda d: d["characters"]["rows"][1].update(scaled_mass="1e999999999")),
    "many digits": (2, lambda d: d["characters"]["rows"][1].update(scaled_mass="9" * 10**6)),
    "a huge radicand": (2, lambda d: d["classes"][1]["scaled_weight"].update({"9" * 50: "1"})),
    "a huge coefficient": (2, lambda d: d["characters"]["rows"][1]["values"].__setitem__(1, [[10**15, 0]])),
    "a long decimal": (2, lambda d: d["margin"].update(lower="0." + "1" * 10**6)),
    "a control character": (2, lambda d: d["group"].update(name="\x1b[2J")),
}


@pytest.mark.parametrize("name", EXPENSIVE)
def test_expensive_claims_are_refused(name, tmp_path):
    status, edit = EXPENSIVE[name]
    path = tmp_path / "expensive.json"
    path.write_bytes(edited("S3", edit))
    outcome = run(path, memory=LIMIT, seconds=20)
    assert outcome.returncode == status, outcome.stdout + outcome.stderr
    assert outcome.stderr == ""


def test_every_missing_or_additional_key_is_refused():
    def objects(value):
        if isinstance(value, dict):
            yield value
        for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from objects(part)

    count = 0
    for index, found in enumerate(list(objects(margin_document("S3")))):
        for key in [*found, "extra"]:
            document = margin_document("S3")
            target = list(objects(document))[index]
            if key in target:
                del target[key]
            else:
                target[key] = 0
            with pytest.raises((kernel.MalformedError, kernel.ViolatedError)):
                kernel.check(dumps(document))
            count += 1
    assert count > 40


def test_distinct_square_roots_are_independent_on_the_primes_that_occur():
    """What `sign` rests on, for the products of 2, 3, 5: their vectors of conjugates are independent."""
    primes = [2, 3, 5]
    products = [sympy.prod(chosen) for size in range(4) for chosen in combinations(primes, size)]
    conjugates = sympy.Matrix(
        8,
        8,
        lambda s, i: (
            sympy.prod([(-1) ** (s >> j & 1) for j, p in enumerate(primes) if products[i] % p == 0])
            * sympy.sqrt(products[i])
        ),
    )
    assert sympy.simplify(conjugates.det()) != 0
