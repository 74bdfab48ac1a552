"""Averages of gradients, as they are or in half of the bytes."""

from __future__ import annotations

from .... import bfloat16, float16
from ...collectives import all_reduce
from ...groups import default_group
from ...reduce_op import ReduceOp

__all__ = [
    "allreduce_hook",
    "bf16_compress_hook",
    "bf16_compress_wrapper",
    "fp16_compress_hook",
    "fp16_compress_wrapper",
]


def allreduce_hook(process_group, bucket):
    """The average, as without a hook."""
    group = process_group or default_group()
    work = all_reduce(bucket.buffer(), ReduceOp.AVG, group, async_op=True)
    return work.get_future().then(lambda future: future.value()[0])


def _compressed(dtype, process_group, bucket):
    group = process_group or default_group()
    buffer = bucket.buffer()
    small = buffer.to(dtype).div_(group.size())
    work = all_reduce(small, group=group, async_op=True)
    return work.get_future().then(lambda f: buffer.copy_(f.value()[0]))


def fp16_compress_hook(process_group, bucket):
    """The average of gradients rounded to float16."""
    return _compressed(float16, process_group, bucket)


def bf16_compress_hook(process_group, bucket):
    """The average of gradients rounded to bfloat16."""
    return _compressed(bfloat16, process_group, bucket)


def _wrapper(hook, dtype):
    def wrapped(state, bucket):
        """The hook, on gradients rounded to half of the bytes."""
        wide = bucket.buffer()
        bucket.set_buffer(wide.to(dtype))
        future = hook(state, bucket)

        def back(done):
            value = done.value()
            value = value[0] if isinstance(value, list) else value
            return wide.copy_(value)

        return future.then(back)

    return wrapped


def fp16_compress_wrapper(hook):
    """A hook like `hook`, of which gradients are float16."""
    return _wrapper(hook, float16)


def bf16_compress_wrapper(hook):
    """A hook like `hook`, of which gradients are bfloat16."""
    return _wrapper(hook, bfloat16)
