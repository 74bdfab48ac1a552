"""Memory and operators shared with numpy and with libraries of DLPack."""

import subprocess
import sys

import numpy as np
import pytest
from hotaru.utils import dlpack

import hotaru as torch


def test_numpy_takes_tensors_by_dlpack():
    x = torch.arange(6.0).reshape(2, 3)
    array = np.from_dlpack(x)
    assert array.tolist() == x.tolist()
    assert array.ctypes.data == x.data_ptr()
    part = np.from_dlpack(x.t()[1:])
    assert part.strides == (4, 12)
    for dtype in (torch.bool, torch.uint8, torch.int64, torch.complex64):
        array = np.from_dlpack(torch.ones(2, dtype=dtype))
        assert str(array.dtype) == str(dtype).split(".")[1]


def test_capsules_of_either_kind():
    x = torch.arange(4.0)
    for options, name in (
        ({}, '"dltensor"'),
        ({"max_version": (0, 8)}, '"dltensor"'),
        ({"max_version": (1, 0)}, '"dltensor_versioned"'),
        ({"stream": -1, "dl_device": (1, 0)}, '"dltensor"'),
    ):
        capsule = x.__dlpack__(**options)
        assert name in repr(capsule)
        shared = torch.from_dlpack(capsule)
        assert shared.data_ptr() == x.data_ptr()
        with pytest.raises(RuntimeError, match="an invalid capsule"):
            torch.from_dlpack(capsule)
    copied = torch.from_dlpack(x.__dlpack__(copy=True))
    assert copied.data_ptr() != x.data_ptr()
    assert dlpack.from_dlpack(dlpack.to_dlpack(x)).equal(x)


def test_what_cannot_be_exported():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(BufferError, match="that require gradient"):
        np.from_dlpack(x)
    with pytest.raises(BufferError, match=r"device \(2, 0\)"):
        x.detach().__dlpack__(dl_device=(2, 0))
    with pytest.raises(AssertionError, match="stream should be None"):
        x.detach().__dlpack__(stream=1)


def test_what_from_dlpack_takes():
    array = np.arange(6.0).reshape(2, 3)
    shared = torch.from_dlpack(array)
    array[0, 0] = 7
    assert shared[0, 0] == 7
    assert torch.from_dlpack(array.T).stride() == (1, 3)
    copied = torch.from_dlpack(array, copy=True, device="cpu")
    assert copied.data_ptr() != array.ctypes.data
    array.flags.writeable = False
    assert torch.from_dlpack(array).tolist() == array.tolist()
    assert torch.from_dlpack(np.zeros((0, 3))).shape == (0, 3)
    assert torch.from_dlpack(np.array(3.0)) == 3
    assert torch.asarray(array).tolist() == array.tolist()
    with pytest.raises(ValueError, match="stride -1 of dimension 0"):
        torch.from_dlpack(np.arange(4.0)[::-1])
    with pytest.raises(BufferError):
        torch.from_dlpack(np.array(["text"]))
    for value in (3, [1.0], (1, 0)):
        with pytest.raises(RuntimeError, match="an invalid capsule"):
            torch.from_dlpack(value)


def test_arrays_are_compared_and_divided_as_tensors():
    x, array = torch.arange(4.0), np.arange(4.0)
    for result in (x == array, array == x):
        assert type(result) is torch.Tensor
        assert result.tolist() == [True] * 4
    for result in (x != array, array != x):
        assert result.tolist() == [False] * 4
    y = 1 + x
    quotient = array / y
    assert quotient.dtype is torch.float64
    assert quotient.tolist() == [0, 1 / 2, 2 / 3, 3 / 4]
    assert (np.array(["a"]) == x) is not True
    assert (x == np.array("a")) is False
    assert (x == None) is False  # noqa: E711
    with pytest.raises(RuntimeError, match="must match the size of tensor b"):
        _ = array == x.reshape(2, 2)


def test_numpy_functions_of_tensors_give_tensors():
    x, array = torch.arange(4.0), np.arange(4.0)
    for result, dtype in (
        (x * array, torch.float64),
        (x + array, torch.float64),
        (np.sin(x), torch.float32),
        (np.maximum(array, x), torch.float64),
        (np.isfinite(x), torch.uint8),  # as PyTorch has it
    ):
        assert type(result) is torch.Tensor
        assert result.dtype is dtype


def test_read_only_memory_is_said_once():
    code = """if True:
        import warnings
        import numpy as np
        import hotaru as torch
        array = np.arange(3.0)
        array.flags.writeable = False
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(2):
                torch.from_numpy(array)
                torch.frombuffer(b"abcd", dtype=torch.uint8)
                torch.tensor(array), torch.as_tensor(np.arange(3))
        print(*[str(w.message)[:36] for w in caught], sep=";")
    """
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip().split(";") == [
        "The given NumPy array is not writabl",
        "The given buffer is not writable, an",
    ]


def test_singular_matrices_raise_an_error_of_their_own():
    linalg, zeros = torch.linalg, torch.zeros(2, 2)
    assert issubclass(linalg.LinAlgError, RuntimeError)
    assert linalg.LinAlgError is torch._C._LinAlgError
    for attempt in (
        lambda: linalg.inv(zeros),
        lambda: torch.inverse(zeros),
        lambda: linalg.solve(zeros, torch.ones(2)),
        lambda: linalg.cholesky(zeros),
        lambda: linalg.matrix_power(zeros, -1),
    ):
        with pytest.raises(linalg.LinAlgError):
            attempt()
    with pytest.raises(RuntimeError) as error:
        linalg.inv(torch.ones(2, 3))
    assert type(error.value) is RuntimeError


def test_parts_of_utils_are_there_without_an_import_of_their_own():
    code = "from hotaru import utils as u; u.data, u.hooks, u.dlpack.to_dlpack"
    subprocess.run([sys.executable, "-c", code], check=True)
