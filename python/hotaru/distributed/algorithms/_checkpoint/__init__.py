"""Wrappers of modules whose activations are not kept."""
