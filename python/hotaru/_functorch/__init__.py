"""Names that PyTorch keeps of functorch, which became `torch.func`."""
