# SPDX-License-Identifier: Apache-2.0
"""What the plugin of DevStack does to a machine, phase by phase."""

import pathlib
import re
from typing import Any

import fixtures
from oslo_config import cfg
from oslotest import base

from kronos.conf import monitor, opts
from kronos.monitor import state_file
from tests import places
from tests.functional.documents import devstack_node

DEVSTACK = places.TOP / 'devstack'
SAMPLES = places.TOP / 'etc' / 'kronos'
WEIGHER = 'kronos.weighers.load.KronosWeigher'
ALL_WEIGHERS = 'nova.scheduler.weights.all_weighers'
CONFIGURE = 'stack post-config'


def options(path: pathlib.Path) -> Any:
    """What a service that reads a file takes from it."""
    conf = cfg.ConfigOpts()
    opts.register_opts(conf)
    conf.register_opt(
        cfg.ListOpt('weight_classes', default=[ALL_WEIGHERS]),
        'filter_scheduler',
    )
    conf(['--config-file', str(path)], default_config_dirs=[])
    return conf


class NodeCase(base.BaseTestCase):
    """On a machine that has Nova and Watcher."""

    def setUp(self) -> None:
        super().setUp()
        folder = self.useFixture(fixtures.TempDir()).path
        self.node = devstack_node.Node(pathlib.Path(folder) / 'node')

    def run_phases(self, *phases: str, **options: Any) -> str:
        """All of them end well; what they said."""
        done = self.node.run(*phases, **options)
        self.assertEqual(0, done.returncode, done.stderr)
        self.assert_all_known()
        return done.stdout

    def assert_all_known(self) -> None:
        """Nothing was called that DevStack does not offer."""
        found = self.node.unknown
        self.assertFalse(found.exists() and found.read_text())

    def assert_dies(self, *told: str, **options: Any) -> None:
        """It ends with a remedy before anything is written."""
        before = self.node.files()
        phases = options.pop('phases', devstack_node.STACK)
        done = self.node.run(*phases, **options)
        self.assertEqual(1, done.returncode, done.stdout)
        self.assertIn('[ERROR] ', done.stderr)
        self.assertRegex(done.stderr, r'devstack/plugin\.sh:\d+ ')
        for text in told:
            self.assertIn(text, done.stderr)
        self.assertEqual(before, self.node.files())
        self.assert_all_known()


class TestPhases(NodeCase):
    def test_files_say_what_services_read(self) -> None:
        self.run_phases(*devstack_node.STACK)
        kronos = self.node.kronos
        for path in (
            kronos / 'kronos.conf',
            self.node.watcher_conf,
            self.node.nova_conf,
        ):
            conf = options(path)
            self.assertEqual(
                str(kronos / 'policies.yaml'), conf.kronos.policies_file
            )
            self.assertTrue(conf.kronos.include_unassigned_hosts)
            self.assertEqual([], conf.kronos.aggregates)
            self.assertEqual(600, conf.kronos.cooldown)
            self.assertIsNone(conf.kronos_prometheus.url)
        self.assertEqual(
            [ALL_WEIGHERS, WEIGHER], conf.filter_scheduler.weight_classes
        )
        self.assertEqual(
            (SAMPLES / 'policies-node-exporter.yaml').read_bytes(),
            (kronos / 'policies.yaml').read_bytes(),
        )

    def test_package_goes_where_that_of_watcher_does(self) -> None:
        self.run_phases('stack install')
        self.assertEqual(
            str(places.TOP),
            str(
                pathlib.Path(self.node.installed.read_text().strip()).resolve()
            ),
        )

    def test_every_phase_twice(self) -> None:
        """The second time no byte changes."""
        for phases in (devstack_node.STACK, ('unstack',), ('clean',)):
            self.run_phases(*phases)
            once = self.node.files()
            self.run_phases(*phases)
            self.assertEqual(once, self.node.files(), phases)

    def test_twice_in_files_that_stay(self) -> None:
        """Nobody writes watcher.conf anew in between."""
        self.run_phases(*devstack_node.STACK)
        once = self.node.files()
        self.run_phases(
            CONFIGURE, plugins=['kronos'], WATCHER_CONF=self.watcher_conf()
        )
        self.assertEqual(once, self.node.files())

    def watcher_conf(self) -> str:
        return str(self.node.watcher_conf)

    def test_clean_takes_everything_back(self) -> None:
        before = self.node.files()
        self.run_phases(*devstack_node.STACK)
        self.assertNotEqual(before, self.node.files())
        self.run_phases('unstack', 'clean')
        self.assertEqual(before, self.node.files())

    def test_unstack_leaves_the_files(self) -> None:
        self.run_phases(*devstack_node.STACK)
        before = self.node.files()
        self.run_phases('unstack')
        self.assertEqual(before, self.node.files())

    def test_clean_without_stack(self) -> None:
        before = self.node.files()
        self.run_phases('clean')
        self.assertEqual(before, self.node.files())

    def test_clean_after_the_services_were_disabled(self) -> None:
        before = self.node.files()
        self.run_phases(*devstack_node.STACK)
        self.run_phases('clean', before='disable_service kronos n-sch')
        self.assertEqual(before, self.node.files())

    def test_files_that_do_not_end_in_a_newline(self) -> None:
        self.node.nova_conf.write_text('[DEFAULT]\ndebug = True')
        before = self.node.files()
        self.run_phases(*devstack_node.STACK)
        conf = options(self.node.nova_conf)
        self.assertIn(WEIGHER, conf.filter_scheduler.weight_classes)
        self.run_phases('clean')
        self.assertEqual(before, self.node.files())


