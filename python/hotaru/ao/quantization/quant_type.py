"""Kinds of quantisation, by what a module fixes beforehand."""

from __future__ import annotations

import enum

__all__ = ["QuantType"]


class QuantType(enum.IntEnum):
    """When the scales of activations are known."""

    DYNAMIC = 0
    STATIC = 1
    QAT = 2
    WEIGHT_ONLY = 3


_TEXTS = {
    QuantType.STATIC: "static",
    QuantType.DYNAMIC: "dynamic",
    QuantType.QAT: "qat",
    QuantType.WEIGHT_ONLY: "weight_only",
}


def _get_quant_type_to_str(quant_type: QuantType) -> str:
    return _TEXTS[quant_type]


def _quant_type_from_str(name: str) -> QuantType:
    for quant_type, text in _TEXTS.items():
        if name == text:
            return quant_type
    raise ValueError(f"Unknown QuantType name '{name}'")
