"""Bases of passes, and how they are put in order."""
