"""Counterparts of the package's own Python in TorchScript's subset of Python.

`functional` and `modules` hold what `hotaru.nn` writes in ways that only Python
understands (an `out`, results of any type, tuples as states); they are
compiled, and never called from Python. The formulas stay the operators'.
"""
