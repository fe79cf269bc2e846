# SPDX-License-Identifier: Apache-2.0
"""How is an address shown, and when is it another one?"""

from oslotest import base

from kronos.common.web import addresses

SECRET = 's3cret'


class TestAddresses(base.BaseTestCase):
    def test_is_same(self) -> None:
        url = 'https://cloud.example.org/v3'
        for other, same in (
            ('https://cloud.example.org:443/x', True),
            ('https://CLOUD.example.org', True),
            ('https://user@cloud.example.org/', True),
            ('http://cloud.example.org/v3', False),
            ('http://cloud.example.org:443/v3', False),
            ('https://cloud.example.org:444/v3', False),
            ('https://cloud.example.org.evil.example/v3', False),
            ('https://cloud.example.org:443@evil.example/v3', False),
            ('https://cloud.example.org:x/v3', False),
            ('https://[', False),
            ('', False),
        ):
            self.assertEqual(same, addresses.is_same(url, other), other)

    def test_shown(self) -> None:
        for url, text in (
            (f'https://u:{SECRET}@h:1/a?b={SECRET}#c', 'https://h:1/a'),
            ('https://h/\x1b[2J', 'https://h/?[2J'),
            ('https://[', 'an address that is not valid'),
            ('mailto:h', 'an address that is not valid'),
            (None, 'an address that is not valid'),
        ):
            self.assertEqual(text, addresses.shown(url))
        self.assertEqual('https://h', addresses.shown('https://h/a', False))

    def test_target(self) -> None:
        for location, url in (
            ('b', 'https://h/a/b'),
            ('//evil/a', 'https://evil/a'),
            ('https://[', ''),
        ):
            self.assertEqual(url, addresses.target('https://h/a/', location))
