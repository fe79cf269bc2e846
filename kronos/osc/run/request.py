# SPDX-License-Identifier: Apache-2.0
"""The request for an audit: its strategy, goal and parameters."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from oslo_utils import uuidutils

from kronos.common import exceptions, yaml_files
from kronos.common.names import near_names
from kronos.osc import moves

AGGREGATES = 'aggregates'
"""The parameter for which ``--aggregate`` stands."""


@dataclass
class AuditRequest:
    """An audit that is to be created."""

    name: str
    """A name that no other audit has: Watcher may take the request while the
    answer to it is lost."""
    strategy: str
    goal: str
    parameters: dict[str, Any]

    @property
    def fields(self) -> dict[str, Any]:
        """The body of the request to Watcher's API.

        With ``force`` it also runs while another plan is under way.
        """
        return {
            'audit_type': 'ONESHOT',
            'auto_trigger': False,
            'force': True,
            'name': self.name,
            'goal': self.goal,
            'strategy': self.strategy,
            'parameters': self.parameters,
        }


def make(
    goals: Mapping[str, str],
    word: str,
    aggregates: Sequence[str],
    pairs: Sequence[tuple[str, Any]],
) -> AuditRequest:
    """A request for an audit.

    :param goals: the goal of each strategy of Watcher, by name
    :param word: ``cell-drain`` for the strategy ``kronos_cell_drain``, or the
        whole name of a strategy
    :param aggregates: names of aggregates
    :param pairs: names and values of other parameters
    :raises KronosException: Watcher has no such strategy
    """
    strategy = _strategy(goals, word)
    parameters = dict(pairs)
    if aggregates:
        parameters[AGGREGATES] = [*aggregates]
    suffix = uuidutils.generate_uuid(dashed=False)[:8]
    return AuditRequest(
        f'run-{word}-{suffix}', strategy, goals[strategy], parameters
    )


def _strategy(goals: Mapping[str, str], word: str) -> str:
    own = moves.PREFIX + word.replace('-', '_')
    for name in (own, word):
        if name in goals:
            return name
    words = [
        name.removeprefix(moves.PREFIX).replace('_', '-')
        for name in goals
        if name.startswith(moves.PREFIX)
    ]
    raise exceptions.KronosException(
        f'Watcher has no strategy {yaml_files.clip(own)}; '
        f'{near_names.of_cloud(word, words)}'
    )


def pair(text: str) -> tuple[str, Any]:
    """A parameter as ``NAME=VALUE``; a value that is JSON is read as JSON.

    :raises ValueError: it has no name or no value
    """
    name, equals, value = text.partition('=')
    if not name or not equals:
        raise ValueError(f'{yaml_files.clip(text)} is not NAME=VALUE')
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value
