# SPDX-License-Identifier: Apache-2.0
"""May an option of cells say what no cloud can be like?"""

from oslo_config import cfg
from oslotest import base

from kronos.conf import opts


class TestLimits(base.BaseTestCase):
    def test_no_speed_and_no_time(self) -> None:
        """A snapshot takes some time, and ends some time."""
        conf = cfg.ConfigOpts()
        opts.register_opts(conf)
        conf([], default_config_files=[], default_config_dirs=[])
        for name, value in (
            ('long_rpc_timeout', 0),
            ('snapshot_mb_per_second', 0),
        ):
            self.assertRaises(
                ValueError, conf.set_override, name, value, opts.KRONOS
            )
        self.assertIs(False, conf.kronos.cell_move_lossy)
