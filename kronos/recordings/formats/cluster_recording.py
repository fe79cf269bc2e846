# SPDX-License-Identifier: Apache-2.0
"""The format cluster/1, read as a recording."""

from kronos.clients.nova.rows import HostAggregate
from kronos.engine.settings import Settings
from kronos.engine.types import Reading, Snapshot
from kronos.policies import loader
from kronos.policies.models import Policy
from kronos.recordings.formats import cluster
from kronos.recordings.recording import Recording
from kronos.snapshots.cloud import CloudInventory
from kronos.snapshots.scopes import Cloud, ScopeRequest


def recording(path: str) -> Recording:
    """One scope, all services up, no past.

    :raises ArchiveError: it cannot be read; names the file and the field
    """
    found = cluster.read(path)
    snapshot, request = found.snapshot, ScopeRequest([found.snapshot.scope])
    return Recording(
        gathered=CloudInventory(
            Cloud(
                snapshot.hosts,
                {},
                [HostAggregate(1, snapshot.scope, hosts=[*snapshot.hosts])],
            ),
            snapshot.services,
            list(snapshot.instances.values()),
            snapshot.groups,
        ),
        policies=found.policies,
        request=request,
        settings=Settings(require_headroom=True),
        answers={
            (reading.query, label): reading
            for policy in found.policies
            for label, reading in _answers(policy, snapshot)
        },
        policies_text=loader.dump(found.policies),
        source=path,
        made_by=cluster.FORMAT,
        unknown=found.warnings,
    )


def _answers(policy: Policy, snapshot: Snapshot) -> list[tuple[str, Reading]]:
    found = snapshot.readings[policy.name]
    answers = [(policy.host_label, found.imbalance)]
    if found.profile is not None:
        answers.append((policy.vm_profile_label, found.profile))
    return answers
