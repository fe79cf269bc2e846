# SPDX-License-Identifier: Apache-2.0
"""Is what every kind of move has read as it is meant?"""

from oslo_config import cfg
from oslotest import base

from kronos.actions.core import parameters
from kronos.common import exceptions
from kronos.conf import opts
from tests.unit.actions.live.test_parameters import TOLD


class TestNotBefore(base.BaseTestCase):
    def setUp(self):
        super().setUp()
        conf = cfg.ConfigOpts()
        opts.register_opts(conf)
        conf([])
        self.options = conf.kronos

    def not_before(self, text):
        settings = parameters.shared({'not_before': text}, self.options)
        return settings['not_before']

    def test_none(self):
        settings = parameters.shared(TOLD, self.options)
        self.assertEqual(0.0, settings['not_before'])
        self.assertEqual(0.0, self.not_before(''))

    def test_in_utc_if_it_names_no_zone(self):
        self.assertEqual(86400.0, self.not_before('1970-01-02T00:00:00'))

    def test_with_a_zone(self):
        for text in (
            '1970-01-02T00:00:00Z',
            '1970-01-02T02:00:00+02:00',
            '1970-01-01T19:00:00-05:00',
        ):
            self.assertEqual(86400.0, self.not_before(text))

    def test_bad(self):
        for text in ('soon', '2026-13-01', '12:00', '1763752294'):
            error = self.assertRaises(
                exceptions.PreFlightError, self.not_before, text
            )
            self.assertIn(f'not_before is no time: "{text}"', str(error))


class TestFacts(base.BaseTestCase):
    def test_all(self):
        self.assertEqual(
            {
                'instance_uuid': TOLD['resource_id'],
                'instance_name': 'one',
                'scope': 'alpha',
                'phase': 'spread',
                'source': 'h1',
                'destination': 'h2',
                'action_uuid': 'a',
                'action_plan_uuid': 'p',
                'audit_uuid': 'u',
            },
            vars(parameters.facts(TOLD)),
        )
