# SPDX-License-Identifier: Apache-2.0
"""Is a migration that fails an incident only where its server is lost?"""

from tests.functional.monitor import migrations, ways
from tests.unit.monitor.hypervisor import until

CERTAIN = {
    'arrives': ('target',),
    'arrives-and-is-killed': ('', 'target', 'crash'),
    'arrives-paused-and-is-killed': ('', 'target', 'crash'),
    'killed-at-the-target': ('source',),
    'killed-at-the-source': ('', 'source', 'crash'),
    'killed-at-the-source-as-it-arrives': ('target',),
    'killed-at-the-target-before-it-resumes': ('source',),
    'libvirt-restarts-at-the-target': ('source',),
    'aborted-while-the-agent-is-away': ('source',),
    'killed-while-the-agent-is-away': ('', 'target', 'crash'),
    'aborted-after-the-agent-was-started-anew': ('source',),
}
"""Who runs the guest in the end, and what is told by whom, of the ways that
are no race."""
TRIES = 15
"""Half a second of post-copy may be over before it is cut."""


class TestMigrations(migrations.MigrationTestCase):
    def check(self, found: dict[str, tuple[str, ...]]) -> None:
        self.assertEqual(
            {
                name: row if name in self.late else CERTAIN.get(name, row)
                for name, row in found.items()
            },
            found,
        )

    def test_side_by_side(self) -> None:
        self.check(self.all_at_once(ways.TOGETHER))

    def test_one_by_one(self) -> None:
        self.check(self.one_by_one(ways.APART))

    def test_post_copy_is_resumed(self) -> None:
        """It was lost, which is told, and counts as failed no longer."""
        for name in (f'resumed-{number}' for number in range(TRIES)):
            (move,) = self.moves([name])
            move.go(ways.post_copy_is_resumed)
            self.assertEqual('', move.fault)
            if self.told()[name]:
                break
        agent = self.target_end.agent
        assert agent is not None
        failed = {
            'host': 'target',
            'instance_uuid': self.libvirt.uuids[name],
            'kind': 'postcopy_failed',
        }
        until(lambda: agent.value('kronos_vm_failed', **failed) is None)
        self.assertEqual(
            ('target', 'target', 'postcopy_failed'),
            self.outcomes([name])[name],
        )
