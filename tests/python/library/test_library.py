"""Operators defined in Python: what is hotaru's own about them."""

import copy
import gc
import pickle
import threading

import pytest

import hotaru as torch
from hotaru import library


@pytest.fixture
def lib():
    with library._scoped_library("mine", "FRAGMENT") as made:
        yield made


def test_an_operator_ends_with_its_library():
    made = library.Library("gone", "FRAGMENT")
    made.define("f(Tensor x) -> Tensor")
    made.impl("f", lambda x: x + 1, "CPU")
    op = torch.ops.gone.f
    assert op(torch.ones(1)).item() == 2
    del made
    gc.collect()
    assert not hasattr(torch.ops.gone, "f")
    with pytest.raises(RuntimeError, match="gone::f does not exist"):
        op(torch.ones(1))


def test_the_last_kernel_answers_and_the_one_before_comes_back(lib):
    lib.define("f(Tensor x) -> int")
    lib.impl("f", lambda x: 1, "CPU")
    with library._scoped_library("mine", "IMPL") as other:
        other.impl("f", lambda x: 2, "CPU")
        assert torch.ops.mine.f(torch.ones(1)) == 2
    assert torch.ops.mine.f(torch.ones(1)) == 1
    lib._destroy()
    with pytest.raises(AssertionError, match="has been destroyed"):
        lib.define("g(Tensor x) -> int")


def test_kernels_may_come_before_their_operator(lib):
    lib.impl("early", lambda x: 7, "CPU")
    assert not hasattr(torch.ops.mine, "early")
    lib.define("early(Tensor x) -> int")
    assert torch.ops.mine.early(torch.ones(1)) == 7


def test_a_name_is_defined_once(lib):
    lib.define("f(Tensor x) -> int")
    with pytest.raises(RuntimeError, match=r"multiple times.*test_library.py"):
        lib.define("f(Tensor x, int y) -> int")
    lib.define("f.two(Tensor x, int y) -> int")
    assert torch.ops.mine.f.overloads() == ["default", "two"]


def test_hotarus_own_operators_stay_as_they_are():
    with library._scoped_library("aten", "FRAGMENT") as made:
        with pytest.raises(NotImplementedError, match="TorchFunctionMode"):
            made.impl("sin", lambda x: x, "CPU")
        with pytest.raises(NotImplementedError, match="no overloads"):
            made.define("sin.mine(Tensor x) -> Tensor")
        made.define("of_my_own(Tensor x) -> Tensor")
        made.impl("of_my_own", lambda x: x * 2, "CPU")
        assert torch.ops.aten.of_my_own(torch.ones(1)).item() == 2
    assert not hasattr(torch.ops.aten, "of_my_own")
    with pytest.raises(NotImplementedError, match="derivatives"):
        library.register_autograd("aten::sin", lambda ctx, g: g)


def test_functions_of_modes_see_calls(lib):
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x + 1, "CPU")
    seen = []

    class Mode(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    x = torch.ones(1)
    with Mode():
        torch.ops.mine.f(x)
        torch.ops.mine.f.default(x)
    assert seen[0] == "mine.f"
    assert "mine.f.default" in seen


def test_a_subclass_keeps_its_class(lib):
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x + 1, "CPU")

    class Mine(torch.Tensor):
        pass

    x = torch.ones(2).as_subclass(Mine)
    assert type(torch.ops.mine.f(x)) is Mine


def test_packets_and_overloads_can_be_pickled(lib):
    lib.define("f(Tensor x) -> int")
    for op in (torch.ops.mine.f, torch.ops.mine.f.default):
        assert pickle.loads(pickle.dumps(op)) is op
        assert copy.deepcopy(op) is op
    schema = torch.ops.mine.f.default._schema
    assert pickle.loads(pickle.dumps(schema)) == schema


def test_guards_are_of_one_thread(lib):
    lib.define("f(Tensor x) -> str")
    lib.impl("f", lambda x: "CPU", "CPU")
    lib.impl("f", lambda x: "Autograd", "Autograd")
    found = []

    def other():
        found.append(torch.ops.mine.f(torch.ones(1)))

    with torch._C._AutoDispatchBelowAutograd():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        found.append(torch.ops.mine.f(torch.ones(1)))
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()
    assert found == ["Autograd", "CPU"]
    guard = torch._C._ExcludeDispatchKeyGuard(
        torch._C.DispatchKeySet(torch._C.DispatchKey.Autograd)
    )
    assert torch.ops.mine.f(torch.ones(1)) == "CPU"
    del guard
    assert torch.ops.mine.f(torch.ones(1)) == "Autograd"
    with pytest.raises(NotImplementedError, match=r"no layer.*Sparse"):
        torch._C._ExcludeDispatchKeyGuard(
            torch._C.DispatchKeySet(torch._C.DispatchKey.SparseCPU)
        )


def test_a_key_that_falls_through_is_left_out(lib):
    lib.define("f(Tensor x) -> str")
    lib.impl("f", lambda x: "CPU", "CPU")
    lib.impl("f", library.fallthrough_kernel, "Autograd")
    lib.impl("f", library.fallthrough_kernel, "ADInplaceOrView")
    x = torch.ones(1, requires_grad=True)
    assert torch.ops.mine.f(x) == "CPU"
    assert torch.ops.mine.f.default.has_kernel_for_dispatch_key("Autograd")


