# SPDX-License-Identifier: Apache-2.0
"""Which hosts are set aside, by policy, by end, by host?"""

from oslotest import base

from kronos.engine.types import Rest, SetAside


class TestRest(base.BaseTestCase):
    def test_by(self) -> None:
        rest = Rest(
            [
                SetAside('cpu', 'a', True, 0.8, 'why'),
                SetAside('cpu', 'b', False, 0.1, 'other'),
                SetAside('ram', 'b', True, 0.9, 'third'),
            ]
        )
        self.assertEqual(['cpu', 'ram'], rest.policies)
        self.assertEqual(['a', 'b'], rest.hosts('cpu'))
        self.assertEqual(['b'], rest.hosts('cpu', is_high=False))
        self.assertEqual(
            [
                {'policy': 'cpu', 'end': 'lowest', 'reason': 'other'},
                {'policy': 'ram', 'end': 'highest', 'reason': 'third'},
            ],
            rest.of_host('b'),
        )
