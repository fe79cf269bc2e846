# SPDX-License-Identifier: Apache-2.0
"""The demonstration of a cloud that Kronos evens out, from end to end."""

import configparser
import json
import os
import subprocess
import time
from typing import Any

from labkit import cleaning, layout, running, scores, settings, topology
from labkit.lab import Lab
from labkit.wanted import Wanted

AGGREGATE = 'alpha'
DISABLED = 'cmp6'
FULL = ('cmp1', 'cmp2')
CORES = (1.4, 0.6, 1.0, 0.8, 1.2)
MEMORY_MB = (2560, 5120, 3584, 4608)
PER_HOST = 9
MAX_MIGRATIONS = 20
WINDOW_SECONDS = 20
"""How far the rates look back. Prometheus scrapes every two seconds here, so
that is enough; production has fewer scrapes, and the sample two minutes."""
POLICIES = layout.RUN / 'demo-policies.yaml'
OPTIONS = f"""\
[kronos]
policies_file = {POLICIES}
# Longer than the window.
cooldown = {WINDOW_SECONDS + 5}
"""
OVER = ('SUCCEEDED', 'FAILED', 'CANCELLED')


def run(lab: Lab, down: bool = False) -> int:
    """Run the demonstration.

    :param down: bring the lab down afterwards
    :returns: 0 if Kronos did all that it should and nothing that it should
        not
    """
    begin = time.monotonic()
    lab.up(cells=1)
    try:
        return Demo(lab).run(begin)
    finally:
        if down:
            lab.down()


def scope_of(host: str) -> str:
    """Name of a host's aggregate; a host is in one at most here."""
    for name, hosts in topology.AGGREGATES.items():
        if host in hosts:
            return name
    return ''


