# SPDX-License-Identifier: Apache-2.0
"""Are the options of the room registered, and bad values explained?"""

from oslo_config import cfg
from oslotest import base

from kronos.common.exceptions import ConfigurationError
from kronos.conf import opts, validation

LINE = 'pinned: nodes=2, cpus=44, memory_mb=184388'


class TestOption(base.BaseTestCase):
    def configured(self, line: str) -> cfg.ConfigOpts:
        conf = cfg.ConfigOpts()
        path = self.create_tempfiles(
            [('kronos', f'[kronos]\nnuma_cells = {line}\n')]
        )[0]
        opts.register_opts(conf)
        conf([], project='kronos', default_config_files=[path])
        return conf

    def test_lines(self) -> None:
        other = 'b: nodes=1, cpus=4, memory_mb=9'
        conf = self.configured(f'{LINE}\nnuma_cells = {other}')
        validation.require_valid(conf)
        self.assertEqual([LINE, other], conf.kronos.numa_cells)

    def test_bad(self) -> None:
        """Names the option, the value and the rule."""
        error = self.assertRaises(
            ConfigurationError,
            validation.require_valid,
            self.configured('a: nodes=2'),
        )
        self.assertIn('[kronos] numa_cells', str(error))
        self.assertIn("'a: nodes=2': it must be AGGREGATE:", str(error))
