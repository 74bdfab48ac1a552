r"""Starts a program as several processes, on one machine or on many.

    python -m hotaru -m torch.distributed.run --nproc-per-node 4 train.py ARGS
    python -m hotaru -m torch.distributed.run --nnodes 2 --nproc-per-node 4 \
        --rdzv-backend c10d --rdzv-endpoint HOST:29400 train.py ARGS

The options are torchrun's. Each process finds its rank and the place where the
others are in its environment, and `init_process_group()` reads them there. When
one fails the others are ended, and all started again up to `--max-restarts`
times.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
import uuid

from .agent import Agent, Failure, Plan, logs_of


def get_args_parser() -> argparse.ArgumentParser:
    """The parser of a command line; launchers fill in its options."""
    parser = argparse.ArgumentParser(
        prog="torch.distributed.run",
        description="Starts a program as several processes.",
    )

    def option(name: str, help: str, **kwargs) -> None:
        key = name.replace("-", "_")
        default = os.environ.get("PET_" + key.upper(), kwargs.pop("default"))
        names = [f"--{name}"] + ([f"--{key}"] if "-" in name else [])
        parser.add_argument(*names, default=default, help=help, **kwargs)

    def flag(name: str, help: str) -> None:
        key = name.replace("-", "_")
        parser.add_argument(
            f"--{name}",
            *([f"--{key}"] if "-" in name else []),
            action="store_true",
            default=os.environ.get("PET_" + key.upper()) == "1",
            help=help,
        )

    option("nnodes", "machines: a number, or MIN:MAX", default="1:1")
    option("nproc-per-node", "processes of each: a number, or auto, cpu", default="1")
    option(
        "rdzv-backend",
        "static: --node-rank says which machine this is; "
        "c10d: they are numbered as they come",
        default="static",
    )
    option("rdzv-endpoint", "HOST[:PORT] where machines meet", default="")
    option("rdzv-id", "the job's name", default="none")
    option("rdzv-conf", "KEY=VALUE,... more of that", default="")
    flag("standalone", "one machine, at any free port")
    option("max-restarts", "how often to start again", type=int, default=0)
    option(
        "monitor-interval",
        "seconds between looks at the processes",
        type=float,
        default=0.1,
    )
    option("start-method", "taken and not looked at", default="spawn")
    option("role", "the processes' name", default="default")
    parser.add_argument(
        "-m", "--module", action="store_true", help="the program is a module"
    )
    flag("no-python", "the program is no Python script")
    flag("run-path", "run the script by its path")
    option("log-dir", "where outputs are written", default=None)
    parser.add_argument(
        "-r",
        "--redirects",
        default="0",
        help="outputs to files: 1 stdout, 2 stderr, 3 both; or RANK:N,...",
    )
    parser.add_argument(
        "-t", "--tee", default="0", help="the same, and are shown as well"
    )
    option("node-rank", "this machine's number", type=int, default=0)
    option("master-addr", "where machine 0 is", default="127.0.0.1")
    option("master-port", "its port", type=int, default=29500)
    option("local-addr", "this machine's address", default=None)
    option(
        "shutdown-timeout",
        "seconds between SIGTERM and SIGKILL",
        type=float,
        default=30,
    )
    parser.add_argument("training_script", help="the program")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER)
    return parser


def parse_args(args: list[str] | None = None) -> argparse.Namespace:
    """The options of a command line."""
    return get_args_parser().parse_args(args)


def _processes(text: str) -> int:
    if text in ("auto", "cpu"):
        return len(os.sched_getaffinity(0))
    if text == "gpu":
        from .. import cuda

        if not cuda.is_available():
            raise ValueError("Cuda is not available.")
        return cuda.device_count()
    try:
        count = int(text)
    except ValueError:
        raise ValueError(f"Unsupported nproc_per_node value: {text}") from None
    if count < 1:
        raise ValueError(f"--nproc-per-node is at least 1, not {count}")
    return count


def _nodes(text: str) -> tuple[int, int]:
    least, _, most = str(text).partition(":")
    nodes = int(least), int(most or least)
    if not 1 <= nodes[0] <= nodes[1]:
        raise ValueError(f"--nnodes: {text!r} is no number and no MIN:MAX")
    return nodes


def _command(args: argparse.Namespace) -> list[str]:
    """The program, run by this interpreter with the same meaning of torch."""
    rest = [args.training_script, *args.training_script_args]
    if args.no_python:
        if args.module:
            raise ValueError(
                "Don't use both the '--no-python' flag and the '--module' flag "
                "at the same time."
            )
        return rest
    from .._alias import is_installed

    torch = ["-m", "hotaru"] if is_installed() else []
    module = ["-m"] if args.module else []
    return [sys.executable, "-u", *torch, *module, *rest]


def _settings(text: str) -> dict[str, str]:
    pairs = (p.partition("=") for p in text.split(",") if p.strip())
    return {key.strip(): value.strip() for key, _, value in pairs}


def _is_here(host: str) -> bool:
    """True if an address is one of this machine's."""
    names = ("localhost", "127.0.0.1", "::1", socket.gethostname())
    if host in names or host == socket.getfqdn():
        return True
    try:
        found = {a[4][0] for a in socket.getaddrinfo(host, None)}
    except OSError:
        return False
    for address in found:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with socket.socket(family) as probe:
            try:
                probe.bind((address, 0))
            except OSError:
                continue
        return True
    return False


def _place(args: argparse.Namespace) -> tuple[str, int, bool, int | None]:
    """Host and port of the store, whether it is here, this machine's number."""
    if args.standalone:
        return "localhost", 0, True, 0
    host, _, port = args.rdzv_endpoint.rpartition(":")
    if args.rdzv_endpoint and not port.isdigit():
        host, port = args.rdzv_endpoint, ""
    if args.rdzv_backend == "static":
        host = host or args.master_addr
        port = int(port or args.master_port)
        rank = int(args.node_rank)
        return host, port, rank == 0, rank
    if args.rdzv_backend != "c10d":
        raise ValueError(
            f"--rdzv-backend: there are static and c10d, not {args.rdzv_backend!r}"
        )
    said = _settings(args.rdzv_conf).get("is_host")
    here = _is_here(host or "localhost")
    if said is not None:
        here = said.lower() in ("1", "true", "t", "yes", "y")
    return host or "localhost", int(port or 29400), here, None


def run(args: argparse.Namespace) -> None:
    """Runs the program until all processes have ended.

    Raises:
        Failure: which failed, and how.
    """
    host, port, here, node_rank = _place(args)
    plan = Plan(
        command=_command(args),
        processes=_processes(str(args.nproc_per_node)),
        nodes=(1, 1) if args.standalone else _nodes(args.nnodes),
        host=host,
        port=port,
        serves=here,
        node_rank=node_rank,
        job=str(uuid.uuid4()) if args.standalone else args.rdzv_id,
        restarts=args.max_restarts,
        interval=args.monitor_interval,
        patience=args.shutdown_timeout,
        role=args.role,
        logs=logs_of(args.log_dir, args.redirects, args.tee),
    )
    Agent(plan).run()


def main(args: list[str] | None = None) -> None:
    """The command; ends the process with 1 if the program failed."""
    try:
        run(parse_args(args))
    except ValueError as error:
        print(f"torch.distributed.run: {error}", file=sys.stderr)
        sys.exit(2)
    except Failure as failure:
        print(failure, file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
