"""A small random model of transformers: forward and backward."""

import sys

import torch
from probe import emit, gradients
from transformers import AutoConfig, AutoModel

SMALL = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "vocab_size": 99,
}
LLAMA = {**SMALL, "num_key_value_heads": 2}
T5 = {
    "vocab_size": 99,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 64,
    "num_heads": 4,
    "num_layers": 2,
}
SEQ2SEQ = {
    "vocab_size": 99,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
}
CONFIGS = {
    "bert": SMALL,
    "roberta": {**SMALL, "pad_token_id": 1},
    "gpt2": {"vocab_size": 99, "n_embd": 32, "n_layer": 2, "n_head": 4},
    "llama": LLAMA,
    "mistral": {**LLAMA, "sliding_window": 4},
    "qwen2": LLAMA,
    "mixtral": {**LLAMA, "num_local_experts": 4},
    "t5": T5,
    "bart": SEQ2SEQ,
    "whisper": {
        **SEQ2SEQ,
        "num_mel_bins": 8,
        "max_source_positions": 20,
        "pad_token_id": 0,
        "decoder_start_token_id": 1,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "suppress_tokens": None,
        "begin_suppress_tokens": None,
    },
    "distilbert": {
        "vocab_size": 99,
        "dim": 32,
        "n_layers": 2,
        "n_heads": 4,
        "hidden_dim": 64,
    },
    "vit": {**SMALL, "image_size": 32, "patch_size": 8},
    "clip": {
        "text_config": {**SMALL, "eos_token_id": 98},
        "vision_config": {**SMALL, "image_size": 32, "patch_size": 8},
        "projection_dim": 16,
    },
    "wav2vec2": {
        **SMALL,
        "conv_dim": [16, 16],
        "conv_kernel": [10, 3],
        "conv_stride": [5, 2],
        "num_feat_extract_layers": 2,
        "num_conv_pos_embeddings": 16,
        "num_conv_pos_embedding_groups": 2,
    },
}


def inputs(kind: str) -> dict:
    """Random inputs; the mask hides the end of the second row."""
    tokens = torch.randint(3, 99, (2, 9))
    mask = torch.ones(2, 9, dtype=torch.long)
    mask[1, 6:] = 0
    image = torch.randn(2, 3, 32, 32)
    if kind == "vit":
        return {"pixel_values": image}
    if kind == "wav2vec2":
        return {"input_values": torch.randn(2, 800)}
    if kind == "whisper":
        return {"input_features": torch.randn(2, 8, 40), "decoder_input_ids": tokens}
    given = {"input_ids": tokens, "attention_mask": mask}
    if kind in ("t5", "bart"):
        given["decoder_input_ids"] = tokens[:, :5]
    if kind == "clip":
        given["pixel_values"] = image
    return given


kind = sys.argv[1]
torch.manual_seed(1)
config = AutoConfig.for_model(kind, **CONFIGS[kind])
model = AutoModel.from_config(config)
given = inputs(kind)
model.eval()
with torch.no_grad():
    out = model(**given)
for name, value in out.items():
    if isinstance(value, torch.Tensor):
        emit(**{name: value})
model.train()
torch.manual_seed(2)
out = model(**given)
# Weighted, as a normalised output has a norm that no parameter moves.
found = next(v for v in out.values() if v.is_floating_point() and v.dim())
loss = (found * torch.randn(found.shape)).sum()
loss.backward()
norms = gradients(model)
# Gradients of keys' biases and the like are zero but for rounding.
least = 1e-3 * max(norms.values())
emit(loss=loss, gradients={k: v for k, v in norms.items() if v > least})
