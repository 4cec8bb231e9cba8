"""Boolean circuits as text: one definition a line, read with errors that name the line."""

from __future__ import annotations

import ast

from lemmata.constructions.circuits.boolean import ARITY, BooleanCircuit, BooleanGate


def parse_circuit(text: str) -> BooleanCircuit:
    """The circuit that a text defines, one statement a line; `#` starts a comment.

        inputs x1, x2, x3
        both = AND(x1, x2)
        y    = OR(both, NOT(x3))
        output y

    The first statement declares the inputs. Operations are AND and OR of two, NOT and ID of one operand, in capitals;
    an operand is a name that is defined above, or an operation. `output` is the last statement; without it,
    the output is the last gate.

    Raises:
        ValueError: naming the line, and what is wrong in it.
    """
    return _Parser().circuit(text)


class _Parser:
    """The state of reading a circuit: the nodes by name, and the gates so far."""

    def __init__(self) -> None:
        self.nodes: dict[str, int] = {}
        self.gates: list[BooleanGate] = []
        self.inputs = 0
        self.output: int | None = None

    def circuit(self, text: str) -> BooleanCircuit:
        for number, line in enumerate(text.splitlines(), 1):
            statement = line.partition("#")[0].strip()
            if statement:
                try:
                    self._statement(statement)
                except ValueError as error:
                    raise ValueError(f"Line {number} ({statement!r}): {error}") from None
        if not self.inputs:
            raise ValueError("The circuit is empty: start with a line such as 'inputs x1, x2'.")
        output = self.inputs + len(self.gates) - 1 if self.output is None else self.output
        return BooleanCircuit(self.inputs, tuple(self.gates), output)

    def _statement(self, statement: str) -> None:
        if self.output is not None:
            raise ValueError("nothing may follow the line that names the output.")
        keyword, _, rest = statement.partition(" ")
        if keyword == "inputs" and "=" not in statement:
            self._declare(rest.replace(",", " ").split())
        elif not self.inputs:
            raise ValueError("the first line must declare the inputs, as in 'inputs x1, x2'.")
        elif keyword == "output" and "=" not in statement:
            rest = rest.strip()
            self.output = self._node(_expression(rest), rest)
        else:
            self._define(statement)

    def _declare(self, names: list[str]) -> None:
        if self.inputs:
            raise ValueError("the inputs are declared already.")
        if not names:
            raise ValueError("name at least one input, as in 'inputs x1, x2'.")
        for name in names:
            self.nodes[self._new(name)] = len(self.nodes)
        self.inputs = len(names)

    def _define(self, statement: str) -> None:
        name, equals, expression = (part.strip() for part in statement.partition("="))
        if not equals:
            raise ValueError("a gate is defined as in 'g = AND(x1, x2)', but there is no '='.")
        self._new(name)
        tree = _expression(expression)
        node = self._node(tree, expression)
        if isinstance(tree, ast.Name):
            raise ValueError(f"the right-hand side must be a gate; to rename a node write {name} = ID({expression}).")
        self.nodes[name] = node

    def _new(self, name: str) -> str:
        if not name.isidentifier() or name.upper() in ARITY or name in {"inputs", "output"}:
            raise ValueError(f"{name!r} cannot be a name: use letters, digits and _, and no name of an operation.")
        if name in self.nodes:
            raise ValueError(f"{name!r} is defined already.")
        return name

    def _node(self, tree: ast.expr, text: str) -> int:
        """The node of an expression in a text; its gates are appended.

        Names are taken from the text as they were typed: Python's own tree has them in a normal form (NFKC), in which
        a ligature is two letters.
        """
        typed = ast.get_source_segment(text, tree) or ""
        if isinstance(tree, ast.Name):
            if typed not in self.nodes:
                raise ValueError(f"{typed!r} is not defined above; defined are {', '.join(self.nodes)}.")
            return self.nodes[typed]
        if not (isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name)) or tree.keywords:
            raise ValueError(f"{typed!r} is neither a name nor an operation such as AND(a, b).")
        operation = ast.get_source_segment(text, tree.func) or ""
        if operation not in ARITY:
            raise ValueError(f"there is no operation {operation!r}; known are {', '.join(ARITY)}.")
        if len(tree.args) != ARITY[operation]:
            raise ValueError(f"{operation} takes {ARITY[operation]} operand(s), but has {len(tree.args)} here.")
        parents = tuple(self._node(argument, text) for argument in tree.args)
        self.gates.append(BooleanGate(operation, parents))
        return self.inputs + len(self.gates) - 1


def _expression(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, RecursionError, MemoryError):
        raise ValueError(f"{text!r} cannot be read; write operations as in AND(x1, NOT(x2)).") from None
