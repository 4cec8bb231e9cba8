"""Straight-line integer code in LLVM's language: an assembler that folds constants and never computes a thing twice.

Values are Python integers, where they are known, or names of 64-bit registers. Names of the main line stay valid to its
end, since every later block comes after them; what is computed on a side path must not be used outside.
"""

from __future__ import annotations

from collections.abc import Sequence

import llvmlite.binding as llvm

__all__ = ["Assembler", "Value", "pointer_type"]

Value = int | str

_OPAQUE = llvm.llvm_version_info[0] >= 15  # since then pointers have one type
_FOLDED = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "shl": lambda a, b: a << b,
    "ashr": lambda a, b: a >> b,
}
_NEUTRAL = {"add": 0, "or": 0, "shl": 0, "ashr": 0, "mul": 1}


def pointer_type(bits: int) -> str:
    """The type of a pointer to integers of so many bits."""
    return "ptr" if _OPAQUE else f"i{bits}*"


class Assembler:
    """The lines of one function, and the values that it has computed already."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._known: dict[tuple[object, ...], str] = {}
        self._count = 0
        self.block = "%entry"

    def fresh(self, stem: str = "v") -> str:
        """A name that occurs nowhere yet."""
        self._count += 1
        return f"%{stem}{self._count}"

    def emit(self, line: str) -> None:
        """One line as it stands."""
        self.lines.append(f"  {line}")

    def label(self, name: str) -> None:
        """The beginning of a block, whose name has the % of a register."""
        self.lines.append(f"{name[1:]}:")
        self.block = name

    def define(self, text: str, stem: str = "v") -> str:
        """A new register with the value of an instruction."""
        name = self.fresh(stem)
        self.emit(f"{name} = {text}")
        return name

    def once(self, text: str) -> str:
        """The register with the value of an instruction that has no side effects, computed once."""
        if (text,) not in self._known:
            self._known[(text,)] = self.define(text)
        return self._known[(text,)]

    def operate(self, operation: str, a: Value, b: Value) -> Value:
        """One of add, mul, and, or, shl, ashr of two values."""
        if isinstance(a, int) and isinstance(b, int):
            return _FOLDED[operation](a, b)
        if isinstance(a, int) and operation in ("add", "mul", "and", "or"):
            a, b = b, a
        if operation in _NEUTRAL and b == _NEUTRAL[operation]:
            return a
        if operation in ("and", "mul") and b == 0:
            return 0
        if operation in ("and", "or") and a == b:
            return a
        return self.once(f"{operation} i64 {a}, {b}")

    def negated(self, bit: Value) -> Value:
        """1 - bit for a bit."""
        return 1 - bit if isinstance(bit, int) else self.once(f"xor i64 {bit}, 1")

    def compared(self, relation: str, a: Value, b: Value) -> str:
        """The truth of a signed comparison, a register of one bit; the relation is eq, ne, sgt, sge, slt or sle."""
        return self.once(f"icmp {relation} i64 {a}, {b}")

    def widened(self, truth: str) -> str:
        """The truth as a bit 0 or 1."""
        return self.once(f"zext i1 {truth} to i64")

    def selected(self, truth: str, a: Value, b: Value) -> Value:
        """a where it is true, else b."""
        if a == b:
            return a
        if (a, b) == (1, 0):
            return self.widened(truth)
        return self.once(f"select i1 {truth}, i64 {a}, i64 {b}")

    def positive_part(self, a: Value) -> Value:
        """The maximum of a and 0."""
        return max(a, 0) if isinstance(a, int) else self.selected(self.compared("sgt", a, 0), a, 0)

    def linear(self, constant: int, terms: Sequence[tuple[Value, int]]) -> Value:
        """constant + sum of coefficient times value; the constant comes last, so that equal beginnings are shared."""
        total: Value = 0
        for value, coefficient in terms:
            total = self.operate("add", total, self.operate("mul", value, coefficient))
        return self.operate("add", total, constant)

    def code(self, bits: Sequence[Value]) -> Value:
        """The number with these bits, most significant first."""
        number: Value = 0
        for bit in bits:
            number = self.operate("or", self.operate("shl", number, 1), bit)
        return number

    def loaded(self, pointer: str, bits: int, index: Value) -> str:
        """The signed integer at an index of an array that does not change while the line runs."""
        address = self.address(pointer, bits, index)
        value = self.once(f"load i{bits}, {pointer_type(bits)} {address}")
        return value if bits == 64 else self.once(f"sext i{bits} {value} to i64")

    def address(self, pointer: str, bits: int, index: Value) -> str:
        """The address of an entry of an array."""
        return self.once(f"getelementptr i{bits}, {pointer_type(bits)} {pointer}, i64 {index}")

    def store(self, pointer: str, bits: int, index: Value, value: Value) -> None:
        """Write the last bits of a value to an array."""
        if bits < 64 and not isinstance(value, int):
            value = self.once(f"trunc i64 {value} to i{bits}")
        address = self.address(pointer, bits, index)
        self.emit(f"store i{bits} {value}, {pointer_type(bits)} {address}")

    def branch(self, truth: str, yes: str, no: str) -> None:
        """The end of a block."""
        self.emit(f"br i1 {truth}, label {yes}, label {no}")

    def jump(self, target: str) -> None:
        """The end of a block, without a condition."""
        self.emit(f"br label {target}")
