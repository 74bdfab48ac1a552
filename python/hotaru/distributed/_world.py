"""Groups of this process as PyTorch keeps them: `distributed_c10d._world`."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from datetime import timedelta

from . import groups
from .groups import GroupMember, get_process_group_ranks

__all__ = ["World", "get_backend_impl", "set_timeout"]


class _Groups(MutableMapping):
    """Backend and store of each group, as the groups are now.

    Entries of other keys, which tests put in place of groups, are kept.
    """

    def __init__(self) -> None:
        self._others: dict = {}

    def __getitem__(self, group):
        if group in groups._backends:
            return groups._backends[group], group.get_group_store()
        return self._others[group]

    def __setitem__(self, group, entry) -> None:
        if group not in groups._backends:
            self._others[group] = entry

    def __delitem__(self, group) -> None:
        del self._others[group]

    def __iter__(self) -> Iterator:
        yield from groups._backends
        yield from self._others

    def __len__(self) -> int:
        return len(groups._backends) + len(self._others)

    def clear(self) -> None:
        """Drops what is no group."""
        self._others.clear()

    def copy(self) -> dict:
        """The entries now."""
        return dict(self)


class World:
    """Tables of the groups; they are read, and the default group is set."""

    @property
    def default_pg(self):
        """The default group, or None."""
        return GroupMember.WORLD

    @default_pg.setter
    def default_pg(self, value) -> None:
        GroupMember.WORLD = value

    #: Backend and store of each group.
    pg_map = _Groups()

    @property
    def pg_names(self) -> dict:
        """The name of each group."""
        return {group: group.group_name for group in groups._backends}

    @property
    def pg_group_ranks(self) -> dict:
        """Ranks within each group, by those among all."""
        return {
            group: {r: i for i, r in enumerate(get_process_group_ranks(group))}
            for group in groups._backends
        }

    @property
    def pg_backend_config(self) -> dict:
        """Devices and their backends, of each group."""
        return {group: groups.get_backend_config(group) for group in groups._backends}

    @property
    def group_count(self) -> int:
        """How many groups were made."""
        return groups.get_pg_count()


def new_process_group_helper(*args, **kwargs):
    """Raises NotImplementedError: groups are made of whole worlds."""
    raise NotImplementedError(
        "_new_process_group_helper: a group without a world; call "
        "init_process_group(store=..., rank=..., world_size=...) once, and "
        "new_group(ranks) for others"
    )


def set_timeout(timeout: timedelta, group=None) -> None:
    """Sets how long operations of a group may take, from now on.

    ValueError: this process is not in the group.
    """
    found = groups.member(group)
    if found is None:
        raise ValueError("set_timeout: this process is not in the group")
    found.set_timeout(timeout)


def get_backend_impl(group=None, device=None):
    """The object that carries a group's tensors of a device: the group."""
    found = groups.member(group)
    if found is None:
        raise ValueError("get_backend_impl: this process is not in the group")
    return found
