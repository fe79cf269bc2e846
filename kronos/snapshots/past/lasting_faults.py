# SPDX-License-Identifier: Apache-2.0
"""The lasting faults: whether what a move failed of is still so.

What only an operator can mend would fail anew after every cooldown. So each
audit looks at the instances that failed of it, and at no others.
"""

from collections.abc import Callable

from oslo_log import log as logging

from kronos.clients.placement import PlacementClient
from kronos.common import exceptions
from kronos.engine.eligibility import allocations, quarantine
from kronos.engine.faults import Fault
from kronos.engine.types import Host, Instance, Origin, Outcome
from kronos.snapshots.cloud import CloudInventory

LOG = logging.getLogger(__name__)

MOST = 200
"""Instances that are looked at; where more failed, it is not they."""
Look = Callable[[PlacementClient, Instance, Host], None]
"""Notes of an instance what is still so; raises ClientError."""


def note(placement: PlacementClient, gathered: CloudInventory) -> None:
    """Note of each instance that failed so whether it still would.

    One that cannot be looked at now is planned again after its cooldown.
    """
    hosts = {**gathered.cloud.other_hosts, **gathered.cloud.hosts}
    failed = {
        event.instance: LOOKS[quarantine.fault(event)]
        for event in gathered.events
        if event.outcome is Outcome.FAILED
        and event.origin is Origin.WATCHER
        and quarantine.fault(event) in LOOKS
    }
    concerned = [
        instance for instance in gathered.instances if instance.uuid in failed
    ]
    if len(concerned) > MOST:
        LOG.warning('More than %d instances have a lasting fault', MOST)
    for instance in concerned[:MOST]:
        host = hosts.get(instance.host)
        if host is None or not host.node or instance.task_state:
            continue
        try:
            failed[instance.uuid](placement, instance, host)
        except exceptions.ClientError as error:
            LOG.warning('Instance %s: %s', instance.uuid, error)


def _allocations(
    placement: PlacementClient, instance: Instance, host: Host
) -> None:
    held_on = placement.nodes_of(instance.uuid)
    if allocations.why_not(instance.uuid, host.node, held_on):
        instance.misallocated_on = sorted(held_on)


LOOKS: dict[Fault, Look] = {Fault.INSTANCE_ALLOCATIONS: _allocations}
"""For each fault that lasts."""
