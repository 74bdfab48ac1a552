"""Tensors that answer operators themselves: what all kinds of them share.

A kind (sparse, nested, quantised, masked and distributed tensors) is a class
of tensors (`base.Answering`), tables of who answers which operator
(`table.answers`), and what it does where none does (`base.Kind`). It imports
this package, which knows no kind.
"""
