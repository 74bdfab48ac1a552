"""Parts that `benchmark` is made of."""
