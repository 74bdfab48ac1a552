"""minGPT and nanoGPT: small models, trained a few steps."""

import os
import pickle
import sys

import numpy as np
import torch
from probe import emit, gradients, run, scratch, sources


def mingpt() -> None:
    sys.path.insert(0, str(sources("minGPT")))
    from mingpt.model import GPT
    from mingpt.trainer import Trainer
    from mingpt.utils import set_seed

    set_seed(5)
    config = GPT.get_default_config()
    config.model_type = None
    config.n_layer, config.n_head, config.n_embd = 2, 2, 16
    config.vocab_size, config.block_size = 9, 12
    model = GPT(config)
    tokens = torch.randint(9, (64, 12))
    data = torch.utils.data.TensorDataset(tokens, tokens.sort(1).values)
    settings = Trainer.get_default_config()
    settings.max_iters, settings.num_workers = 10, 0
    settings.batch_size, settings.device = 16, "cpu"
    losses = []
    trainer = Trainer(settings, model, data)
    trainer.set_callback("on_batch_end", lambda t: losses.append(t.loss.item()))
    trainer.run()
    emit(losses=losses, gradients=gradients(model))
    model.eval()
    torch.manual_seed(1)
    emit(tokens=model.generate(tokens[:2, :4], 8, do_sample=True, top_k=5))


def adder() -> None:
    root = sources("minGPT")
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(root), os.environ.get("PYTHONPATH", "")]
    )
    with scratch():
        run(
            root / "projects" / "adder" / "adder.py",
            "--trainer.max_iters=20",
            "--model.model_type=gpt-nano",
            "--trainer.num_workers=0",
            "--trainer.device=cpu",
            "--system.work_dir=out",
            process=True,
            keep="train loss|final score|correct",
            drop=r"iter_dt [\d.]+ms; ",
        )


def nanogpt() -> None:
    root = sources("nanoGPT")
    with scratch() as folder:
        data = folder / "data" / "tiny"
        data.mkdir(parents=True)
        draw = np.random.RandomState(0)
        text = draw.randint(0, 30, 4000).cumsum() % 61
        for part in ("train", "val"):
            text.astype(np.uint16).tofile(data / f"{part}.bin")
        with open(data / "meta.pkl", "wb") as file:
            pickle.dump({"vocab_size": 61}, file)
        code = (root / "train.py").read_text(encoding="utf-8")
        for name in ("train.py", "model.py", "configurator.py"):
            code = (root / name).read_text(encoding="utf-8")
            (folder / name).write_text(code, encoding="utf-8")
        run(
            folder / "train.py",
            "--dataset=tiny",
            "--device=cpu",
            "--compile=False",
            "--n_layer=2",
            "--n_head=2",
            "--n_embd=32",
            "--block_size=32",
            "--batch_size=4",
            "--max_iters=10",
            "--eval_interval=5",
            "--eval_iters=2",
            "--log_interval=1",
            "--gradient_accumulation_steps=2",
            "--dropout=0.1",
            "--dtype=float32",
            process=True,
            keep="loss",
            drop=r", time .*",
        )


globals()[sys.argv[1]]()