class Demo:
    """One run, with what it must remember for its verdict."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.cloud = lab.cloud
        self.hosts = topology.AGGREGATES[AGGREGATE]
        self.counted = [host for host in self.hosts if host != DISABLED]

    def run(self, begin: float) -> int:
        """All steps in order."""
        try:
            return self._run(begin)
        finally:  # whoever looks around has the sample itself
            layout.KRONOS.unlink(missing_ok=True)

    def _run(self, begin: float) -> int:
        self._step('An uneven cloud', self._build)
        before = self.cloud.placement()
        self._step(
            f'Prometheus sees it (rates look back {WINDOW_SECONDS} s here)',
            self._settle,
        )
        self._show_scores('Scores before')
        audit = self._step('An audit', self._audit)
        plan = self._step('Its action plan', self._start_plan, audit)
        after = self.cloud.placement()
        self._show_moves(before, after)
        self._step('Prometheus sees the result', self._settle)
        result = self._show_scores('Scores after')
        wrong = self._actions_wrong(plan) + self._rules_broken(before, after)
        return self._verdict(wrong + self._uneven(result), begin)

    def _verdict(self, wrong: list[str], begin: float) -> int:
        seconds = time.monotonic() - begin
        for line in wrong:
            print(f'NOT AS IT SHOULD BE: {line}')
        verdict = 'failed' if wrong else 'passed'
        print(f'\nThe demo {verdict} after {seconds:.0f} s.')
        print(
            'To look around: eval "$(./tools/lab env)"; '
            'to end: ./tools/lab down'
        )
        return 1 if wrong else 0

    def _step(self, title: str, work: Any, *arguments: Any) -> Any:
        print(f'\n== {title} ...', flush=True)
        begin = time.monotonic()
        result = work(*arguments)
        print(f'== {title}: {time.monotonic() - begin:.1f} s', flush=True)
        return result

    # The cloud

    def _build(self) -> None:
        cleaning.reset(self.cloud)
        self._look_back_less()
        pair = self.cloud.group('pair', 'anti-affinity')
        wanted = [
            Wanted(
                f'web-{number + 1}',
                FULL[number % 2],
                CORES[number % len(CORES)],
                MEMORY_MB[number % len(MEMORY_MB)],
                'lab.large',
            )
            for number in range(2 * PER_HOST)
        ]
        wanted += [
            Wanted('pair-1', 'cmp1', 1.0, 3072, 'lab.large', pair),
            Wanted('pair-2', 'cmp2', 1.0, 3072, 'lab.large', pair),
            Wanted('locked-1', 'cmp1', 1.0, 3072, 'lab.large'),
            Wanted('unseen-1', 'cmp2', 1.0, 3072, 'lab.large', metrics=False),
            Wanted('beta-1', 'cmp7', 1.5, 4096, 'lab.large'),
            Wanted('beta-2', 'cmp7', 1.5, 4096, 'lab.large'),
            Wanted('alone-1', 'cmp9', 1.5, 4096, 'lab.large'),
        ]
        servers = self.cloud.boot_all(wanted)
        uuids = {server['name']: server['id'] for server in servers}
        self.lab.connection().compute.lock_server(
            uuids['locked-1'], locked_reason='shown in the demo'
        )
        self.cloud.set_host(DISABLED, False, 'shown in the demo')
        print(
            f'{len(servers)} servers; in aggregate {AGGREGATE} all are on '
            f'{" and ".join(FULL)}.\npair-1 and pair-2 are an anti-affinity '
            'group, locked-1 is locked, unseen-1 has no metrics,\n'
            f'host {DISABLED} is disabled.'
        )

    def _look_back_less(self) -> None:
        """Have Kronos use the sample's policies with a short window."""
        text = scores.POLICIES.read_text()
        POLICIES.write_text(scores.shortened(text, WINDOW_SECONDS))
        layout.KRONOS.write_text(OPTIONS)

    def _settle(self) -> None:
        begin = time.monotonic()
        said = begin

        def settled() -> bool:
            nonlocal said
            if time.monotonic() - said > 20:
                said = time.monotonic()
                print(f'   waiting, {said - begin:.0f} s', flush=True)
            return (
                scores.is_settled(self.cloud.promql, POLICIES)
                and self._is_cool()
            )

        running.wait_for(settled, 600, 'the scores to settle', 2)

    def _is_cool(self) -> bool:
        """Whether an earlier run's migrations no longer hold planning."""
        config = configparser.ConfigParser(interpolation=None)
        config.read(layout.KRONOS)
        since = time.strftime(
            '%Y-%m-%dT%H:%M:%SZ',
            time.gmtime(time.time() - config.getint('kronos', 'cooldown')),
        )
        if self._planned:
            return True
        answer = self.cloud.compute.get(
            f'/os-migrations?changes-since={since}', microversion='2.80'
        )
        return not answer.json()['migrations']

    _planned = False

    # Kronos, by the openstack client

    def _audit(self, aggregate: str = AGGREGATE) -> str:
        return self._audited(
            'kronos_balance',
            'kronos_spread',
            f'aggregates={aggregate}',
            f'max_migrations={MAX_MIGRATIONS}',
        )

    def _audited(self, goal: str, strategy: str, *parameters: str) -> str:
        """Make an audit, and wait for it; its uuid."""
        words = ['--goal', goal, '--strategy', strategy]
        for parameter in parameters:
            words += ['-p', parameter]
        name = f'demo-{time.time():.0f}'
        audit = self._openstack('audit', 'create', *words, '--name', name)
        self._planned = True
        uuid = str(_value(audit, 'UUID'))
        state = self._wait_state('audits', uuid)
        shown = self._openstack('audit', 'show', uuid)
        print(f'state: {_value(shown, "State")}')
        print(f'status message: {_value(shown, "Status Message")}')
        if state != 'SUCCEEDED':
            raise running.LabError(f'the audit ended {state}')
        return uuid

    def _start_plan(self, audit: str) -> str:
        plans = self._openstack('actionplan', 'list', '--audit', audit)
        if not plans:
            raise running.LabError('the audit left no action plan')
        plan = str(_value(plans[0], 'UUID'))
        shown = self._openstack('actionplan', 'show', plan)
        print(f'state: {_value(shown, "State")}')
        for indicator in _value(shown, 'Efficacy indicators'):
            print(f'  {indicator["name"]}: {indicator["value"]:g}')
        self._openstack('actionplan', 'start', plan)
        state = self._wait_state('action_plans', plan)
        print(f'the plan ended {state}')
        return plan

    def _wait_state(self, kind: str, uuid: str) -> str:
        def over() -> str:
            state = self.cloud.watcher(f'/v1/{kind}/{uuid}')['state']
            return str(state) if state in OVER else ''

        return running.wait_for(over, 900, f'{kind} {uuid} to end', 1)

    def _openstack(self, *arguments: str) -> Any:
        """Run the client as an operator would; JSON for our own use."""
        command = ['openstack', 'optimize', *arguments]
        print(f'$ {" ".join(command)}', flush=True)
        done = subprocess.run(
            [layout.program('openstack'), *command[1:], '-f', 'json'],
            env={**os.environ, **settings.client_variables(self.lab.ports)},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise running.LabError(
                f'{" ".join(command)} failed: {done.stderr.strip()}'
            )
        return json.loads(done.stdout or 'null')

    # What came of it

    def _show_scores(self, title: str) -> list[scores.Scores]:
        result = scores.read(self.cloud.promql, POLICIES)
        servers = list(self.cloud.placement().values())
        remarks = {
            host: f'{servers.count(host)} servers' for host in self.hosts
        }
        remarks[DISABLED] += ', disabled'
        print(f'\n{title} (aggregate {AGGREGATE})')
        print('\n'.join(scores.table(result, self.hosts, remarks)))
        return result

    def _show_moves(
        self, before: dict[str, str], after: dict[str, str]
    ) -> None:
        print('\nserver       before  after')
        for name in sorted(before, key=lambda name: (before[name], name)):
            same = before[name] == after.get(name)
            where = 'stays' if same else f'-> {after.get(name)}'
            print(f'{name:12} {before[name]:7} {where}')

    def _actions_wrong(self, plan: str) -> list[str]:
        listed = self._openstack('action', 'list', '--action-plan', plan)
        states = [_value(action, 'State') for action in listed]
        print(f'{len(listed)} actions: {", ".join(sorted(set(states)))}')
        wrong = []
        if not listed:
            wrong.append('the plan has no action')
        for action in listed:
            if _value(action, 'State') != 'SUCCEEDED':
                uuid = _value(action, 'UUID')
                shown = self._openstack('action', 'show', str(uuid))
                wrong.append(
                    f'action {uuid} is {_value(shown, "State")}: '
                    f'{_value(shown, "Status Message")}'
                )
        return wrong

    def _rules_broken(
        self, before: dict[str, str], after: dict[str, str]
    ) -> list[str]:
        wrong = []
        if after['pair-1'] == after['pair-2']:
            wrong.append('the anti-affinity pair shares a host')
        wrong += [
            f'{name} was moved'
            for name in ('locked-1', 'unseen-1')
            if after[name] != before[name]
        ]
        if DISABLED in after.values():
            wrong.append(f'the disabled host {DISABLED} got a server')
        wrong += [
            f'{name} left its aggregate'
            for name, host in before.items()
            if scope_of(host) != scope_of(after[name])
        ]
        wrong += [
            f'{server["name"]} is {server["status"]}'
            for server in self.cloud.servers().values()
            if server['status'] != 'ACTIVE'
        ]
        return wrong

    def _uneven(self, found: list[scores.Scores]) -> list[str]:
        return [
            f'policy {one.policy.name} is at '
            f'{one.imbalance(self.counted):.3f}, over its threshold'
            for one in found
            if one.imbalance(self.counted) > one.policy.threshold
        ]


def _value(row: dict[str, Any], name: str) -> Any:
    """A column of the client's output, however it writes its title."""
    wanted = name.lower().replace(' ', '_')
    for key, value in row.items():
        if key.lower().replace(' ', '_') == wanted:
            return value
    raise KeyError(f'no column {name} in {sorted(row)}')
