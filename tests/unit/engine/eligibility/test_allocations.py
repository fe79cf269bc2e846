# SPDX-License-Identifier: Apache-2.0
"""Must an instance stay that Placement holds elsewhere?"""

from oslotest import base

from kronos.engine.eligibility import allocations, instances
from kronos.engine.reasons import Code
from kronos.engine.settings import Settings
from kronos.engine.types import Instance


class TestWhyNot(base.BaseTestCase):
    def test_where_it_is(self) -> None:
        self.assertIsNone(allocations.why_not('u', 'h1', ['h1']))

    def test_elsewhere(self) -> None:
        for held_on, where in (
            (['h2'], 'h2'),
            (['h2', 'h1'], 'h1 and h2'),
            ([], 'no host'),
        ):
            reason = allocations.why_not('u', 'h1', held_on)
            self.assertEqual(
                f'Placement has its allocations on {where} instead of h1: '
                '"nova-manage placement heal_allocations --instance u '
                '--force" corrects them',
                reason,
            )
            assert reason is not None
            self.assertIs(Code.INSTANCE_ALLOCATIONS, reason.code)


class TestAudit(base.BaseTestCase):
    def test_one_that_was_looked_at(self) -> None:
        one = Instance('u', 'h1', misallocated_on=[])
        [reason] = instances.reasons(one, Settings())
        self.assertIs(Code.INSTANCE_ALLOCATIONS, reason.code)
        self.assertIn('on no host instead of h1', reason)

    def test_others(self) -> None:
        self.assertEqual([], instances.reasons(Instance('u', 'h'), Settings()))
