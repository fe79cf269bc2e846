# SPDX-License-Identifier: Apache-2.0
"""The outcome of a recovery: what failed, and what is started again."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from kronos.engine.reasons import Reason
from kronos.engine.types import AggregateResult
from kronos.extensions.recovery.failures import NAME


@dataclass
class Restart:
    """A server that failed and is to be started again."""

    instance: str
    instance_name: str
    host: str
    destination: str
    """The same as ``host``, or where a cold migration brings it before."""
    attempt: int
    """1 for the first within ``recovery_window``."""
    failure: str
    failed_at: float
    """Unix seconds."""
    stopped: str = ''
    """Id of the request by which an earlier restart has left it SHUTOFF or in
    VERIFY_RESIZE; '': none has."""
    reason: str = ''
    """Why, and why there."""

    @property
    def is_elsewhere(self) -> bool:
        return self.destination != self.host


@dataclass
class RecoveryOutcome:
    """What a result keeps of a recovery."""

    hosts_at_fault: dict[str, Reason] = field(default_factory=dict)
    """Host to reason: closed, or not."""
    failed_servers: dict[str, str] = field(default_factory=dict)
    """Instance uuid to the kind of its failure."""
    restarts: list[Restart] = field(default_factory=list)
    """Servers that failed and are started again."""


def of(scope: AggregateResult) -> RecoveryOutcome:
    """That of a scope; empty where nothing was recovered."""
    outcome = scope.beside.get(NAME)
    if isinstance(outcome, RecoveryOutcome):
        return outcome
    return RecoveryOutcome()


def restarts(scopes: Iterable[AggregateResult]) -> list[tuple[str, Restart]]:
    """All restarts of a plan, each with its scope."""
    return [
        (scope.name, restart)
        for scope in scopes
        for restart in of(scope).restarts
    ]


def trouble(scope: AggregateResult) -> set[str]:
    """Uuids of what failed, and of what is on a host that is emptied."""
    hosts = {drain.host for drain in scope.drains}
    here = {
        uuid
        for uuid, instance in scope.instances.items()
        if instance.host in hosts
    }
    outcome = of(scope)
    started = {restart.instance for restart in outcome.restarts}
    return here | outcome.failed_servers.keys() | started
