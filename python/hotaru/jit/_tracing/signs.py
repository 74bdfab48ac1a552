"""Signs between stand-ins: `a + b`, `a < b`, `a += b`."""

from __future__ import annotations

import operator

import hotaru

from ... import _C
from .autocast import call_with_casts
from .numbers import TracedFloat, TracedInt, TracedNumber
from .traced import TracedTensor, TracedTruth, real


def _binary(function, sign: str, reflected: bool):
    def method(self, other):
        other = self.recorder.stood_in(other)
        a, b = (other, self) if reflected else (self, other)
        if _C._autocast_key():
            result, (a, b), _ = call_with_casts(
                self.recorder, function, (a, b), {}, real
            )
        else:
            result = function(real(a), real(b))
        if result is NotImplemented:
            return result
        text = self.recorder.text
        return self.recorder.bind(f"{text(a)} {sign} {text(b)}", result)

    return method


def _number_binary(function, sign: str, reflected: bool):
    traced = _binary(function, sign, reflected)

    def method(self, other):
        other = self.recorder.stood_in(other)
        if isinstance(other, TracedTensor):
            return NotImplemented
        if isinstance(other, _C.Tensor):
            return traced(self, other)
        a, b = (other, self) if reflected else (self, other)
        result = function(real(a), real(b))
        if result is NotImplemented or not isinstance(other, (int, float)):
            return result
        expression = f"{_operand(self, a)} {sign} {_operand(self, b)}"
        if sign == "**" and type(result) is int:
            expression = f"int({expression})"  # a float in compiled code
        return self.recorder.bind(expression, result)

    return method


def _operand(number: TracedNumber, value) -> str:
    """A number as part of an expression."""
    if isinstance(value, TracedNumber):
        return number.recorder.text(value)
    value = int(value) if isinstance(value, bool) else value
    return f"({number.recorder.text(value)})"


def _in_place(function, in_place, sign: str):
    def method(self, other):
        other = self.recorder.stood_in(other)
        return self.recorder.write(self, sign, function, in_place, other)

    return method


def _number_compare(function, sign: str):
    traced = _binary(function, sign, False)

    def method(self, other):
        other = self.recorder.stood_in(other)
        if isinstance(other, TracedTensor):
            return NotImplemented  # the tensor compares
        if isinstance(other, _C.Tensor):
            return traced(self, other)
        result = function(self.value, real(other))
        if not isinstance(other, (int, float)):
            return result
        expression = f"{_operand(self, self)} {sign} {_operand(self, other)}"
        return TracedTruth(self.recorder, expression, result)

    return method


def add_operators() -> None:
    signs = {
        "add": "+",
        "sub": "-",
        "mul": "*",
        "floordiv": "//",
        "mod": "%",
        "truediv": "/",
        "pow": "**",
        "matmul": "@",
        "and_": "&",
        "or_": "|",
        "xor": "^",
        "lshift": "<<",
        "rshift": ">>",
    }
    for name, sign in signs.items():
        function = getattr(operator, name)
        plain = name.rstrip("_")
        for reflected, prefix in ((False, ""), (True, "r")):
            method = f"__{prefix}{plain}__"
            setattr(TracedTensor, method, _binary(function, sign, reflected))
            for number in (TracedInt, TracedFloat):
                made = _number_binary(function, sign, reflected)
                setattr(number, method, made)
        in_place = getattr(operator, f"i{plain}")
        if name != "matmul":
            setattr(TracedTensor, f"__i{plain}__", _in_place(function, in_place, sign))
    signs = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
    for name, sign in signs.items():
        function = getattr(operator, name)
        setattr(TracedTensor, f"__{name}__", _binary(function, sign, False))
        for number in (TracedInt, TracedFloat):
            setattr(number, f"__{name}__", _number_compare(function, sign))
    for name in ("neg", "abs", "invert"):
        setattr(TracedTensor, f"__{name}__", _unary(name))


def _unary(name: str):
    operators = {"neg": "neg", "abs": "abs", "invert": "bitwise_not"}
    function = getattr(hotaru.ops, operators[name])
    return lambda self: self.recorder.call(function, (self,), {})


add_operators()