class TestValuesOfOthers(NodeCase):
    """What stands in a file already, or is changed there later."""

    def test_other_weighers_come_first(self) -> None:
        for there in (
            'nova.scheduler.weights.ram.RAMWeigher, example.Weigher',
            'example.Weigher',
            ALL_WEIGHERS,
        ):
            self.node.nova_conf.write_text(
                f'[filter_scheduler]\nweight_classes={there}\n'
            )
            before = self.node.files()
            self.run_phases(*devstack_node.STACK)
            conf = options(self.node.nova_conf)
            self.assertEqual(
                [*there.split(', '), WEIGHER],
                conf.filter_scheduler.weight_classes,
            )
            self.run_phases('clean')
            self.assertEqual(before, self.node.files())

    def test_weigher_that_is_there_stays(self) -> None:
        self.node.nova_conf.write_text(
            f'[filter_scheduler]\nweight_classes = {WEIGHER},example.Other\n'
        )
        before = self.node.files()
        self.run_phases(*devstack_node.STACK)
        self.assertEqual(
            [WEIGHER, 'example.Other'],
            options(self.node.nova_conf).filter_scheduler.weight_classes,
        )
        self.run_phases('clean')
        self.assertEqual(before, self.node.files())

    def test_weigher_that_came_later_stays(self) -> None:
        self.run_phases(*devstack_node.STACK)
        text = self.node.nova_conf.read_text()
        self.node.nova_conf.write_text(
            text.replace(WEIGHER, f'{WEIGHER},example.Other')
        )
        self.run_phases('clean')
        self.assertEqual(
            [ALL_WEIGHERS, 'example.Other'],
            options(self.node.nova_conf).filter_scheduler.weight_classes,
        )

    def test_options_stand(self) -> None:
        own = (
            '[kronos]\ncooldown = 30\npolicies_file = /srv/policies.yaml\n'
            '[kronos_prometheus]\nurl = http://192.0.2.1:9090\n'
        )
        self.node.watcher(devstack_node.WATCHER_CONF + own)
        self.node.nova_conf.write_text(devstack_node.NOVA_CONF + own)
        before = self.node.files()
        said = self.run_phases(
            *devstack_node.STACK, KRONOS_PROMETHEUS_URL='http://a:secret@b/'
        )
        for path in (self.node.watcher_conf, self.node.nova_conf):
            conf = options(path)
            self.assertEqual(30, conf.kronos.cooldown)
            self.assertEqual('/srv/policies.yaml', conf.kronos.policies_file)
            self.assertEqual(
                'http://192.0.2.1:9090', conf.kronos_prometheus.url
            )
            self.assertIn(
                f'Kronos leaves policies_file of [kronos] in {path} alone',
                said,
            )
        self.assertNotIn('secret', said)
        self.run_phases('clean')
        self.assertEqual(before, self.node.files())

    def test_what_local_conf_changes_afterwards_stays(self) -> None:
        """As [[post-config|...]] does, which comes after the plugin."""
        self.run_phases(*devstack_node.STACK)
        text = self.node.nova_conf.read_text()
        told = 'include_unassigned_hosts = False\ncooldown = 77'
        self.node.nova_conf.write_text(
            text.replace('include_unassigned_hosts = True', told)
        )
        changed = self.node.files()
        self.run_phases(*devstack_node.STACK)
        self.assertEqual(changed, self.node.files())
        self.run_phases('clean')
        self.assertEqual(
            f'{devstack_node.NOVA_CONF}\n[kronos]\n{told}\n',
            self.node.nova_conf.read_text(),
        )

    def test_sections_that_came_later_stay(self) -> None:
        self.run_phases(*devstack_node.STACK)
        with self.node.nova_conf.open('a') as file:
            file.write('\n[workarounds]\nnever = True\n')
        self.run_phases('clean')
        self.assertEqual(
            f'{devstack_node.NOVA_CONF}\n[workarounds]\nnever = True\n',
            self.node.nova_conf.read_text(),
        )

    def test_policies_and_options_of_the_operator_stay(self) -> None:
        self.node.kronos.mkdir()
        for name in ('policies.yaml', 'kronos.conf', 'another.yaml'):
            self.node.kronos.joinpath(name).write_text('[kronos]\n')
        before = self.node.files()
        self.run_phases(*devstack_node.STACK)
        self.assertEqual(
            '[kronos]\n',
            self.node.kronos.joinpath('policies.yaml').read_text(),
        )
        self.run_phases('clean')
        self.assertEqual(before, self.node.files())

    def test_policies_that_were_edited_stay(self) -> None:
        self.run_phases(*devstack_node.STACK)
        policies = self.node.kronos / 'policies.yaml'
        policies.write_text('policies: []\n')
        self.run_phases(*devstack_node.STACK)
        self.assertEqual('policies: []\n', policies.read_text())
        said = self.run_phases('clean')
        self.assertIn(f'Kronos leaves {policies}', said)
        self.assertEqual([policies], list(self.node.kronos.iterdir()))


