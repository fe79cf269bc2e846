# SPDX-License-Identifier: Apache-2.0
"""The checks of Watcher: its plugins, and what its applier holds up."""

from importlib import metadata
from typing import Any

from oslo_config import cfg

from kronos.clients import watcher
from kronos.cmd.checks.findings import Findings
from kronos.cmd.checks.subprocess_probe import Inspect, InspectionError
from kronos.cmd.credentials import Access
from kronos.cmd.program import PACKAGE, installed
from kronos.cmd.screen import progress
from kronos.common import exceptions
from kronos.common.shell_commands import ShellCommand

WATCHER = 'python-watcher'
MODULE = 'kronos.strategies.probe'
OLDEST = 15
"""The first release of Watcher that Kronos works with."""
GROUPS = (
    'watcher_goals',
    'watcher_strategies',
    'watcher_planners',
    'watcher_actions',
)
ENGINE = 'taskflow'
TASKFLOW = f'watcher_workflow_engines.{ENGINE}'

APPLIER_OPTS = [
    cfg.IntOpt('workers', default=1, min=1),
    cfg.StrOpt('workflow_engine', default=ENGINE),
]
PER_MOVE = 4
"""Workers for each move that may run at a time; with fewer a plan of many
moves takes longer, since some workers wait for a turn."""
TASKFLOW_OPTS = [cfg.IntOpt('max_workers', min=1)]
"""Watcher's own options, as far as they are told here."""


def register_opts(conf: Any) -> None:
    conf.register_opts(APPLIER_OPTS, group='watcher_applier')
    conf.register_opts(TASKFLOW_OPTS, group=TASKFLOW)


def plugins(inspect: Inspect, findings: Findings) -> dict[str, Any]:
    """Load what Watcher would load on this machine."""
    progress.step('loading the plugins for Watcher')
    points = entry_points()
    version = installed(WATCHER)
    if not points:
        findings.error(
            'entry-points',
            f'the package {PACKAGE} has no entry points here, so '
            'Watcher cannot find Kronos',
            f'install {PACKAGE} with pip on the machines that run '
            'watcher-decision-engine and watcher-applier',
        )
    errors: dict[str, str] = {}
    if version:
        errors = _loaded(inspect)
        _old(version, findings)
    else:
        findings.note(
            'watcher-absent',
            'Watcher is not installed here; its plugins were not loaded',
            f'run {ShellCommand.TEST_CONFIG} on the machine that runs '
            'watcher-decision-engine',
        )
    _unusable(errors, findings)
    return {
        'version': version,
        'entry_points': [
            {
                'group': point.group,
                'name': point.name,
                'error': errors.get(f'{point.group}:{point.name}', ''),
            }
            for point in points
        ],
    }


def _unusable(errors: dict[str, str], findings: Findings) -> None:
    for name, error in errors.items():
        if error:
            findings.error(
                'entry-points',
                f'{name} cannot be used: {error}; at its next start Watcher '
                'will treat it as uninstalled and cancel its audits',
                f'install {PACKAGE}[watcher] with all its dependencies, in '
                'the environment of Watcher',
                key=f'entry-points {error}',
            )


def _loaded(inspect: Inspect) -> dict[str, str]:
    """Why each plugin cannot be loaded; empty texts for those that can."""
    try:
        answer: dict[str, str] = inspect(MODULE, GROUPS, None)
    except InspectionError as error:
        return {'Watcher': str(error)}
    return answer


def entry_points() -> list[metadata.EntryPoint]:
    """Those of Kronos, by group and name."""
    try:
        every = metadata.distribution(PACKAGE).entry_points
    except metadata.PackageNotFoundError:
        return []
    mine = [point for point in every if point.group in GROUPS]
    return sorted(
        mine, key=lambda point: (GROUPS.index(point.group), point.name)
    )


def _old(version: str, findings: Findings) -> None:
    major = version.partition('.')[0]
    if major.isdigit() and int(major) < OLDEST:
        findings.error(
            'watcher-old',
            f'Watcher {version} is installed',
            f'upgrade Watcher to {OLDEST}.0.0 or later',
        )


def running(access: Access, findings: Findings) -> dict[str, Any]:
    """Ask the running Watcher for its strategies.

    :returns: for the report: those of Kronos, or why they are not known
    """
    expected = {
        point.name for point in entry_points() if point.group == GROUPS[1]
    }
    try:
        names = watcher.find(access.session).strategies()
    except exceptions.ClientError as error:
        findings.note(
            'watcher-unasked',
            f'Kronos could not query the running Watcher: {error}',
        )
        return {'strategies': [], 'error': str(error)}
    if missing := sorted(expected - set(names)):
        findings.error(
            'watcher-strategies',
            f'the running Watcher does not offer {", ".join(missing)}',
            f'install {PACKAGE} on the machine that runs '
            'watcher-decision-engine, and restart it',
        )
    return {'strategies': sorted(expected & set(names)), 'error': ''}


def applier(conf: Any, kronos: Any, findings: Findings) -> dict[str, Any]:
    """Watcher's settings that cap how much goes on at a time.

    :param conf: Watcher's configuration, with :func:`register_opts`
    """
    try:
        plans = conf.watcher_applier.workers
        engine = conf.watcher_applier.workflow_engine
        actions = conf[TASKFLOW].max_workers
        if plans is None:
            raise ValueError('it is empty')
    except (cfg.Error, ValueError) as error:
        findings.error(
            'applier-invalid',
            f'[watcher_applier] or [{TASKFLOW}]: {type(error).__name__}',
            'workers and max_workers must be whole numbers above 0',
        )
        return {}
    limit = kronos.max_concurrent_migrations
    if engine != ENGINE:
        findings.warning(
            'applier-engine',
            f'[watcher_applier] workflow_engine is {engine}; Kronos needs '
            f'{ENGINE}',
            f'set it to {ENGINE}',
        )
    if actions is not None:
        _workers(actions, limit, findings)
    return {
        'plans_at_a_time': plans,
        'actions_at_a_time': actions,
        'migrations_of_a_scope': limit,
    }


def _workers(actions: int, limit: int, findings: Findings) -> None:
    """Tell if there are too few for what may run at a time."""
    if actions < limit:
        findings.warning(
            'applier-workers',
            f'[{TASKFLOW}] max_workers = {actions} lets a plan run {actions} '
            'migrations at a time, fewer than [kronos] '
            f'max_concurrent_migrations = {limit} for each scope',
            f'set max_workers to {PER_MOVE * limit} times the number of '
            'scopes of an audit',
        )
    elif actions < PER_MOVE * limit:
        findings.note(
            'applier-few-workers',
            f'[{TASKFLOW}] max_workers = {actions} is less than {PER_MOVE} '
            'times [kronos] max_concurrent_migrations: Watcher starts actions '
            'in arbitrary order, so the first moves of a plan may find no '
            'free worker, and a long plan takes longer',
            f'set max_workers to {PER_MOVE * limit} or more',
        )
