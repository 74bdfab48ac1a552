"""Private names that libraries take from PyTorch, with what they do."""

from __future__ import annotations

import pytest

import hotaru as torch


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: torch.ones(2), "tensor(C)"),
        (lambda: torch.ones(2).half(), "tensor(C, dtype=torch.float16)"),
        (lambda: torch.ones(2).int(), "tensor(C, dtype=torch.int32)"),
        (lambda: torch.ones(2, dtype=torch.complex64), "tensor(C)"),
        (lambda: torch.nn.Parameter(torch.ones(2)), "tensor(C, requires_grad=True)"),
        (
            lambda: torch.ones(2, requires_grad=True) * 2,
            "tensor(C, grad_fn=<MulBackward0>)",
        ),
    ],
)
def test_the_text_of_a_tensor_with_other_contents(make, text):
    assert torch._tensor_str._str_intern(make(), tensor_contents="C") == text


def test_the_text_of_a_subclass_has_its_name():
    class Marked(torch.Tensor):
        pass

    x = torch.ones(2).as_subclass(Marked)
    assert torch._tensor_str._str_intern(x, tensor_contents="C") == "Marked(C)"
    plain = torch.tensor([1.5, 2])
    assert torch._tensor_str._str_intern(plain) == repr(plain)


def test_suffixes_of_a_text_begin_lines_that_are_full():
    add = torch._tensor_str._add_suffixes
    text, long = "x(a\nbcdef", "q" * 70
    assert add(text, ["p", long, "r"], 2, False) == f"{text}, p,\n  {long}, r)"
    assert add(text, ["p", long], 2, True) == f"{text},\n  p, {long})"
    assert add(text, [], 2, True) == f"{text})"
    with torch._tensor_str.printoptions(linewidth=12):
        assert add("x(1", ["ab", "cd"], 2, False) == "x(1, ab,\n  cd)"


def test_kinds_of_datasets():
    from hotaru.utils.data import DataLoader, IterableDataset, dataloader

    class Numbers(IterableDataset):
        def __iter__(self):
            return iter(range(5))

    kind = dataloader._DatasetKind
    assert (kind.Map, kind.Iterable) == (0, 1)
    assert DataLoader([1, 2])._dataset_kind == kind.Map
    assert DataLoader(Numbers())._dataset_kind == kind.Iterable
    of_map = kind.create_fetcher(kind.Map, [5, 6, 7], True, sum, False)
    assert of_map.fetch([0, 2]) == 12
    of_numbers = kind.create_fetcher(kind.Iterable, Numbers(), True, list, True)
    assert [of_numbers.fetch([0] * 2) for _ in range(2)] == [[0, 1], [2, 3]]
    with pytest.raises(StopIteration):
        of_numbers.fetch([0] * 2)


def test_facts_about_sizes_are_known():
    from hotaru.fx.experimental import symbolic_shapes

    rows = torch.ones(3, 2).shape[0]
    assert symbolic_shapes.guard_or_false(rows == 3) is True
    assert symbolic_shapes.guard_or_true(rows != 3) is False


def test_a_profiler_without_a_schedule_records():
    from hotaru.profiler import ProfilerAction, profiler

    assert profiler._default_schedule_fn(7) is ProfilerAction.RECORD


def test_classes_may_switch_functions_off_by_the_name_beside_parameters():
    from hotaru.nn import parameter

    class Quiet(torch.Tensor):
        __torch_function__ = parameter._disabled_torch_function_impl

    assert type(torch.ones(2).as_subclass(Quiet) + 1) is torch.Tensor


def test_messages_of_hyperparameters():
    pytest.importorskip("tensorboard")
    from hotaru.utils.tensorboard.summary import hparams

    messages = hparams({"lr": 0.1, "none": None}, {"loss": 1})
    tags = [message.value[0].tag for message in messages]
    assert tags == [
        "_hparams_/experiment",
        "_hparams_/session_start_info",
        "_hparams_/session_end_info",
    ]
    with pytest.raises(TypeError, match="metric_dict"):
        hparams({"lr": 0.1})


def test_optimizers_group_their_lists():
    params = [torch.ones(1), torch.ones(1).double(), torch.zeros(2)]
    states = [torch.ones(()), torch.zeros(()), None]
    group = torch.optim.Optimizer._group_tensors_by_device_and_dtype
    found = group([params, [], states], with_indices=True)
    assert [key[1] for key in found] == [torch.float32, torch.float64]
    (first, none, kept), places = found[torch.device("cpu"), torch.float32]
    assert places == [0, 2]
    assert first[0] is params[0]
    assert first[1] is params[2]
    assert none == []
    assert kept[1] is None