class TestVariables(NodeCase):
    def test_every_one_overrides(self) -> None:
        folder = self.node.etc / 'elsewhere' / 'deep'
        policies = self.node.etc / 'policies' / 'its.yaml'
        before = self.node.files()
        self.run_phases(
            *devstack_node.STACK,
            KRONOS_CONF=str(folder / 'its.conf'),
            KRONOS_POLICIES_FILE=str(policies),
            KRONOS_POLICIES_SAMPLE=str(SAMPLES / 'policies-pack.yaml'),
            KRONOS_PROMETHEUS_URL='https://prometheus.example.org/a?b=c&d\\e',
            KRONOS_AGGREGATES='gpu,hpc',
            KRONOS_INCLUDE_UNASSIGNED_HOSTS='False',
            KRONOS_HYPERVISOR_TYPES='QEMU',
            KRONOS_COOLDOWN='45',
        )
        conf = options(folder / 'its.conf')
        self.assertEqual(str(policies), conf.kronos.policies_file)
        self.assertEqual(
            'https://prometheus.example.org/a?b=c&d\\e',
            conf.kronos_prometheus.url,
        )
        self.assertEqual(['gpu', 'hpc'], conf.kronos.aggregates)
        self.assertFalse(conf.kronos.include_unassigned_hosts)
        self.assertEqual(['QEMU'], conf.kronos.hypervisor_types)
        self.assertEqual(45, conf.kronos.cooldown)
        self.assertEqual(
            (SAMPLES / 'policies-pack.yaml').read_bytes(),
            policies.read_bytes(),
        )
        self.run_phases('clean')
        self.assertEqual(before, self.node.files())

    def test_another_value_replaces_only_our_own(self) -> None:
        self.run_phases(*devstack_node.STACK, KRONOS_COOLDOWN='45')
        self.run_phases(*devstack_node.STACK, KRONOS_COOLDOWN='46')
        self.assertEqual(46, options(self.node.nova_conf).kronos.cooldown)
        text = self.node.nova_conf.read_text()
        self.node.nova_conf.write_text(text.replace('= 46', '= 45'))
        self.run_phases(*devstack_node.STACK, KRONOS_COOLDOWN='46')
        self.assertEqual(45, options(self.node.nova_conf).kronos.cooldown)

    def test_prometheus(self) -> None:
        """Found where DevStack has one; none is installed."""
        file = self.node.etc / 'prometheus.yaml'
        file.write_text('host: 192.0.2.9\nport: 9999\n')
        for url, variables in (
            ('http://192.0.2.9:9999', {}),
            (
                'http://192.0.2.7:9090',
                {'before': 'enable_service prometheus'},
            ),
            (
                'http://192.0.2.7:9091',
                {
                    'before': 'enable_service prometheus',
                    'PROMETHEUS_PORT': '9091',
                },
            ),
            (
                None,
                {
                    'before': 'enable_service prometheus',
                    'KRONOS_PROMETHEUS_URL': 'keystone',
                },
            ),
            ('http://[::1]:1', {'KRONOS_PROMETHEUS_URL': 'http://[::1]:1'}),
        ):
            said = self.run_phases('clean', *devstack_node.STACK, **variables)
            conf = options(self.node.kronos / 'kronos.conf')
            self.assertEqual(url, conf.kronos_prometheus.url)
            self.assertEqual(url is None, 'knows no Prometheus' in said)
        self.assertFalse(self.node.installed.read_text().count('prometheus'))

    def test_ceilometer_has_policies_of_its_own(self) -> None:
        self.run_phases(*devstack_node.STACK, before='enable_service sg-core')
        self.assertEqual(
            (SAMPLES / 'policies-ceilometer.yaml').read_bytes(),
            self.node.kronos.joinpath('policies.yaml').read_bytes(),
        )
        self.assertEqual(900, options(self.node.watcher_conf).kronos.cooldown)

    def test_fake_hypervisors(self) -> None:
        self.run_phases(*devstack_node.STACK, VIRT_DRIVER='fake')
        self.assertEqual(
            ['fake'], options(self.node.watcher_conf).kronos.hypervisor_types
        )

    def test_all_are_told_of(self) -> None:
        """In the README, and with what settings say."""
        settings = (DEVSTACK / 'settings').read_text()
        names = set(re.findall(r'^(KRONOS_\w+)=\$\{\1:-', settings, re.M))
        self.assertEqual(set(re.findall(r'^(\w+)=', settings, re.M)), names)
        readme = (DEVSTACK / 'README.rst').read_text()
        self.assertEqual(
            names, set(re.findall(r'^``(KRONOS_\w+)``$', readme, re.M))
        )

    def test_sample_of_local_conf(self) -> None:
        """What it sets is a variable, and Watcher comes first."""
        text = (DEVSTACK / 'local.conf.sample').read_text()
        plugins = re.findall(r'^enable_plugin (\S+)', text, re.M)
        self.assertLess(plugins.index('watcher'), plugins.index('kronos'))
        settings = (DEVSTACK / 'settings').read_text()
        found = re.findall(r'^#?(KRONOS_\w+)=', text, re.M)
        self.assertNotEqual([], found)
        for name in found:
            self.assertIn(f'\n{name}=', settings)


