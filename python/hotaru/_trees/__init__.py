"""Trees: containers of leaves, in one another."""
