"""The shape of a tensor."""

from hotaru._C import Size as Size
