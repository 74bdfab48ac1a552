"""Ranges of sizes, by the names of PyTorch's module for its expressions."""
