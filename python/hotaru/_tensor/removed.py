"""Methods that PyTorch keeps only to say what is used today."""

from __future__ import annotations

import warnings

from .._C import Tensor


def _gone(name: str, instead: str) -> RuntimeError:
    return RuntimeError(
        "This function was deprecated since version 1.9 and is now removed: "
        f"{name}. Use torch.linalg.{instead}."
    )


def eig(self, eigenvectors=False):
    """RuntimeError: use torch.linalg.eig or eigvals."""
    raise _gone("eig", "eig, whose results are complex, or torch.linalg.eigvals")


def lstsq(self, other):
    """RuntimeError: use torch.linalg.lstsq."""
    raise _gone("lstsq", "lstsq, which takes its arguments in the other order")


def solve(self, other):
    """RuntimeError: use torch.linalg.solve."""
    raise _gone("solve", "solve, which takes its arguments in the other order")


def symeig(self, eigenvectors=False):
    """RuntimeError: use torch.linalg.eigh or eigvalsh."""
    raise _gone("symeig", "eigh, or torch.linalg.eigvalsh; UPLO='U' if upper")


def matrix_rank(input, tol=None, symmetric=False, *, out=None):
    """RuntimeError: use torch.linalg.matrix_rank."""
    raise _gone("matrix_rank", "matrix_rank; symmetric is hermitian there")


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