class TestBlanks(NodeCase):
    """Blanks in the names of all folders."""

    def setUp(self) -> None:
        super().setUp()
        folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        # DevStack itself finds no plugin below such a folder.
        dest = folder / 'dest' if devstack_node.DEVSTACK_DIR else None
        self.node = devstack_node.Node(folder / 'a node & more', dest)

    def test_all_phases(self) -> None:
        before = self.node.files()
        self.run_phases(*devstack_node.STACK)
        once = self.node.files()
        self.run_phases(*devstack_node.STACK)
        self.assertEqual(once, self.node.files())
        for path in (self.node.watcher_conf, self.node.nova_conf):
            self.assertEqual(
                str(self.node.kronos / 'policies.yaml'),
                options(path).kronos.policies_file,
            )
        self.run_phases('unstack', 'clean')
        self.assertEqual(before, self.node.files())


class TestServices(NodeCase):
    def test_weigher_disabled(self) -> None:
        for names in ('kronos-weigher', 'n-sch'):
            self.node.nova_conf.unlink()
            self.run_phases(
                *devstack_node.STACK, before=f'disable_service {names}'
            )
            self.assertFalse(self.node.nova_conf.exists())
            self.assertIn('[kronos]', self.node.watcher_conf.read_text())
            self.node.nova_conf.write_text(devstack_node.NOVA_CONF)
            self.run_phases('clean')

    def test_weigher_alone(self) -> None:
        """Nova's scheduler on a machine without Watcher."""
        self.node.watcher_conf.unlink()
        self.run_phases(
            *devstack_node.STACK,
            before='disable_service kronos',
            plugins=['kronos'],
        )
        self.assertFalse(self.node.watcher_conf.exists())
        self.assertIn(WEIGHER, self.node.nova_conf.read_text())

    def test_nothing_to_do(self) -> None:
        before = self.node.files()
        for names in ('kronos kronos-weigher', 'kronos n-sch'):
            self.run_phases(
                *devstack_node.ALL, before=f'disable_service {names}'
            )
            self.assertEqual(before, self.node.files())
            self.assertFalse(self.node.installed.exists())

    def test_weigher_that_local_conf_takes_away_is_told(self) -> None:
        self.run_phases(CONFIGURE)
        self.assertNotIn('does not ask', self.run_phases('stack extra'))
        self.node.nova_conf.write_text(devstack_node.NOVA_CONF)
        self.assertIn('does not ask Kronos', self.run_phases('stack extra'))


