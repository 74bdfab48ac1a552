"""Programs of pytorch/examples, over small data written here."""

import builtins
import contextlib
import gzip
import io
import os
import runpy
import shutil
import struct
import sys
import tarfile
import unittest.mock

import numpy as np
import torch
from PIL import Image
from probe import emit, printed, run, scratch, sources

DRAW = np.random.RandomState(0)


def example(*parts: str):
    return sources("examples", *parts)


def write_digits(root, train: int = 128, test: int = 64) -> None:
    """MNIST's files: noise around one blob for each digit."""
    raw = root / "MNIST" / "raw"
    raw.mkdir(parents=True)
    blobs = DRAW.randint(0, 200, (10, 28, 28))
    for part, count in (("train", train), ("t10k", test)):
        labels = DRAW.randint(0, 10, count).astype(np.uint8)
        noise = DRAW.randint(0, 50, (count, 28, 28))
        images = (blobs[labels] + noise).astype(np.uint8)
        head = struct.pack(">IIII", 2051, count, 28, 28)
        files = {
            f"{part}-images-idx3-ubyte": head + images.tobytes(),
            f"{part}-labels-idx1-ubyte": struct.pack(">II", 2049, count)
            + labels.tobytes(),
        }
        for name, data in files.items():
            (raw / name).write_bytes(data)
            with gzip.open(raw / f"{name}.gz", "wb") as file:
                file.write(data)


def write_pictures(folder, count: int, size: int = 96) -> None:
    folder.mkdir(parents=True)
    for k in range(count):
        small = DRAW.randint(0, 255, (12, 12, 3), dtype=np.uint8)
        picture = Image.fromarray(small).resize((size, size), Image.BICUBIC)
        picture.save(folder / f"{k}.png")


def digits(name: str, *args: str, process: bool = False, **special) -> None:
    """A program that reads MNIST from ../data or ./data."""
    with scratch() as folder:
        write_digits(folder / "data")
        place = folder / "work"
        shutil.copytree(example(name), place)
        os.chdir(place)
        shutil.copytree(folder / "data", place / "data")
        run(place / "main.py", *args, process=process, **special)
        os.chdir(folder)


def mnist() -> None:
    digits(
        "mnist",
        "--epochs",
        "2",
        "--batch-size",
        "32",
        "--no-accel",
        "--log-interval",
        "1",
        keep="Loss|loss",
    )


def mnist_rnn() -> None:
    digits(
        "mnist_rnn",
        "--epochs",
        "1",
        "--batch-size",
        "32",
        "--log-interval",
        "1",
        keep="Loss|loss",
    )


def mnist_hogwild() -> None:
    digits(
        "mnist_hogwild",
        "--epochs",
        "1",
        "--batch-size",
        "32",
        "--num-processes",
        "1",
        "--log-interval",
        "1",
        keep="Loss|loss",
        drop=r"(?m)^\d+\t",
        process=True,
    )


def mnist_forward_forward() -> None:
    digits(
        "mnist_forward_forward",
        "--epochs",
        "3",
        "--no_accel",
        "--train_size",
        "64",
        "--test_size",
        "32",
        "--log-interval",
        "1",
        keep="Loss|error",
    )


def vae() -> None:
    digits(
        "vae",
        "--epochs",
        "1",
        "--batch-size",
        "32",
        "--no-accel",
        "--log-interval",
        "1",
        keep="Loss|loss",
    )


def siamese_network() -> None:
    digits(
        "siamese_network",
        "--epochs",
        "1",
        "--batch-size",
        "32",
        "--no-accel",
        "--dry-run",
        "--log-interval",
        "1",
        keep="Loss|loss",
    )


def dcgan() -> None:
    with scratch():
        run(
            example("dcgan", "main.py"),
            "--dataset",
            "fake",
            "--dry-run",
            "--batchSize",
            "4",
            "--imageSize",
            "64",
            "--manualSeed",
            "3",
            "--ngf",
            "8",
            "--ndf",
            "8",
            "--workers",
            "0",
            keep="Loss_D",
        )


def imagenet() -> None:
    with scratch() as folder:
        for part, count in (("train", 6), ("val", 3)):
            for label in ("a", "b"):
                write_pictures(folder / "sample" / part / label, count)
        run(
            example("imagenet", "main.py"),
            "--epochs",
            "1",
            "-a",
            "resnet18",
            "-b",
            "4",
            "-j",
            "0",
            "-p",
            "1",
            "--seed",
            "1",
            "--no-accel",
            "--lr",
            "1e-4",
            "sample",
            keep="Epoch|Test|Acc@",
            drop=r"Time +[\d.]+ \( *[\d.]+\)|Data +[\d.]+ \( *[\d.]+\)",
        )


def regression() -> None:
    # Its steps are too long for x^4: rounding grows until the end, which is a
    # threshold. In double precision it doesn't come that far.
    torch.set_default_dtype(torch.float64)
    run(example("regression", "main.py"), keep="Loss|function")


def reinforce() -> None:
    _episodes("reinforce.py")


def actor_critic() -> None:
    _episodes("actor_critic.py")


