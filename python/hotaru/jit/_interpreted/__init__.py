"""Programs in archives that Python runs.

Compiled code computes with plain tensors. Tensors that answer operators
themselves, quantised and nested ones, are Python's, and so are packed weights:
an archive whose code names them is run by Python, a statement at a time. Its
modules are `RecursiveScriptModule`s like others.
"""