def test_autocast_casts_what_asked_for_it(lib):
    lib.define("f(Tensor x, Tensor[] y) -> Tensor[]")
    lib.impl("f", lambda x, y: [x + 0, *(t + 0 for t in y)], "CPU")
    library.register_autocast("mine::f", "cpu", torch.bfloat16)
    args = torch.ones(1), [torch.ones(1).double(), torch.ones(1).int()]
    with torch.autocast("cpu"):
        inside = [t.dtype for t in torch.ops.mine.f(*args)]
    outside = [t.dtype for t in torch.ops.mine.f(*args)]
    assert inside == [torch.bfloat16, torch.float64, torch.int32]
    assert outside == [torch.float32, torch.float64, torch.int32]
    with pytest.raises(ValueError, match="Unknown device type: tpu"):
        library.register_autocast("mine::f", "tpu", torch.half)


def test_within_other_functions_vmap_calls_the_kernel_of_each_slice():
    @library.custom_op("mine::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    calls = []

    @twice.register_vmap
    def rule(info, in_dims, x):
        calls.append((info.batch_size, info.randomness, in_dims))
        return x * 2, in_dims[0]

    x = torch.arange(6.0).reshape(2, 3)
    want = (x * 2).tolist()
    assert torch.vmap(lambda row: twice(row))(x).tolist() == want
    assert not calls
    assert torch.vmap(twice)(x).tolist() == want
    nested = torch.vmap(torch.vmap(twice, in_dims=-1), out_dims=0)
    assert nested(x).tolist() == want
    assert calls[0] == (2, "error", (0,))
    assert calls[1:] == [(3, "error", (0,))] * 2


def test_what_hotaru_has_not_says_so(lib):
    lib.define("f(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="Triton"):
        library.triton_op("mine::g", mutates_args=())
    with pytest.raises(NotImplementedError, match="no set of dispatch keys"):
        lib.impl("f", lambda keys, x: x, "CPU", with_keyset=True)
    with pytest.raises(RuntimeError, match="inside of a fake kernel"):
        library.get_ctx()


def test_sizes_that_depend_on_values_are_refused_on_meta():
    @library.custom_op("mine::found", mutates_args=())
    def found(x: torch.Tensor) -> torch.Tensor:
        return x.nonzero()

    @found.register_fake
    def _(x):
        size = library.get_ctx().new_dynamic_size()
        return x.new_empty([size, x.dim()])

    with pytest.raises(RuntimeError, match=r"mine::found.*data-dependent"):
        found(torch.ones(2, device="meta"))
    assert library.opcheck(found, (torch.ones(2),)) == dict.fromkeys(
        ("test_schema", "test_autograd_registration", "test_faketensor"), "SUCCESS"
    )


def test_import_of_the_package_loads_nothing_of_this():
    import subprocess
    import sys

    code = (
        "import sys, hotaru; "
        "print([m for m in sys.modules if '_library' in m or '_schema' in m])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"


def test_modes_and_classes_answer_operators(lib):
    from hotaru.utils._python_dispatch import TorchDispatchMode

    lib.define("f(Tensor x, float y=1) -> Tensor")
    lib.impl("f", lambda x, y=1: x + y, "CPU")
    seen = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append((str(func), args[1:]))
            return func(*args, **(kwargs or {}))

    x = torch.ones(2)
    with Mode():
        assert torch.ops.mine.f(x, 2.0).tolist() == [3, 3]
    assert seen[0] == ("mine.f.default", (2.0,))

    @library.register_torch_dispatch("mine::f", Mode, lib=lib)
    def answer(mode, func, types, args, kwargs):
        assert isinstance(mode, Mode)
        return func(*args, **kwargs) * 10

    with Mode():
        assert torch.ops.mine.f(x).tolist() == [20, 20]
    assert torch.ops.mine.f(x).tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="already has a `__torch_dispatch"):
        library.register_torch_dispatch("mine::f", Mode, answer, lib=lib)


def test_rules_for_classes_and_native_operators():
    class Plain(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            raise AssertionError("not asked")

    x = torch.Tensor._make_subclass(Plain, torch.ones(2))
    with library._scoped_library("aten", "IMPL") as lib:
        lib._register_torch_dispatch_rule("cos", Plain, lambda *given: given)
        cls, func, _, args, kwargs = x.cos()
        assert (cls, func) == (Plain, torch.ops.aten.cos.default)
        assert args[0] is x
        assert kwargs == {}
    with pytest.raises(AssertionError, match="not asked"):
        x.cos()


def test_modes_and_classes_are_asked_below_derivatives(lib):
    from hotaru.utils._python_dispatch import TorchDispatchMode

    lib.define("double_sin(Tensor x) -> Tensor")
    lib.impl("double_sin", lambda x: 2 * x.sin(), "CPU")
    library.register_autograd(
        "mine::double_sin",
        lambda ctx, grad: grad * 2 * ctx.saved_tensors[0].cos(),
        setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
        lib=lib,
    )
    op = torch.ops.mine.double_sin
    asked = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func is op.default:
                asked.append(torch.is_grad_enabled())
            return func(*args, **(kwargs or {}))

    x = torch.ones(2, requires_grad=True)
    with Mode():
        out = op(x)
    assert asked == [False]
    (got,) = torch.autograd.grad(out.sum(), x)
    assert torch.equal(got, 2 * x.detach().cos())

    class Kept(torch.Tensor):
        @staticmethod
        def __new__(cls, elem):
            made = torch.Tensor._make_wrapper_subclass(cls, elem.size())
            made.elem = elem
            return made

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            asked.append(types)
            return cls(func(*(a.elem for a in args), **(kwargs or {})))

    found = op(Kept(torch.ones(2)))
    assert asked[-1] == (Kept,)
    assert torch.equal(found.elem, 2 * torch.ones(2).sin())