def _episodes(name: str) -> None:
    """Until the pole has stood for ten lines of the log."""
    lines = []

    def told(*values, **kwargs) -> None:
        lines.append(" ".join(map(str, values)))
        if len(lines) == 4:
            raise SystemExit(0)

    with unittest.mock.patch.object(builtins, "print", told):
        run_path = example("reinforcement_learning", name)
        sys.argv = [str(run_path)]
        with contextlib.suppress(SystemExit):
            runpy.run_path(str(run_path), run_name="__main__")
    emit(lines=printed("\n".join(lines), "Episode"))


def super_resolution() -> None:
    with scratch() as folder:
        for part, count in (("train", 6), ("test", 2)):
            place = folder / "dataset" / "BSDS300" / "images" / part
            write_pictures(place, count, 270)
            for png in place.glob("*.png"):
                Image.open(png).save(png.with_suffix(".jpg"))
        code = example("super_resolution", "main.py")
        run(
            code,
            "--upscale_factor",
            "3",
            "--batchSize",
            "2",
            "--testBatchSize",
            "2",
            "--nEpochs",
            "1",
            "--threads",
            "0",
            keep="Loss|PSNR",
        )
        model = torch.load("model_epoch_1.pth", weights_only=False)
        emit(weight=model.conv1.weight)


def time_sequence_prediction() -> None:
    # Its array is no tensor, which `torch.load` takes only if told to.
    os.environ["TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"] = "1"
    with scratch():
        run(example("time_sequence_prediction", "generate_sine_wave.py"))
        data = torch.load("traindata.pt", weights_only=False)
        torch.save(data[:8, :120], "traindata.pt")
        emit(data=torch.as_tensor(data[:8, :120]))
        run(
            example("time_sequence_prediction", "train.py"), "--steps", "1", keep="loss"
        )


def cora_archive() -> bytes:
    """The archive of a citation graph of the program's size."""
    words, papers = 60, 2000
    lines, kinds = [], ("Theory", "Rules", "Cases")
    for k in range(papers):
        bits = " ".join(map(str, DRAW.randint(0, 2, words)))
        lines.append("\t".join((str(k), *bits.split(), kinds[k % 3])))
    cites = [f"{a}\t{b}" for a, b in DRAW.randint(0, papers, (4000, 2))]
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz") as archive:
        for name, rows in (("cora.content", lines), ("cora.cites", cites)):
            data = "\n".join(rows).encode()
            entry = tarfile.TarInfo(f"cora/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return whole.getvalue()


def _graph(name: str, *args: str) -> None:
    """A program that downloads Cora: the download is answered here."""
    import requests

    archive = cora_archive()

    class Answer:
        raw = io.BytesIO(archive)

        def __enter__(self):
            return self

        def __exit__(self, *error) -> None:
            pass

    with scratch(), unittest.mock.patch.object(requests, "get", return_value=Answer()):
        run(
            example(name, "main.py"),
            *args,
            "--no-accel",
            keep="loss",
            drop=r"\([\d.]+s\)",
        )


def gcn() -> None:
    _graph("gcn", "--epochs", "6", "--val-every", "1")


def gat() -> None:
    _graph("gat", "--epochs", "3", "--val-every", "1")


def fast_neural_style() -> None:
    """Its networks; the program itself starts from downloaded weights."""
    sys.path.insert(0, str(example("fast_neural_style", "neural_style")))
    from transformer_net import TransformerNet
    from utils import gram_matrix, normalize_batch

    torch.manual_seed(0)
    net = TransformerNet()
    image = torch.rand(1, 3, 64, 64) * 255
    out = net(image)
    loss = (gram_matrix(out) - gram_matrix(image)).square().mean()
    emit(out=out, loss=loss, normal=normalize_batch(image))
    # The loss is a difference of large numbers: its gradient in double.
    net, image = net.double(), image.double()
    net.zero_grad()
    (gram_matrix(net(image)) - gram_matrix(image)).square().mean().backward()
    emit(gradient=net.conv1.conv2d.weight.grad)


def _language(model: str) -> None:
    with scratch() as folder:
        words = [f"w{k}" for k in range(50)]
        for part, count in (("train", 60), ("valid", 12), ("test", 12)):
            rows = DRAW.choice(words, (count, 12))
            text = "\n".join(" ".join(row) for row in rows)
            (folder / f"{part}.txt").write_text(text)
        size = ["--emsize", "16", "--nhid", "16", "--nlayers", "1"]
        run(
            example("word_language_model", "main.py"),
            "--data",
            str(folder),
            "--model",
            model,
            *size,
            "--epochs",
            "2",
            "--batch_size",
            "4",
            "--bptt",
            "8",
            "--log-interval",
            "5",
            "--lr",
            "1",
            keep="loss",
            drop=r"ms/batch +[\d.]+|time: +[\d.]+s",
        )
        run(
            example("word_language_model", "generate.py"),
            "--data",
            str(folder),
            "--checkpoint",
            "model.pt",
            "--words",
            "30",
            keep="Generated",
        )
        emit(words=(folder / "generated.txt").read_text())


def lm_lstm() -> None:
    _language("LSTM")


def lm_gru() -> None:
    _language("GRU")


def lm_rnn_tanh() -> None:
    _language("RNN_TANH")


def lm_transformer() -> None:
    _language("Transformer")


globals()[sys.argv[1]]()
