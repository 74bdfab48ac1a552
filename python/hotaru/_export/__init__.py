"""PyTorch's marks for `torch.export`, which is not here."""
