"""Names of a few lines: copies of views, the compiler, warnings given once,
numbers of tensors, streams of capsules.
"""

from __future__ import annotations

import copy
import io
import pickle
import sys
import threading
import warnings

import pytest

import hotaru as torch


def test_copies_of_views():
    z = torch.tensor([1 + 2j, 3 - 4j])
    parts = torch.view_as_real_copy(z)
    assert parts.tolist() == [[1, 2], [3, -4]]
    parts[0, 0] = 9
    assert z[0] == 1 + 2j
    out = torch.zeros(2, 2)
    assert torch.view_as_real_copy(z, out=out) is out
    assert out.tolist() == [[1, 2], [3, -4]]
    assert torch.view_as_complex_copy(out).tolist() == z.tolist()
    x = torch.ones(2, requires_grad=True)
    assert not torch.detach_copy(x).requires_grad
    with pytest.raises(RuntimeError, match="only supported for complex tens"):
        torch.view_as_real_copy(torch.ones(2))


def test_no_compiler_ever_runs():
    def f():
        return torch.compiler.is_compiling()

    assert f() is False
    assert not torch.compiler.is_dynamo_compiling()
    assert not torch.compiler.is_exporting()
    assert torch.compiler.disable(f) is f
    assert torch.compiler.disable(reason="none")(f) is f