class TestMonitor(NodeCase):
    """It is a service of its own, on nodes with servers."""

    ENABLED = 'enable_service kronos-monitor'

    def processes(self) -> list[str]:
        file = self.node.processes
        return file.read_text().splitlines() if file.exists() else []

    def test_not_unless_it_is_enabled(self) -> None:
        self.run_phases(*devstack_node.ALL)
        self.assertEqual([], self.processes())

    def test_a_node_that_has_no_servers_of_libvirt(self) -> None:
        for before, variables in (
            (f'{self.ENABLED}; disable_service n-cpu', {}),
            (self.ENABLED, {'VIRT_DRIVER': 'fake'}),
        ):
            self.run_phases(*devstack_node.ALL, before=before, **variables)
            self.assertEqual([], self.processes())

    def test_beside_watcher(self) -> None:
        before = self.node.files()
        self.run_phases(*devstack_node.STACK, before=self.ENABLED)
        file = self.node.kronos / 'kronos.conf'
        self.assertEqual(
            [
                'run_process kronos-monitor /opt/stack/bin/'
                f'kronos-instance-monitor --config-file {file}'
            ],
            self.processes(),
        )
        self.assertEqual(
            ['monitor'], self.node.installed.read_text().splitlines()[1:]
        )
        state = self.assert_configured(file)
        once = self.node.files()
        self.run_phases(*devstack_node.STACK, before=self.ENABLED)
        self.assertEqual(once, self.node.files())
        for part in ('', '-wal', '-shm', '.lock', '.broken'):
            state.with_name(state.name + part).touch()
        self.run_phases('unstack', 'clean', before=self.ENABLED)
        self.assertEqual('stop_process kronos-monitor', self.processes()[-1])
        self.assertEqual(before, self.node.files())

    def assert_configured(self, file: pathlib.Path) -> pathlib.Path:
        """The command takes the file; its state file."""
        conf = cfg.ConfigOpts()
        conf(['--config-file', str(file)], default_config_dirs=[])
        monitor.register_opts(conf)
        state = self.node.etc / 'data' / 'kronos' / 'monitor.db'
        self.assertEqual(str(state), conf.kronos_monitor.state_file)
        self.assertEqual('', state_file.check(str(state)))
        return state

    def test_alone(self) -> None:
        """On a compute node, which has no policies."""
        self.node.watcher_conf.unlink()
        self.node.nova_conf.unlink()
        before = self.node.files()
        enabled = f'disable_service kronos n-sch; {self.ENABLED}'
        self.run_phases(
            *devstack_node.STACK, before=enabled, plugins=['kronos']
        )
        self.assertEqual(1, len(self.processes()))
        file = self.node.kronos / 'kronos.conf'
        self.assertNotIn('policies', file.read_text())
        self.assertFalse(self.node.kronos.joinpath('policies.yaml').exists())
        self.assert_configured(file)
        self.run_phases('unstack', 'clean', before=enabled, plugins=['kronos'])
        self.assertEqual(before, self.node.files())

    def test_state_file_of_the_operator(self) -> None:
        path = self.node.etc / 'elsewhere' / 'state.db'
        self.run_phases(
            *devstack_node.STACK,
            before=self.ENABLED,
            KRONOS_MONITOR_STATE_FILE=str(path),
        )
        text = self.node.kronos.joinpath('kronos.conf').read_text()
        self.assertIn(f'state_file = {path}', text)
        self.assertTrue(path.parent.is_dir())


