# SPDX-License-Identifier: Apache-2.0
"""Are the events of a seed always the same, and such as the lab knows?"""

import itertools
import pathlib
import sys
from collections import Counter

from oslotest import base

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / 'tools'))

from chaoskit import doing, events, scene  # noqa: E402
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
        for one in steps():
            self.assertTrue(callable(hands._work(one)), one)
