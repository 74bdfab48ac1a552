"""Helpers that pipes share."""
