"""Quantised numbers: integers q that stand for (q - zero_point) * scale.

Dtypes and schemes, tensors of them, and the operators that make, read and
imitate them. `torch.ao` is written with these.
"""
