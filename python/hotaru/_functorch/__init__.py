"""Switches that programs set by PyTorch's names for them."""
