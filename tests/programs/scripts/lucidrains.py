"""x-transformers and vector-quantize-pytorch."""

import sys

import torch
from probe import emit, gradients

torch.manual_seed(0)


def decoder() -> None:
    from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

    model = TransformerWrapper(
        num_tokens=50,
        max_seq_len=32,
        attn_layers=Decoder(
            dim=32,
            depth=2,
            heads=4,
            rotary_pos_emb=True,
            attn_flash=True,
            ff_glu=True,
            use_rmsnorm=True,
            attn_dim_head=8,
        ),
    )
    model = AutoregressiveWrapper(model)
    tokens = torch.randint(50, (2, 17))
    loss = model(tokens)
    loss.backward()
    emit(loss=loss, gradients=gradients(model))
    model.eval()
    emit(tokens=model.generate(tokens[:, :4], 12, temperature=0.0))


def encoder() -> None:
    from x_transformers import Encoder, TransformerWrapper, XTransformer

    model = TransformerWrapper(
        num_tokens=50,
        max_seq_len=32,
        attn_layers=Encoder(
            dim=32,
            depth=2,
            heads=4,
            alibi_pos_bias=True,
            attn_qk_norm=True,
            residual_attn=True,
            attn_dim_head=8,
        ),
    )
    mask = torch.ones(2, 16, dtype=torch.bool)
    mask[1, 10:] = False
    emit(out=model(torch.randint(50, (2, 16)), mask=mask))
    model = XTransformer(
        dim=32,
        tie_token_emb=True,
        enc_num_tokens=40,
        enc_depth=1,
        enc_heads=2,
        enc_max_seq_len=16,
        dec_num_tokens=40,
        dec_depth=1,
        dec_heads=2,
        dec_max_seq_len=16,
    )
    emit(loss=model(torch.randint(40, (2, 9)), torch.randint(40, (2, 7))))


def quantize() -> None:
    import vector_quantize_pytorch as V

    x = torch.randn(2, 30, 16)
    for name, model in {
        "plain": V.VectorQuantize(dim=16, codebook_size=12, decay=0.8),
        "kmeans": V.VectorQuantize(16, 8, kmeans_init=True, kmeans_iters=3),
        "cosine": V.VectorQuantize(16, 12, use_cosine_sim=True),
        "residual": V.ResidualVQ(dim=16, codebook_size=12, num_quantizers=3),
        "finite": V.FSQ([8, 5, 5], dim=16),
        "lookup": V.LFQ(codebook_size=64, dim=16),
    }.items():
        torch.manual_seed(5)
        found = model(x)
        emit(**{name: list(found)})


globals()[sys.argv[1]]()
