"""Rules that `check_layers.py` holds the sources to, a file for each kind."""
