"""Writes plain_pickles.json: what Python's pickle makes of PyTorch's objects.

usage: make_plain_pickles.py OUT, by a Python that has PyTorch 2.13
"""

import base64
import json
import pickle
import sys
from collections import OrderedDict
from pathlib import Path

import torch

layer = torch.nn.Linear(2, 1)
with torch.no_grad():
    layer.weight.copy_(torch.tensor([[2.0, 3.0]]))
    layer.bias.fill_(0.5)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.5, momentum=0.9)
layer(torch.ones(1, 2)).sum().backward()
optimizer.step()
optimizer.zero_grad()
tagged = torch.nn.Parameter(torch.arange(3.0))
tagged.tag = "mine"
rows = torch.arange(6.0).reshape(2, 3)

OBJECTS = {
    "float32": torch.tensor([1.0, 2.0]),
    "strides": rows.t(),
    "offset": torch.arange(12)[3:9:2],
    "expanded": torch.tensor([5.0]).expand(3),
    "number": torch.tensor(3.0),
    "empty": torch.empty(0, 3),
    "bfloat16": torch.tensor([1.5], dtype=torch.bfloat16),
    "complex": torch.tensor([1 + 2j]),
    "conjugate": torch.tensor([1 + 2j]).conj(),
    "bool": torch.tensor([True, False]),
    "uint16": torch.tensor([65535], dtype=torch.uint16),
    "requires_grad": torch.ones(2, requires_grad=True),
    "meta": torch.empty(2, 3, device="meta"),
    "sparse": torch.eye(2).to_sparse(),
    "parameter": tagged,
    "frozen": torch.nn.Parameter(torch.ones(1), requires_grad=False),
    "module": layer,
    "attention": torch.nn.MultiheadAttention(2, 1).__class__,
    "nested": torch.nn.Sequential(
        OrderedDict(a=torch.nn.BatchNorm1d(2), b=torch.nn.ReLU())
    ),
    "state": {"model": layer.state_dict(), "optimizer": optimizer.state_dict()},
    "others": [torch.float16, torch.device("cpu", 0), torch.Size([2, 3])],
    "format": torch.channels_last,
    "typed": torch.tensor([1.0, 2.0]).storage(),
    "untyped": torch.tensor([1, 2], dtype=torch.uint8).untyped_storage(),
}
texts = {}
for name, value in OBJECTS.items():
    for protocol in (2, 5):
        if name != "format" or protocol > 2:  # which PyTorch refuses
            text = base64.b85encode(pickle.dumps(value, protocol)).decode()
            texts[f"{name} {protocol}"] = text
Path(sys.argv[1]).write_text(json.dumps(texts, indent=0) + "\n")
