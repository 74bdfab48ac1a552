"""Passes over programs as graphs: `torch._C._jit_pass_*`, and
`torch.jit._passes`.

A pass changes the graph that it is given. The program that the graph describes
shows it from then on and does what it did: passes keep the meaning.
"""
