# SPDX-License-Identifier: Apache-2.0
"""Is the part of maintenance asked, and silent where nothing is set?"""

import argparse

from oslo_config import cfg
from oslotest import base

from kronos.cmd.checks import parts
from kronos.cmd.checks.cloud import Apis
from kronos.cmd.checks.findings import Findings
from kronos.conf import opts
from kronos.extensions.maintenance.commands.part import MaintenanceCommands


class TestMaintenanceCommands(base.BaseTestCase):
    def test_nothing_is_set(self) -> None:
        conf, findings = cfg.ConfigOpts(), Findings()
        opts.register_opts(conf)
        parsed = argparse.Namespace(offline=False)
        [part] = [
            each
            for each in parts.every()
            if isinstance(each, MaintenanceCommands)
        ]
        part.check(parsed, conf, None, Apis(), findings)
        self.assertEqual([], findings.items)
