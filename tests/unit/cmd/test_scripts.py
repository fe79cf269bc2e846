# SPDX-License-Identifier: Apache-2.0
"""Does each entry point start its command, however soon it is interrupted?"""

import contextlib
import io
import sys
import warnings
from unittest import mock

from oslotest import base

from kronos.cmd import scripts

NAMES = (
    'explain',
    'exporter',
    'instance_monitor',
    'record',
    'replay',
    'simulate',
    'status',
    'test_config',
)


class TestScripts(base.BaseTestCase):
    def test_the_exit_status(self) -> None:
        for name in NAMES:
            module = mock.Mock(main=lambda: 7)
            with mock.patch('importlib.import_module') as load:
                load.return_value = module
                self.assertEqual(7, getattr(scripts, name)())
            load.assert_called_once_with(f'kronos.cmd.{name}')

    def test_an_interrupt_while_it_is_loaded(self) -> None:
        for name in NAMES:
            with (
                mock.patch(
                    'importlib.import_module', side_effect=KeyboardInterrupt
                ),
                contextlib.redirect_stderr(io.StringIO()) as err,
            ):
                self.assertEqual(130, getattr(scripts, name)())
            command = name.replace('_', '-')
            self.assertEqual(
                f'kronos-{command}: interrupted\n', err.getvalue()
            )

    def test_warnings_of_libraries(self) -> None:
        """They are for who develops, and asks for them."""
        before = list(warnings.filters)
        for wanted, is_shown in (([], False), (['default'], True)):
            module = mock.Mock(
                main=lambda: warnings.warn('is not supported', stacklevel=1)
            )
            with (
                mock.patch('importlib.import_module', return_value=module),
                mock.patch.object(sys, 'warnoptions', wanted),
                warnings.catch_warnings(),
                contextlib.redirect_stderr(io.StringIO()) as err,
            ):
                warnings.simplefilter('always')
                scripts.replay()
            self.assertEqual(is_shown, 'not supported' in err.getvalue())
        self.assertEqual(before, warnings.filters)
