"""peft over a small transformers model: adapters, merged and saved."""

import sys

import torch
from peft import (
    AdaLoraConfig,
    IA3Config,
    LoHaConfig,
    LoraConfig,
    PeftModel,
    PrefixTuningConfig,
    VeraConfig,
    get_peft_model,
)
from probe import emit, gradients, scratch
from transformers import AutoConfig, AutoModelForCausalLM

CONFIGS = {
    "lora": lambda: LoraConfig(r=4, target_modules=["q_proj", "v_proj"]),
    "dora": lambda: LoraConfig(r=4, use_dora=True, target_modules=["q_proj"]),
    "ia3": lambda: IA3Config(
        target_modules=["k_proj", "down_proj"], feedforward_modules=["down_proj"]
    ),
    "loha": lambda: LoHaConfig(r=4, target_modules=["q_proj"]),
    "vera": lambda: VeraConfig(r=4, target_modules=["q_proj", "o_proj"]),
    "adalora": lambda: AdaLoraConfig(total_step=10, target_modules=["q_proj"]),
    "prefix": lambda: PrefixTuningConfig(task_type="CAUSAL_LM", num_virtual_tokens=3),
}


def base():
    torch.manual_seed(0)
    config = AutoConfig.for_model(
        "llama",
        vocab_size=60,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        pad_token_id=0,
    )
    return AutoModelForCausalLM.from_config(config)


CONFIGS["saved"] = CONFIGS["lora"]
kind = sys.argv[1]
model = get_peft_model(base(), CONFIGS[kind]())
tokens = torch.randint(60, (2, 9))
optimizer = torch.optim.AdamW(
    [p for p in model.parameters() if p.requires_grad], lr=0.05
)
losses = []
for _ in range(3):
    optimizer.zero_grad()
    loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
emit(losses=losses, gradients=gradients(model))
model.eval()
with scratch() as folder, torch.no_grad():
    emit(logits=model(input_ids=tokens).logits)
    model.save_pretrained(str(folder))
    emit(files=sorted(p.name for p in folder.iterdir()))
    if kind == "saved":
        again = PeftModel.from_pretrained(base(), str(folder)).eval()
        emit(again=again(input_ids=tokens).logits)
    if kind != "prefix":
        emit(merged=model.merge_and_unload()(input_ids=tokens).logits)
