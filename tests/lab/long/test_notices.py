# SPDX-License-Identifier: Apache-2.0
"""The broker is away, which hears what becomes of the moves."""

import socket

from tests.lab import base
from tests.lab.test_notices import restart_without_options
from tests.lab.test_spread import pile

from labkit import layout  # isort: skip

LOST = 'are being lost'


class TestBrokerAway(base.LabTestCase):
    options = {'notify': 'true'}  # noqa: RUF012

    def test_the_move_goes_on(self) -> None:
        """Its notices are lost, which is told once."""
        with layout.KRONOS.open('a') as file, socket.socket() as closed:
            closed.bind(('127.0.0.1', 0))
            file.write(
                '[oslo_messaging_notifications]\ndriver = noop\n'
                'transport_url = rabbit://kronos:secret@127.0.0.1:'
                f'{closed.getsockname()[1]}/\n'
            )
        log = layout.LOG / 'watcher-applier.log'
        self.lab.restart('watcher-applier')
        self.addCleanup(restart_without_options, self.lab)
        self.boot(pile('cmp1', 6))
        _audit, plan, _actions = self.audited(
            'aggregates=alpha max_migrations=2'
        )
        self.carried_out(plan)
        self.wait(lambda: LOST in log.read_text(), 'the warning')
        told = log.read_text()
        self.assertEqual(1, told.count(LOST))
        self.assertNotIn('secret', told)