class TestRefusals(NodeCase):
    def test_watcher_is_not_enabled(self) -> None:
        self.assert_dies(
            'Kronos needs Watcher',
            '"enable_plugin watcher',
            'disable_service kronos',
            plugins=['kronos'],
        )
        self.assertFalse(self.node.installed.exists())

    def test_watcher_comes_later(self) -> None:
        self.assert_dies(
            'The plugin of Watcher comes after',
            'before "enable_plugin kronos"',
            plugins=['kronos', 'watcher'],
        )

    def test_engine_and_applier_are_elsewhere(self) -> None:
        self.assert_dies(
            'disable_service kronos',
            before='disable_service watcher-decision-engine watcher-applier',
        )

    def test_no_watcher_conf(self) -> None:
        self.node.watcher_conf.unlink()
        self.assert_dies(
            f'There is no {self.node.watcher_conf}',
            'before "enable_plugin kronos"',
            phases=[CONFIGURE],
            plugins=['kronos'],
            before='enable_service watcher-applier',
            WATCHER_CONF=str(self.node.watcher_conf),
        )

    def test_no_nova_conf(self) -> None:
        self.node.nova_conf.unlink()
        self.assert_dies(
            f'There is no {self.node.nova_conf}',
            'disable_service kronos-weigher',
        )

    def test_weight_classes_twice(self) -> None:
        self.node.nova_conf.write_text(
            '[filter_scheduler]\nweight_classes = a.B\nweight_classes = c.D\n'
        )
        self.assert_dies('more than once', str(self.node.nova_conf))

    def test_no_sample(self) -> None:
        self.assert_dies(
            'There is no /nowhere.yaml',
            'KRONOS_POLICIES_SAMPLE',
            KRONOS_POLICIES_SAMPLE='/nowhere.yaml',
        )

    def test_values_that_devstack_would_change(self) -> None:
        for variables in (
            {'KRONOS_AGGREGATES': 'a  b'},
            {'KRONOS_AGGREGATES': 'et*'},
            {'KRONOS_POLICIES_FILE': f'{self.node.etc}/a  b.yaml'},
        ):
            self.assert_dies('would not write the option', **variables)

    def test_no_directory(self) -> None:
        self.node.kronos.write_text('')
        self.assert_dies('KRONOS_CONF_DIR', str(self.node.kronos))
