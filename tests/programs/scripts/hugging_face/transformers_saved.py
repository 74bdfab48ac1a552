"""save_pretrained and from_pretrained: whole, in shards, in bfloat16."""

import torch
from probe import emit, scratch
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM

torch.manual_seed(1)
config = LlamaConfig(
    vocab_size=99,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    intermediate_size=64,
)
model = LlamaForCausalLM(config).eval()
tokens = torch.randint(0, 99, (2, 7))
with scratch() as folder, torch.no_grad():
    want = model(tokens).logits
    emit(logits=want)
    model.save_pretrained(folder / "whole")
    model.save_pretrained(folder / "shards", max_shard_size="20KB")
    emit(
        files=[
            sorted(p.name for p in (folder / part).iterdir())
            for part in ("whole", "shards")
        ]
    )
    for part in ("whole", "shards"):
        back = AutoModelForCausalLM.from_pretrained(folder / part).eval()
        emit(equal=torch.equal(back(tokens).logits, want))
    half = AutoModelForCausalLM.from_pretrained(folder / "whole", dtype=torch.bfloat16)
    emit(dtype=str(half.dtype), weight=half.lm_head.weight)
    torch.save(model.state_dict(), folder / "model.bin")
    state = torch.load(folder / "model.bin", weights_only=True)
    emit(names=list(state)[:5])
