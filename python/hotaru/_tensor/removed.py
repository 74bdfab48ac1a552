"""Methods that PyTorch keeps only to say what is used today."""

from __future__ import annotations

import warnings

from .._C import Tensor

_GONE = {
    "eig": "torch.linalg.eig, whose results are complex, or torch.linalg."
    "eigvals",
    "lstsq": "torch.linalg.lstsq, which takes its arguments in the other order",
    "solve": "torch.linalg.solve, which takes its arguments in the other order",
    "symeig": "torch.linalg.eigh, or torch.linalg.eigvalsh; UPLO='U' if upper",
}


def _gone(name: str, instead: str):
    def method(self, *args, **kwargs):
        raise RuntimeError(
            "This function was deprecated since version 1.9 and is now "
            f"removed: {name}. Use {instead}."
        )

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"RuntimeError: use {instead}."
    return method


def reinforce(self, reward):
    """RuntimeError: `distributions` have `log_prob`."""
    raise RuntimeError(
        "reinforce() was removed.\nUse torch.distributions instead: the loss "
        "is -m.log_prob(action) * reward of a distribution m."
    )


def resize(self, *sizes):
    """The same as a tensor of another size; its memory is not changed."""
    warnings.warn("non-inplace resize is deprecated", stacklevel=2)
    return self.reshape(*sizes)


def resize_as(self, tensor: Tensor):
    """As `resize`, of the size of a tensor."""
    warnings.warn("non-inplace resize_as is deprecated", stacklevel=2)
    return self.reshape(tensor.size())


def is_distributed(self) -> bool:
    """Tells whether the memory is spread over processes: never."""
    return False


def const_data_ptr(self) -> int:
    """The address, for who only reads."""
    return self.data_ptr()


for _name, _instead in _GONE.items():
    globals()[_name] = _gone(_name, _instead)
