"""Writes this folder's checkpoint, with PyTorch on two ranks.

torchrun --nproc-per-node 2 record.py FOLDER
"""

import sys

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (2,))
x = distribute_tensor(torch.arange(15.0).reshape(5, 3), mesh, [Shard(0)])
nested = [torch.ones(2, dtype=torch.bfloat16), {"s": "text"}]
dcp.save({"x": x, "n": nested, "step": 7}, checkpoint_id=sys.argv[1])
dist.destroy_process_group()
