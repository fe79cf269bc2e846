# SPDX-License-Identifier: Apache-2.0
"""The forecast of a plan, by its graph and Watcher's settings."""

import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from oslo_config import cfg
from oslo_log import log as logging
from watcher import conf

from kronos.common import durations
from kronos.engine import wording
from kronos.engine.scheduling import makespan

LOG = logging.getLogger(__name__)
CONF = conf.CONF

ENGINE = 'taskflow'
GROUP = f'watcher_workflow_engines.{ENGINE}'


@dataclass
class ActionTrip:
    """From where to where an action moves its instance, and in which scope."""

    scope: str
    source: str
    destination: str

    @classmethod
    def of(cls, parameters: dict[str, Any]) -> 'ActionTrip':
        """From the input parameters of an action."""
        return cls(
            parameters['aggregate'],
            parameters['source_node'],
            parameters['destination_node'],
        )


def is_move(parameters: dict[str, Any]) -> bool:
    """Whether the input parameters are those of a move."""
    return 'destination_node' in parameters and 'attempt' not in parameters


def among(moves: list[int], parents: list[list[int]]) -> list[list[int]]:
    """The parents of moves that are moves, by position among the moves.

    What else a plan holds is done at once, and waits for nothing.
    """
    position = {move: number for number, move in enumerate(moves)}
    return [
        [position[parent] for parent in parents[move] if parent in position]
        for move in moves
    ]


class Forecast:
    """A plan if all its moves took equally long, in each scope."""

    def __init__(
        self,
        trips: list[ActionTrip],
        parents: list[list[int]],
        pace: Mapping[str, float] | None = None,
    ) -> None:
        """Take a plan.

        :param trips: of its moves, in the order in which they get their turns
        :param parents: per move the indices of those that must end before
        :param pace: seconds that a move of a scope has taken, by its name;
            of none that is not known
        """
        self._pace = pace or {}
        self._trips = trips
        self._parents = parents
        self._equal = [1.0] * len(trips)
        self._limit = CONF.kronos.max_concurrent_migrations
        self._starts = self._begun(self._equal)
        self.side_by_side = makespan.most_at_once(self._starts, self._equal)

    def _begun(
        self, each: list[float], workers: int | None = None
    ) -> list[float]:
        return makespan.starts(
            self._trips, self._parents, each, self._limit, workers
        )

    @property
    def order(self) -> list[int]:
        """The moves in the order in which they start."""
        return sorted(
            range(len(self._trips)),
            key=lambda move: (self._starts[move], move),
        )

    def length(self, workers: int | None = None) -> int:
        """Moves one after another, with so many actions at a time."""
        return round(max(self._begun(self._equal, workers))) + 1

    def seconds(self) -> float | None:
        """How long it takes as laid out; None: not known of all its scopes.

        Without workers that are missing, and without what Nova queues.
        """
        if not all(trip.scope in self._pace for trip in self._trips):
            return None
        each = [self._pace[trip.scope] for trip in self._trips]
        starts = self._begun(each)
        return max(map(operator.add, starts, each), default=None)

    def at_least(self) -> int:
        """The same in the best of cases that the limits leave."""
        bound = makespan.lower_bound(self._trips, self._equal, self._limit)
        return math.ceil(bound)

    def lines(self) -> list[str]:
        """What an operator should know before the plan starts."""
        number = len(self._trips)
        least, length = self.at_least(), self.length()
        together = self.side_by_side
        text = (
            f'{wording.counted(number, "move")}; one after another at least '
            f'{least} by the limits, {length} as laid out; at most {together} '
            'can run side by side ([kronos] max_concurrent_migrations = '
            f'{self._limit} per scope)'
        )
        if length > least:
            text += (
                '; what is beyond the limits keeps server groups and full '
                'hosts in order'
            )
        return [text, *self._in_seconds(), self._applier()]

    def _in_seconds(self) -> list[str]:
        seconds = self.seconds()
        if seconds is None:
            return []
        scopes = sorted({trip.scope for trip in self._trips})
        paces = ', '.join(
            f'{durations.rounded(self._pace[scope])} in {scope}'
            for scope in scopes
        )
        return [
            f'about {durations.rounded(seconds)} as laid out, by the median '
            f'of what moves have taken: {paces}'
        ]

    def _applier(self) -> str:
        workers = max_workers()
        if workers is None:
            text = f'[{GROUP}] max_workers is not known here'
        else:
            text = f'[{GROUP}] max_workers = {workers} allows {workers}'
            if workers < self.side_by_side:
                text += f', so that it takes {self.length(workers)}'
        workers = CONF.watcher_applier.workers
        plans = wording.counted(workers, 'plan')
        return (
            f'{text}; [watcher_applier] workers = {workers} allows {plans} '
            "at a time. These values come from the decision engine's own "
            'configuration; the applier uses its own'
        )


def max_workers() -> int | None:
    """Actions of a plan that Watcher's applier runs at a time.

    As far as this process knows: by default the number of processors, of
    this machine, that is.

    :returns: None: it cannot be known here
    """
    if CONF.watcher_applier.workflow_engine != ENGINE:
        return None
    try:
        return int(_settings()[GROUP].max_workers)
    except Exception as error:
        # It is only logged; a plan must not fail for it.
        LOG.debug('[%s] max_workers is not known: %s', GROUP, error)
        return None


def _settings() -> Any:
    """A configuration that has the options of Watcher's workflow engine.

    The decision engine never loads that. To register its options there
    would let a mistake in them keep all others from being read anew, so
    they are read apart, from the same files.
    """
    if GROUP in CONF and 'max_workers' in CONF[GROUP]:
        return CONF
    from watcher.applier.workflow_engine import default

    config = cfg.ConfigOpts()
    config.register_opts(
        default.DefaultWorkFlowEngine.get_config_opts(), group=GROUP
    )
    config(
        args=[],
        default_config_files=list(CONF.config_file or []),
        default_config_dirs=list(CONF.config_dir or []),
    )
    return config
