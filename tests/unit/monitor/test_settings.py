# SPDX-License-Identifier: Apache-2.0
"""Are options what they should be, and are all faults told at once?"""

import builtins
import dataclasses
import socket
from typing import Any
from unittest import mock

from kronos.common.exceptions import ConfigurationError
from kronos.monitor import checks, settings
from kronos.monitor.metrics import Address
from kronos.monitor.sinks import registry
from kronos.monitor.sources.base import Options
from tests.builders.packages import Package
from tests.unit.monitor import agents


class SettingsTestCase(agents.AgentTestCase):
    def of(self, *lines: str) -> settings.Settings:
        path = self.folder / 'kronos.conf'
        path.write_text('\n'.join(['[kronos_monitor]', *lines]))
        return self.settings_of(str(path))

    def faults(self, *lines: str) -> list[str]:
        error = self.assertRaises(ConfigurationError, self.of, *lines)
        text = str(error).removeprefix('Bad configuration: ')
        return text.replace(str(self.folder), 'F').split('; ')


class TestGood(SettingsTestCase):
    def test_defaults(self) -> None:
        result = self.of('source = synthetic', 'events_file = /e')
        self.assertEqual(
            settings.Settings(
                socket.gethostname(),
                'synthetic',
                Options('/e', 'qemu:///system', 200.0, 20.0),
                '/etc/kronos/event_rules.yaml',
                '/var/lib/kronos/monitor.db',
                100 * 2**20,
                300.0,
                5.0,
                Address('127.0.0.1', 9877),
                [],
                [],
            ),
            result,
        )

    def test_sinks(self) -> None:
        found = self.settings('http://h/x')
        (one,) = found.sinks
        self.assertEqual(('hook', 'webhook'), (one.name, one.driver))
        self.assertEqual('http://h/x', one.options['url'])
        self.assertEqual(['hook'], found.sink_names)

    def test_a_sink_called_as_its_driver(self) -> None:
        result = self.of(
            'source = synthetic',
            'events_file = /e',
            'sinks = webhook',
            '[kronos_monitor_webhook]',
            'url = https://h',
        )
        self.assertEqual('webhook', result.sinks[0].driver)


class TestFaults(SettingsTestCase):
    def test_all_at_once(self) -> None:
        self.assertEqual(
            [
                '[kronos_monitor_hook] url: it is http://, which anybody on '
                'the network path can read and change',
                'use https://, or set insecure = true',
                '[kronos_monitor_hook] cafile: /no/ca cannot be read: No '
                'such file or directory',
                '[kronos_monitor_pager] driver: there is no driver pager, '
                'known: webhook, masakari, watcher',
                '[kronos_monitor_slow] timeout in F/kronos.conf: Should be '
                'greater than or equal to 0.1',
                '[kronos_monitor] source: there is no source synthetik, did '
                'you mean synthetic?',
                '[kronos_monitor] metrics_port: 9177 is the port of the '
                'libvirt exporters',
                'use another',
                '[kronos_monitor] metrics_keyfile: is set, but '
                'metrics_certfile is not',
                '[kronos_monitor] metrics_keyfile: /no/key cannot be read: '
                'No such file or directory',
                '[kronos_monitor] spool_max_md in F/kronos.conf: unknown, '
                'did you mean spool_max_mb?',
                '[kronos_monitor_hook] uri in F/kronos.conf: unknown, did '
                'you mean url?',
            ],
            self.faults(
                'source = synthetik',
                'metrics_port = 9177',
                'metrics_keyfile = /no/key',
                'spool_max_md = 7',
                'sinks = hook, pager, slow',
                '[kronos_monitor_hook]',
                'driver = webhook',
                'url = http://h',
                'uri = https://h',
                'cafile = /no/ca',
                '[kronos_monitor_slow]',
                'driver = webhook',
                'timeout = 0',
            ),
        )

    def test_values(self) -> None:
        faults = self.faults(
            'spool_max_mb = 1', 'stale_seconds = x', 'metrics_port = 99999'
        )
        self.assertEqual(3, len(faults), faults)
        for one in faults:
            self.assertIn('in F/kronos.conf: ', one)

    def test_names(self) -> None:
        faults = self.faults(
            'source = synthetic', 'events_file = /e', 'sinks = Big Hook'
        )
        self.assertIn('sinks: Big Hook is not a valid name', faults[0])

    def test_no_source(self) -> None:
        """It is libvirt then; it may not be empty."""
        self.assertIn('the default is libvirt', self.faults('source ='))
        self.assertIn(
            'events_file: is not set', self.faults('source = synthetic')[0]
        )

    def test_a_package_that_is_missing(self) -> None:
        usual = builtins.__import__
        error = ImportError(name='libvirt')

        def load(name: str) -> Any:
            if name == 'synthetic':
                raise error
            return usual(name)

        with mock.patch('kronos.monitor.sources.registry.load', load):
            (found,) = self.faults('source = synthetic', 'events_file = /e')
        self.assertIn(
            'the package libvirt is not installed: pip install '
            "'kronos-watcher[monitor]', or install the distribution's "
            'python3-libvirt',
            found,
        )

    def test_a_service_of_openstack(self) -> None:
        """Options of its plugin of keystoneauth are known, too."""
        lines = [
            'source = synthetic',
            'events_file = /e',
            'sinks = ha',
            '[kronos_monitor_ha]',
            'driver = masakari',
            'auth_url = https://keystone/v3',
            'user_name = monitor',
            'password = s3cret-password',
            'event_map = crash:LIFECYCLE/STOPPED_FAILED,panic:A/B',
        ]
        options = self.of(*lines).sinks[0].options
        self.assertEqual('monitor', options['username'])
        self.assertEqual('A/B', options['event_map']['panic'])
        faults = self.faults(
            *lines[:-2],
            'auth_type = v3applicationcredential',
            'application_credential_idd = x',
            'event_map = crush:A/B',
        )
        self.assertIn('application_credential_secret: is not set', faults[0])
        self.assertIn('no kind crush, did you mean crash?', faults[1])
        self.assertIn('did you mean application_credential_id?', faults[2])

    def test_a_secret_is_not_told(self) -> None:
        faults = self.faults(
            'source = synthetic',
            'events_file = /e',
            'sinks = hook',
            '[kronos_monitor_hook]',
            'driver = webhook',
            'url = ftp://user:secret@h/secret',
        )
        self.assertNotIn('secret', ' '.join(faults))


