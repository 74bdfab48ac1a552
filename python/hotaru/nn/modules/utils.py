"""Helpers that programs import from here: scalars repeated into tuples."""

from __future__ import annotations

from ._arguments import ntuple


def _single(value) -> tuple:
    return ntuple(value, 1)


def _pair(value) -> tuple:
    return ntuple(value, 2)


def _triple(value) -> tuple:
    return ntuple(value, 3)


def _quadruple(value) -> tuple:
    return ntuple(value, 4)
