"""Aspects of what every module can do, one of `Module` a file."""
