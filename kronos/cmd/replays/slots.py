# SPDX-License-Identifier: Apache-2.0
"""The slots of a recording: how many more servers of each flavor fit."""

import argparse
from collections.abc import Sequence
from typing import Any

from kronos.cmd import tables
from kronos.cmd.tables import Row
from kronos.common import plain_text
from kronos.common.exceptions import ConfigurationError
from kronos.common.names import near_names
from kronos.engine.slots import (
    flavors,
    host_slots,
    numa_facts,
    scope_slots,
)
from kronos.engine.slots.scope_slots import ScopeSlots
from kronos.engine.types import Flavor
from kronos.recordings import replay
from kronos.recordings.recording import Recording
from kronos.recordings.replay import Replay, ReplayOptions

HEAD = ('scope', 'flavor', 'slots', 'by_sum_of_free', 'hosts_with_slots')
HEAD_OF_TABLE = ('scope', 'flavor', 'slots', 'by sum of free', 'on hosts')


class SlotTable(ScopeSlots):
    """The slots of all scopes of a recording."""

    def rows(self, head: Row = HEAD) -> list[Row]:
        """For programs, the names of the columns first."""
        return [
            head,
            *(
                (
                    each.scope,
                    each.flavor,
                    str(each.total),
                    str(each.by_sum),
                    str(sum(number > 0 for number in each.hosts.values())),
                )
                for each in self.slots
            ),
        ]

    def document(self) -> dict[str, Any]:
        return {
            'slots': [
                {
                    'scope': each.scope,
                    'flavor': each.flavor,
                    'slots': each.total,
                    'by_sum_of_free': each.by_sum,
                    'hosts': dict(each.hosts),
                    'closed_hosts': dict(each.closed),
                }
                for each in self.slots
            ],
            'not_counted': self.refused,
        }

    def printed(self, form: str, width: int | None) -> str:
        """As a command prints it."""
        if form in tables.WHOLE:
            return tables.whole(self.document(), form)
        if form != 'table':
            return tables.printed(self.rows(), form)
        lines = tables.aligned(self.rows(HEAD_OF_TABLE), width)
        lines += [
            f'Not counted: {name}: {why}' for name, why in self.refused.items()
        ]
        return '\n'.join(map(plain_text.line, lines))


def add(parser: argparse.ArgumentParser) -> None:
    """Add its options to kronos-replay."""
    parser.add_argument(
        '--slots',
        action='store_true',
        help='plan nothing, and show how many more servers of each flavor '
        'fit into each scope, next to the number that the sum of the free '
        'capacity suggests',
    )
    parser.add_argument(
        '--flavor',
        metavar='NAME',
        action='append',
        default=[],
        help='with --slots: count only this flavor; may be repeated (default: '
        'every flavor in the recording)',
    )


def misuse(parsed: argparse.Namespace, recordings: int) -> str:
    """What is wrong with its arguments; '' if nothing."""
    if parsed.flavor and not parsed.slots:
        return '--flavor requires --slots'
    if not parsed.slots:
        return ''
    if recordings != 1 or parsed.compare is not None or parsed.html:
        return (
            '--slots requires exactly one recording, and neither --compare '
            'nor --html'
        )
    return ''


def of(
    recording: Recording, options: ReplayOptions, names: Sequence[str]
) -> SlotTable:
    """Count the slots of a recording.

    :param names: of flavors; empty: all of the recording
    :raises ConfigurationError: the recording does not have a flavor
    """
    inputs = replay.cycle(recording, options)
    by_name = _flavors(recording, names, '--slots')
    counted = scope_slots.count(
        inputs.snapshots,
        by_name,
        names,
        inputs.settings,
        numa_facts.of(recording.gathered.beside.values()),
    )
    return SlotTable(counted.slots, counted.refused)


def of_host(plan: Replay, host: str, name: str) -> list[dict[str, Any]]:
    """Why a host has as many slots of a flavor, in each of its scopes.

    :raises ConfigurationError: the recording does not have the flavor, or
        its slots are not counted
    """
    flavor = _flavors(plan.recording, [name], '--flavor')[name]
    facts = numa_facts.of(plan.recording.gathered.beside.values())
    if why := flavors.why_not(flavor, bool(facts.layouts)):
        raise ConfigurationError(reason=f'--flavor {name}: {why}')
    demand = flavors.of(flavor, plan.settings.check_disk)
    return [
        host_slots.document(snapshot, host, demand, plan.settings, facts)
        for snapshot in plan.snapshots
        if host in snapshot.hosts
    ]


def _flavors(
    recording: Recording, names: Sequence[str], option: str
) -> dict[str, Flavor]:
    """Those of a recording, by name.

    :raises ConfigurationError: it does not have one of the names, or any
    """
    gathered = recording.gathered
    by_name = flavors.of_cloud(gathered.instances, gathered.beside.values())
    for name in names:
        if name not in by_name:
            hint = near_names.of_cloud(name, sorted(by_name))
            raise ConfigurationError(
                reason=f'--flavor {name}: no such flavor in the recording; '
                + hint
            )
    if not by_name:
        raise ConfigurationError(
            reason=f'{option}: the recording does not contain the flavors of '
            'its servers; make a new recording'
        )
    return by_name
