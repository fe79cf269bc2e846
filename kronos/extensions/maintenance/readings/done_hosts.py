# SPDX-License-Identifier: Apache-2.0
"""The hosts that are done, and those that may serve again, by queries.

It fails closed: as long as a query has no answer, nobody is done.
"""

import math
from collections.abc import Collection
from dataclasses import dataclass

from kronos.common import exceptions
from kronos.engine import wording
from kronos.engine.settings import HostMatch
from kronos.extensions.maintenance.maintenance import Maintenance, RunView
from kronos.snapshots import exclusions
from kronos.snapshots.queries import QuerySource

DONE, READY = 'maintenance_done_query', 'maintenance_ready_query'


@dataclass(frozen=True)
class RunQueries:
    """The queries of a run: of the audit, else of ``[kronos]``."""

    done: str
    ready: str
    """'': every host that is done may serve."""

    @classmethod
    def of(cls, spec: Maintenance, configured: 'RunQueries') -> 'RunQueries':
        return cls(
            spec.done_query or configured.done,
            spec.ready_query or configured.ready,
        )


def view(
    prometheus: QuerySource,
    queries: RunQueries,
    spec: Maintenance,
    hosts: Collection[str],
    how: HostMatch,
) -> tuple[RunView, list[str]]:
    """What the queries say of the hosts of a run.

    :param hosts: names of all that are known
    :returns: with warnings
    """
    missing = sorted(set(spec.hosts) - set(hosts))
    if not queries.done:
        text = (
            'there is no query for the hosts that are done; set [kronos] '
            f'{DONE}, or the parameter done_query of the audit'
        )
        return RunView(text, missing=missing), []
    try:
        done, warnings = _named(
            prometheus, queries.done, spec, hosts, how, DONE
        )
        ready = done
        if queries.ready:
            ready, more = _named(
                prometheus, queries.ready, spec, hosts, how, READY
            )
            warnings += more
    except exceptions.PrometheusError as error:
        return RunView(str(error), missing=missing), []
    own = sorted(set(spec.hosts) & done)
    return RunView('', own, sorted({*own} & ready), missing), warnings


def _named(
    prometheus: QuerySource,
    query: str,
    spec: Maintenance,
    hosts: Collection[str],
    how: HostMatch,
    option: str,
) -> tuple[set[str], list[str]]:
    """The hosts that a query returns, with warnings.

    :raises PrometheusError: the answer cannot be used, it is not certain
        which host a series means, or a host of the run has no number
    """
    answer = exclusions.ask(prometheus, query, hosts, how, option)
    if answer.unclear:
        raise exclusions.unusable(
            f'which host is meant is not certain by {answer.unclear[0]!r}; '
            'give it the whole name',
            option=option,
        )
    not_numbers = sorted(
        host for host, value in answer.values.items() if math.isnan(value)
    )
    if own := [host for host in not_numbers if host in spec.hosts]:
        raise exclusions.unusable(
            f'the value of {wording.some(own)} is NaN', option=option
        )
    return answer.values.keys() - {*not_numbers}, list(answer.warnings)
