"""Where PyTorch keeps the class of jagged tensors: pickles name it."""
