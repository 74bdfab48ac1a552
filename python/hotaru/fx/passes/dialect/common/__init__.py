"""Passes over graphs of calls of operators."""
