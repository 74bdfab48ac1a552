"""What PyTorch keeps beside its subclasses of tensors."""
