# SPDX-License-Identifier: Apache-2.0
"""Does a query tell its form, and nothing else?"""

from oslotest import base

from kronos.recordings.anonymize import queries


class TestQueries(base.BaseTestCase):
    def query(self, text: str) -> str:
        known = {'cmp1': 'host-001'}
        found = queries.Queries(lambda one: known.get(one, ''))
        return found.query(text)

    def test_form(self) -> None:
        """What the exporters give is told, and how it is put together."""
        text = (
            'label_replace( 1 - sum by (instance) '
            '(rate(node_cpu_seconds_total{mode="idle"}[2m:30s])) / 1e9, '
            '"host", "$1", "instance", "([^:]+)(:[0-9]+)?")'
        )
        self.assertEqual(text, self.query(text))

    def test_names(self) -> None:
        for text, new in {
            'up{host="cmp1"}': 'up{host="host-001"}',
            'up{host=~"cmp1|x"}': 'up{host=~"text-001"}',
            'acme:cpu{rack="7", row=~\'7\'}': (
                'name_001{name_002="text-001", name_003=~\'text-001\'}'
            ),
            'up # of acme\n# "and"\n + 1': 'up + 1',
            'up{a="#x"} #': 'up{name_001="text-001"}',
            'up{mode=~"idle|iowait|5"}': 'up{mode=~"text-001"}',
            'up{mode=~"idleuser"}': 'up{mode=~"text-001"}',
            '# nothing': queries.NOTHING,
            'up{a="unfinished} 東': 'up{name_001=_name_002} _',
            'up + 5secret + 10.20.30.40': 'up + _name_001 + __________',
        }.items():
            with self.subTest(text):
                self.assertEqual(
                    new.replace('_' * 10, self.query('10.20.30.40')),
                    self.query(text),
                )
        self.assertNotIn('30', self.query('10.20.30.40'))

    def test_comments_apart(self) -> None:
        """Queries that only differ by what goes are two queries still."""
        found = queries.Queries(lambda one: '')
        texts = ['up', 'up # a', 'up # b', ' up']
        self.assertEqual(4, len({found.query(one) for one in texts}))
        self.assertEqual(found.query('up'), found.query('up'))
