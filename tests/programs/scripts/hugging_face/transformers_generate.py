"""`generate` of transformers over small random models."""

import sys

import torch
from probe import emit
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    WhisperForConditionalGeneration,
)

LLAMA = {
    "vocab_size": 99,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 64,
    "pad_token_id": 0,
    "initializer_range": 0.5,
}
GPT2 = {
    "vocab_size": 99,
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
    "initializer_range": 0.5,
}
T5 = {
    "vocab_size": 99,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 64,
    "num_heads": 4,
    "num_layers": 2,
    "decoder_start_token_id": 0,
}
WHISPER = {
    "vocab_size": 99,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "num_mel_bins": 8,
    "max_source_positions": 20,
    "max_target_positions": 30,
    "pad_token_id": 0,
    "decoder_start_token_id": 1,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "suppress_tokens": None,
    "begin_suppress_tokens": None,
}

kind = sys.argv[1]
torch.manual_seed(1)
tokens = torch.randint(3, 99, (2, 5))
options = {"max_new_tokens": 12}
if kind == "gpt2":
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model("gpt2", **GPT2))
elif kind == "t5":
    model = AutoModelForSeq2SeqLM.from_config(AutoConfig.for_model("t5", **T5))
elif kind == "whisper":
    config = AutoConfig.for_model("whisper", **WHISPER)
    model = WhisperForConditionalGeneration(config)
    tokens = torch.randn(2, 8, 40)
else:
    config = AutoConfig.for_model("llama", **LLAMA)
    model = AutoModelForCausalLM.from_config(config)
if kind == "sample":
    options |= {"do_sample": True, "top_k": 20, "top_p": 0.9, "temperature": 1.3}
if kind == "beams":
    options |= {"num_beams": 3, "num_return_sequences": 2}
model.eval()
if kind != "whisper":
    options["attention_mask"] = torch.ones_like(tokens)
torch.manual_seed(2)
emit(tokens=model.generate(tokens, **options))
