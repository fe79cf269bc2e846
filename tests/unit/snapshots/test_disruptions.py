# SPDX-License-Identifier: Apache-2.0
"""Does each move count once, whoever reports it?"""

from collections.abc import Sequence
from typing import Any

from oslotest import base

from kronos.engine.settings import Settings
from kronos.engine.types import Disruption, Event, Instance, Origin, Outcome
from kronos.snapshots import disruptions
from tests.unit.clients.nova.test_client import (
    NOVA,
    SERVERS,
    NovaTestCase,
    server,
)

NOW = 1_800_000_000.0
INSTANCES = [
    Instance('u', 'a', project_id='p'),
    Instance('v', 'a', project_id='q'),
]


def event(
    uuid: str,
    outcome: Outcome,
    origin: Origin = Origin.WATCHER,
    at: float = NOW - 30,
    began: float = NOW - 60,
) -> Event:
    return Event(uuid, 'a', 'b', outcome, at, origin, began=began)


def gathered(
    started: list[Disruption],
    *events: Event,
    deleted: Sequence[Disruption] = (),
) -> list[Disruption]:
    return disruptions.of(started, events, INSTANCES, deleted, Settings(), NOW)


class TestDisruptions(base.BaseTestCase):
    def test_of_nova(self) -> None:
        """The project of a move is that of its server."""
        started = [
            Disruption('shelved', '', NOW - 9),
            Disruption('u', '', 5.0),
        ]
        self.assertEqual(
            [started[0], Disruption('u', 'p', 5.0)], gathered(started)
        )

    def test_of_deleted_servers(self) -> None:
        """They count once, whether Nova still has their migrations or not."""
        deleted = [
            Disruption('gone', 'r', NOW - 9),
            Disruption('u', 'p', NOW - 5),
        ]
        self.assertEqual(
            deleted[:1],
            gathered([Disruption('gone', '', NOW - 8)], deleted=deleted),
        )

    def test_waiting(self) -> None:
        planned = event('v', Outcome.PLANNED)
        expected = [Disruption('v', 'q')]
        self.assertEqual(expected, gathered([], planned))
        gone = event('gone', Outcome.PLANNED)
        self.assertEqual([], gathered([], gone))

    def test_an_action_that_has_asked_nova_counts_once(self) -> None:
        going = event('u', Outcome.UNDER_WAY)
        self.assertEqual([Disruption('u', 'p')], gathered([], going))
        before = Disruption('u', 'p', NOW - 61)
        expected = [before, Disruption('u', 'p')]
        self.assertEqual(expected, gathered([before], going))
        since = Disruption('u', 'p', NOW - 59)
        self.assertEqual([since], gathered([since], going))

    def test_under_way(self) -> None:
        """Not what was left behind by a nova-compute that was killed."""
        row = Disruption('u', 'p', NOW - 50, is_under_way=True)
        running = event('u', Outcome.UNDER_WAY, Origin.NOVA)
        self.assertEqual([row], gathered([row], running))
        over = Disruption('u', 'p', NOW - 50)
        self.assertEqual([over], gathered([row]))

    def test_it_runs_for_longer_than_nova_was_asked_about(self) -> None:
        old = event('u', Outcome.UNDER_WAY, Origin.NOVA, at=NOW - 9000)
        expected = [Disruption('u', 'p', NOW - 9000, is_under_way=True)]
        self.assertEqual(expected, gathered([], old))
        stuck = event('u', Outcome.UNDER_WAY, Origin.NOVA, at=NOW - 9e5)
        self.assertEqual([], gathered([], stuck))


class TestOfDeleted(NovaTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.wire.get(
            SERVERS,
            json={
                'servers': [
                    server(uuid, status='DELETED', tenant_id=project)
                    | {'OS-SRV-USG:terminated_at': '2027-01-15T07:59:30'}
                    for uuid, project in (('gone', 'p'), ('other', 'q'))
                ]
            },
        )
        self.move = '2027-01-15T07:59:00'
        for uuid in ('gone', 'other'):
            self.wire.get(
                f'{NOVA}/servers/{uuid}/os-instance-actions',
                json={
                    'instanceActions': [
                        {
                            'request_id': 'req-1',
                            'action': 'live-migration',
                            'start_time': self.move,
                        }
                    ]
                },
            )

    def of_deleted(self, **options: Any) -> list[str]:
        """Uuids of the servers whose moves count."""
        moves = disruptions.of_deleted(self.nova, Settings(**options), NOW)
        self.assertLessEqual({each.started for each in moves}, {NOW - 60})
        return [each.instance for each in moves]

    def test_of_every_project(self) -> None:
        self.assertEqual(
            ['gone', 'other'], self.of_deleted(project_budget='1/600')
        )
        [request] = self.keystone.requests('/servers/detail')
        self.assertEqual(['2027-01-15t07:50:00z'], request.qs['changes-since'])
        self.assertEqual(['true'], request.qs['deleted'])

    def test_of_projects_with_a_budget(self) -> None:
        """Nova is asked for the requests for no other servers."""
        budgets = {'p': '1/600'}
        self.assertEqual(['gone'], self.of_deleted(project_budgets=budgets))
        self.assertEqual([], self.keystone.requests('/servers/other'))

    def test_without_a_budget_that_they_count_in(self) -> None:
        """Neither those of groups, nor those that look at this moment."""
        for options in (
            {'group_budget': '1/600', 'instance_budget': '1/600'},
            {'project_budget': '2'},
            {},
        ):
            self.assertEqual([], self.of_deleted(**options))
        self.assertEqual([], self.keystone.requests('/servers/detail'))
