# This file goes into packages as it is, where nothing of a library is.
"""Objects that stand for what a package does not contain."""

_OPERATORS = """
abs add and bool bytes call ceil cmp complex contains copy deepcopy delattr
delitem dir div divmod enter eq exit float floor floordiv ge getattr getitem
getstate gt hash hex iadd iand idiv ifloordiv ilshift imod imul index
instancecheck int invert ior ipow irshift isub iter itruediv ixor le len long
lshift lt mod mul ne neg nonzero oct or pos pow rand rdivmod reduce reversed
rmul round rrshift rshift setattr setitem sizeof sub subclasscheck truediv
trunc unicode xor
""".split()  # noqa: SIM905


class MockedObject:
    """Can be imported and shown; anything else is a NotImplementedError."""

    _name: str

    def __new__(cls, *args, **kwargs):
        # Whoever makes one on purpose says so; a pickle does not.
        if not kwargs.get("_suppress_err"):
            raise NotImplementedError(
                f"Object '{cls._name}' was mocked out during packaging but it "
                "is being used in '__new__'. If this error is happening during "
                "'load_pickle', please ensure that your pickled object doesn't "
                "contain any mocked objects."
            )
        return super().__new__(cls)

    def __init__(self, name, _suppress_err):
        self.__dict__["_name"] = name

    def __repr__(self):
        return f"MockedObject({self._name})"


def _refusing(method):
    def refuse(self, *args, **kwargs):
        raise NotImplementedError(
            f"Object '{self._name}' was mocked out during packaging but it is "
            f"being used in {method}"
        )

    return refuse


for _operator in _OPERATORS:
    setattr(MockedObject, f"__{_operator}__", _refusing(f"__{_operator}__"))
