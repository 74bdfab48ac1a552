"""What `benchmark` is made of."""
