# SPDX-License-Identifier: Apache-2.0
"""Does the probe tell what Watcher could not load, or what it cannot read?

The functional tests run it as a process, which becomes a service.
"""

import pathlib
import sys

import fixtures
import sqlalchemy as sa
from oslo_config import cfg
from oslo_db import exception as db_exc
from oslo_db.sqlalchemy import enginefacade
from oslotest import base

from kronos.watcher_db import service_probe
from tests.unit.cmd.upgrade_checks import packages
from tests.watcher_tests import db_base
from tests.watcher_tests import db_utils as utils

SECRET = 's3cret'


class TestWhyNot(base.BaseTestCase):
    """By Watcher's own loaders, from packages that are here."""

    def setUp(self):
        super().setUp()
        self.packages = self.useFixture(packages.Packages())
        # It remembers what it found, wherever it looked.
        self.useFixture(
            fixtures.MonkeyPatch(
                'stevedore.ExtensionManager.ENTRY_POINT_CACHE', {}
            )
        )

    def why(self, text):
        """Of a strategy whose module is this text."""
        self.packages.folder.joinpath('probed.py').write_text(text)
        self.addCleanup(sys.modules.pop, 'probed', None)
        self.packages.add(
            'probed', '1.0', '[watcher_strategies]\nprobed = probed:Probed\n'
        )
        return service_probe.why_not('watcher_strategies', 'probed')

    def test_each_of_ours(self):
        for group, name in (
            ('watcher_goals', 'kronos_balance'),
            ('watcher_strategies', 'kronos_spread'),
            ('watcher_planners', 'kronos'),
            ('watcher_actions', 'kronos_live_migrate'),
        ):
            self.assertEqual('', service_probe.why_not(group, name))

    def test_one_that_is_not_there(self):
        self.assertIn(
            'NoMatches',
            service_probe.why_not('watcher_strategies', 'kronos_later'),
        )

    def test_an_import(self):
        """Its text names what is missing."""
        self.assertEqual(
            "ModuleNotFoundError: No module named 'nowhere'",
            self.why('import nowhere'),
        )

    def test_any_other_error(self):
        """Its text may be anything."""
        self.assertEqual(
            'ValueError', self.why(f'raise ValueError("{SECRET}")')
        )


class TestDatabase(db_base.DbTestCase):
    def test_none(self):
        """Reading it would make one."""
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for url in ('sqlite://', f'sqlite:///{folder}/none.sqlite'):
            cfg.CONF.set_override('connection', url, 'database')
            answer = service_probe._database(service_probe.ENGINE)
            self.assertIn(
                '[database] connection is not set', answer['database_error']
            )
        self.assertEqual([], [*folder.iterdir()])

    def test_one_that_nobody_has_used(self):
        result = service_probe._of_engine()
        self.assertEqual(cfg.CONF.host, result['host'])
        self.assertEqual(([], []), (result['plans'], result['services']))
        self.assertEqual(0, result['stored']['known'])
        self.assertIn('kronos_spread', result['stored']['new'])
        result = service_probe._of_applier()
        actions = result['actions']
        self.assertIn('kronos_live_migrate', actions['unannounced'])

    def test_one_odd_row(self):
        """It spoils the part that it is of, and no other."""
        utils.create_test_service(id=1, name='watcher-applier')
        with enginefacade.writer.using(self.context) as session:
            session.execute(
                sa.text("UPDATE services SET last_seen_up = 'tomorrow'")
            )
        result = service_probe._of_engine()
        self.assertEqual({'services': 'ValueError'}, result['unread'])
        self.assertNotIn('services', result)
        self.assertEqual([], result['plans'])
        self.assertIn('kronos_spread', result['stored']['new'])

    def test_the_database_is_to_blame(self):
        def gone():
            raise db_exc.DBConnectionError()

        self.assertRaises(
            db_exc.DBConnectionError, service_probe.each, plans=gone
        )
