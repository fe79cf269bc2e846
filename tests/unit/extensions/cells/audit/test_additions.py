# SPDX-License-Identifier: Apache-2.0
"""What does the log say of moves that an earlier plan began?"""

from oslo_log import log as logging
from oslotest import base

from kronos.engine import types
from kronos.engine.reasons import Code, Reason
from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.audit.additions import CellAdditions
from kronos.extensions.cells.cell_drain import CellOutcome, ForeignMove
from kronos.strategies.outcome import audit_log
from tests.builders.cells import unfinished


class TestLog(base.BaseTestCase):
    def test_moves_that_were_begun(self):
        cell = CellOutcome(
            'old',
            ['new'],
            1,
            1,
            finishing=[unfinished('a')],
            unconfirmed=[unfinished('b')],
            going_on=[unfinished('c', plan='p'), unfinished('d')],
            of_others=[ForeignMove('e', 'web', 'o2', 'n2', 'old')],
        )
        why = Reason('it is in action plan p', Code.CELL_BEGUN)
        scope = types.AggregateResult(
            'alpha',
            types.StopReason.DONE,
            'done',
            beside={cell_drain.NAME: cell},
            stayed={'c': why},
        )
        begun = 'o1 -> n1, begun by action action-'
        self.assertEqual(
            [
                (logging.INFO, f'scope alpha: finish a (a) {begun}a'),
                (
                    logging.WARNING,
                    f'scope alpha: not confirmed: b (b) {begun}b: "openstack '
                    'server resize confirm b", or revert',
                ),
                (
                    logging.INFO,
                    f'scope alpha: left as it is: c (c) {begun}c: it is in '
                    'action plan p',
                ),
                (
                    logging.INFO,
                    f'scope alpha: left as it is: d (d) {begun}d: it is '
                    'VERIFY_RESIZE',
                ),
                (
                    logging.WARNING,
                    'scope alpha: server e (web) is in VERIFY_RESIZE by '
                    'somebody else (o2 -> n2): confirm or revert it',
                ),
            ],
            list(audit_log.lines(types.CycleReport([scope]), CellAdditions()))[
                1:
            ],
        )
