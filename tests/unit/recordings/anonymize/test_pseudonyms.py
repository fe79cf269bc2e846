# SPDX-License-Identifier: Apache-2.0
"""Do pseudonyms sort as the names did, and keep their forms?"""

from oslotest import base

from kronos.recordings.anonymize import pseudonyms


class TestNumbered(base.BaseTestCase):
    def test_order(self) -> None:
        found = pseudonyms.Numbered(['b', '', 'a', 'b'], 'zone-{}')
        self.assertEqual(
            ['zone-001', 'zone-002', ''],
            [found(one) for one in ('a', 'b', '')],
        )
        self.assertRaises(KeyError, found, 'c')

    def test_very_many(self) -> None:
        """Numbers get as many digits as the last of them has."""
        names = [f'{number:04}' for number in range(1000)]
        found = pseudonyms.Numbered(names, '{}')
        self.assertEqual('0001', found('0000'))
        self.assertEqual('1000', found('0999'))

    def test_uuids(self) -> None:
        found = pseudonyms.uuids(['b', 'a', ''])
        self.assertEqual('00000000-0000-4000-8000-000000000001', found('a'))
        self.assertEqual('', found(''))


class TestHosts(base.BaseTestCase):
    def test_forms(self) -> None:
        """Whatever may match a host still does."""
        names = ['b.dc1.test', 'a', '10.0.0.7', 'fd00::7']
        others = ['b', 'b:9100', 'b.dc2.test:1', '[fd00::7]:9100', 'a:1', '']
        found = pseudonyms.Hosts(names, others)
        self.assertEqual(
            [
                'host-002.domain-001',
                'host-001',
                '198.18.000.001',
                '2001:db8::0000:0002',
            ],
            [found(one) for one in names],
        )
        self.assertEqual(
            [
                'host-002',
                'host-002:9100',
                'host-002.domain-002:1',
                '[2001:db8::0000:0002]:9100',
                'host-001:1',
                '',
            ],
            [found(one) for one in others],
        )

    def test_case(self) -> None:
        """A label in capital letters is of the same host."""
        found = pseudonyms.Hosts(
            ['web-1.a', 'Web-2'], ['WEB-1.A:9100', 'web-2', 'FE80::1']
        )
        self.assertEqual(found('web-1.a') + ':9100', found('WEB-1.A:9100'))
        self.assertEqual(found('Web-2'), found('web-2'))
        self.assertEqual('2001:db8::0000:0001', found('FE80::1'))

    def test_order(self) -> None:
        """Ties are broken by names."""
        names = ['web-10', 'web-2.z', 'web-2.a', 'web.b', 'Web', 'web-9']
        found = pseudonyms.Hosts(names, ['wea', 'web-11.x:3'])
        renamed = [found(one) for one in sorted(names)]
        self.assertEqual(sorted(renamed), renamed)
