"""Formulas in a and b over the integers modulo n, as a user types them: a^2 + ab + b^2, 3a/b, a*b^-1.

The grammar, in which blanks are ignored and ** is read as ^:

    formula  = [sign] term { ("+" | "-") term }
    term     = power { ["*" | "/"] power }            two powers side by side are multiplied: ab, 2a, a(b+1)
    power    = atom [ "^" exponent ]
    exponent = [ "-" ] digits | "(" exponent ")"
    atom     = digits | "a" | "b" | "(" formula ")"

Nothing that is typed is ever run as a program. A formula is parsed into a function of the values of a and b; division
by what has no inverse modulo n, and a negative power of it, is not defined.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Formula", "parse_formula"]

Formula = Callable[[int, int, int], int | None]
"""(a, b, n) -> the value modulo n; None where it is not defined."""

MAX_LENGTH = 1000
MAX_DEPTH = 50
MAX_DIGITS = 18
_TOO_DEEP = f"parentheses are nested at most {MAX_DEPTH} deep"


def parse_formula(text: str) -> Formula:
    """The function that a formula describes.

    Raises:
        ValueError: naming the character at which the text stops being a formula.
    """
    if len(text) > MAX_LENGTH:
        raise ValueError(f"A formula has at most {MAX_LENGTH} characters; this one has {len(text)}.")
    parser = _Parser(text)
    formula = parser.formula(0)
    if parser.next is not None:
        raise parser.error("this is left over")
    return formula


class _Parser:
    """A parser by recursive descent; ``position`` is that of the next character that is no blank."""

    def __init__(self, text: str) -> None:
        self.text = text.replace("**", " ^")  # as many characters, so that positions stay
        self.position = 0
        self._skip()

    def _skip(self) -> None:
        while self.position < len(self.text) and self.text[self.position].isspace():
            self.position += 1

    @property
    def next(self) -> str | None:
        """The next character; None at the end."""
        return self.text[self.position] if self.position < len(self.text) else None

    def take(self, accepted: str) -> str | None:
        """The next character, which is passed, if it is an accepted one; else None."""
        found = self.next
        if found is None or found not in accepted:
            return None
        self.position += 1
        self._skip()
        return found

    def error(self, reason: str) -> ValueError:
        where = "at the end" if self.next is None else f"at character {self.position + 1}, {self.next!r}"
        return ValueError(
            f"{self.text!r} is no formula in a and b: {where}: {reason}. Accepted are a, b, integers, + - * /, powers "
            f"such as a^2 or b^-1, products such as ab, and parentheses."
        )

    def digits(self) -> int:
        """The integer at the position.

        Raises:
            ValueError: if there is none, or a long one.
        """
        start = self.position
        while self.next is not None and self.next in "0123456789":
            self.position += 1
        found = self.text[start : self.position]
        if not found:
            raise self.error("an integer is missing")
        if len(found) > MAX_DIGITS:
            self.position = start
            raise self.error(f"integers have at most {MAX_DIGITS} digits")
        self._skip()
        return int(found)

    def formula(self, depth: int) -> Formula:
        if depth > MAX_DEPTH:
            raise self.error(_TOO_DEEP)
        sign = self.take("+-")
        result = self.term(depth)
        if sign == "-":
            result = _combined("-", lambda a, b, n: 0, result)
        while (sign := self.take("+-")) is not None:
            result = _combined(sign, result, self.term(depth))
        return result

    def term(self, depth: int) -> Formula:
        result = self.power(depth)
        while True:
            sign = self.take("*/")
            if sign is None and (self.next is None or self.next not in "ab(0123456789"):
                return result
            result = _combined(sign or "*", result, self.power(depth))

    def power(self, depth: int) -> Formula:
        base = self.atom(depth)
        if not self.take("^"):
            return base
        return _power(base, self.exponent(depth))

    def exponent(self, depth: int) -> int:
        if self.take("("):
            if depth > MAX_DEPTH:
                raise self.error(_TOO_DEEP)
            inner = self.exponent(depth + 1)
            self.close()
            return inner
        return -self.digits() if self.take("-") else self.digits()

    def close(self) -> None:
        if not self.take(")"):
            raise self.error("a closing parenthesis is missing")

    def atom(self, depth: int) -> Formula:
        if self.take("("):
            inner = self.formula(depth + 1)
            self.close()
            return inner
        if (letter := self.take("ab")) is not None:
            return (lambda a, b, n: a % n) if letter == "a" else (lambda a, b, n: b % n)
        if self.next is None or self.next not in "0123456789":
            raise self.error("a, b, an integer or a parenthesis is missing")
        value = self.digits()
        return lambda a, b, n: value % n


def _combined(sign: str, left: Formula, right: Formula) -> Formula:
    def value(a: int, b: int, n: int) -> int | None:
        x, y = left(a, b, n), right(a, b, n)
        if x is None or y is None:
            return None
        if sign == "/":
            inverse = _power_modulo(y, -1, n)
            return None if inverse is None else x * inverse % n
        return {"+": x + y, "-": x - y, "*": x * y}[sign] % n

    return value


def _power(base: Formula, exponent: int) -> Formula:
    def value(a: int, b: int, n: int) -> int | None:
        x = base(a, b, n)
        return None if x is None else _power_modulo(x, exponent, n)

    return value


def _power_modulo(x: int, exponent: int, n: int) -> int | None:
    try:
        return pow(x, exponent, n)
    except ValueError:  # no inverse
        return None
