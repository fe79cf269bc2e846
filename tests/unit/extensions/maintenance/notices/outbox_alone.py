# SPDX-License-Identifier: Apache-2.0
"""Does each notice get to the webhook, whatever happens meanwhile?"""

import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from kronos.engine.types import ComputeService
from kronos.extensions.maintenance.closing_reason import ClosingReason, Step
from kronos.extensions.maintenance.notices.notice import Event
from kronos.extensions.maintenance.notices.outbox import MAX_BYTES, Outbox
from kronos.monitor.deliveries.delivery import Backoff
from kronos.monitor.spool import Spool, SpoolError
from tests.unit.extensions.maintenance.notices import hooks
from tests.unit.extensions.maintenance.notices.hooks import AUDIT, KEY, notice

SOON = Backoff(0.01, 0.02)
PATIENCE = 30.0


def service(host: str, reason: str = '') -> ComputeService:
    status = 'disabled' if reason else 'enabled'
    return ComputeService(
        host, state='up', status=status, disabled_reason=reason
    )


def closed(host: str, step: Step, since: float = 1e9) -> ComputeService:
    return service(host, str(ClosingReason('r', step, since, AUDIT)))


class OutboxTestCase(hooks.NoticeTestCase):
    def outbox(self, url: str, **more: Any) -> Outbox:
        spool = Spool(str(self.folder / 'outbox.db'), MAX_BYTES)
        box = Outbox(spool, self.hook(url, **more), SOON)
        self.addCleanup(box.close)
        return box

    def wait(self, is_so: Callable[[], bool]) -> None:
        until = time.monotonic() + PATIENCE
        while not is_so():
            self.assertLess(time.monotonic(), until, 'it never came')
            time.sleep(0.005)


class TestDelivery(OutboxTestCase):
    def test_once_each_in_order(self) -> None:
        receiver = self.receiver()
        box = self.outbox(receiver.url)
        rows = [notice(Event.CLOSED), notice(), notice(Event.REOPENED)]
        for row in [*rows, *rows]:
            box.add(row)
        self.wait(lambda: len(receiver.bodies) == 3)
        box.close()
        self.assertEqual([row.id for row in rows], receiver.ids)
        self.assertTrue(hooks.is_authentic()(KEY, *self.signed(receiver)))

    def test_dead_and_back(self) -> None:
        """It outlives the applier; each try is signed anew."""
        with socket.create_server(('127.0.0.1', 0)) as server:
            port = server.getsockname()[1]
        url = f'http://127.0.0.1:{port}/hook'
        box = self.outbox(url)
        box.add(notice(Event.CLOSED))
        box.add(notice())
        box.close()
        receiver = self.receiver(port=port)
        box = self.outbox(url)
        box.add(notice())
        self.wait(lambda: len(receiver.bodies) == 2)
        expected = [notice(Event.CLOSED).id, notice().id]
        self.assertEqual(expected, receiver.ids)

    def test_refused_for_a_while(self) -> None:
        receiver = self.receiver()
        receiver.statuses = [500, 302, 403, 400, 204]
        box = self.outbox(receiver.url)
        box.add(notice())
        self.wait(lambda: receiver.ids == [notice().id])
        self.assertEqual(5, len(receiver.raw))
        self.assertEqual({receiver.raw[0]}, {*receiver.raw})

    def test_replay_has_the_same_id(self) -> None:
        """The answer got lost: the receiver knows it by its id."""
        receiver = self.receiver()
        box = self.outbox(receiver.url)
        box.add(notice())
        self.wait(lambda: len(receiver.bodies) == 1)
        box.close()
        (self.folder / 'outbox.db').unlink()
        box = self.outbox(receiver.url)
        box.catch_up({'h1': closed('h1', Step.HANDED_OVER)})
        self.wait(lambda: len(receiver.bodies) == 2)
        self.assertEqual([notice().id] * 2, receiver.ids)

    def test_a_receiver_that_never_answers(self) -> None:
        """Neither the next notice nor the end of the applier waits."""
        with socket.create_server(('127.0.0.1', 0), backlog=50) as server:
            url = f'http://127.0.0.1:{server.getsockname()[1]}/hook'
            box = self.outbox(url, timeout=600.0)
            box.add(notice())
            ended = threading.Event()

            def work() -> None:
                for number in range(50):
                    box.add(notice(host=f'h{number + 1}'))
                box.close(0.0)
                ended.set()

            threading.Thread(target=work, daemon=True).start()
            self.assertTrue(ended.wait(PATIENCE))
        receiver = self.receiver()
        self.outbox(receiver.url)
        self.wait(lambda: len(receiver.bodies) == 50)


class TestCatchUp(OutboxTestCase):
    def test_killed_before_it_could_tell(self) -> None:
        receiver = self.receiver()
        box = self.outbox(receiver.url)
        box.add(notice(host='h2'))
        box.add(notice(host='h4'))
        box.catch_up(
            {
                'h1': closed('h1', Step.EMPTYING),
                'h2': closed('h2', Step.HANDED_OVER),
                'h3': service('h3', 'mine'),
                'h4': service('h4'),
                'h5': service('h5'),
            }
        )
        self.wait(lambda: len(receiver.bodies) == 4)
        expected = [
            notice(host='h2').id,
            notice(host='h4').id,
            notice(Event.CLOSED).id,
            notice(Event.REOPENED, 'h4').id,
        ]
        self.assertEqual(expected, receiver.ids)


class TestFullDisk(OutboxTestCase):
    def test_it_waits_in_memory(self) -> None:
        receiver = self.receiver()
        spool = Spool(str(self.folder / 'outbox.db'), MAX_BYTES)
        commit, is_full = spool.commit, [True]

        def full(changes: Any) -> int:
            if is_full[0]:
                raise SpoolError(path='x', reason='disk full')
            return commit(changes)

        spool.commit = full  # type: ignore[method-assign]
        box = Outbox(spool, self.hook(receiver.url), SOON)
        self.addCleanup(box.close)
        box.add(notice(Event.CLOSED))
        is_full[0] = False
        box.add(notice())
        self.wait(lambda: len(receiver.bodies) == 2)
        expected = [notice(Event.CLOSED).id, notice().id]
        self.assertEqual(expected, receiver.ids)
