# SPDX-License-Identifier: Apache-2.0
"""Is Nova's metadata read from any XML, and does hostile XML do no harm?"""

import json
from dataclasses import asdict

import hypothesis
from hypothesis import strategies as st
from oslotest import base

from kronos.monitor import nova_metadata
from kronos.monitor.nova_metadata import HostileXml, Metadata

GOOD = """<domain type='kvm'>
  <name>instance-00000001</name>
  <metadata>
    <nova:instance xmlns:nova="http://openstack.org/xmlns/libvirt/nova/1.1">
      <nova:package version="34.0.0"/>
      <nova:name>web 1</nova:name>
      <nova:creationTime>2026-11-23 10:00:00</nova:creationTime>
      <nova:flavor name="m1.small" id="7">
        <nova:memory>64</nova:memory>
        <nova:extraSpecs>
          <nova:extraSpec name="hw:watchdog_action">reset</nova:extraSpec>
        </nova:extraSpecs>
      </nova:flavor>
      <nova:image uuid="1b0c">
        <nova:properties>
          <nova:property name="os_distro">debian</nova:property>
        </nova:properties>
      </nova:image>
      <nova:owner>
        <nova:user uuid="u1">somebody</nova:user>
        <nova:project uuid="9f0c">team</nova:project>
      </nova:owner>
    </nova:instance>
  </metadata>
  <devices><name>not this one</name></devices>
</domain>
"""
LAUGHS = """<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>
<domain><name>&b;</name></domain>"""
OUTSIDE = """<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/passwd">]>
<domain><name>&a;</name></domain>"""


class TestGood(base.BaseTestCase):
    def test_all_of_it(self) -> None:
        self.assertEqual(
            Metadata(
                'web 1',
                '9f0c',
                'team',
                'm1.small',
                {'hw:watchdog_action': 'reset'},
                '1b0c',
                {'os_distro': 'debian'},
            ),
            nova_metadata.parse(GOOD),
        )

    def test_none(self) -> None:
        """Others than Nova define domains, too."""
        for text in (
            '<domain/>',
            '<domain><metadata/></domain>',
            GOOD.replace('openstack.org', 'example.org'),
        ):
            self.assertEqual(Metadata(), nova_metadata.parse(text))

    def test_it_stands_elsewhere(self) -> None:
        """A tenant's text is no metadata."""
        inner = GOOD[GOOD.index('<nova:inst') : GOOD.index('  </metadata>')]
        text = f'<domain><description>{inner}</description></domain>'
        wanted = nova_metadata.parse(text)
        self.assertEqual('', wanted.extra_specs.get('x', ''))


class TestHostile(base.BaseTestCase):
    def test_refused(self) -> None:
        for text, reason in (
            (LAUGHS, 'it has a document type'),
            (OUTSIDE, 'it has a document type'),
            ('<domain>' + 'x' * nova_metadata.MAX_BYTES, 'more than 1048576'),
            ('<a>' * 200, 'it is nested too deeply'),
            ('<domain>', 'it is not XML'),
            ('', 'it is not XML'),
            ('<domain>\x00</domain>', 'it is not XML'),
            (b'\xff\xfe\xff', 'it is not XML'),
        ):
            error = self.assertRaises(HostileXml, nova_metadata.parse, text)
            self.assertIn(reason, str(error))

    def test_bounded(self) -> None:
        long = GOOD.replace('web 1', 'x\u202e' + 'y' * 9999)
        found = nova_metadata.parse(long).display_name
        self.assertEqual(nova_metadata.MAX_TEXT, len(found))
        self.assertNotIn('\u202e', found)
        spec = '<nova:extraSpec name="k{}">v</nova:extraSpec>'
        many = ''.join(spec.format(number) for number in range(999))
        text = GOOD.replace('<nova:extraSpecs>', f'<nova:extraSpecs>{many}')
        self.assertEqual(
            nova_metadata.MAX_PAIRS, len(nova_metadata.parse(text).extra_specs)
        )

    def test_bounded_as_a_whole(self) -> None:
        """A host has many servers, and a tenant many properties."""
        pair = '<nova:property name="k{}">\u20ac{}</nova:property>'
        many = ''.join(pair.format(number, 'v' * 200) for number in range(150))
        text = GOOD.replace('<nova:properties>', f'<nova:properties>{many}')
        metadata = nova_metadata.parse(text)
        kept = json.dumps(asdict(metadata))
        self.assertLess(len(kept), 3 * nova_metadata.MAX_PAIRS_BYTES)
        self.assertGreater(len(metadata.image_properties), 10)
        self.assertEqual({'hw:watchdog_action': 'reset'}, metadata.extra_specs)

    def test_what_it_says_of_its_encoding(self) -> None:
        """It was a text when it came."""
        for encoding in (
            *('utf-16', 'utf-32', 'utf-7', 'shift_jis', 'big5', 'latin-1'),
            *('rot13', 'hex', 'zip', 'idna', 'undefined', 'x-unknown'),
        ):
            start = f"<?xml version='1.0' encoding='{encoding}'?>\n"
            text = start + GOOD.replace('web 1', 'w\u00e9b')
            self.assertEqual(
                'w\u00e9b', nova_metadata.parse(text).display_name
            )

    @hypothesis.given(
        st.lists(
            st.sampled_from(
                [
                    *('<', '>', '/>', '</', '&', ';', '"', "'", '=', '!', '?'),
                    *('<?xml version="1.0" encoding="', '"?>', 'hex', 'zip'),
                    *('utf-16', 'x-unknown', '<!DOCTYPE d [', '<!ENTITY a "'),
                    *(
                        '&#0;',
                        '&#xd800;',
                        '&#x110000;',
                        '&a;',
                        '\x00',
                        '\ud800',
                    ),
                    *('<![CDATA[', ']]>', '<!--', '-->', 'xmlns:nova="', ' '),
                    *(nova_metadata.NOVA, 'nova:instance', 'domain', 'a'),
                    *('metadata', 'nova:name', '\ufeff', '\u20ac'),
                ]
            ),
            max_size=60,
        ).map(''.join)
    )
    def test_whatever_xml_can_write(self, text: str) -> None:
        for whole in (text, GOOD.replace('web 1', text), text + GOOD):
            try:
                name = nova_metadata.parse(whole).display_name
            except HostileXml as error:
                self.assertNotEqual('', str(error))
            else:
                self.assertTrue(name.isprintable(), name)

    @hypothesis.given(st.binary() | st.text())
    def test_whatever_it_is(self, text: str | bytes) -> None:
        try:
            self.assertIsInstance(nova_metadata.parse(text), Metadata)
        except HostileXml as error:
            self.assertNotEqual('', str(error))
