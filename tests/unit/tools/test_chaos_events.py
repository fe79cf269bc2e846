# SPDX-License-Identifier: Apache-2.0
"""Are the events of a seed always the same, and such as the lab knows?"""

import itertools
import pathlib
import sys
import time
from collections import Counter
from unittest import mock

from oslotest import base

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / 'tools'))

from chaoskit import doing, events, nodes, scene  # noqa: E402
from chaoskit.facts import NotDone, Outages  # noqa: E402
from labkit import faults, troubled  # noqa: E402

LONG = 3600.0


def steps(seed=7, seconds=LONG, names=scene.NAMES):
    return list(events.steps(seed, names, seconds))


class TestSteps(base.BaseTestCase):
    def test_the_same_seed(self):
        self.assertEqual(steps(), steps())
        self.assertNotEqual(steps(7, 60.0), steps(8, 60.0))

    def test_a_longer_run_begins_alike(self):
        short = [one for one in steps(7, 300.0) if one.at < 300.0]
        self.assertEqual(short, steps()[: len(short)])

    def test_an_event_depends_on_its_number_alone(self):
        found = {one.number: one.event for one in steps()}
        for number in (0, 5, 50, 500):
            self.assertEqual(
                found[number], events.draw(7, number, scene.NAMES)
            )

    def test_in_the_order_of_their_time(self):
        found = steps()
        for one, other in itertools.pairwise(found):
            self.assertLessEqual(one.at, other.at)
        gaps = [one.at for one in found if one.phase == events.BEGIN]
        self.assertLessEqual(len(gaps), LONG / events.PAUSES[0])
        self.assertGreater(len(gaps), LONG / events.PAUSES[1] - 2)

    def test_what_begins_is_taken_back(self):
        begun, ended = Counter(), Counter()
        for one in steps():
            if one.phase == events.END:
                ended[one.number] += 1
            elif one.event.seconds:
                begun[one.number] += 1
        self.assertEqual(begun, ended)
        self.assertEqual({1}, set(begun.values()))

    def test_all_kinds_come(self):
        kinds = {one.event.kind for one in steps()}
        self.assertEqual(set(events.KINDS), kinds)
        subjects = {one.event.subject for one in steps(seconds=5 * LONG)}
        for names in (
            scene.NAMES.hosts,
            scene.NAMES.servers,
            scene.NAMES.killed,
            scene.NAMES.stopped,
        ):
            self.assertLessEqual(set(names), subjects)

    def test_their_line(self):
        told = {'of': 'default', 'rule': {'seconds': 8}}
        event = events.Event(3, 'migrations', '', 12.0, told)
        step = events.Step(1.5, 3, events.END, event)
        self.assertEqual(
            "#3 no more migrations of=default rule={'seconds': 8} for 12 s",
            str(step),
        )


class TestTheLabKnowsThem(base.BaseTestCase):
    def test_rules(self):
        """What it would refuse would never happen."""
        rules, answers = {}, []
        for one in steps(seconds=5 * LONG):
            if one.event.kind == 'migrations':
                rules[str(one.number)] = one.event.told['rule']
            elif one.event.kind == 'nova-api':
                answers.append(one.event.told['rule'])
        self.assertGreater(len(rules), len(events.MIGRATIONS))
        faults.check_migrations(rules)
        faults.check_api(answers)
        self.assertEqual(events.TROUBLES, troubled.TROUBLES)

    def test_each_has_hands(self):
        """Of whatever is done, somebody knows how, and how to undo it."""
        hands = object.__new__(doing.Hands)
        hands._tellers = dict.fromkeys(
            ('prometheus', 'exporter', 'nova-api', 'migrations')
        )
        hands._nodes = nodes.Nodes(None, Outages())
        for one in steps() + steps(names=scene.HA_NAMES):
            self.assertTrue(callable(hands._work(one)), one)


class TestNodes(base.BaseTestCase):
    """Nodes of three fail, and never two of a cluster at a time."""

    def test_all_kinds_come(self):
        names = scene.HA_NAMES
        drawn = [one.event for one in steps(seconds=5 * LONG, names=names)]
        self.assertLessEqual(set(events.NODE_KINDS), {e.kind for e in drawn})
        self.assertNotIn('stop', {event.kind for event in drawn})
        self.assertLessEqual(
            {*names.databases, *names.brokers},
            {event.subject for event in drawn},
        )
        self.assertLessEqual(
            {e.subject for e in drawn if e.kind == 'node-desync'},
            {*names.databases},
        )

    def test_one_at_a_time(self):
        lab, outages = mock.Mock(), Outages()
        works = nodes.Nodes(lab, outages).works()
        kill, end = works['node-kill']
        kill(events.Event(1, 'node-kill', 'db2'))
        self.assertTrue(outages.open('mariadb'))
        isolate, rejoin = works['node-isolate']
        other = events.Event(2, 'node-isolate', 'db3')
        self.assertRaises(NotDone, isolate, other)
        self.assertRaises(NotDone, rejoin, other)
        isolate(events.Event(3, 'node-isolate', 'mq3'))
        end(events.Event(1, 'node-kill', 'db2'))
        self.assertEqual(
            [
                mock.call.stop('db2', kill=True),
                mock.call.isolate('mq3'),
                mock.call.start('db2'),
                mock.call.resume('db2'),
            ],
            lab.mock_calls,
        )
        self.assertFalse(outages.open('mariadb'))
        self.assertTrue(outages.open('rabbitmq'))

    def test_clocks(self):
        """A service is away while it is restarted, and not after that."""
        lab, outages = mock.Mock(), Outages()
        every = nodes.Nodes(lab, outages)
        skew, right = every.works()['clock']
        first, second = [
            events.Event(n, 'clock', f'applier-{n}', 60.0, {'ahead': 90.0})
            for n in (1, 2)
        ]
        self.assertRaises(NotDone, right, first)
        skew(first)
        skew(second)
        self.assertFalse(outages.open('applier-1'))
        self.assertTrue(outages.any({'applier-1'}, 0.0, time.time()))
        right(first)
        every.heal()
        self.assertEqual(
            [
                mock.call.skew('applier-1', 90.0),
                mock.call.skew('applier-2', 90.0),
                mock.call.restart('applier-1'),
                mock.call.restart('applier-2'),
            ],
            lab.mock_calls,
        )

    def test_healing(self):
        lab, outages = mock.Mock(), Outages()
        every = nodes.Nodes(lab, outages)
        pause, _ = every.works()['node-pause']
        pause(events.Event(1, 'node-pause', 'db1'))
        every.heal()
        every.heal()
        self.assertEqual(
            [
                mock.call.pause('db1'),
                mock.call.start('db1'),
                mock.call.resume('db1'),
            ],
            lab.mock_calls,
        )
