# SPDX-License-Identifier: Apache-2.0
"""The metrics of maintenance runs, for the list.

Those about hosts are always shown: a run has few hosts, and whoever reboots a
host asks for its state. The name of a run has few and plain characters.
"""

from kronos.metrics import metric
from kronos.metrics.metric import Metric, Source

EMPTY_AT = 'kronos_maintenance_host_expected_timestamp_seconds'
CLOSED_AT = 'kronos_maintenance_host_closed_timestamp_seconds'
HOST_STATE = 'kronos_maintenance_host_state'
HOSTS = 'kronos_maintenance_hosts'
BLOCKED = 'kronos_maintenance_blocked_hosts'
READ_AT = 'kronos_maintenance_read_timestamp_seconds'
ANSWERED = 'kronos_maintenance_done_query_answered'


def _of_run(name: str, text: str, *labels: str) -> Metric:
    return metric.gauge(
        Source.DECISION_ENGINE, name, text, 'scope', 'run', *labels
    )


METRICS = (
    _of_run(
        HOST_STATE,
        '1 by the state of a host of a maintenance run; one that is late '
        'shows emptying or handed-over, too',
        'host',
        'state',
    ),
    _of_run(
        CLOSED_AT,
        'Time since which a host that the run closed is in its step, '
        'emptying or handed over; 0 if the run does not keep it closed',
        'host',
    ),
    _of_run(
        EMPTY_AT,
        'Time at which a host that is emptied is expected to be empty, by '
        'the newest plan',
        'host',
    ),
    _of_run(HOSTS, 'Hosts of the run by state', 'state'),
    _of_run(
        BLOCKED,
        'Hosts of the run that wait and cannot be emptied, since a server '
        'on them cannot leave',
    ),
    _of_run(
        ANSWERED,
        '1 if the newest audit knew which hosts are done, else 0',
    ),
    _of_run(READ_AT, 'Time to which the states of the hosts of a run apply'),
)
