# SPDX-License-Identifier: Apache-2.0
"""What does an action say of the step that it carries out?"""

from oslotest import base as oslotest_base

from kronos.strategies import base
from tests.unit.strategies.test_status_messages import step


class InputParametersTestCase(oslotest_base.BaseTestCase):
    def test_half_of_a_swap(self):
        """It names the move that must have succeeded; others name none."""
        told = base._input_parameters(1, step(requires='uuid-2'))
        self.assertEqual('uuid-2', told['requires'])
        self.assertNotIn('requires', base._input_parameters(1, step()))

    def test_what_it_moves(self):
        told = base._input_parameters(7, step())
        self.assertEqual(
            ('alpha', 'spread', 7, 'vm1', 'h1', 'h2'),
            tuple(
                told[name]
                for name in (
                    'aggregate',
                    'phase',
                    'sequence',
                    'resource_name',
                    'source_node',
                    'destination_node',
                )
            ),
        )
