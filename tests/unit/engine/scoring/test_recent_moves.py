# SPDX-License-Identifier: Apache-2.0
"""Are readings right that still show what has left a host?"""

from typing import Any

from oslotest import base

from kronos.engine.scoring import recent_moves, scorecard
from kronos.engine.settings import Settings, UnexplainedLoad
from kronos.engine.types import Event, Origin, Outcome, Reading, Snapshot
from kronos.policies.models import Mode, Policy
from tests.builders import scopes
from tests.builders.scopes import vm

NOW = 100_000.0
HOUR = 'avg_over_time(load[1h])'


def policy(**more: Any) -> Policy:
    return scopes.policy('cpu', **{'imbalance_query': HOUR, **more})


def scope(shown: dict[str, float], *events: Event) -> Snapshot:
    """Servers of .3 and .1 on host a, of .2 on b, and none on c."""
    servers = [vm('u', 'a', [0.3]), vm('v', 'a', [0.1]), vm('w', 'b', [0.2])]
    hosts = {name: [value] for name, value in shown.items()}
    snapshot = scopes.scope([policy()], hosts, servers)
    snapshot.taken_at = NOW
    snapshot.events = [*events]
    return snapshot


def moved(
    instance: str, source: str, destination: str, age: float, **more: Any
) -> Event:
    return Event(
        instance,
        source,
        destination,
        more.pop('outcome', Outcome.MOVED),
        NOW - age,
        more.pop('origin', Origin.NOVA),
        **more,
    )


