# SPDX-License-Identifier: Apache-2.0
"""What of a policies file has no place in a recording?"""

from oslotest import base

from kronos.policies import loader
from kronos.recordings import redaction
from tests.builders import recordings


class TestComments(base.BaseTestCase):
    def spared(self, comment: str) -> str:
        policies = recordings.policies()
        text = f'{comment}\n{loader.dump(policies)}'
        found = redaction.redacted(recordings.small(policies_text=text))
        return found.policies_text.partition('\n')[0]

    def test_secrets(self) -> None:
        for comment, left in {
            '# of the team': '# of the team',
            '# the Password is x': '# ***',
            '# a # api-key x': '# ***',
        }.items():
            self.assertEqual(left, self.spared(comment))

    def test_many_signs(self) -> None:
        """Each character is looked at some times, not once for each other."""
        self.assertEqual('#' * 10**6, self.spared('#' * 10**6))


class TestReasons(base.BaseTestCase):
    def test_why_no_host_at_fault_is_known(self) -> None:
        was = recordings.small()
        was.gathered.exclusions_unknown = 'http://me:t0psecret@host said no'
        found = redaction.redacted(was).gathered.exclusions_unknown
        self.assertNotIn('t0psecret', found)
        self.assertIn('host said no', found)


class TestConsent(base.BaseTestCase):
    def test_values(self) -> None:
        """As much stays as the reasons of the audit show."""
        was = recordings.small()
        server = was.gathered.instances[0]
        server.metadata = {
            'kronos:consent': ' never\n',
            'kronos:pin': 'because',
            'owner': 'me',
        }
        server.tags = ['web', 'kronos:consent:' + 'x' * 99, 'kronos:pin']
        copy = redaction.redacted(was).gathered.instances[0]
        self.assertEqual(
            {'kronos:consent': 'never', 'kronos:pin': ''}, copy.metadata
        )
        self.assertEqual(
            ['kronos:consent:' + 'x' * 32, 'kronos:pin'], copy.tags
        )
