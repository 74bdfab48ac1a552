"""Functions, types and constants that few programs ask for: values are
PyTorch 2.13's.
"""

from __future__ import annotations

import pytest

import hotaru as torch
from hotaru.autograd import Function


def test_parts_of_sparse_tensors_are_copied():
    x = torch.tensor([[0.0, 2.0], [3.0, 0.0], [4.0, 5.0]])
    rows, columns = x.to_sparse_csr(), x.to_sparse_csc()
    kept = torch.crow_indices_copy(rows)
    assert kept.tolist() == [0, 1, 2, 4]
    kept[0] = 9
    assert rows.crow_indices().tolist() == [0, 1, 2, 4]
    assert torch.col_indices_copy(rows).tolist() == [1, 0, 0, 1]
    assert torch.ccol_indices_copy(columns).tolist() == [0, 2, 4]
    assert torch.row_indices_copy(columns).tolist() == [1, 2, 0, 2]
    out = torch.empty(0)
    assert torch.values_copy(rows, out=out) is out
    assert out.tolist() == [2, 3, 4, 5]
    assert torch.indices_copy(x.to_sparse()).shape == (2, 4)
    with pytest.raises(RuntimeError, match="but got SparseCsr"):
        torch.row_indices_copy(rows)


def test_the_tensor_that_a_slice_is_of():
    x = torch.arange(6.0).view(3, 2)
    whole = torch.slice_inverse(x[1:2], torch.zeros(3, 2), 0, 1, 2, 1)
    assert whole.tolist() == x.tolist()
    assert whole.data_ptr() == x.data_ptr()
    assert x[1:2].slice_inverse(torch.zeros(3, 2), 0, 1, 2).equal(x)
    with pytest.raises(RuntimeError, match="out of bounds"):
        torch.slice_inverse(torch.ones(1, 2), x, 0, 1, 2, 1)


def test_rrelu_in_place():
    x = torch.tensor([-1.0, 2.0, -3.0])
    assert torch.rrelu_(x, 0.1, 0.3, False) is x
    assert x.tolist() == pytest.approx([-0.2, 2, -0.6])
    x = torch.tensor([-1.0, 2.0, -3.0])
    seeded = torch.Generator().manual_seed(0)
    torch.rrelu_(x, 0.1, 0.3, True, seeded)
    assert x.tolist() == pytest.approx([-0.2940, 2, -0.7247], abs=1e-4)


def test_statistics_of_batches():
    mean, var = torch.zeros(2), torch.ones(2)
    x = torch.arange(6.0).view(3, 2)
    found = torch.batch_norm_update_stats(x, mean, var, 0.1)
    assert found[0].tolist() == [2, 3]
    assert found[1].tolist() == pytest.approx([8 / 3, 8 / 3])
    assert mean.tolist() == pytest.approx([0.2, 0.3])
    assert var.tolist() == pytest.approx([1.3, 1.3])
    x = torch.arange(12.0).view(3, 2, 2)
    means, variances = torch.batch_norm_update_stats(x, None, None, 0.1)
    assert means.tolist() == [4.5, 6.5]
    assert variances.tolist() == pytest.approx([10.9167, 10.9167], abs=1e-4)


def test_ranges_of_sizes():
    assert torch.sym_constrain_range(3, min=1, max=4) is None
    torch.sym_constrain_range(-3)
    torch.sym_constrain_range_for_size(5)
    with pytest.raises(RuntimeError, match=r"for 5 between \[1, 4\]"):
        torch.sym_constrain_range(5, min=1, max=4)
    text = r"for 5 between \[7, 9223372036854775807\]"
    with pytest.raises(RuntimeError, match=text):
        torch.sym_constrain_range_for_size(5, min=7)
    with pytest.raises(RuntimeError, match="for -1 between"):
        torch.sym_constrain_range_for_size(-1)


class _Node:
    """A node that knows its number."""

    def __init__(self, number) -> None:
        self.number = number

    def is_bool(self) -> bool:
        return isinstance(self.number, bool)

    def is_float(self) -> bool:
        return isinstance(self.number, float)

    def wrap_float(self, number):
        return _Node(number)

    wrap_int = wrap_bool = wrap_float

    def guard_float(self, file, line):
        assert file == __file__
        return float(self.number)

    def guard_bool(self, file, line):
        return self.number

    def sub(self, other):
        return _Node(self.number - other.number)

    def ne(self, other):
        return _Node(self.number != other.number)

    def and_(self, other):
        return _Node(self.number and other.number)


def test_symbolic_numbers_ask_their_nodes():
    x = torch.SymFloat(_Node(2.5))
    assert float(x - 1) == 1.5
    assert float(1 - x) == -1.5
    assert x.as_integer_ratio() == (5, 2)
    assert x.hex() == (2.5).hex()
    assert not x.is_integer()
    assert x.conjugate() is x
    truth = x != 2.5
    assert isinstance(truth, torch.SymBool)
    assert not truth
    assert not truth & True
    assert not isinstance(2.5, torch.SymFloat)
    with pytest.raises(TypeError, match="unhashable type: SymFloat"):
        hash(x)
    with pytest.raises(AttributeError):
        x + 1


