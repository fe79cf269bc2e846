# SPDX-License-Identifier: Apache-2.0
"""The comparison after a gap: which domains failed while no events came.

The remembered state of each domain is laid beside its state now. What users
do leaves another trace there than what fails.
"""

from dataclasses import dataclass, field

from kronos.monitor import domains
from kronos.monitor.domains import Domain, Listing, State
from kronos.monitor.events import Kind
from kronos.monitor.incidents import Gap, Incident
from kronos.monitor.memory import Memory, Row

_INCONCLUSIVE = ('UNKNOWN', 'FAILED', 'DAEMON', '')
"""Reasons of an end that tell neither a failure nor anybody's wish."""


@dataclass
class Comparison:
    incidents: list[Incident] = field(default_factory=list)
    vanished: list[str] = field(default_factory=list)
    """Instances that ran and are gone: destroyed, migrated or crashed."""
    unexplained: list[str] = field(default_factory=list)
    """Instances that ran and are off, for no reason that is told."""


def compare(memory: Memory, listing: Listing, gap: Gap | None) -> Comparison:
    """Find what happened in a gap, and remember the domains as they are.

    :param gap: None: nothing was remembered before, so whatever there is may
        be old, and is no incident
    """
    comparison = Comparison()
    present = {domain.instance for domain in listing.domains}
    for instance, row in [*memory.rows.items()]:
        if instance in present:
            continue
        if row.is_elsewhere or row.is_leaving:
            memory.end_elsewhere(row)
            continue
        if row.state in (State.RUNNING, State.PAUSED):
            comparison.vanished.append(instance)
        memory.forget(instance)
    for domain in listing.domains:
        before = memory.rows.get(domain.instance)
        kind = _news_of(before, domain) if gap is not None else None
        if before is not None and _is_unexplained(before, domain):
            comparison.unexplained.append(domain.instance)
        run = before.run if before and domain.run is None else domain.run
        memory.adopt(domain)
        if kind is not None and gap is not None:
            comparison.incidents.append(
                _incident(memory, domain, run, kind, listing.moment, gap)
            )
    return comparison


def _news_of(row: Row | None, domain: Domain) -> Kind | None:
    """The failure that a domain's state shows and its row does not."""
    kind = domains.failure_of(domain)
    if row is None or kind is None:
        return kind
    same_state = (row.state, row.reason) == (domain.state, domain.reason)
    if kind is Kind.CRASH:
        is_known = (
            same_state
            or row.ending
            or row.state is State.CRASHED
            or _was_elsewhere(row)
        )
    elif kind is Kind.PANIC:
        is_known = row.state is domain.state and row.run == domain.run
    else:
        is_known = same_state and row.run == domain.run
    return None if is_known else kind


def _was_elsewhere(row: Row) -> bool:
    """Whether a domain that is off now need not have run here.

    One that came undefined is there only if it arrived.
    """
    return row.is_elsewhere and row.reason != domains.INCOMING


def _is_unexplained(row: Row, domain: Domain) -> bool:
    return (
        row.state is State.RUNNING
        and domain.state is State.SHUTOFF
        and domain.reason in _INCONCLUSIVE
        and not row.ending
    )


def _incident(
    memory: Memory,
    domain: Domain,
    run: int | None,
    kind: Kind,
    moment: float,
    gap: Gap,
) -> Incident:
    row = memory.row_of(domain.instance, domain.name)
    return Incident(
        memory.fail(row, kind, moment),
        domain.instance,
        row.name,
        kind,
        moment,
        domain.state,
        run,
        row.metadata,
        gap=gap,
    )
