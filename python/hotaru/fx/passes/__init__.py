"""Analyses and changes of graphs."""

from __future__ import annotations

from ..._own_names import part

_MODULES = {"infra", "shape_prop", "split_module", "utils"}


def __getattr__(name: str):
    return part(__name__, name, _MODULES)
