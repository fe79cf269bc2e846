# SPDX-License-Identifier: Apache-2.0
"""The commands that the documentation shows for a cloud run in the lab."""

from tests import documented
from tests.lab import base


class TestDocumented(base.LabTestCase):
    def test_openstack_commands(self):
        """With the lab's aggregates instead of the example's."""
        ran = 0
        for where, command in documented.commands():
            program, _, rest = command.partition(' ')
            if program != 'openstack':
                continue
            rest = rest.replace('gpu,hpc', 'alpha,beta')
            done = self.run_client(rest)
            self.assertEqual(
                0, done.returncode, f'{where}: {command}\n{done.stderr}'
            )
            ran += 1
        self.assertGreater(ran, 3)
