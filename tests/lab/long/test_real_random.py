# SPDX-License-Identifier: Apache-2.0
"""A real guest is moved to and fro under random load, speeds and faults.

``KRONOS_SEED`` repeats a run; the seed is among what a failure shows.
"""

import os
import random
import time
from typing import Any, ClassVar

from labkit import running
from labkit.real import guest_control, ticks
from testtools import content

from tests.lab import real
from tests.lab.real import DESTINATION, SOURCE

MOVES = 30
LOADS = ('cpu 1', 'cpu 30', 'cpu 80', 'dirty 5', 'dirty 20')
SPEEDS = (4, 8, 16, 0)
FAULTS = (
    'cancel',
    'qemu of the destination',
    'libvirtd of the destination',
    'libvirtd of the source',
)
OFTEN = 1 / 3


class TestRandom(real.RealTestCase):
    options: ClassVar[dict[str, Any]] = {
        **real.RealTestCase.options,
        'recover_rows': True,
        'instance_quarantine_seconds': 0,
        'migration_timeout': 60,
        'migration_timeout_per_gib': 0,
        'max_retries': 0,
    }

    def test_thirty_moves(self) -> None:
        seed = int(os.environ.get('KRONOS_SEED', time.time()))
        self.story = [f'seed {seed}']
        self.addDetail(
            'story',
            content.Content(
                content.text_content('').content_type,
                lambda: [line.encode() + b'\n' for line in self.story],
            ),
        )
        rng = random.Random(seed)
        self.boot_guests({'one': SOURCE})
        for _ in range(MOVES):
            load, speed = rng.choice(LOADS), rng.choice(SPEEDS)
            wanted = speed and rng.random() < OFTEN  # others end too soon
            fault = rng.choice(FAULTS) if wanted else ''
            self.story.append(f'{load}, {speed} MiB/s, {fault or "no fault"}')
            self.move(load, speed, fault)
        heard = self.listening['one'].heard
        self.tell('stood still', sorted(ticks.standstills(heard)))

    def move(self, load: str, speed: int, fault: str) -> None:
        source = self.cloud.placement()['one']
        [goal] = {SOURCE, DESTINATION} - {source}
        self.order('one', load)
        self.speed('one', speed)
        plan = self.evacuation(source)
        self.assertEqual(1, len(self.actions(plan)))
        self.start(plan)
        if fault:
            self.wait(lambda: self.is_under_way(plan), 'the move to begin')
            self.fail_by(fault, source, goal, plan)
        self.executed(plan)
        text = self.rows(plan)['one']['status_message'] or ''
        self.story.append(f'  {self.rows(plan)["one"]["state"]}: {text}')
        for host in (source, goal):
            self.lab.start(f'libvirtd-{host}')
        self.wait(lambda: not self.cloud.disabled(), 'all hosts to be whole')
        server = self.cloud.servers()[self.uuids['one']]
        if server['status'] == 'ERROR':
            self.put_right('one', text)
        self.assert_at_rest({'one': self.cloud.placement()['one']})
        self.order('one', load.split()[0] + ' 0')
        self.assert_alive('one')
        self.assert_audited()

    def is_under_way(self, plan: dict[str, Any]) -> bool:
        """Whether memory is being sent, or all is over."""
        url = f'/v1/action_plans/{plan["uuid"]}'
        over = self.cloud.watcher(url)['state'] in real.base.FINAL
        return over or bool(self.figures('one').get('memory_processed_bytes'))

    def fail_by(
        self, fault: str, source: str, goal: str, plan: dict[str, Any]
    ) -> None:
        if fault == 'cancel':
            done = self.run_client(
                f'optimize actionplan cancel {plan["uuid"]}'
            )
            self.story.append(f'  cancel: {done.returncode}')
        elif fault == 'qemu of the destination':
            try:
                guest_control.kill(self.lab, goal, 'one')
            except running.LabError as error:
                self.story.append(f'  too late: {error}')
        else:
            host = goal if fault.endswith('destination') else source
            self.kill_libvirtd(host)
