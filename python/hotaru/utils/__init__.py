"""Helpers that are not tensors: hooks and data loading."""
