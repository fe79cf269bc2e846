# SPDX-License-Identifier: Apache-2.0
"""Prometheus reads the dashboard's queries, and its picture is up to date.

Prometheus' own programs judge them: nothing of the lab has to run.
"""

import shutil
import unittest

import yaml
from oslotest import base

from tests import dashboards
from tests.lab.board import picture
from tests.lab.test_planner_alerts import PromtoolTestCase


class TestQueries(PromtoolTestCase):
    def test_each_parses(self):
        """With the variables filled in, as rules."""
        rules = [
            {
                'record': f'panel_{panel.number}_{number}',
                'expr': dashboards.filled(query.expression, 'gpu|web'),
            }
            for panel in dashboards.panels(dashboards.read())
            for number, query in enumerate(panel.queries)
        ]
        text = self.check(rules)
        self.assertIn(f'{len(rules)} rules found', text)

    def test_no_variable_is_unknown(self):
        self.assertRaises(KeyError, dashboards.filled, 'up{host="$host"}')

    def check(self, rules):
        file = self.folder / 'panels.yml'
        group = {'name': 'panels', 'rules': rules}
        file.write_text(yaml.safe_dump({'groups': [group]}))
        return self.assert_good('check', 'rules', str(file))


@unittest.skipUnless(shutil.which('prometheus'), 'Prometheus is missing')
class TestPicture(base.BaseTestCase):
    def test_is_up_to_date(self):
        """A day of samples, asked for by the queries, drawn again.

        No panel of it is empty.
        """
        for file, text in picture.make().items():
            self.assertNotIn('No data', text)
            self.assertEqual(
                text,
                file.read_text(),
                f'{file.name}: make it anew with {picture.COMMAND}',
            )