def test_what_a_build_has():
    assert torch.has_lapack is True
    assert torch.thread_safe_generator() is None
    assert torch.random.thread_safe_generator() is None
    threads = torch.get_num_threads()
    torch.init_num_threads()
    assert torch.get_num_threads() == threads
    assert torch.functional.split is torch.split
    assert torch.functional.istft is torch.istft


def test_storages_for_annotations():
    storage = torch.types.Storage()
    for name in ("cpu", "nbytes", "element_size", "is_shared", "data_ptr"):
        with pytest.raises(NotImplementedError):
            getattr(storage, name)()
    with pytest.raises(NotImplementedError):
        torch.types.Storage.from_file("x", False, 1)


class _Double(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_forward(x)
        return x * 2

    @staticmethod
    def jvp(ctx, tangent):
        return tangent * 7 * ctx.saved_tensors[0]


def test_nodes_of_functions():
    x = torch.full((2,), 3.0, requires_grad=True)
    node = _Double.apply(x).grad_fn
    assert node.apply_jvp(torch.ones(2)).tolist() == [21, 21]
    with pytest.warns(FutureWarning, match="`mark_shared_storage` is depreca"):
        node.mark_shared_storage((1, 2))
    assert isinstance(node, torch.autograd.graph.Node)
    with pytest.raises(TypeError, match="abstract"):
        torch.autograd.graph.Node()


def test_modes_of_grids():
    functional = torch.nn.functional
    x = torch.arange(16.0).view(1, 1, 4, 4)
    grid = torch.linspace(-1.4, 1.4, 18).view(1, 3, 3, 2)
    for mode, number in functional.GRID_SAMPLE_INTERPOLATION_MODES.items():
        for padding, place in functional.GRID_SAMPLE_PADDING_MODES.items():
            named = functional.grid_sample(x, grid, mode, padding)
            numbered = torch.grid_sampler(x, grid, number, place, False)
            assert torch.equal(named, numbered)
    functional.assert_int_or_pair(3, "size", "bad {}")
    with pytest.raises(AssertionError, match="bad size"):
        functional.assert_int_or_pair([1, 2, 3], "size", "bad {}")


def test_recurrent_layers_check_their_arguments():
    lstm = torch.nn.LSTM(3, 4, 2, proj_size=2)
    x, state = torch.ones(5, 2, 3), (torch.zeros(2, 2, 2), torch.zeros(2, 2, 4))
    lstm.check_forward_args(x, state, None)
    text = r"Expected hidden\[1\] size \(2, 2, 4\), got \[2, 2, 2\]"
    with pytest.raises(RuntimeError, match=text):
        lstm.check_forward_args(x, (state[0], state[0]), None)
    gru = torch.nn.GRU(3, 4, 2)
    with pytest.raises(RuntimeError, match=r"Expected hidden size \(2, 2, 4\)"):
        gru.check_forward_args(x, torch.zeros(2, 9, 4), None)
    t = torch.arange(8.0).view(1, 2, 4)
    turned = gru.permute_hidden(t, torch.tensor([1, 0]))
    assert turned.tolist() == t.flip(1).tolist()
    assert gru.permute_hidden(t, None) is t
    both = lstm.permute_hidden((t, t + 1), torch.tensor([1, 0]))
    assert both[1].tolist() == (t + 1).flip(1).tolist()


def test_uninitialised_tensors_have_a_class_in_common():
    mixin = torch.nn.parameter.UninitializedTensorMixin
    parameter = torch.nn.UninitializedParameter()
    assert isinstance(parameter, mixin)
    with pytest.raises(RuntimeError, match="Can't access the shape"):
        parameter.shape  # noqa: B018
    parameter.materialize((2, 3))
    assert not isinstance(parameter, mixin)


def test_abbreviations_of_dtypes():
    names = {
        "bool": "b8",
        "uint16": "u16",
        "int64": "i64",
        "float32": "f32",
        "bfloat16": "bf16",
        "complex32": "c32",
        "float8_e4m3fn": "f8e4m3fn",
        "float8_e5m2fnuz": "f8e5m2fnuz",
        "quint8": "quint8",
    }
    assert {name: getattr(torch, name).abbr for name in names} == names


def test_storages_of_files_and_of_bytes(tmp_path):
    storage = torch.FloatStorage([1.5, 2])
    for name in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz"):
        made = getattr(storage, f"float8_{name}")()
        assert made.dtype == getattr(torch, f"float8_{name}")
        assert made.tolist() == [1.5, 2]
    (tmp_path / "f").write_bytes(bytes(range(8)))
    made = torch.IntStorage.from_file(str(tmp_path / "f"), False, 2)
    assert made.tolist() == [50462976, 117835012]
    with pytest.raises(RuntimeError, match="called on derived classes"):
        torch.TypedStorage.from_file("f", False, 2)


def test_what_only_drivers_know():
    stream = torch.Stream(device="cpu")
    assert not stream.is_capturing()
    graph = torch.cpu.Graph()
    with torch.cpu.graph(graph):
        assert torch.cpu.current_stream().is_capturing()
        torch.ones(2) + 1
    with pytest.raises(RuntimeError, match="native handle"):
        stream.native_handle  # noqa: B018
    with pytest.raises(NotImplementedError, match="ipc is not supported"):
        torch.Event(device="cpu").ipc_handle()
    with pytest.raises(NotImplementedError, match="graphsafe_get_state"):
        torch.Generator().graphsafe_get_state()


def test_parameters_have_their_names():
    one = torch.tensor(0.5)
    half = torch.distributions.HalfNormal(1.0)
    assert half.icdf(prob=one).item() == pytest.approx(0.6744897)
    log_input = torch.tensor([0.1, 0.2])
    loss = torch.nn.PoissonNLLLoss()
    assert loss(log_input=log_input, target=log_input).isfinite()
    assert torch.nn.RMSNorm(2)(x=log_input).shape == (2,)
    assert not torch.nn.parameter.is_lazy(param=one)


def test_functions_of_masked_data():
    data, mask = torch.zeros(2), torch.tensor([True, False])
    found = torch.masked.MaskedTensor.unary(torch.exp, data, mask)
    assert found.get_data().tolist() == [1, 1]
    assert found.get_mask() is not mask
    assert found.get_mask().tolist() == [True, False]


class _Versioned:
    __name__ = "pickler"

    def __init__(self, version: str) -> None:
        self.__version__ = version


def test_versions_of_modules():
    check = torch.serialization.check_module_version_greater_or_equal
    assert check(_Versioned("1.12.3"), (1, 12))
    assert not check(_Versioned("1.12.3"), (2, 0, 0))
    with pytest.raises(RuntimeError, match="string is malformed 'abc'"):
        check(_Versioned("abc"), (2, 0, 0))
    with pytest.warns(UserWarning, match="assuming that requirement is met"):
        assert check(_Versioned("abc"), (2, 0, 0), False)


def test_folders_for_a_while():
    from pathlib import Path

    with torch.serialization.mkdtemp() as path:
        assert Path(path).is_dir()
    assert not Path(path).exists()


def test_aggregations_are_names_of_the_module():
    assert torch.monitor.SUM is torch.monitor.Aggregation.SUM
    assert torch.monitor.VALUE.value == 0


def test_jacobians_by_one_input():
    from hotaru.autograd.gradcheck import (
        get_numerical_jacobian_wrt_specific_input as jacobians,
    )

    def f(x, y):
        return x * x * y, x.sum() * y

    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([3.0], dtype=torch.float64, requires_grad=True)
    first, second = jacobians(f, 0, (x, y), f(x, y), 1e-6)
    wanted = torch.tensor([[6, 0], [0, 12]], dtype=torch.float64)
    torch.testing.assert_close(first, wanted)
    assert second.shape == (2, 1)
    by_y = jacobians(f, 0, (x, y), f(x, y), 1e-6, input=y)
    torch.testing.assert_close(by_y[0], wanted.new_tensor([[1, 4]]))
    with pytest.raises(AssertionError, match="have requires_grad=True"):
        jacobians(f, 0, (x.detach(), y), f(x, y), 1e-6)
    with pytest.raises(NotImplementedError, match="complex"):
        jacobians(f, 0, (x, y), (x.to(torch.complex128),), 1e-6)


def test_shapes_as_tensors():
    found = torch._shape_as_tensor(torch.ones(2, 3))
    assert (found.tolist(), found.dtype) == ([2, 3], torch.int64)
    found = torch._shape_as_tensor(torch.tensor(1.0, device="meta"))
    assert (found.tolist(), found.dtype) == ([], torch.int64)
    assert found.device.type == "cpu"
    traced = torch.jit.trace(
        lambda x: torch._shape_as_tensor(x)[1] + x.sum(), (torch.ones(2, 3),)
    )
    assert traced(torch.ones(2, 5)).item() == 15


def test_the_format_of_older_programs():
    assert torch.legacy_contiguous_format is torch.contiguous_format
    made = torch.zeros_like(
        torch.ones(2, 3).t(), memory_format=torch.legacy_contiguous_format
    )
    assert made.is_contiguous()


def test_switches_of_the_script_interpreter_are_kept():
    extension = torch._C
    for name in ("_jit_set_profiling_executor", "_jit_set_profiling_mode"):
        change = getattr(extension, name)
        assert [change(v) for v in (False, True, True)] == [True, False, True]
    for switch, asked in (
        ("_jit_override_can_fuse_on_cpu", "_jit_can_fuse_on_cpu"),
        ("_jit_override_can_fuse_on_gpu", "_jit_can_fuse_on_gpu"),
        ("_jit_set_texpr_fuser_enabled", "_jit_texpr_fuser_enabled"),
    ):
        before = getattr(extension, asked)()
        for value in (True, False, before):
            assert getattr(extension, switch)(value) is None
            assert getattr(extension, asked)() is value
    with pytest.raises(TypeError):
        extension._jit_set_profiling_mode("no")
