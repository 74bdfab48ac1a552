"""Importing this makes `import torch` give hotaru: fork servers preload it."""

from __future__ import annotations

from .._alias.interpreter import install

install()
