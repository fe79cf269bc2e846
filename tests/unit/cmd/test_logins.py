# SPDX-License-Identifier: Apache-2.0
"""Does each command end, with one line, whatever Keystone answers?"""

from tests.unit.monitor import alone


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.cmd.logins_alone'

    def test_all(self) -> None:
        self.run_alone()
