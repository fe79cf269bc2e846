# SPDX-License-Identifier: Apache-2.0
"""What do scenarios of kronos_pack share?"""

import yaml

from tests.lab import base

FULL = 'cmp5'
"""It takes nothing: its capacity_query says that it is full."""


class PackTestCase(base.LabTestCase):
    def setUp(self) -> None:
        super().setUp()
        file = self.sample('policies-pack.yaml')
        policies = yaml.safe_load(file.read_text())
        for policy in policies['policies']:
            # As if something had reserved all of the host.
            policy['capacity_query'] = (
                f'label_replace(vector(1), "host", "{FULL}", "", "") '
                f'or on (host) ({policy["capacity_query"]})'
            )
        file.write_text(yaml.safe_dump(policies))
        self.file = file
        self.configure(pack_policies_file=file)
        self.ceilings = {
            policy['name']: policy.get('capacity_threshold', 0.8)
            for policy in policies['policies']
        }

    def has_forgotten(self) -> bool:
        """Whether capacity_query no longer shows an earlier scenario."""
        expected = self.expected()
        readings = self.measured(self.file, 'capacity_query')
        return all(
            abs(found[host] - expected[policy][host]) < 0.01
            for policy, found in readings.items()
            for host in base.ALPHA
            if host != FULL
        )
