"""Packages of programs, by PyTorch's name."""

from __future__ import annotations

from .package import AOTICompiledModel, load_package, package_aoti

__all__ = ["AOTICompiledModel", "load_package", "package_aoti"]
