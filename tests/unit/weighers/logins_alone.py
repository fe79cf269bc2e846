# SPDX-License-Identifier: Apache-2.0
"""Does the thread of a cache get over a Keystone that is not well?

Where Keystone leads to Aetos, by the session that nova-scheduler has.
"""

import time

from keystoneauth1 import session
from keystoneauth1.identity import generic

from kronos.weighers import score_source
from tests.builders.caches import (
    NEUTRAL,
    URL,
    WARNING,
    WEIGHTS,
    WELL,
    CacheTestCase,
)
from tests.fakes import loopback_keystone

SHORT = 3.0
"""Seconds for which a login waits where no answer comes."""


class TestLogins(CacheTestCase):
    def setUp(self):
        super().setUp()
        self.keystone = self.useFixture(
            loopback_keystone.Keystone({'metric-storage': URL})
        )
        self.prometheus.wire.add_passthru(self.keystone.url)
        self.conf.clear_override('url', 'kronos_prometheus')
        self.set('kronos_prometheus', timeout=loopback_keystone.LONG)
        self.session = session.Session(generic.Password(**self.keystone.auth))
        self.source = score_source.ScoreSource(self.conf, lambda: self.session)
        self.cache = self.new_cache()

    def test_each_mood(self):
        self.check_moods(set(loopback_keystone.MOODS) - {'silence'})

    def test_silence(self):
        self.set('kronos_prometheus', timeout=SHORT)
        self.check_moods(['silence'])

    def check_moods(self, moods):
        """Told once, neutral after a while, and then well again."""
        self.fill()
        for nth, mood in enumerate(moods):
            with self.subTest(mood):
                self.keystone.be(mood)
                # So that a new token is needed.
                self.session.auth.invalidate()
                self.pass_by(60.0)
                self.all_weigh(WEIGHTS)
                self.assertEqual((nth + 1, nth), self.pairs())
                self.pass_by(300.0)
                self.all_weigh(NEUTRAL)
                self.assertEqual((nth + 1, nth), self.pairs())
                self.assertNotEqual([], self.keystone.be(''))
                # One that said nothing is left alone for a moment.
                time.sleep(SHORT / 2 if mood == 'silence' else 0)
                self.refresh()
                self.all_weigh(WEIGHTS)
                self.assertEqual((nth + 1, nth + 1), self.pairs())
        for line in self.log.output.splitlines():
            if WARNING in line:
                self.assertIn('Keystone', line)
                self.assertNotIn(self.keystone.auth['password'], line)

    def test_not_well_from_the_start(self):
        """The versions are what is asked for first."""
        self.keystone.be('401')
        self.meet(*WEIGHTS)
        self.pass_by(60.0)
        self.all_weigh(NEUTRAL)
        self.assertEqual(1, self.logged(WARNING))
        self.assertEqual(1, self.logged('answers 401 to the request for its'))
        self.assertNotIn('POST', ''.join(self.keystone.be('')))
        self.refresh()
        self.all_weigh(WEIGHTS)

    def pairs(self):
        return self.logged(WARNING), self.logged(WELL)
