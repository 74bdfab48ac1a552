"""Classes of Python that programs take over: enums, dataclasses, named tuples."""
