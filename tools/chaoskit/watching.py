# SPDX-License-Identifier: Apache-2.0
"""A reader of the lab's databases.

They are asked themselves: the APIs in front of them are being killed.
"""

import datetime
import json
import time
from typing import Any

import pymysql
from labkit import database, layout, process

from chaoskit.facts import (
    Action,
    Audit,
    Group,
    Look,
    Migration,
    Plan,
    Server,
)

SERVERS = """
    SELECT i.uuid, i.display_name, i.host, i.vm_state, i.task_state,
      (SELECT CONCAT(f.message, '\n', COALESCE(f.details, ''))
       FROM nova_cell1.instance_faults f
       WHERE f.instance_uuid = i.uuid AND f.deleted = 0
       ORDER BY f.id DESC LIMIT 1)
    FROM nova_cell1.instances i WHERE i.deleted = 0
"""
BURIED = """
    SELECT i.uuid, i.display_name, i.host, i.vm_state, i.task_state,
      (SELECT CONCAT(f.message, '\n', COALESCE(f.details, ''))
       FROM nova_cell0.instance_faults f
       WHERE f.instance_uuid = i.uuid AND f.deleted = 0
       ORDER BY f.id DESC LIMIT 1)
    FROM nova_cell0.instances i WHERE i.deleted = 0
"""
MIGRATIONS = """
    SELECT id, uuid, instance_uuid, migration_type, source_compute,
      dest_compute, status, created_at, updated_at
    FROM nova_cell1.migrations WHERE created_at >= %s
"""
AUDITS = """
    SELECT a.uuid, a.name, s.name, a.state, a.next_run_time,
      a.updated_at, a.status_message
    FROM watcher.audits a JOIN watcher.strategies s ON s.id = a.strategy_id
    WHERE a.deleted = 0
"""
PLANS = """
    SELECT p.uuid, a.uuid, s.name, p.state, p.hostname, p.created_at,
      p.updated_at, p.status_message
    FROM watcher.action_plans p JOIN watcher.audits a ON a.id = p.audit_id
    JOIN watcher.strategies s ON s.id = p.strategy_id
    WHERE p.deleted = 0 AND p.created_at >= %s
"""
ACTIONS = """
    SELECT n.uuid, p.uuid, n.state, n.input_parameters, n.updated_at,
      n.created_at, n.status_message
    FROM watcher.actions n JOIN watcher.action_plans p
    ON p.id = n.action_plan_id
    WHERE n.deleted = 0 AND p.deleted = 0 AND p.created_at >= %s
"""
GROUPS = """
    SELECT g.uuid, p.policy, p.rules, m.instance_uuid
    FROM nova_api.instance_groups g
    JOIN nova_api.instance_group_policy p ON p.group_id = g.id
    JOIN nova_api.instance_group_member m ON m.group_id = g.id
"""
ALLOCATIONS = """
    SELECT DISTINCT a.consumer_id, r.name FROM placement.allocations a
    JOIN placement.resource_providers r ON r.id = a.resource_provider_id
"""


class Watcher:
    """Looks at the lab's databases; a look fails while those are away.

    :param port: of MariaDB
    :param since: Unix seconds; what is older is not of this run
    """

    def __init__(self, port: int, since: float) -> None:
        self._port = port
        self._since = datetime.datetime.fromtimestamp(
            int(since), datetime.UTC
        ).replace(tzinfo=None)
        self._link: Any = None

    def look(self) -> Look | None:
        """All that is there; None: the database is away."""
        try:
            if self._link is None:
                self._link = database.connect(self._port)
            return self._read()
        except (pymysql.MySQLError, OSError):
            self._link = None
            return None

    def _read(self) -> Look:
        # Of one moment, as far as a database of several services has one.
        rows = self._ask
        rows('START TRANSACTION WITH CONSISTENT SNAPSHOT')
        look = Look(
            at=time.time(),
            servers={
                row[0]: _server(row) for row in rows(SERVERS) + rows(BURIED)
            },
            migrations=tuple(map(_migration, rows(MIGRATIONS, self._since))),
            audits={row[0]: _audit(row) for row in rows(AUDITS)},
            plans={row[0]: _plan(row) for row in rows(PLANS, self._since)},
            actions=tuple(map(_action, rows(ACTIONS, self._since))),
            groups=tuple(_groups(rows(GROUPS))),
            allocations=_allocations(rows(ALLOCATIONS)),
        )
        rows('COMMIT')
        return look

    def _ask(self, query: str, *values: Any) -> tuple[tuple[Any, ...], ...]:
        with self._link.cursor() as cursor:
            cursor.execute(query, values or None)
            return tuple(cursor.fetchall())


def memory() -> dict[tuple[str, int], float]:
    """MiB of each service of the lab, by name and pid."""
    return {
        (record.name, record.pid): process.memory_kb(record) / 1024
        for record in process.records().values()
        if process.is_running(record)
    }


def ends_of_logs() -> dict[str, int]:
    """Where each service's log ends now."""
    return {
        file.stem: file.stat().st_size for file in layout.LOG.glob('*.log')
    }


def said(since: dict[str, int]) -> dict[str, str]:
    """What each service has logged from a position on."""
    found = {}
    for file in sorted(layout.LOG.glob('*.log')):
        with file.open('rb') as log:
            log.seek(since.get(file.stem, 0))
            found[file.stem] = log.read().decode(errors='replace')
    return found


def _server(row: tuple[Any, ...]) -> Server:
    return Server(*(value or '' for value in row))


def _migration(row: tuple[Any, ...]) -> Migration:
    created = _seconds(row[7])
    return Migration(
        row[0],
        *(value or '' for value in row[1:7]),
        created,
        _seconds(row[8]) or created,
    )


def _audit(row: tuple[Any, ...]) -> Audit:
    return Audit(*row[:4], *map(_seconds, row[4:6]), row[6] or '')


def _plan(row: tuple[Any, ...]) -> Plan:
    created = _seconds(row[5])
    return Plan(
        *row[:4],
        row[4] or '',
        created,
        _seconds(row[6]) or created,
        row[7] or '',
    )


def _action(row: tuple[Any, ...]) -> Action:
    document = json.loads(row[3] or '{}')
    return Action(
        row[0],
        row[1],
        row[2],
        document.get('resource_id', ''),
        document.get('source_node', ''),
        document.get('destination_node', ''),
        _seconds(row[4]) or _seconds(row[5]),
        row[6] or '',
    )


def _groups(rows: tuple[tuple[Any, ...], ...]) -> list[Group]:
    found: dict[str, Group] = {}
    for uuid, policy, rules, member in rows:
        per_host = int(json.loads(rules or '{}').get('max_server_per_host', 1))
        known = found.get(uuid)
        members = (*(known.members if known else ()), member)
        found[uuid] = Group(uuid, policy, per_host, members)
    return list(found.values())


def _allocations(
    rows: tuple[tuple[Any, ...], ...],
) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for consumer, host in rows:
        found.setdefault(consumer, set()).add(host)
    return {consumer: frozenset(hosts) for consumer, hosts in found.items()}


def _seconds(told: datetime.datetime | None) -> float:
    return told.replace(tzinfo=datetime.UTC).timestamp() if told else 0.0