def test_warnings_given_once():
    x = torch.ones(2)
    assert not torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        assert torch.is_warn_always_enabled()
        for _ in range(2):
            with pytest.warns(UserWarning, match="in an upcoming release, it"):
                torch.meshgrid(x, x)
    finally:
        torch.set_warn_always(False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.meshgrid(x, x)
        torch.meshgrid(x, x, indexing="ij")
    with pytest.raises(RuntimeError, match="indexing must be one of"):
        torch.meshgrid(x, x, indexing="")


def test_numbers_of_tensors():
    a, b = torch.ones(2), torch.zeros(2)
    one, two = a._cdata, b._cdata
    assert one != two
    assert one == a._cdata
    a.data = torch.zeros(3)
    assert a._cdata == one
    torch.utils.swap_tensors(a, b)
    assert a._cdata != one
    assert b._cdata not in (two, a._cdata)
    first = a._cdata
    torch.utils.swap_tensors(a, torch.zeros(2))
    assert a._cdata != first
    a.note = 1
    assert vars(copy.deepcopy(a)) == {"note": 1}
    file = io.BytesIO()
    torch.save([a, b], file)
    file.seek(0)
    a, b = torch.load(file)
    assert vars(a) == {"note": 1}
    assert not vars(b)


def test_streams_of_capsules():
    x = torch.ones(2)
    for wrong in (object(), True):
        with pytest.raises(TypeError, match="stream must be ``int`` or ``no"):
            x.__dlpack__(stream=wrong)
    with pytest.raises(AssertionError, match="stream should be None on cpu"):
        x.__dlpack__(stream=5)


def test_complex_of_a_tensor():
    assert complex(torch.tensor(1.5j)) == 1.5j
    assert complex(torch.tensor([2.0])) == 2


def test_methods_know_their_names():
    for name in ("long", "chalf", "square_", "nan_to_num_"):
        method = getattr(torch.Tensor, name)
        assert method.__name__ == name


@pytest.mark.parametrize("axes", [2, 3])
def test_sizes_of_fractional_pooling(axes):
    pool = getattr(torch.nn.functional, f"fractional_max_pool{axes}d")
    many = {2: "Ints", 3: "three Ints"}[axes]
    x = torch.ones(1, 1, *[7] * axes)
    for kernel in ((), (1,)):
        text = rf"kernel_size must either be a single Int or tuple of {many}$"
        with pytest.raises(RuntimeError, match=text):
            pool(x, kernel, output_size=3)
    with pytest.raises(RuntimeError, match="output_size must either be a si"):
        pool(x, 2, output_size=(3,))
    assert pool(x, 2, output_size=3).shape == (1, 1, *[3] * axes)


def test_values_for_a_module_of_the_meta_device():
    net = torch.nn.Linear(2, 1, device="meta")
    state = net.state_dict()
    state["weight"] = torch.ones(1, 2)
    with pytest.warns(
        UserWarning, match="for weight: copying from a non-meta parameter in"
    ):
        net.load_state_dict(state)
    assert net.weight.is_meta


def test_devices_and_tracers_that_are_not_there():
    assert not torch.xpu.is_available()
    assert torch.xpu.device_count() == 0
    assert not torch.mps.is_available()
    assert torch.mps.device_count() == 0
    assert torch._dynamo.is_dynamo_supported()
    assert torch._dynamo.disable(len) is len


def test_tensors_of_the_meta_device_are_pickled():
    x = torch.empty(2, 3, device="meta").t().requires_grad_()
    other = pickle.loads(pickle.dumps(x))
    assert other.is_meta
    assert other.requires_grad
    assert (other.shape, other.stride()) == ((3, 2), (1, 3))


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
def test_names_of_threads():
    mp = torch.multiprocessing
    seen = []

    def named():
        mp._set_thread_name("a name that is too long")
        seen.append(mp._get_thread_name())

    thread = threading.Thread(target=named)
    thread.start()
    thread.join()
    assert seen == ["a name that is "]
    assert mp._get_thread_name() != seen[0]


def test_kinds_that_there_are_none_of():
    x = torch.ones(1)
    for name in ("is_nested", "is_mkldnn", "is_sparse_csr", "is_xpu", "is_mps"):
        assert getattr(x, name) is False


def test_complex_of_several_numbers():
    for values in ([], [1.0, 2.0]):
        with pytest.raises(ValueError, match="only one element tensors can be"):
            complex(torch.tensor(values))


def test_parameters_that_leave_the_meta_device_are_others():
    net = torch.nn.Linear(2, 1, device="meta")
    weight = net.weight
    net.to_empty(device="cpu")
    assert net.weight is not weight
    assert isinstance(net.weight, torch.nn.Parameter)
    assert net.weight.requires_grad
    assert weight.is_meta
    weight = net.weight
    net.double()
    assert net.weight is weight
    net.to("meta")
    assert net.weight is not weight
    assert net.weight.is_meta


def test_what_numpy_gives_and_takes():
    np = pytest.importorskip("numpy")
    with pytest.raises(TypeError, match="Got unsupported ScalarType BFloat16"):
        torch.ones(2, dtype=torch.bfloat16).numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = np.greater(torch.tensor([1.0, -1.0]), 0)
        size = torch.FloatStorage(np.int16(3)).size()
    assert found.dtype is torch.uint8
    assert found.tolist() == [1, 0]
    assert size == 3
    assert torch.UntypedStorage(np.int64(4)).nbytes() == 4


def test_no_device_comes_from_outside():
    from hotaru import _utils

    assert _utils._is_privateuse1_backend_available() is False


def test_tensors_are_grouped_by_device_and_dtype():
    from hotaru.utils import _foreach_utils as foreach

    group = foreach._group_tensors_by_device_and_dtype
    a, b = torch.ones(2), torch.ones(2, dtype=torch.float64)
    found = group([[a, b, a], [None, b, a], []], with_indices=True)
    cpu = torch.device("cpu")
    assert found == {
        (cpu, torch.float32): ([[a, a], [None, a], []], [0, 2]),
        (cpu, torch.float64): ([[b], [b], []], [1]),
    }
    assert group([[a]]) == {(cpu, torch.float32): ([[a]], [])}
    with pytest.raises(RuntimeError, match="lists of one length"):
        group([[a, b], [a]])
    assert foreach._has_foreach_support([a, None], cpu)
    assert not foreach._has_foreach_support([torch.nn.Parameter(a)], cpu)


def test_names_that_libraries_import():
    from hotaru.nn import init
    from hotaru.serialization import MAP_LOCATION

    assert str in MAP_LOCATION.__args__
    assert init._calculate_correct_fan(torch.empty(2, 3, 4), "fan_out") == 8
    assert init._calculate_correct_fan(torch.empty(2, 3, 4), "FAN_IN") == 12
    assert torch.torch is torch


def test_names_of_pythons_past():
    assert torch.ones(1).__nonzero__() is True
    assert torch.zeros(1, 1).__nonzero__() is False
    assert torch.tensor([2.75]).__long__() == 2
    with pytest.raises(RuntimeError, match="more than one value is ambiguous"):
        torch.ones(2).__nonzero__()
    with pytest.raises(ValueError, match="only one element tensors"):
        torch.ones(2).__long__()


def test_states_of_old_pickles():
    source = torch.arange(6.0)
    made = torch.empty(0)
    made.__setstate__((source.untyped_storage(), 1, (2, 2), (2, 1)))
    assert made.tolist() == [[1, 2], [3, 4]]
    leaf = torch.empty(0)
    leaf.__setstate__((source, None, None, True, None))
    assert leaf.requires_grad
    assert leaf.tolist() == source.tolist()
    with pytest.raises(RuntimeError, match="can be only called on leaf"):
        (leaf * 2).__setstate__((True, None, None))
    # A subclass's attributes are set as those of other classes are.
    kept = leaf.as_subclass(_Kept)
    kept.note = [1]
    assert copy.deepcopy(kept.detach().as_subclass(_Kept)).tolist() == (source.tolist())
    again = pickle.loads(pickle.dumps(kept.detach().as_subclass(_Kept)))
    assert type(again) is _Kept


class _Kept(torch.Tensor):
    pass
