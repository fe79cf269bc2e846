# SPDX-License-Identifier: Apache-2.0
"""The request for the audit of a run, from the options of ``start``."""

import argparse
import pathlib
from dataclasses import dataclass

from oslo_utils import uuidutils

from kronos.clients.rest import Json
from kronos.common import exceptions, yaml_files
from kronos.extensions.maintenance import maintenance_parameters
from kronos.extensions.maintenance.client import runs
from kronos.extensions.maintenance.maintenance import Maintenance
from kronos.osc.run.request import AuditRequest

OPTIONS = (
    'aggregates',
    'at_once',
    'at_once_per_az',
    'done_query',
    'ready_query',
    'seed_hosts',
    'stopped',
    'host_timeout',
    'drain_timeout',
    'max_late',
)
"""Those of the command that are parameters of the audit, by name."""
NAME_LENGTH = 63
"""Watcher cuts the name of an audit."""


@dataclass
class RunRequest(AuditRequest):
    """The audit that carries a run out."""

    interval: str = '60'
    """Seconds between two plans, or a line of cron."""

    @property
    def fields(self) -> Json:
        """As of :class:`AuditRequest`; it goes on, and starts its plans."""
        return {
            **super().fields,
            'audit_type': runs.CONTINUOUS,
            'interval': self.interval,
            'auto_trigger': True,
        }


def parameters(options: argparse.Namespace) -> Json:
    """The parameters of the audit.

    :raises KronosException: the file of hosts cannot be read, or names none
    """
    hosts = list(options.host)
    if options.hosts_file is not None:
        hosts += _lines(options.hosts_file)
    chosen = {
        name: getattr(options, name)
        for name in OPTIONS
        if getattr(options, name) is not None
    }
    if options.no_reopen:
        chosen['reopen'] = False
    return {'hosts': list(dict.fromkeys(hosts)), 'run': options.run, **chosen}


def parsed(raw: Json) -> Maintenance:
    """What parameters ask for.

    :raises ConfigurationError: as the audit itself would refuse them
    """
    return maintenance_parameters.parse(raw)


def of(raw: Json, interval: str | None) -> AuditRequest:
    """The request.

    :param interval: None: a look, which plans once and starts nothing
    """
    suffix = uuidutils.generate_uuid(dashed=False)[:8]
    kind = 'look' if interval is None else 'maintenance'
    name = f'{kind}-{raw["run"]}'[: NAME_LENGTH - len(suffix) - 1]
    name = f'{name}-{suffix}'
    if interval is None:
        return AuditRequest(name, runs.STRATEGY, runs.GOAL, raw)
    return RunRequest(name, runs.STRATEGY, runs.GOAL, raw, interval)


def _lines(path: str) -> list[str]:
    """The hosts of a file, one a line; ``#`` begins a comment."""
    try:
        text = pathlib.Path(path).read_text(encoding='utf-8')
    except (OSError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or 'it is not UTF-8'
        raise exceptions.KronosException(
            f'--hosts-file {yaml_files.clip(path)}: {reason}'
        ) from error
    lines = [line.partition('#')[0].strip() for line in text.splitlines()]
    hosts = [line for line in lines if line]
    if not hosts:
        raise exceptions.KronosException(
            f'--hosts-file {yaml_files.clip(path)}: it names no host'
        )
    return hosts
