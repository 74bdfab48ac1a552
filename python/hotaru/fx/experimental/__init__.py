"""Tracing and folding that may still change."""
