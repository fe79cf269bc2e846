# SPDX-License-Identifier: Apache-2.0
"""The recoveries of servers: what has to be known before one is restarted.

It is asked for those alone that failed, or that Kronos began to restart.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from oslo_log import log as logging

from kronos.clients.nova.client import NovaClient
from kronos.common import exceptions
from kronos.engine.settings import Settings
from kronos.engine.types import ASKED, Instance, PastRestart
from kronos.extensions.recovery import failures
from kronos.extensions.recovery import restarts as eligible
from kronos.snapshots.cloud import CloudInventory

LOG = logging.getLogger(__name__)

PastRestarts = Mapping[str, Sequence[PastRestart]]
"""By uuid, in the order of time."""
NONE: PastRestarts = MappingProxyType({})
REMEMBERED_SECONDS = 86400.0
"""For so long a restart that was left half done is known."""
MOST = 200
"""Servers that Nova is asked about; where more failed, it is not they."""


def note(
    nova: NovaClient,
    gathered: CloudInventory,
    past: PastRestarts,
    settings: Settings,
) -> None:
    """Note of each whether its guest runs, who stopped it, and the past.

    Nova that does not tell leaves it open: then nothing is restarted.
    """
    if not eligible.are_wanted(settings) or failures.why_unknown(
        gathered.beside
    ):
        return
    remaining = MOST
    for instance in gathered.instances:
        instance.restarts = [
            dataclasses.replace(row) for row in past.get(instance.uuid, ())
        ]
        if not (
            instance.failure or any(row.acted for row in instance.restarts)
        ):
            continue
        if remaining == 0:
            LOG.warning('More than %d servers failed', MOST)
            return
        remaining -= 1
        try:
            _ask(nova, instance)
        except exceptions.NovaClientError as error:
            LOG.warning(
                'Instance %s is not restarted: %s', instance.uuid, error
            )


def _ask(nova: NovaClient, instance: Instance) -> None:
    if instance.status == 'ACTIVE':
        runs = nova.is_guest_running(instance.uuid)
        if runs is not None:
            instance.guest = eligible.RUNNING if runs else eligible.OFF
    elif instance.status == 'SHUTOFF':
        _learn(instance, 'stop', nova.own_stop)
        instance.stopped_by = stopped_by(nova, instance)
    elif instance.status == eligible.VERIFY:
        _learn(instance, 'migrate', nova.own_migration)
        ours = {row.migrate for row in instance.restarts if row.migrate}
        is_ours = nova.is_moved_by(instance.uuid, ours)
        instance.stopped_by = (
            eligible.BY_KRONOS if is_ours else eligible.BY_USER
        )


def _learn(instance: Instance, name: str, ask: Callable[[str], str]) -> None:
    """Fill in the id of a request whose applier died before it learned that.

    :param name: of the request, as of the field of :class:`.PastRestart`
    :param ask: gives the id of the newest such request of Kronos' own user
    """
    missing = [row for row in instance.restarts if getattr(row, name) == ASKED]
    request = ask(instance.uuid) if missing else ''
    ids = {getattr(row, name) for row in instance.restarts}
    for row in missing:
        setattr(row, name, '' if request in ids else request)


def stopped_by(nova: NovaClient, instance: Instance) -> str:
    """Who asked for a server to be SHUTOFF; '' if that is not known.

    :raises NovaClientError: Nova does not tell
    """
    stop = nova.last_stop(instance.uuid)
    if stop is None:
        return ''
    if stop.request_id in {row.stop for row in instance.restarts if row.stop}:
        return eligible.BY_KRONOS
    return eligible.BY_USER if stop.user_id else eligible.BY_NOVA
