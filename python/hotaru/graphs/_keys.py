"""Parts of keys that tell kinds of calls apart."""

from __future__ import annotations


class Same:
    """Equal to nothing but itself: the same object."""

    __slots__ = ("value",)

    def __init__(self, value) -> None:
        self.value = value

    def __eq__(self, other) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


class Signature:
    """Parts that have to be equal, which may be many: hashed once."""

    __slots__ = ("_hash", "parts")

    def __init__(self, parts: tuple) -> None:
        self.parts = parts
        self._hash = hash(parts)

    def __eq__(self, other) -> bool:
        return isinstance(other, Signature) and (
            self is other or (self._hash == other._hash and self.parts == other.parts)
        )

    def __hash__(self) -> int:
        return self._hash
