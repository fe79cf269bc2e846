# SPDX-License-Identifier: Apache-2.0
"""The dirty rates: how fast the guests of instances write to memory.

A live migration copies again what was written meanwhile.
"""

import math
from collections.abc import Collection, Sequence

from kronos.engine import instance_keys
from kronos.engine.scoring import labels
from kronos.engine.settings import HostMatch
from kronos.engine.types import Instance, Reading, Sample
from kronos.policies.models import DirtyRateQuery

FIELD = 'dirty_rate_query'
LABELS = ('host', 'instance')
"""The first of them that a series has names its host."""


def of(
    reading: Reading,
    query: DirtyRateQuery,
    instances: Sequence[Instance],
    hosts: Collection[str],
    how: HostMatch,
) -> dict[str, float]:
    """Bytes per second by uuid of the instance, by an answer.

    The newest sample of an instance counts, of equally new ones the largest.
    What is no number, or negative, says nothing. Of a name that several
    instances have only a series that names the host, too, means one.
    """
    alike: dict[str, list[Instance]] = {}
    key = instance_keys.key_of(query.label_type)
    for instance in instances:
        alike.setdefault(getattr(instance, key), []).append(instance)
    named = {host for sample in reading.samples if (host := _host_of(sample))}
    matches = labels.match_hosts(named, hosts, how).hosts
    rates: dict[str, tuple[float, float]] = {}
    for sample in reading.samples:
        meant = alike.get(sample.label, [])
        if len(meant) > 1:
            named_host = matches.get(_host_of(sample))
            meant = [
                instance for instance in meant if instance.host == named_host
            ]
        if len(meant) == 1 and sample.label and 0 <= sample.value < math.inf:
            rate = sample.timestamp, sample.value
            uuid = meant[0].uuid
            rates[uuid] = max(rate, rates.get(uuid, rate))
    return {uuid: value for uuid, (_, value) in rates.items()}


def _host_of(sample: Sample) -> str:
    values = labels.of_series(sample.series)
    return next((values[label] for label in LABELS if values.get(label)), '')
