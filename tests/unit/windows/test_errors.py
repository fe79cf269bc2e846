# SPDX-License-Identifier: Apache-2.0
"""Is a bad window an error of the configuration?"""

from oslotest import base

from kronos.common import exceptions
from kronos.windows.errors import WindowError


class TestWindowError(base.BaseTestCase):
    def test_text(self) -> None:
        error = WindowError('no time of day')
        self.assertIsInstance(error, exceptions.ConfigurationError)
        self.assertEqual('no time of day', str(error))
