# SPDX-License-Identifier: Apache-2.0
"""Is a Watcher that is away for a moment endured, and no other?"""

from kronos.common import exceptions
from kronos.osc.run import polling
from tests.unit.osc.run import scripted


class TestLooks(scripted.ScriptedTestCase):
    def looks(self, *outcomes: bool | None) -> tuple[list[int], list[str]]:
        """Numbers of the looks that went well, and the remarks.

        :param outcomes: False: a failure that may pass; None: one that
            lasts
        """
        numbers = iter(range(len(outcomes)))
        remarks: list[str] = []

        def read() -> int:
            number = next(numbers)
            if not outcomes[number]:
                transient = outcomes[number] is False
                raise exceptions.ClientError(
                    reason='away', transient=transient
                )
            return number

        result = []
        for number in self.polling.looks(read, remarks.append, 'It goes on.'):
            result.append(number)
            if number == len(outcomes) - 1:
                break
        return result, remarks

    def test_one_remark_for_each_outage(self) -> None:
        result, remarks = self.looks(True, False, False, True, False, True)
        self.assertEqual(([0, 3, 5], 2), (result, len(remarks)))
        self.assertEqual(5 * polling.SECONDS, self.now)

    def test_a_refusal(self) -> None:
        self.assertRaises(exceptions.ClientError, self.looks, True, None)

    def test_an_outage_without_an_end(self) -> None:
        outage = [False] * (1 + int(polling.OUTAGE_SECONDS / polling.SECONDS))
        error = self.assertRaises(
            exceptions.KronosException, self.looks, *outage
        )
        self.assertEqual(
            'Watcher has not answered for 60 s (away). It goes on.', str(error)
        )
        result, _ = self.looks(*outage[1:], True)
        self.assertEqual([len(outage) - 1], result)


class TestPickupLimit(scripted.ScriptedTestCase):
    def test_limit(self) -> None:
        limit = self.polling.pickup_limit()
        self.now = 59.0
        self.assertFalse(limit.is_over('PENDING'))
        self.now = 60.0
        self.assertFalse(limit.is_over('ONGOING'))
        self.assertTrue(limit.is_over('PENDING'))
