"""How gradients travel, and processes with different amounts of data."""
