"""Measures networks in hotaru and in the engines that others would take.

    .venv/bin/python bench/networks.py --peer PYTHON --exporter PYTHON
        [--networks NAME,NAME] [--threads 1,2] [--rounds 15] [--plot FILE.svg]

bench/network_list.py has the networks, with random weights. The exporter's
Python has torch, onnx, onnxscript, torchvision and transformers, the peer's
torch, torchvision, transformers, onnxruntime and openvino; ONNX files are
written once and kept in --folder. Each engine has a process of its own; they
take short turns, network by network. A figure is the median of the rounds, a
ratio the median of the rounds' ratios: the engine's time over hotaru's of the
same precision, above 1 hotaru is faster. "hotaru bfloat16" is the same graph
with backends.mkldnn.fp32_precision = "bf16", "openvino own" what
OpenVINO computes in by itself (bfloat16 where the processor has it), "autocast"
PyTorch eager under autocast("cpu", torch.bfloat16). Errors are
the largest difference to PyTorch's results over the largest of them. Prints
tables and writes bench-out/networks.json.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import compare
import numpy

BENCH = Path(__file__).resolve().parent
OWN = [sys.executable, "-m", "hotaru"]
BASE, LOW = "hotaru", "hotaru bfloat16"
# Each engine beside the one of hotaru's that has its precision.
FLOAT32 = ["eager", "compile", "onnxruntime", "openvino"]
MIXED = ["openvino own", "autocast"]
ENGINES = [BASE, *FLOAT32, LOW, *MIXED]
TITLES = {
    "eager": "PyTorch",
    "compile": "torch.compile",
    "onnxruntime": "ONNX Runtime",
    "openvino": "OpenVINO float32",
    "openvino own": "OpenVINO as it comes",
    "autocast": "PyTorch autocast",
}


def base_of(engine: str) -> str:
    return LOW if engine in MIXED else BASE


def start(engines: list[str], threads: int, options) -> dict:
    """A worker for each engine; those that don't start are told of."""
    workers = {}
    os.environ["NETWORK_FOLDER"] = str(options.folder)
    for engine in engines:
        own = engine in (BASE, LOW)
        os.environ["NETWORK_RUNTIME"] = engine
        command = OWN if own else [options.peer]
        script = BENCH / "network_worker.py"
        try:
            workers[engine] = compare.Worker(command, threads, script)
        except RuntimeError as error:
            if own:
                raise
            print(f"without {engine}: {error}", file=sys.stderr)
    return workers


def results(workers: dict, network: str, folder: str) -> dict:
    """Per engine its results, or an error's text; loads the network."""
    out: dict = {}
    for engine, worker in workers.items():
        path = Path(folder) / f"{network} {engine}.npz"
        answer = worker.ask({"result": network, "to": str(path)})
        if "error" in answer:
            out[engine] = answer["error"]
            continue
        with numpy.load(path) as file:
            out[engine] = list(file.values())
        if answer["precision"]:
            out[engine, "precision"] = answer["precision"]
    return out


def error_of(made: list, wanted: list) -> float:
    """Largest difference of an output over its largest magnitude; NaN if one
    has NaNs.
    """
    found = [0.0]
    for one, other in zip(made, wanted, strict=True):
        most = float(numpy.abs(other).max()) or 1.0
        found.append(float(numpy.abs(one - other).max()) / most)
    return float(numpy.max(found))


