# SPDX-License-Identifier: Apache-2.0
"""Are the names of cells and flavors others, the same wherever they stand?"""

from oslotest import base

from kronos.extensions.cells import cell_drain
from kronos.extensions.cells.cell_drain import needs_of
from kronos.recordings import writer
from kronos.recordings.anonymize import anonymizer
from tests.unit.extensions.cells.recordings.test_cell_schema import (
    recording,
)


class TestAnonymized(base.BaseTestCase):
    def test_names(self) -> None:
        """Each name has one that stands for it, wherever it is."""
        now = anonymizer.anonymized(recording())
        [flavor] = needs_of(now.gathered).flavors.values()
        self.assertEqual(
            ('flavor-001', 'flavor-001'), (flavor.id, flavor.name)
        )
        [move] = needs_of(now.gathered).unfinished
        self.assertEqual(
            ('flavor-001', 'flavor-002', 'flavor-002', True),
            (move.how.source_flavor, move.how.destination_flavor,
             move.how.destination_flavor_id, move.how.unpins),
        )  # fmt: skip
        self.assertEqual(
            (move.destination, 'VERIFY_RESIZE', move.how.destination_cell),
            (move.host, move.status, move.target_cells[0]),
        )
        self.assertEqual((2, 2048, 20), (
            flavor.vcpus, flavor.memory_mb, flavor.root_gb
        ))  # fmt: skip
        self.assertEqual('flavor-001', now.gathered.instances[0].flavor)
        drain = cell_drain.of(now.settings)
        assert drain is not None
        self.assertEqual(
            {'flavor-001': 'same', '*': 'flavor-001'}, drain.flavor_map
        )
        cells = now.request.chosen
        assert cells is not None
        self.assertEqual(
            (cells.source, cells.targets), (drain.source, drain.targets)
        )
        hosts = now.gathered.cloud.hosts.values()
        self.assertIn(drain.source, {host.cell for host in hosts})
        text = ''.join(writer.files(now).values())
        secrets = (
            'm1 u9 shelf "old" "new" act7 uuid7 web far wide broad m9 aisle '
            'id9 plan7 uuid8 data8 high'
        )
        for secret in secrets.split():
            self.assertNotIn(secret, text)
