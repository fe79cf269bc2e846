# SPDX-License-Identifier: Apache-2.0
"""Is an option of oslo.config what its row says?"""

from oslo_config import cfg
from oslotest import base

from kronos.conf import planning
from tests.unit.options.test_row import Options


class TestOptions(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.conf = cfg.ConfigOpts()
        self.conf.register_opts(planning.of(Options))
        self.conf([], default_config_files=[], default_config_dirs=[])

    def test_defaults(self) -> None:
        """Of choices the plain word, which a sample file shows."""
        found = {option.name: option for option in planning.of(Options)}
        self.assertEqual(
            {'hosts': 1, 'window': 60, 'speed': 'slow', 'rules': ['a']},
            {name: option.default for name, option in found.items()},
        )
        self.assertIs(str, type(found['speed'].default))
        self.assertEqual('Seconds.', found['window'].help)

    def test_limits_and_kinds(self) -> None:
        for name, value in (
            ('hosts', 0),
            ('hosts', 10),
            ('window', '1.5'),
            ('speed', 'broken'),
        ):
            self.assertRaises(ValueError, self.conf.set_override, name, value)
