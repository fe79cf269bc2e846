# SPDX-License-Identifier: Apache-2.0
"""Are answers, events and bounds in the files what the engine knows?"""

import math
from types import SimpleNamespace

from oslotest import base

from kronos.engine.types import (
    ClockDifference,
    Event,
    Health,
    Origin,
    Outcome,
    Reading,
    Sample,
    Seeds,
)
from kronos.recordings import load, schema
from tests.builders import recordings
from tests.unit.recordings import test_inventory_schema as inventory
from tests.unit.recordings import test_load

EVENT = Event(
    instance='u',
    source='a',
    destination='b',
    outcome=Outcome.FAILED,
    at=2.0,
    origin=Origin.WATCHER,
    scope='s',
    error_type='E',
    fault='f',
    status='FAILED',
    plan='p',
    began=1.0,
    phase='pack',
    is_resize=True,
    seconds=3.0,
)


class TestEvents(base.BaseTestCase):
    def test_nothing_is_lost(self) -> None:
        for name, value in inventory.defaults(Event).items():
            self.assertNotEqual(value, getattr(EVENT, name), name)
        row = schema.copied(EVENT, schema.EventRow)
        self.assertEqual(EVENT, schema.copied(row, Event))

    def test_keys(self) -> None:
        self.assertEqual(
            [
                'instance',
                'source',
                'destination',
                'outcome',
                'at',
                'origin',
                'scope',
                'error_type',
                'fault',
                'status',
                'plan',
                'began',
                'phase',
                'is_resize',
                'seconds',
            ],
            list(vars(schema.copied(EVENT, schema.EventRow))),
        )
        self.assertEqual(
            inventory.defaults(Event), inventory.defaults(schema.EventRow)
        )


class TestReadings(test_load.ArchiveTestCase):
    def test_nothing_is_lost(self) -> None:
        one = Reading(
            'q',
            Health.STALE,
            [Sample('l', 1.0, 2.0, 's')],
            'why',
            True,
            'store 2',
            3,
            'up{}',
            clock=ClockDifference(1.0, 2.0),
        )
        row = schema.ReadingFile.of(one, 'host', ['l'])
        self.assertEqual(one, row.reading())
        self.assertEqual(
            [
                *('query', 'label', 'health', 'samples', 'error', 'is_away'),
                *('incomplete', 'unlabelled', 'unlabelled_series', 'clock'),
            ],
            list(vars(row)),
        )
        self.assertEqual(
            ['label', 'value', 'timestamp', 'series'],
            list(vars(row.samples[0])),
        )

    def test_series_that_nobody_confuses(self) -> None:
        """They are left out: nobody looks at them."""
        one = Reading('q', samples=[Sample('l', 1.0, 2.0, 's')])
        row = schema.ReadingFile.of(one, 'host', [])
        self.assertEqual('', row.samples[0].series)

    def test_what_is_no_number(self) -> None:
        """NaN is an answer of Prometheus, but no JSON."""
        one = recordings.small()
        odd = Reading(
            'ram_of_host',
            Health.PARTIAL,
            [
                Sample('a1', math.nan, 1.0, 'ram{host="a1"}'),
                Sample('a1', 0.5, 1.0, 'ram{host="a1",x="y"}'),
                Sample('a2', -math.inf, 1.0, 'of no use'),
            ],
        )
        one.answers['ram_of_host', 'host'] = odd
        load.write(str(self.path), one)
        found = load.read(str(self.path)).answers['ram_of_host', 'host']
        odd.samples[2].series = ''
        self.assertEqual(repr(odd), repr(found))


class TestBounds(base.BaseTestCase):
    def test_too_much(self) -> None:
        rows = [SimpleNamespace(n=0), SimpleNamespace(n=schema.MOST)]
        self.assertEqual('', schema.too_much(rows, ['n']))
        self.assertIn('[0].n: must be', schema.too_much(rows, ['n'], 1))
        rows[1].n += 1
        self.assertIn('[1].n: must be', schema.too_much(rows, ['n']))

    def test_repeated(self) -> None:
        rows = [SimpleNamespace(n=name) for name in 'aba']
        self.assertEqual('', schema.repeated(rows[:2], 'n'))
        self.assertEqual('[2].n: a is there twice', schema.repeated(rows, 'n'))


class TestSeeds(base.BaseTestCase):
    def test_sections(self) -> None:
        self.assertEqual(Seeds(), schema.seeds({'_comment': 'anything'}))
        self.assertEqual(
            Seeds({'a': 1.0}, {'u': 2.0}, {'v': -1.0}),
            schema.seeds(
                {
                    'aggregate_cooldowns': {'a': 1.0},
                    'instance_cooldowns': {'u': 2.0},
                    'instance_quarantines': {'v': -1.0},
                }
            ),
        )

    def test_faults(self) -> None:
        for sections, text in (
            (
                {'cooldowns': {}},
                'cooldowns: there is no such section; did you mean ',
            ),
            ({'instance_cooldowns': 1}, 'must be a mapping of names'),
            ({'instance_cooldowns': {'u': '1'}}, 'must be a mapping of names'),
            ({'instance_cooldowns': {'u': -2.0}}, 'cooldowns.u: must be sec'),
            ({'instance_cooldowns': {'u': math.nan}}, 'must be a mapping'),
        ):
            with self.subTest(sections=sections):
                error = self.assertRaises(ValueError, schema.seeds, sections)
                self.assertIn(text, str(error))
