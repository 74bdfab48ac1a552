"""How processes get a store, a rank and the world's size: from a URL.

`env://` reads RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, which launchers
set, or what mpirun and srun set in their place (`launchers`);
`tcp://HOST:PORT?rank=R&world_size=N` and `file://PATH?rank=R&world_size=N` say
it themselves. Under a launcher that serves the store (torchrun sets
TORCHELASTIC_USE_AGENT_STORE) no process does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from numbers import Integral
from urllib.parse import parse_qsl, urlencode, urlsplit

from .launchers import value_of
from .process_group import default_pg_timeout
from .stores import FileStore, PrefixStore, Store, TCPStore

Found = tuple[Store, int, int]

_handlers: dict[str, Callable[..., Iterator[Found]]] = {}


def register_rendezvous_handler(scheme: str, handler) -> None:
    """Lets handler(url, **kwargs) answer for URLs of a scheme.

    It yields (store, rank, world_size), once for each time that processes
    meet.

    Raises:
        RuntimeError: somebody answers for the scheme already.
    """
    if scheme in _handlers:
        raise RuntimeError(f"Rendezvous handler for {scheme}:// already registered")
    _handlers[scheme] = handler


def rendezvous(
    url: str, rank: int = -1, world_size: int = -1, **kwargs
) -> Iterator[Found]:
    """An iterator of (store, rank, world_size).

    A rank or a size that is given takes part as if it were in the URL.

    Raises:
        RuntimeError: arguments of other types; a scheme nobody answers for.
        ValueError: something is missing, and what.
    """
    if not isinstance(url, (str, bytes)):
        raise RuntimeError(f"`url` must be a string. {type(url)}: {url}")
    for name, value in (("rank", rank), ("world_size", world_size)):
        if not isinstance(value, Integral):
            raise RuntimeError(f"`{name}` must be an integer. {value}")
    url = url.decode() if isinstance(url, bytes) else url
    url = _with_arguments(url, rank, world_size)
    scheme = urlsplit(url).scheme
    if scheme not in _handlers:
        raise RuntimeError(f"No rendezvous handler for {scheme}://")
    return _handlers[scheme](url, **kwargs)


def _arguments(url: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(url).query, strict_parsing=False))


def _with_arguments(url: str, rank: int, world_size: int) -> str:
    if rank == -1 and world_size == -1:
        return url
    arguments = _arguments(url)
    if "rank" in arguments or "world_size" in arguments:
        raise AssertionError(
            f"The url: {url} has node-specific arguments(rank, world_size) already."
        )
    if rank != -1:
        arguments["rank"] = str(rank)
    if world_size != -1:
        arguments["world_size"] = str(world_size)
    return urlsplit(url)._replace(query=urlencode(arguments)).geturl()


def _missing(scheme: str, what: str) -> ValueError:
    return ValueError(
        f"Error initializing torch.distributed using {scheme}:// rendezvous: {what}"
    )


def _rank_and_size(scheme: str, url: str) -> tuple[int, int]:
    arguments = _arguments(url)
    if "rank" not in arguments:
        raise _missing(scheme, "rank parameter missing")
    if "world_size" not in arguments:
        raise _missing(scheme, "world size parameter missing")
    return int(arguments["rank"]), int(arguments["world_size"])


def _only_once(method: str, again: str = "re-rendezvous") -> RuntimeError:
    return RuntimeError(f"Unable to perform {again} using {method} method")


def launcher_serves_store() -> bool:
    """True if a launcher's store is at MASTER_PORT, not rank 0's."""
    return os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == str(True)


def tcp_store(
    host: str, port: int, rank: int, world_size: int, timeout: timedelta
) -> Store:
    """The store of a world: served by rank 0, or by the launcher.

    Raises:
        ValueError: no port has that number.
    """
    if not 0 <= port < 2**16:
        raise ValueError(f"port must have value from 0 to 65535 but was {port}.")
    if launcher_serves_store():
        attempt = os.environ["TORCHELASTIC_RESTART_COUNT"]
        store = TCPStore(host, port, world_size, False, timeout)
        return PrefixStore(f"/worker/attempt_{attempt}", store)
    return TCPStore(host, port, world_size, rank == 0, timeout, multi_tenant=True)


def _from_file(url: str, **kwargs) -> Iterator[Found]:
    path = urlsplit(url).path
    if not path:
        raise _missing("file", "path missing")
    rank, world_size = _rank_and_size("file", url)
    yield FileStore(path, world_size), rank, world_size
    raise _only_once("file://", "rerendezvous")


def _from_tcp(
    url: str, timeout: timedelta = default_pg_timeout, **kwargs
) -> Iterator[Found]:
    parts = urlsplit(url)
    if parts.port is None:
        raise _missing("tcp", "port number missing")
    rank, world_size = _rank_and_size("tcp", url)
    store = tcp_store(parts.hostname, parts.port, rank, world_size, timeout)
    yield store, rank, world_size
    raise _only_once("tcp://")


def _from_env(
    url: str, timeout: timedelta = default_pg_timeout, **kwargs
) -> Iterator[Found]:
    arguments = _arguments(url)

    def asked(name: str) -> str:
        value = arguments.get(name.lower()) or value_of(name)
        if value is None:
            raise _missing("env", f"environment variable {name} expected, but not set")
        return value

    rank, world_size = int(asked("RANK")), int(asked("WORLD_SIZE"))
    host, port = asked("MASTER_ADDR"), int(asked("MASTER_PORT"))
    yield tcp_store(host, port, rank, world_size, timeout), rank, world_size
    raise _only_once("env://")


register_rendezvous_handler("file", _from_file)
register_rendezvous_handler("tcp", _from_tcp)
register_rendezvous_handler("env", _from_env)
