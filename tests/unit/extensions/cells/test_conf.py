# SPDX-License-Identifier: Apache-2.0
"""May an option of cells say what no cloud can be like?"""

import pathlib

import fixtures
from oslo_config import cfg
from oslotest import base

from kronos.common import exceptions
from kronos.conf import opts, validation


def options(*files: pathlib.Path) -> cfg.ConfigOpts:
    conf = cfg.ConfigOpts()
    opts.register_opts(conf)
    conf([], default_config_files=[*map(str, files)], default_config_dirs=[])
    return conf


class TestLimits(base.BaseTestCase):
    def test_no_speed_and_no_time(self) -> None:
        """A snapshot takes some time, and ends some time."""
        conf = options()
        for name, value in (
            ('long_rpc_timeout', 0),
            ('snapshot_mb_per_second', 0),
            ('max_concurrent_cell_moves', 0),
            ('cell_move_timeout', 0),
            ('confirm_timeout', 0),
            ('revert_timeout', 0),
            ('cell_verify_seconds', -1),
        ):
            self.assertRaises(
                ValueError, conf.set_override, name, value, opts.KRONOS
            )
        self.assertIs(False, conf.kronos.cell_move_lossy)


class TestVerifyQuery(base.BaseTestCase):
    def test_tells_of_a_server_or_of_its_host(self) -> None:
        conf = options()
        for query in (
            'up{instance="{host}"}',
            'ping_ok{uuid="{uuid}"} == 1',
            '',
        ):
            conf.set_override('cell_verify_query', query, opts.KRONOS)
            self.assertEqual(query, conf.kronos.cell_verify_query)
            validation.require_valid(conf)
        conf.set_override('cell_verify_query', '  ', opts.KRONOS)
        self.assertEqual('', conf.kronos.cell_verify_query)

    def test_tells_of_neither(self) -> None:
        """It would take every server back, or none."""
        folder = self.useFixture(fixtures.TempDir()).path
        file = pathlib.Path(folder, 'watcher.conf')
        file.write_text('[kronos]\ncell_verify_query = up == 1\n')
        error = self.assertRaises(
            exceptions.ConfigurationError,
            validation.require_valid,
            options(file),
        )
        self.assertEqual(
            f'Bad configuration: [kronos] cell_verify_query in {file}: it '
            'contains neither {uuid} nor {host}, so it does not measure the '
            'server that was moved',
            str(error),
        )
