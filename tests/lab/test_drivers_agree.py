# SPDX-License-Identifier: Apache-2.0
"""An audit and a replay of its cloud plan the very same steps.

The recording is the one that the strategy keeps, or that of kronos-record.
"""

import pathlib

import fixtures
import yaml

from tests import documented
from tests.lab import base, replays
from tests.lab.base import Wanted, layout

POOL = '_unassigned_'
LARGE = 'lab.large'
"""A server uses no more cores than it has."""
EVERYTHING = ['--scope', 'alpha', '--scope', 'beta', '--scope', POOL]


class TestDriversAgree(base.LabTestCase):
    """Audits that recommend and are not started: the cloud stays as it is.

    By what a strategy keeps, a replay makes all the moves of the audit. What
    kronos-record asks Prometheus a little earlier leads to the same ones
    wherever no other move is about equally good.
    """

    def setUp(self) -> None:
        super().setUp()
        self.kept = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.made = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.pack = self.sample('policies-pack.yaml')
        self.configure(
            pack_policies_file=self.pack,
            record_dir=self.kept,
            unexplained_load='stays',
        )
        # So no two hosts are equally good; it is the hosts' own load.
        self.cloud.set_exporter(
            base={
                host: {'cpu': 0.3 + 0.7 * n, 'memory_mb': 2048 + 2048 * n}
                for n, host in enumerate(base.topology.HOSTS)
            }
        )

    def test_every_phase_and_scope(self) -> None:
        """Spread with drain and repair, pack, evacuate, affinity."""
        self.uneven()
        self.settle()
        spread, pack = self.recorded('spread'), self.recorded('pack')
        phases: set[str] = set()
        for mode, scope, more in (
            ('spread', 'alpha', {}),
            ('spread', '', {}),
            (
                'spread',
                'alpha',
                {
                    'evacuate_disabled_hosts': 'true',
                    'enforce_hard_affinity': 'true',
                    'enforce_soft_affinity': 'true',
                },
            ),
            ('pack', 'alpha', {}),
            ('evacuate', '', {}),
            ('affinity', 'alpha', {'enforce_soft_affinity': 'true'}),
        ):
            recording = pack if mode == 'pack' else spread
            steps = self.agreed(mode, scope, more, recording)
            self.assertNotEqual([], steps, (mode, scope))
            phases |= {step[1] for step in steps}
            if not scope and mode == 'spread':
                self.assertLess({'alpha'}, {step[0] for step in steps})
        self.assertEqual({'spread', 'pack', 'evacuate', 'affinity'}, phases)
        self.check_other_names(spread)

    def test_documented_commands(self) -> None:
        """They run, with the lab's configuration."""
        paths = {
            '/etc/watcher/watcher.conf': str(layout.ETC / 'watcher.conf'),
            '/tmp/recording': str(self.made / 'recording'),
            '/tmp/with-load': str(self.made / 'with-load'),
            'slots-today': str(self.made / 'slots-today'),
        }
        ran = 0
        for command in dict.fromkeys(one for _, one in documented.commands()):
            program, *words = command.split()
            if program == 'kronos-record':
                replays.run('record', *(paths.get(w, w) for w in words))
                ran += 1
        self.assertGreater(ran, 0)

    def check_other_names(self, recording: pathlib.Path) -> None:
        """Nothing of the cloud is in it, and it plans as many moves.

        :param recording: the same, with the names of the cloud
        """
        folder = self.recorded('spread', '--anonymize')
        texts = {
            path: path.read_text()
            for path in folder.rglob('*')
            if path.is_file()
        }
        servers = self.cloud.servers()
        hidden = [*base.topology.HOSTS, 'alpha', 'beta', *servers]
        hidden += [one['name'] for one in servers.values()]
        for name in hidden:
            for path, text in texts.items():
                self.assertNotIn(name, text, path)
        mine = self.certain(replays.replayed(folder))
        theirs = self.certain(replays.replayed(recording))
        self.assertNotEqual([], theirs)
        # Scopes of other names come in another order.
        self.assertEqual(
            sorted((phase, POOL in scope) for scope, phase, *_ in theirs),
            sorted((phase, POOL in scope) for scope, phase, *_ in mine),
        )

    def settle(self) -> None:
        """Wait until Prometheus has forgotten how servers were before."""
        [cpu] = [
            one
            for one in yaml.safe_load(self.policies.read_text())['policies']
            if one['name'] == 'cpu'
        ]
        wanted = {
            uuid: float(one['metadata']['lab:cpu'])
            for uuid, one in self.cloud.servers().items()
        }

        def settled() -> bool:
            used = {
                one['metric']['uuid']: float(one['value'][1])
                for one in self.cloud.promql(cpu['vm_profile_query'])
            }
            hosts, packed = self.expected(), self.measured(self.pack)
            return all(
                abs(used.get(uuid, -1.0) - cores) < 0.01
                for uuid, cores in wanted.items()
            ) and all(
                abs(value - hosts[policy][host]) < 0.01
                for policy, found in packed.items()
                for host, value in found.items()
            )

        self.wait(settled, 'the samples to be of now')

    def uneven(self) -> None:
        """Full hosts, one to be emptied, a broken group, and a pool."""
        group = self.cloud.group('apart', 'soft-anti-affinity')
        self.boot(
            [
                *(
                    Wanted(f'tenant-a{n}', 'cmp1', cpu, 1500, LARGE)
                    for n, cpu in enumerate((3.7, 2.6, 1.7, 0.9))
                ),
                Wanted('tenant-g0', 'cmp2', 0.4, 3100, group=group),
                Wanted('tenant-g1', 'cmp2', 1.9, 1500, group=group),
                Wanted('tenant-lone', 'cmp3', 0.6, 1100),
                Wanted('tenant-out', 'cmp6', 1.2, 2300),
                Wanted('tenant-b0', 'cmp7', 3.3, 1500, LARGE),
                Wanted('tenant-b1', 'cmp7', 2.2, 2900, LARGE),
                Wanted('tenant-free', 'cmp9', 1.0, 1500),
            ]
        )
        self.openstack('compute service set --disable cmp6 nova-compute')

    def agreed(
        self,
        mode: str,
        scope: str,
        more: dict[str, str],
        recording: pathlib.Path,
    ) -> list[replays.Step]:
        """The steps of an audit, which both its recordings lead to.

        :param scope: '': all of them
        """
        named = scope or 'alpha,beta'
        pool = '' if scope else 'include_unassigned_hosts=true'
        asked = ' '.join(f'{name}={value}' for name, value in more.items())
        audit, _, _ = self.audited(
            f'aggregates={named} {pool} {asked}', '', f'kronos_{mode}'
        )
        steps = replays.planned(self.reports, audit)
        [kept] = self.kept.glob(f'*-{audit["UUID"]}')
        self.assertEqual(steps, replays.replayed(kept), f'{mode} {kept.name}')
        words = ['--scope', scope] if scope else EVERYTHING
        for name, value in more.items():
            words += ['--set', f'{name}={value}']
        self.assertEqual(
            self.certain(steps),
            self.certain(replays.replayed(recording, '--mode', mode, *words)),
            f'{mode} {recording.name}',
        )
        return steps

    def certain(self, steps: list[replays.Step]) -> list[replays.Step]:
        """Without the spread moves behind the first of each scope.

        Those are about equally good, and chosen by samples that are a few
        seconds younger or older.
        """
        found, seen = [], set()
        for step in steps:
            scope, phase = step[:2]
            if phase != 'spread' or scope not in seen:
                found.append(step)
            if phase == 'spread':
                seen.add(scope)
        return found

    def recorded(self, name: str, *words: str) -> pathlib.Path:
        """What kronos-record writes with Watcher's own credentials."""
        folder = self.made / f'{name}{len(list(self.made.iterdir()))}'
        files = {'spread': self.policies, 'pack': self.pack}
        replays.run(
            'record',
            str(folder),
            '--config-file',
            str(layout.ETC / 'watcher.conf'),
            '--policies',
            str(files[name]),
            *words,
        )
        return folder
