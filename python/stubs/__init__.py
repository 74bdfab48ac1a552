"""Type stubs of the package, from what the built extension knows.

Most of the package is Python with annotations, which type checkers read as it
is. Stubs are for what no source says: the extension's classes, operators, and
modules that make their names while they run.
"""
