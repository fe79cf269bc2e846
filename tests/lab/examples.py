# SPDX-License-Identifier: Apache-2.0
"""Where do the recorded examples come from? Run it by hand to make them.

``python -m testtools.run tests.lab.examples`` replaces ``lab-spread``,
``lab-drain`` and ``lab-pack`` of ``kronos/examples`` by what audits of the
lab have recorded.
"""

import shutil

from kronos.recordings import load
from kronos.recordings.replay import ReplayOptions, replay
from tests.lab import base
from tests.lab.base import Wanted

EXAMPLES = base.TOP / 'kronos' / 'examples'
CORES = (1.4, 0.6, 1.0, 0.8, 1.2)
MEMORY_MB = (2560, 5120, 3584, 4608)


class Recorded(base.LabTestCase):
    def record(self, name: str, parameters: str, strategy: str) -> None:
        """Audit, and keep what was recorded if it is what was planned."""
        folder = self.reports / 'recordings'
        folder.mkdir()
        self.configure(record_dir=folder, pack_policies_file=self.pack)
        _, _, actions = self.audited(
            f'aggregates=alpha {parameters}', '', strategy
        )
        [found] = folder.iterdir()
        planned = [
            (
                row['input_parameters']['resource_id'],
                row['input_parameters']['destination_node'],
            )
            for row in actions
        ]
        steps = replay(load.read(str(found)), ReplayOptions()).report.steps
        self.assertEqual(
            sorted(planned),
            sorted((step.instance, step.destination) for step in steps),
        )
        target = EXAMPLES / name
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(found, target, copy_function=shutil.copyfile)
        for path in target.rglob('*'):
            path.chmod(0o755 if path.is_dir() else 0o644)
        target.chmod(0o755)

    def setUp(self) -> None:
        super().setUp()
        self.pack = self.sample('policies-pack.yaml')

    def test_spread(self) -> None:
        """Two full hosts, a pair, a locked server and one without metrics."""
        pair = self.cloud.group('pair', 'anti-affinity')
        uuids = self.boot(
            [
                *(
                    Wanted(
                        f'web-{n + 1}',
                        f'cmp{n % 2 + 1}',
                        CORES[n % len(CORES)],
                        MEMORY_MB[n % len(MEMORY_MB)],
                        'lab.large',
                    )
                    for n in range(18)
                ),
                Wanted('pair-1', 'cmp1', 1.0, 3072, 'lab.large', pair),
                Wanted('pair-2', 'cmp2', 1.0, 3072, 'lab.large', pair),
                Wanted('locked-1', 'cmp1', 1.0, 3072, 'lab.large'),
                Wanted('unseen-1', 'cmp2', 1.0, 3072, metrics=False),
            ]
        )
        self.openstack(f'server lock {uuids["locked-1"]}')
        self.record('lab-spread', 'max_migrations=20', 'kronos_spread')

    def test_drain(self) -> None:
        """A host that is to be emptied, and two groups that are broken."""
        hosts = ['cmp1', 'cmp2', 'cmp3']
        self.addCleanup(self.lab.check_groups, hosts, True)
        self.lab.check_groups(hosts, False)
        wanted = [
            Wanted(
                f'app-{host}-{n}', host, CORES[n], MEMORY_MB[n], 'lab.large'
            )
            for host in base.ALPHA
            for n in range(4)
        ]
        for name, policy, where in (
            ('apart', 'anti-affinity', ['cmp1', 'cmp1']),
            ('near', 'affinity', ['cmp2', 'cmp3']),
        ):
            group = self.cloud.group(name, policy)
            wanted += [
                Wanted(f'{name}-{n + 1}', host, 0.5, 1536, group=group)
                for n, host in enumerate(where)
            ]
        wanted.append(Wanted('kept', 'cmp6', 0.5, 1536))
        uuids = self.boot(wanted)
        self.openstack(f'server lock {uuids["kept"]}')
        self.openstack(
            'compute service set --disable --disable-reason maintenance '
            'cmp6 nova-compute'
        )
        self.record(
            'lab-drain',
            'evacuate_disabled_hosts=true enforce_hard_affinity=true '
            'max_migrations=20',
            'kronos_spread',
        )

    def test_pack(self) -> None:
        """A quiet cloud, of which some hosts can be emptied."""
        self.boot(
            Wanted(
                f'app-{host}-{n}', host, CORES[n], MEMORY_MB[n], 'lab.large'
            )
            for host in base.ALPHA
            for n in range(3)
        )
        self.wait(self.has_forgotten, 'the readings to be of now')
        self.record('lab-pack', 'max_migrations=20', 'kronos_pack')

    def has_forgotten(self) -> bool:
        """Whether capacity_query no longer shows an earlier scenario."""
        expected = self.expected()
        return all(
            abs(found[host] - expected[policy][host]) < 0.01
            for policy, found in self.measured(
                self.pack, 'capacity_query'
            ).items()
            for host in base.ALPHA
        )