class TestValues(base.BaseTestCase):
    def values(
        self,
        snapshot: Snapshot,
        rule: Policy | None = None,
        unexplained: UnexplainedLoad = UnexplainedLoad.FOLLOWS,
    ) -> dict[str, float]:
        settings = Settings(unexplained_load=unexplained)
        card = scorecard.score(snapshot, [rule or policy()], settings)
        values = card.values['cpu']
        return {host: round(value, 6) for host, value in values.items()}

    def test_own_series(self) -> None:
        """After a quarter of the window the source shows three of it."""
        event = moved('u', 'c', 'a', 900.0)
        shown = {'a': 0.175, 'b': 0.2, 'c': 0.225}
        self.assertEqual(
            {'a': 0.4, 'b': 0.2, 'c': 0.0}, self.values(scope(shown, event))
        )
        self.assertEqual(
            {'a': 0.4, 'b': 0.2, 'c': 0.0},
            self.values(
                scope(shown, event), unexplained=UnexplainedLoad.STAYS
            ),
        )

    def test_it_is_not_unexplained_load(self) -> None:
        """Where others are on the source, they do not get it."""
        event = moved('u', 'b', 'a', 900.0)
        snapshot = scope({'a': 0.175, 'b': 0.425, 'c': 0.0}, event)
        settings = Settings(unexplained_load=UnexplainedLoad.FOLLOWS)
        card = scorecard.score(snapshot, [policy()], settings)
        loads = card.attributions['cpu'].hosts
        self.assertEqual(
            [0.0] * 3, [load.unexplained for load in loads.values()]
        )
        snapshot.events = []
        card = scorecard.score(snapshot, [policy()], settings)
        self.assertAlmostEqual(
            0.225, card.attributions['cpu'].hosts['b'].unexplained
        )

    def test_sum_of_servers(self) -> None:
        """Hosts that show what is on them now are right already."""
        shown = {'a': 0.4, 'b': 0.2, 'c': 0.0}
        event = moved('u', 'c', 'a', 60.0)
        self.assertEqual(shown, self.values(scope(shown, event)))
        idle = {host: value + 0.05 for host, value in shown.items()}
        expected = {host: round(value, 6) for host, value in idle.items()}
        self.assertEqual(expected, self.values(scope(idle, event)))

    def test_no_more_than_is_unexplained(self) -> None:
        event = moved('u', 'c', 'a', 0.0)
        shown = {'a': 0.35, 'b': 0.2, 'c': 0.1}
        self.assertEqual(
            {'a': 0.4, 'b': 0.2, 'c': 0.0}, self.values(scope(shown, event))
        )

    def test_on_its_way_through(self) -> None:
        """A host that it has left again shows it for a while, too."""
        events = moved('u', 'b', 'c', 1800.0), moved('u', 'c', 'a', 900.0)
        shown = {'a': 0.1 + 0.075, 'b': 0.2 + 0.15, 'c': 0.075}
        self.assertEqual(
            {'a': 0.4, 'b': 0.2, 'c': 0.0}, self.values(scope(shown, *events))
        )

    def test_told_twice(self) -> None:
        """By Nova and by Watcher; the newer time counts."""
        events = [
            moved('u', 'c', 'a', 900.0),
            moved('u', 'c', 'a', 930.0, origin=Origin.WATCHER),
        ]
        shown = {'a': 0.175, 'b': 0.2, 'c': 0.225}
        self.assertEqual(
            {'a': 0.4, 'b': 0.2, 'c': 0.0}, self.values(scope(shown, *events))
        )

    def test_nothing_to_correct(self) -> None:
        shown = {'a': 0.175, 'b': 0.2, 'c': 0.225}
        old = moved('u', 'c', 'a', 3600.0)
        self.assertEqual(shown, self.values(scope(shown, old)))
        failed = moved('u', 'c', 'a', 900.0, outcome=Outcome.FAILED)
        self.assertEqual(shown, self.values(scope(shown, failed)))
        gone = moved('x', 'c', 'a', 900.0)
        self.assertEqual(shown, self.values(scope(shown, gone)))
        event = moved('u', 'c', 'a', 900.0)
        now = policy(imbalance_query='load')
        self.assertEqual(shown, self.values(scope(shown, event), now))
        off = policy(metrics_window=0.0)
        self.assertEqual(shown, self.values(scope(shown, event), off))
        plain = self.values(
            scope(shown, event), unexplained=UnexplainedLoad.IGNORED
        )
        self.assertEqual(shown, plain)

    def test_window_of_a_recording_rule(self) -> None:
        event = moved('u', 'c', 'a', 900.0)
        rule = policy(imbalance_query='load', metrics_window=3600.0)
        shown = {'a': 0.175, 'b': 0.2, 'c': 0.225}
        self.assertEqual(
            {'a': 0.4, 'b': 0.2, 'c': 0.0},
            self.values(scope(shown, event), rule),
        )


class TestCapacity(base.BaseTestCase):
    def test_the_highest_of_an_hour(self) -> None:
        """What left counts no more; what came is seen at once."""
        rule = policy(
            mode=Mode.PACK,
            imbalance_query='load',
            capacity_query='max_over_time(load[1h])',
        )
        event = moved('u', 'c', 'a', 900.0)
        snapshot = scope({'a': 0.4, 'b': 0.2, 'c': 0.0}, event)
        snapshot.readings['cpu'].capacity = Reading(
            '',
            samples=[
                scopes.Sample(host, value, 0)
                for host, value in {'a': 0.45, 'b': 0.3, 'c': 0.4}.items()
            ],
        )
        settings = Settings(unexplained_load=UnexplainedLoad.FOLLOWS)
        card = scorecard.score(snapshot, [rule], settings)
        loads = {h: round(v, 6) for h, v in card.loads['cpu'].items()}
        self.assertEqual({'a': 0.45, 'b': 0.3, 'c': 0.1}, loads)
        self.assertEqual(0.0, card.values['cpu']['c'])

    def test_windows(self) -> None:
        rule = policy(capacity_query='max_over_time(load[2h])')
        score, load = recent_moves.windows_of(rule)
        self.assertEqual((3600.0, 7200.0), (score.seconds, load.seconds))
        score, load = recent_moves.windows_of(policy())
        self.assertEqual(score, load)
