# SPDX-License-Identifier: Apache-2.0
"""The runs that Watcher has: the audits of ``kronos_maintain``, by name."""

from collections.abc import Iterable
from dataclasses import dataclass

from kronos.clients.rest import Json
from kronos.clients.schema import seconds_of
from kronos.clients.watcher import WatcherClient
from kronos.common import exceptions, plain_text, yaml_files
from kronos.common.names import near_names
from kronos.engine import wording
from kronos.extensions.maintenance import maintenance_parameters
from kronos.extensions.maintenance.maintenance import Maintenance

STRATEGY = 'kronos_maintain'
GOAL = 'kronos_maintenance'
PENDING = 'PENDING'
ONGOING = 'ONGOING'
SUSPENDED = 'SUSPENDED'
CANCELLED = 'CANCELLED'
LIVE = (PENDING, ONGOING, SUSPENDED)
"""States of an audit that still plans, or may be resumed."""
CONTINUOUS = 'CONTINUOUS'


@dataclass
class RunAudit:
    """An audit of a run; times are Unix seconds."""

    uuid: str
    name: str
    state: str
    kind: str
    """CONTINUOUS, ONESHOT or EVENT."""
    message: str
    created: float
    spec: Maintenance

    @property
    def is_live(self) -> bool:
        """Whether it plans again: a look ends by itself."""
        return self.kind == CONTINUOUS and self.state in LIVE


@dataclass
class Run:
    """A run, with all audits of its name."""

    name: str
    audits: list[RunAudit]
    """The newest first; at least one."""

    @property
    def audit(self) -> RunAudit:
        """The audit that speaks for the run: it is live, or the newest."""
        return max(
            self.audits,
            key=lambda row: (row.is_live, row.kind == CONTINUOUS, row.created),
        )

    @property
    def spec(self) -> Maintenance:
        return self.audit.spec

    @property
    def began(self) -> float:
        """Unix seconds: when the first of its audits was created."""
        return min(row.created for row in self.audits)

    @property
    def is_live(self) -> bool:
        return any(row.is_live for row in self.audits)


def listed(watcher: WatcherClient) -> list[Run]:
    """All runs, that of the newest audit first.

    :raises ClientError: Watcher is away, or refuses
    """
    return of(watcher.audits())


def of(rows: Iterable[Json]) -> list[Run]:
    """The runs of audits, in their order."""
    runs: dict[str, Run] = {}
    for row in rows:
        if row.get('strategy_name') != STRATEGY:
            continue
        audit = _audit(row)
        if audit is not None:
            name = audit.spec.run
            runs.setdefault(name, Run(name, [])).audits.append(audit)
    return list(runs.values())


def _audit(row: Json) -> RunAudit | None:
    """None: its parameters are of another release, and name no run."""
    parameters = row.get('parameters')
    try:
        spec = maintenance_parameters.parse(
            parameters if isinstance(parameters, dict) else {}
        )
    except exceptions.ConfigurationError:
        return None
    return RunAudit(
        row['uuid'],
        plain_text.line(row.get('name') or ''),
        plain_text.line(row.get('state') or ''),
        row.get('audit_type') or '',
        plain_text.line(row.get('status_message') or ''),
        seconds_of(row['created_at']),
        spec,
    )


def named(runs: list[Run], name: str | None) -> Run:
    """The run of a name; without a name the only one that is live.

    Where none is live, that is the newest.

    :raises KronosException: there is none, or there are several
    """
    if name is not None:
        for run in runs:
            if run.name == name:
                return run
        hint = near_names.of_cloud(name, [run.name for run in runs])
        raise exceptions.KronosException(
            f'Watcher has no maintenance run {yaml_files.clip(name)}; {hint}'
        )
    if not runs:
        raise exceptions.KronosException('Watcher has no maintenance run.')
    live = [run for run in runs if run.is_live]
    if len(live) > 1:
        names = wording.some([run.name for run in live])
        raise exceptions.KronosException(
            f'{len(live)} maintenance runs are live ({names}); choose one '
            'with --run'
        )
    return (live or runs)[0]


def require_alone(runs: Iterable[Run], spec: Maintenance) -> None:
    """Refuse a run whose name, or one of whose hosts, a live run has.

    :raises KronosException: names the run and what to do about it
    """
    for run in runs:
        if not run.is_live:
            continue
        common = sorted({*run.spec.hosts} & {*spec.hosts})
        if run.name == spec.run:
            raise exceptions.KronosException(
                f'the run {run.name} is live in the audit {run.audit.uuid}; '
                'finish it first, or choose another name'
            )
        if common:
            raise exceptions.KronosException(
                f'the run {run.name} is live and has {wording.some(common)}, '
                'too; a host is in one run at a time'
            )
