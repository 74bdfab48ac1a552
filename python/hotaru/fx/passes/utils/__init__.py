"""Searching graphs."""
