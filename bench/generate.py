"""Measures `generate` of transformers' Llama beside PyTorch, in one run.

    .venv-programs/bin/python bench/generate.py \
        --peer .venv-programs-torch/bin/python [--threads 2]

Run it with an interpreter whose `torch` is hotaru and that has transformers
(`./dev programs` makes both). The libraries take turns in processes of their
own. Weights and prompts are the same; so must be the tokens: 64, greedy, from
a cold cache of keys and values. A figure is the median of the rounds, a ratio
the median of the rounds' ratios; --cpu counts the processor's time, which says
more where others use the machine. Prints a table.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time

import compare

# Lets PyPI's torchvision be imported beside a CPU build of PyTorch.
PEER_PATH = compare.ROOT / "tests/programs/oracle"
CPU = "GENERATE_CPU"
NEW_TOKENS = 64
WIDTH, LAYERS = 512, 8
# Words of the vocabulary, tokens of the prompt, layers, width.
TASKS = {
    "32,000 words, prompt 1": (32000, 1, LAYERS, WIDTH),
    "32,000 words, prompt 16": (32000, 16, LAYERS, WIDTH),
    "1,000 words, prompt 1": (1000, 1, LAYERS, WIDTH),
    "1,000 words, prompt 16": (1000, 16, LAYERS, WIDTH),
    "1,000 words, prompt 16, width 64": (1000, 16, LAYERS, 64),
}


def fill(model) -> None:
    """The same weights in both libraries, whatever their generators do."""
    import numpy as np
    import torch

    numbers = np.random.default_rng(0)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            shape = tuple(weight.shape)
            values = numbers.standard_normal(shape, dtype=np.float32)
            values = 1 + 0.1 * values if "norm" in name else 0.05 * values
            weight.copy_(torch.from_numpy(values))


def make(words: int, prompt: int, layers: int, width: int):
    """A function that generates, and returns the tokens."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=words,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=8,
        intermediate_size=width * 11 // 4,
        pad_token_id=0,
        eos_token_id=None,
    )
    model = LlamaForCausalLM(config).eval()
    fill(model)
    tokens = torch.arange(prompt).unsqueeze(0) * 7 % words
    options = {
        "attention_mask": torch.ones_like(tokens),
        "max_new_tokens": NEW_TOKENS,
        "do_sample": False,
    }
    return lambda: model.generate(tokens, **options)[0].tolist()


def measure(threads: int) -> None:
    """Answers requests for one call of a task, as bench/worker.py does."""
    import torch

    torch.set_num_threads(threads)
    hello = {"version": torch.__version__, "tasks": list(TASKS)}
    print(json.dumps(hello), flush=True)
    clock = time.process_time if CPU in os.environ else time.perf_counter
    made = {}
    for line in sys.stdin:
        name = json.loads(line)["task"]
        if name not in made:
            made[name] = make(*TASKS[name])
            made[name]()
        start = clock()
        tokens = made[name]()
        seconds = clock() - start
        print(json.dumps({"seconds": seconds, "tokens": tokens}), flush=True)


def start(python: str, threads: int, path: str = "") -> compare.Worker:
    os.environ["PYTHONPATH"] = path
    return compare.Worker([python], threads, __file__)


def turns(workers: list[compare.Worker], task: str, rounds: int) -> list:
    """Seconds of each round and library; stops where tokens differ."""
    found = []
    for number in range(rounds):
        order = list(enumerate(workers))[:: -1 if number % 2 else 1]
        answers = dict(sorted((i, w.measure(task, 0)) for i, w in order))
        if len({str(one["tokens"]) for one in answers.values()}) > 1:
            raise SystemExit(f"{task}: other tokens")
        found.append([one["seconds"] for one in answers.values()])
    return found


def main() -> None:
    """Takes turns and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", help="python with PyTorch and transformers")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="tasks with this in them")
    parser.add_argument("--cpu", action="store_true", help="processor's time")
    options = parser.parse_args()
    if options.cpu:
        os.environ[CPU] = "1"
    os.environ["HF_HUB_OFFLINE"] = "1"
    path = os.environ.get("PYTHONPATH", "")
    workers = [start(sys.executable, options.threads, path)]
    if options.peer:
        workers.append(start(options.peer, options.threads, str(PEER_PATH)))
    names = [worker.version for worker in workers]
    print(f"{compare.processor()}, {options.threads} thread(s)\n")
    print(f"| | {' | '.join(names)} | ratio |\n|{' --- |' * (2 + len(names))}")
    for task in TASKS:
        if options.only not in task:
            continue
        found = turns(workers, task, options.rounds)
        cells = [statistics.median(column) for column in zip(*found)]
        texts = [compare.show_time(cell) for cell in cells]
        if len(workers) == 2:
            ratio = statistics.median(b / a for a, b in found)
            texts.append(f"{ratio:.2f}")
        print(f"| {task} | {' | '.join(texts)} |", flush=True)
    for worker in workers:
        worker.close()


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1].isdigit():
        measure(int(sys.argv[1]))
    else:
        main()
