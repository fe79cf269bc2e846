# SPDX-License-Identifier: Apache-2.0
"""What does maintenance read in the audits of all strategies?"""

from typing import Any

from oslo_config import cfg
from oslotest import base

from kronos.conf import opts
from kronos.engine.settings import Settings
from kronos.extensions.maintenance.audit import live_runs
from kronos.extensions.maintenance.audit.part import MaintenanceAudits
from kronos.extensions.maintenance.readings.done_hosts import RunQueries
from kronos.extensions.maintenance.readings.other_runs import OtherRunsReader
from kronos.snapshots import parts


class TestPart(base.BaseTestCase):
    def test_reader(self) -> None:
        """Live runs, by the queries that are configured."""
        clients: Any = None  # they are not asked
        conf = cfg.ConfigOpts()
        opts.register_opts(conf)
        conf.set_override('maintenance_done_query', 'x', 'kronos')
        conf.set_override('maintenance_ready_query', 'y', 'kronos')
        [part] = [
            each
            for each in parts.every()
            if isinstance(each, MaintenanceAudits)
        ]
        self.assertEqual(
            OtherRunsReader(RunQueries('x', 'y'), live_runs.live),
            part.reader(Settings(), conf, clients),
        )