ACME = """
    from oslo_config import cfg

    from kronos.monitor.sinks.base import Outcome, Result, Sink
    from kronos.monitor.sources.base import Source

    class Pager(Sink):
        OPTS = [
            cfg.StrOpt('number', required=True),
            cfg.IntOpt('rings', default=3, min=1),
        ]

        @classmethod
        def faults(cls, options):
            return [] if options['number'] else ['number: is not set']

        def deliver(self, message):
            return Result(Outcome.DELIVERED)

        def check(self, host):
            return ''

    class Clashing(Pager):
        OPTS = [cfg.FloatOpt('timeout', default=1)]

    class Xen(Source):
        HYPERVISOR = 'Xen'
        OPTS = [cfg.StrOpt('xen_socket', default='/run/xen')]

        def start(self): ...
        def stop(self): ...
        def look(self, instance): ...
        def want(self, instance): ...

        def check(self):
            return f'{self.options.of_package["xen_socket"]} is not there'
"""
PLUGINS = {
    'kronos.monitor.sinks': {
        'pager': 'Pager',
        'clashing': 'Clashing',
        'gone': 'Gone',
    },
    'kronos.monitor.sources': {'xen': 'Xen', 'gone': 'Gone'},
}


class TestOfAnotherPackage(SettingsTestCase):
    """Sinks and sources that somebody else has installed."""

    SYNTHETIC = 'source = synthetic', 'events_file = /e'

    def setUp(self) -> None:
        super().setUp()
        self.package = Package('acme_monitor', ACME, PLUGINS)
        self.useFixture(self.package)

    def test_nothing_is_imported_unused(self) -> None:
        self.of(*self.SYNTHETIC)
        self.assertIsNone(self.package.module)

    def test_a_sink(self) -> None:
        result = self.of(
            *self.SYNTHETIC,
            'sinks = night',
            '[kronos_monitor_night]',
            'driver = pager',
            'number = 110',
        )
        (sink,) = result.sinks
        self.assertEqual(
            ('night', 'pager', '110', 3, 10.0),
            (
                sink.name,
                sink.driver,
                sink.options['number'],
                sink.options['rings'],
                sink.options['timeout'],
            ),
        )
        made = registry.make(sink.driver, sink.name, sink.options)
        self.assertIsInstance(made, self.package.module.Pager)

    def test_wrong_options_of_a_sink(self) -> None:
        """They are refused as those of Kronos are."""
        head = *self.SYNTHETIC, 'sinks = pager', '[kronos_monitor_pager]'
        for line, words in (
            ('', 'number'),
            ('number = 1\nrings = 0', 'rings'),
            ('number = 1\nring = 2', 'ring in F/kronos.conf: unknown'),
        ):
            faults = self.faults(*head, *line.split('\n'))
            self.assertIn(words, ' '.join(faults))
            self.assertIn('[kronos_monitor_pager] ', faults[0])

    def test_sinks_that_cannot_be_used(self) -> None:
        for driver, words in (
            ('gone', 'gone of the package acme_monitor cannot be loaded: '),
            ('clashing', 'timeout is an option of Kronos already. Change '),
            ('page', 'there is no driver page, did you mean pager?'),
        ):
            (fault,) = self.faults(*self.SYNTHETIC, f'sinks = {driver}')
            self.assertIn(f'[kronos_monitor_{driver}] driver: {words}', fault)

    def test_a_source(self) -> None:
        result = self.of('source = xen', 'xen_socket = /s')
        self.assertEqual(
            {'xen_socket': '/s'}, result.source_options.of_package
        )
        checked = checks.run(dataclasses.replace(result, sinks=[]))[-1]
        self.assertEqual(
            ('source xen', '/s is not there'), (checked.what, checked.fault)
        )
        self.assertIn(
            'xen_sockets in F/kronos.conf: unknown',
            self.faults('source = xen', 'xen_sockets = /s')[0],
        )

    def test_sources_that_cannot_be_used(self) -> None:
        (fault,) = self.faults('source = gone')
        self.assertIn(
            '[kronos_monitor] source: gone of the package acme_monitor '
            'cannot be loaded: AttributeError',
            fault,
        )
        (fault,) = self.faults('source = xem')
        self.assertIn('there is no source xem, did you mean xen?', fault)
