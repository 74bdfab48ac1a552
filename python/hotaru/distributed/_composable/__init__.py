"""Where PyTorch had `fully_shard` before."""
