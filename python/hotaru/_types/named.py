"""The types that have a name of their own."""

# Names are PyTorch's.
from __future__ import annotations

from .base_type import Type


class ClassType(Type):
    """A class's instances, by its qualified name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def name(self) -> str:
        """The class's own name."""
        return self._name.rpartition(".")[2]

    def qualified_name(self) -> str:
        """The whole name: "__torch__.Net"."""
        return self._name

    @property
    def annotation_str(self) -> str:
        return self._name

    def __eq__(self, other) -> bool:
        return isinstance(other, ClassType) and self._name == other._name

    __hash__ = None


class EnumType(Type):
    """A member of an Enum class, by the class's qualified name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def str(self) -> str:
        return f"Enum<{self._name}>"

    @property
    def annotation_str(self) -> str:
        return self._name

    def __eq__(self, other) -> bool:
        return isinstance(other, EnumType) and self._name == other._name

    __hash__ = None


class VarType(Type):
    """A variable of a schema that stands for a type: `t`."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    @property
    def annotation_str(self) -> str:
        return self._name

    def __eq__(self, other) -> bool:
        return type(self) is type(other) and self._name == other._name

    __hash__ = None


class RealType(VarType):
    """The name that a schema gives an int of a certain meaning."""

    def kind(self) -> str:
        """PyTorch's name for it: "LayoutType"."""
        return f"{self._name}Type"
