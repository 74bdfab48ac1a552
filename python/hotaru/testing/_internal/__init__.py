"""Names of PyTorch's own tests that other libraries' tests derive from."""
