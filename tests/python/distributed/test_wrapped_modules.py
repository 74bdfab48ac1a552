"""Modules that wrappers stand for, and policies of which are wrapped."""

from __future__ import annotations

import functools

import pytest
from hotaru.distributed import distributed_c10d as c10d
from hotaru.distributed import fsdp
from hotaru.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    CheckpointImpl,
    CheckpointWrapper,
    OffloadWrapper,
    apply_activation_checkpointing,
    checkpoint_wrapper,
    offload_wrapper,
)
from hotaru.distributed.fsdp import wrap
from hotaru.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler
from hotaru.distributed.tensor.experimental import _attention, context_parallel

import hotaru as torch
from hotaru import nn


def _model():
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Linear(3, 4), nn.ReLU(), nn.Sequential(nn.Linear(4, 2), nn.ReLU())
    )


class _Counted(nn.Linear):
    runs = 0

    def forward(self, x, scale=1):
        type(self).runs += 1
        return super().forward(x) * scale


@pytest.mark.parametrize("kind", list(CheckpointImpl))
def test_wrapped_modules_run_again_backward(kind):
    _Counted.runs = 0
    layer = _Counted(3, 2)
    wrapped = checkpoint_wrapper(layer, kind)
    x = torch.ones(2, 3, requires_grad=True)
    wrapped(x, scale=2).sum().backward()
    assert _Counted.runs == 2
    assert torch.equal(layer.weight.grad, torch.full((2, 3), 4.0))
    assert wrapped.in_features == 3
    assert [n for n, _ in wrapped.named_parameters()] == ["weight", "bias"]


def test_states_have_the_names_of_before():
    plain, wrapped = _model(), _model()
    apply_activation_checkpointing(wrapped, check_fn=lambda m: isinstance(m, nn.Linear))
    assert isinstance(wrapped[2][0], CheckpointWrapper)
    assert not isinstance(wrapped[2], CheckpointWrapper)
    assert list(wrapped.state_dict()) == list(plain.state_dict())
    wrapped.load_state_dict({k: v + 1 for k, v in plain.state_dict().items()})
    assert torch.equal(wrapped[0].weight, plain[0].weight + 1)
    x = torch.randn(2, 3)
    plain.load_state_dict(wrapped.state_dict())
    assert torch.equal(wrapped(x), plain(x))
    offload = offload_wrapper(nn.Linear(2, 2))
    assert isinstance(offload, OffloadWrapper)
    assert list(offload.state_dict()) == ["weight", "bias"]


def test_policies_choose():
    def wrapped_by(policy):
        model = _model()
        apply_activation_checkpointing(model, auto_wrap_policy=policy)
        return [n for n, m in model.named_modules() if isinstance(m, CheckpointWrapper)]

    inner = "2._checkpoint_wrapped_module.0"
    every = ["0", "1", "2", inner, "2._checkpoint_wrapped_module.1"]
    assert wrapped_by(wrap.always_wrap_policy) == every
    classes = {nn.Linear}
    assert wrapped_by(wrap.ModuleWrapPolicy(classes)) == ["0", "2.0"]
    for policy in (
        functools.partial(
            wrap.transformer_auto_wrap_policy, transformer_layer_cls=classes
        ),
        functools.partial(
            wrap.lambda_auto_wrap_policy, lambda_fn=lambda m: type(m) in classes
        ),
        wrap.CustomPolicy(lambda m: type(m) in classes),
    ):
        assert wrapped_by(policy) == ["0", "2.0"]
    by_size = functools.partial(wrap.size_based_auto_wrap_policy, min_num_params=11)
    assert wrapped_by(by_size) == ["0"]
    with pytest.raises(ValueError, match="False/True or a kwarg dict"):
        wrapped_by(wrap.CustomPolicy(lambda m: None))


def test_a_block_says_what_wraps():
    layer = nn.Linear(1, 1)
    assert wrap.wrap(layer) is layer
    impl = CheckpointImpl.REENTRANT
    with wrap.enable_wrap(wrapper_cls=CheckpointWrapper, checkpoint_impl=impl):
        assert wrap.wrap(layer).checkpoint_impl is impl
    assert wrap.wrap(layer) is layer


def test_options_are_values():
    assert fsdp.ShardingStrategy.HYBRID_SHARD.value == 4
    assert fsdp.StateDictType.SHARDED_STATE_DICT.value == 3
    mixed = fsdp.MixedPrecision(param_dtype=torch.bfloat16)
    assert mixed.cast_root_forward_inputs
    assert nn.modules.batchnorm._BatchNorm in mixed._module_classes_to_ignore
    assert fsdp.FullStateDictConfig(rank0_only=True).offload_to_cpu is False
    assert fsdp.FullOptimStateDictConfig().offload_to_cpu is True
    assert fsdp.LocalOptimStateDictConfig().offload_to_cpu is False
    with pytest.raises(NotImplementedError, match="fully_shard"):
        fsdp.FullyShardedDataParallel(nn.Linear(1, 1))


def test_scalers_skip_a_step_together(tmp_path):
    c10d.init_process_group(
        "gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1
    )
    try:
        scaler = ShardedGradScaler("cpu", init_scale=4.0)
        weight = nn.Parameter(torch.ones(2, dtype=torch.float16))
        optimizer = torch.optim.SGD([weight], lr=1.0)
        for gradient, left in ((1.0, 0.0), (float("inf"), 0.0)):
            optimizer.zero_grad()
            scaler.scale((weight * gradient).float().sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            assert weight.tolist() == [left] * 2
        assert scaler.get_scale() == 2.0
        world = c10d._world
        assert world.default_pg is c10d.group.WORLD
        assert world.pg_group_ranks[world.default_pg] == {0: 0}
        assert world.pg_map[world.default_pg][0] == "gloo"
        assert len(world.pg_names) == 1
        with pytest.raises(NotImplementedError, match="new_group"):
            c10d._new_process_group_helper(1, 0, [0], "gloo", None)
    finally:
        c10d.destroy_process_group()
    assert c10d._world.default_pg is None


def test_parts_of_a_sequence():
    _attention.set_rotate_method("alltoall")
    assert _attention._cp_options.rotate_method.name == "ALL_TO_ALL"
    _attention.set_rotate_method("allgather")
    with pytest.raises(NotImplementedError, match="shards rotation"):
        _attention.set_rotate_method("ring")
    with pytest.raises(NotImplementedError, match="fully_shard"):
        context_parallel(None, buffers=[])
