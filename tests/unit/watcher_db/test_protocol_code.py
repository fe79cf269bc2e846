# SPDX-License-Identifier: Apache-2.0
"""Which code takes each step of the protocol, and does it in that order?"""

import inspect
from collections.abc import Callable
from typing import Any

from oslotest import base
from watcher.applier import rpcapi
from watcher.applier.action_plan import default

from kronos.actions.core import run, slots
from kronos.actions.live import monitor, preflight, request
from kronos.planners import kronos as planner
from kronos.snapshots import collector
from kronos.strategies import audit, history
from kronos.watcher_db import lock, publishing
from tests.protocol.state import DeliveryStep, EngineStep

_Handler = default.DefaultActionPlanHandler
OF_AUDITS: dict[EngineStep, tuple[Callable[..., Any], ...]] = {
    EngineStep.LIVE_PLANS: (publishing.live_plans,),
    EngineStep.READ: (history.events, collector.Collector.collect),
    EngineStep.WRITE_PLAN: (planner.Kronos._write,),
    EngineStep.WRITE_ACTION: (planner.Kronos._write,),
    EngineStep.PUBLISH: (publishing.publish,),
    EngineStep.COMMIT: (lock.exclusively,),
    EngineStep.TRIGGER: (rpcapi.ApplierAPI.launch_action_plan,),
}
OF_DELIVERIES: dict[DeliveryStep, tuple[Callable[..., Any], ...]] = {
    DeliveryStep.START: (_Handler.execute,),
    DeliveryStep.ENTER: (slots.Slots.enter,),
    DeliveryStep.COMMIT_ENTER: (lock.exclusively,),
    DeliveryStep.PREFLIGHT: (preflight.check,),
    DeliveryStep.TAKE: (slots.Slots.take,),
    DeliveryStep.COMMIT_TAKE: (lock.exclusively,),
    DeliveryStep.CONFIRM: (preflight.Admission._check_with_turn,),
    DeliveryStep.REQUEST: (request.MigrationRequest.send,),
    DeliveryStep.WATCH: (monitor.MigrationMonitor.watch,),
    DeliveryStep.RELEASE: (slots.Slots.release,),
    DeliveryStep.END: (_Handler.execute,),
}
"""Who takes each step, in Kronos or in Watcher."""
ORDERS: dict[Callable[..., Any], tuple[str, ...]] = {
    audit.run: ('publishing.live_plans(', 'history.events(', '.collect('),
    planner.Kronos._write: ('plan.create(', 'row.create('),
    planner.Kronos._publish: ('self._write(', 'publishing.publish('),
    publishing._publish: ('_live(', 'lock.mark(', '_Plan.c.state =='),
    run.MoveRun.begin: ('self._is_over(', 'self._await_turn('),
    preflight.Admission.why_wait: (
        'check(self._context.nova',
        'slots.take(',
        'self._check_with_turn(',
    ),
    run.Run._attempt: ('self._conclude(', 'self._watch(', 'self._request('),
}
"""What a function calls, in the order of its text."""


class TestCode(base.BaseTestCase):
    def test_each_step_is_taken(self) -> None:
        self.assertEqual([*EngineStep], [*OF_AUDITS])
        # One of them is no step.
        self.assertEqual([*DeliveryStep][1:], [*OF_DELIVERIES])
        for functions in (*OF_AUDITS.values(), *OF_DELIVERIES.values()):
            self.assertTrue(all(map(callable, functions)))

    def test_order(self) -> None:
        for function, calls in ORDERS.items():
            text = inspect.getsource(function)
            places = [text.find(call) for call in calls]
            self.assertNotIn(-1, places, function)
            self.assertEqual(sorted(places), places, function)
