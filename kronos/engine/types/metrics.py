# SPDX-License-Identifier: Apache-2.0
"""The metrics: what Prometheus said, one object per query."""

from dataclasses import dataclass, field
from enum import StrEnum

from kronos.common.names.name_marks import Text


class Health(StrEnum):
    """How far the answer to one PromQL query can be trusted."""

    HEALTHY = 'healthy'
    PARTIAL = 'partial'
    STALE = 'stale'
    UNREACHABLE = 'unreachable'


@dataclass
class Sample:
    """One element of an instant vector."""

    label: Text
    """Value of the policy's host or instance label, as Prometheus has it."""
    value: float
    timestamp: float
    series: Text = ''
    """The whole label set as text, to name the series in a message, and to
    tell by the host which of several instances of one name is meant."""


@dataclass
class ClockDifference:
    """The same moment by two clocks, in Unix seconds."""

    there: float
    """By the clock of Prometheus."""
    here: float

    @property
    def seconds(self) -> float:
        """Above 0: the clock of Prometheus is ahead."""
        return self.there - self.here


@dataclass
class Reading:
    """The answer to one query for one scope (source: Prometheus).

    It is judged once, by ``scoring/answer_health.py``; a recording keeps it
    as it was judged.
    """

    query: Text
    health: Health = Health.HEALTHY
    samples: list[Sample] = field(default_factory=list)
    error: Text = ''
    """Why it cannot be used at all; empty when there is an answer."""
    is_away: bool = False
    """Whether Prometheus was in vain tried several times (no connection, no
    answer in time, 429, 5xx), and not only this query refused."""
    incomplete: Text = ''
    """Why series may be missing from it, by Prometheus itself."""
    unlabelled: int = 0
    """Series that are left out since they lack the label."""
    unlabelled_series: Text = ''
    """One of them, its whole label set as text."""
    too_old: int = 0
    """Series that are left out since they are old, beside such as are not;
    a recording has only the samples that are left."""
    clock: ClockDifference | None = None
    """None: the clocks agree, as far as is known."""
    remedy: Text = ''
    """What to do about the address of Prometheus or its credentials, if they
    are at fault; empty: the query is, or nothing."""


@dataclass
class PolicyReadings:
    """All that Prometheus said about one policy in one scope."""

    imbalance: Reading
    profile: Reading | None = None
    host_capacity: Reading | None = None
    capacity: Reading | None = None
    """For pack policies (``capacity_query``)."""


@dataclass(slots=True)
class VmProfile:
    """What one instance weighs, per policy.

    ``usage`` is in the unit of ``vm_profile_query``; its share of host h
    is usage / capacity(h), capacity being 1 without
    ``host_capacity_query``.
    """

    instance: str
    usage: dict[str, float]