def measure(workers: dict, network: str, options) -> dict:
    """One row: per engine seconds, ratio and error, or why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        made = results(workers, network, folder)
    wanted = made.get("eager")
    if not isinstance(wanted, list):
        wanted = made[BASE]
    row: dict = {}
    for engine in workers:
        if isinstance(made[engine], str):
            row[engine] = {"skipped": made[engine]}
            print(f"  without {engine}: {made[engine]}", file=sys.stderr)
        else:
            row[engine] = {"error": error_of(made[engine], wanted)}
            if (engine, "precision") in made:
                row[engine]["precision"] = made[engine, "precision"]
    running = [e for e in workers if "error" in row[e]]
    samples: dict = {engine: [] for engine in running}
    for number in range(options.rounds):
        # Who goes first changes from round to round.
        for engine in running[:: 1 if number % 2 else -1]:
            request = {"task": network, "seconds": options.seconds}
            samples[engine].append(workers[engine].ask(request)["seconds"])
    for engine, taken in samples.items():
        row[engine]["seconds"] = statistics.median(taken)
        row[engine]["rounds"] = taken
        pairs = zip(taken, samples.get(base_of(engine), []))
        row[engine]["ratio"] = statistics.median(a / b for a, b in pairs)
    for worker in workers.values():
        worker.ask({"drop": network})
    return row


def cell(row: dict, engine: str, precise: bool = False) -> str:
    """Seconds and ratio, "1.23 ms (1.05)", and for some the error."""
    found = row.get(engine, {})
    if "seconds" not in found:
        return "-"
    text = compare.show_time(found["seconds"])
    if engine not in (BASE, LOW):
        text += f" ({found['ratio']:.2f})"
    if precise:
        text += f", {found['error']:.0e}"
    return text


def best_of(row: dict) -> tuple[str, float] | None:
    """The fastest other engine in float32, and its ratio."""
    found = [(row[e]["ratio"], e) for e in FLOAT32 if "ratio" in row.get(e, {})]
    return min(found)[::-1] if found else None


def mean(ratios: list[float]) -> str:
    """Geometric."""
    if not ratios:
        return "-"
    return f"{math.exp(statistics.mean(map(math.log, ratios))):.2f}"


def table(lines: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines)]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(
        f"| {' | '.join(c.ljust(w) for c, w in zip(line, widths))} |" for line in lines
    )


def show(report: dict) -> str:
    """Two tables: float32; bfloat16 beside others that take it."""
    rows = report["rows"]
    precise = [["float32", BASE, *(TITLES[e] for e in FLOAT32), "best of them"]]
    mixed = [["bfloat16", LOW, *(TITLES[e] for e in MIXED), "over float32"]]
    for name, row in rows.items():
        best = best_of(row)
        line = [name, cell(row, BASE), *(cell(row, e) for e in FLOAT32)]
        precise.append([*line, f"{best[1]:.2f} {TITLES[best[0]]}" if best else ""])
        line = [name, cell(row, LOW, True), *(cell(row, e, True) for e in MIXED)]
        gain = row[BASE]["seconds"] / row[LOW]["seconds"]
        mixed.append([*line, f"{gain:.2f}"])

    def means(engines):
        return [
            mean([r[e]["ratio"] for r in rows.values() if "ratio" in r.get(e, {})])
            for e in engines
        ]

    best = mean([b[1] for b in map(best_of, rows.values()) if b])
    precise.append(["geometric mean", "", *means(FLOAT32), best])
    gains = [r[BASE]["seconds"] / r[LOW]["seconds"] for r in rows.values()]
    mixed.append(["geometric mean", "", *means(MIXED), mean(gains)])
    text = [f"{report['threads']} thread(s)\n", table(precise), "", table(mixed)]
    for name, row in rows.items():
        text += [
            f"{name}, {engine}: {found['skipped']}"
            for engine, found in row.items()
            if "skipped" in found
        ]
    return "\n".join(text)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", help="has torch, onnxruntime, openvino")
    parser.add_argument("--exporter", help="has torch, onnx, onnxscript")
    parser.add_argument("--networks", help="names with commas; all that are")
    parser.add_argument("--engines", help=f"of {', '.join(ENGINES)}")
    parser.add_argument("--threads", default="1", help="counts with commas")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.05, help="a turn's")
    parser.add_argument("--folder", type=Path, default=Path(".cache/networks"))
    parser.add_argument("--out", type=Path, default=Path("bench-out"))
    parser.add_argument("--plot", type=Path, help="draw the ratios: FILE.svg")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    return options


def files(options) -> list[str]:
    """Names of the networks that have files, after the exporter ran."""
    if options.exporter:
        options.folder.mkdir(parents=True, exist_ok=True)
        command = [options.exporter, BENCH / "network_list.py", options.folder]
        command += [options.networks] if options.networks else []
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    there = [path.stem for path in options.folder.glob("*.npz")]
    there = sorted(n for n in there if (options.folder / f"{n}.onnx").exists())
    if not options.networks:
        return there
    wanted = options.networks.split(",")
    unknown = set(wanted) - set(there)
    if unknown:
        raise SystemExit(f"no file in {options.folder}: {', '.join(unknown)}")
    return wanted


def main() -> int:
    options = parse()
    names = files(options)
    engines = options.engines.split(",") if options.engines else ENGINES
    engines = list(dict.fromkeys([BASE, LOW, *engines]))
    if not options.peer:
        engines = [BASE, LOW]
    reports = []
    for threads in map(int, options.threads.split(",")):
        workers = start(engines, threads, options)
        rows = {}
        for name in names:
            print(f"{threads} thread(s): {name}", file=sys.stderr)
            rows[name] = measure(workers, name, options)
        for worker in workers.values():
            worker.close()
        versions = {name: w.version for name, w in workers.items()}
        reports.append({"threads": threads, "versions": versions, "rows": rows})
    load = os.getloadavg()[1]
    print(f"{compare.processor()}, {options.rounds} rounds, load {load:.1f}")
    print(", ".join(f"{k} {v}" for k, v in reports[0]["versions"].items()))
    for report in reports:
        print(f"\n{show(report)}")
    options.out.mkdir(parents=True, exist_ok=True)
    target = options.out / "networks.json"
    whole = {"processor": compare.processor(), "rounds": options.rounds}
    whole |= {"load": load, "reports": reports}
    target.write_text(json.dumps(whole, indent=1) + "\n")
    print(f"\nwritten to {target}")
    if options.plot:
        from plots import networks as plot

        plot.draw(whole, options.plot)
        print(f"drawn in {options.plot}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
