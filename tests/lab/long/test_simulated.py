# SPDX-License-Identifier: Apache-2.0
"""The simulator plans what continuous audits plan in the lab."""

import json
import pathlib
import re
from typing import Any

import fixtures
import yaml

from kronos.recordings import reader
from kronos.simulate import load as loads
from tests.lab import base, hours

SECONDS = 15
"""From audit to audit in the lab."""
SPEED = hours.STEP // SECONDS
AUDITS = 13
WINDOW = 2700
"""Of the averages in the sample, in seconds of the hour."""
BEFORE = WINDOW // hours.STEP - 1
"""Ticks of the window that precede the hour."""
OPTIONS = {
    'cooldown': 540,
    'instance_cooldown': 21600,
    'return_guard': 86400,
    'min_age': 900,
}
"""In seconds of the hour. The cooldown lets every other audit plan: ten
minutes would, too, but for the second or two that an audit of the lab takes,
which are half a minute of the hour."""
BANDWIDTH = 72
"""MiB per second: with it a move takes as long in the hour as in the lab."""
QUERY = 0.4
"""Seconds after its beginning at which an audit asks Prometheus."""
SETTLED = 1.0
"""So many seconds before that a tick counts as a window sees it."""
RATE = 5
"""Seconds that rate() looks back: more than two scrapes."""
COUNTS = {'cmp1': 8, 'cmp2': 2, 'cmp3': 5, 'cmp4': 5, 'cmp5': 3, 'cmp6': 3}
SEED = 51
"""Of an hour in which no decision hangs on a thousandth: that much Prometheus
errs by here."""


class TestSimulated(base.LabTestCase):
    """An hour in fast time, twenty times as fast.

    The exporter plays usages that change every 15 s in place of every 300 s,
    and an audit of kronos_spread plans and acts as often. Windows, cooldowns
    and ages are a twentieth of what the simulator has. Every window averages
    the ticks in it, as those of the simulator do: it takes one value of each,
    when the moves of the tick are over, of the host as well as of the server.
    All that came before the hour is like its first tick.
    """

    settled = 0.0005

    def test_an_hour(self) -> None:
        self.hour = hours.made_up(SEED, AUDITS + 1, COUNTS)
        self.recordings = self.folder()
        self.write_policies(0.0)
        in_lab = {name: value // SPEED for name, value in OPTIONS.items()}
        self.configure(
            record_dir=self.recordings,
            migration_bandwidth=BANDWIDTH,
            **in_lab,
        )
        self.boot_all()
        audit = self.going_on('aggregates=alpha', SECONDS)
        self.wait(lambda: self.planned(audit), 'an audit')
        began = self.play(audit)
        self.wait(
            lambda: max(self.planned(audit)) >= AUDITS - 1,
            'the last audit of the hour',
        )
        planned = self.planned(audit)
        self.wait(self.is_over, 'the last plan to end')
        steps, placed = self.simulated(audit, began)
        self.assertEqual(
            [planned.get(tick, []) for tick in range(AUDITS)], steps
        )
        self.assertGreater(len([*filter(None, steps)]), 3)
        self.assertEqual(placed, self.cloud.placement())

    def boot_all(self) -> None:
        """Boot the servers of the hour; what they use is settled then."""
        self.boot(
            base.Wanted(
                name,
                host,
                self.hour.cores[name][0],
                self.hour.memory_mb[name],
                flavor='lab.large',
            )
            for name, host in self.hour.hosts.items()
        )
        self.wait(self.is_settled, 'the usages of the servers')

    def is_settled(self) -> bool:
        """Whether their averages are those of the first tick."""
        [cpu, _] = yaml.safe_load(self.policies.read_text())['policies']
        usages = sorted(
            float(series['value'][1])
            for series in self.cloud.promql(cpu['vm_profile_query'])
        )
        expected = sorted(row[0] for row in self.hour.cores.values())
        return len(usages) == len(expected) and all(
            abs(usage - cores) < 0.01
            for usage, cores in zip(usages, expected, strict=True)
        )

    def play(self, audit: dict[str, Any]) -> float:
        """Let the hour go on from its first audit; when that was."""
        [first] = self.of_audit(self.recordings, audit)
        began = reader.read(str(first)).gathered.taken_at
        self.write_policies(began + QUERY)
        self.cloud.play(
            cores={name: row[1:] for name, row in self.hour.cores.items()},
            step=SECONDS,
            start=began + QUERY - SETTLED,
        )
        return began

    def is_over(self) -> bool:
        plans = self.cloud.watcher('/v1/action_plans')['action_plans']
        return not [plan for plan in plans if plan['state'] == 'ONGOING']

    def simulated(
        self, audit: dict[str, Any], began: float
    ) -> tuple[list[list[hours.Step]], dict[str, str]]:
        """What the simulator plans, from a directory as a fetch writes it."""
        first = self.of_audit(self.recordings, audit)[0]
        recording = reader.read(str(first))
        path = str(self.folder() / 'load')
        loads.write(
            path, hours.load(recording, self.hour, began, SPEED, BEFORE)
        )
        settings = [(name, str(value)) for name, value in OPTIONS.items()]
        settings += [('window.cpu', f'avg:{WINDOW}')]
        return hours.simulated(loads.read(path), BEFORE, settings)

    def folder(self) -> pathlib.Path:
        return pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def write_policies(self, moment: float) -> None:
        """The sample, but with windows that take one value of each tick.

        Prometheus takes them at multiples of the step; from an audit they
        are half a tick away, so that none is out or in by chance.

        :param moment: Unix seconds at which an audit asks
        """
        content = yaml.safe_load((base.SAMPLES / 'policies.yaml').read_text())
        late = (moment - SECONDS / 2) % SECONDS
        early = SETTLED - SECONDS / 2 - late
        rate = f'[{RATE}s] offset {early * 1000:.0f}ms'
        window = f'[{WINDOW // SPEED}s:{SECONDS}s] offset {late * 1000:.0f}ms'
        cpu = content['policies'][0]
        cpu['imbalance_query'] = re.sub(
            r'^label_replace\((.*?),(\s+"host")',
            rf'label_replace(avg_over_time((\1){window}),\2',
            cpu['imbalance_query'].replace('[45m]', rate),
            flags=re.DOTALL,
        )
        cpu['vm_profile_query'] = (
            cpu['vm_profile_query']
            .replace('[2m]', rate)
            .replace('[45m:2m]', window)
        )
        self.policies.write_text(yaml.safe_dump(content))

    def planned(self, audit: dict[str, Any]) -> dict[int, list[hours.Step]]:
        """The steps of all audits so far, by their tick.

        Watcher leaves an audit out while a plan is carried out.
        """
        taken = [
            reader.read(str(path)).gathered.taken_at
            for path in self.of_audit(self.recordings, audit)
        ]
        reports = self.of_audit(self.reports, audit, '.json')
        return {
            round((moment - taken[0]) / SECONDS): [
                (step['instance_name'], step['source'], step['destination'])
                for step in json.loads(path.read_text())['scopes'][0]['steps']
            ]
            for moment, path in zip(taken, reports, strict=False)
        }

    def of_audit(
        self, folder: pathlib.Path, audit: dict[str, Any], ending: str = ''
    ) -> list[pathlib.Path]:
        """What it wrote, from the oldest to the newest."""
        return sorted(folder.glob(f'kronos-*-{audit["UUID"]}{ending}'))
