# SPDX-License-Identifier: Apache-2.0
"""The files for deployers give what the lab has.

kolla-build, kolla-ansible and Helm themselves are not run: what they do to
the files is what ``deployers`` does. pip, oslo.config and its validator are.
"""

import pathlib
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, ClassVar

import fixtures
import jinja2
import jinja2.sandbox
import yaml
from oslo_config import cfg
from oslotest import base

from kronos.conf import monitor
from tests import built, places
from tests.functional.documents import deployers, images

KOLLA = deployers.DEPLOY / 'kolla-ansible'
HELM = deployers.DEPLOY / 'openstack-helm'
PACKAGES = deployers.DEPLOY / 'packages'
DEBIAN = PACKAGES / 'debian'
"""A recipe, which is used as a whole."""
CONTAINERFILE = deployers.DEPLOY / 'container' / 'Containerfile'
MONITOR = deployers.DEPLOY / 'monitor'
OF_WATCHER = ('watcher', 'kronos')
OF_KRONOS = ('kronos',)
WEIGHERS = repr(
    [
        'nova.scheduler.weights.all_weighers',
        'kronos.weighers.load.KronosWeigher',
    ]
)


class FilesCase(base.BaseTestCase):
    """With a folder, and what the lab's services read."""

    def setUp(self) -> None:
        super().setUp()
        self.folder = pathlib.Path(self.useFixture(fixtures.TempDir()).path)

    def write(self, name: str, text: str) -> pathlib.Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def the_lab(self, name: str, options: Sequence[str]) -> deployers.Service:
        """The lab's service that reads a file and kronos.conf."""
        file = self.write(f'lab/{name}', deployers.of_the_lab(name))
        kronos = self.write(
            'lab/conf.d/kronos.conf', deployers.of_the_lab('kronos.conf')
        )
        return deployers.Service(
            options,
            ['--config-file', str(file), '--config-dir', str(kronos.parent)],
        )

    def own_options(self) -> dict[str, dict[str, list[str]]]:
        """What the lab sets that no file for a deployer does."""
        found = deployers.sections(deployers.of_the_lab('kronos.conf'))
        del found['kronos']['policies_file']
        del found['kronos_prometheus']
        return found


class TestPage(base.BaseTestCase):
    def test_every_file(self) -> None:
        """The page tells of each, and of none that is not there."""
        page = places.TOP / 'doc' / 'source' / 'deploying.rst'
        told = set(re.findall(r'deploy/[\w./-]+\w', page.read_text()))
        told |= {
            f'deploy/openstack-helm/{name}.yaml'
            for name in ('monitor', 'nova')
            if f'``{name}.yaml``' in page.read_text()
        }
        there = {
            str(path.relative_to(places.TOP))
            for path in deployers.DEPLOY.rglob('*')
            if path.is_file()
            and path.parent != MONITOR
            and DEBIAN not in path.parents
        }
        there.add(str(DEBIAN.relative_to(places.TOP)))
        self.assertEqual(there, told)

    def test_every_file_of_the_monitor(self) -> None:
        """It has a page of its own."""
        page = (places.TOP / 'doc' / 'source' / 'monitoring.rst').read_text()
        for path in MONITOR.iterdir():
            self.assertIn(f'``{path.name}``', page)

    def test_samples_that_are_named(self) -> None:
        page = places.TOP / 'doc' / 'source' / 'deploying.rst'
        named = set(re.findall(r'etc/kronos/[\w./-]+\w', page.read_text()))
        for name in named - {'etc/kronos/policies.yaml'}:
            self.assertTrue((places.TOP / name).is_file(), name)


class TestKollaImages(FilesCase):
    """The override of kolla's templates."""

    PARENT: ClassVar[str] = """\
FROM example/openstack-base:1
{% block labels %}
LABEL name="{{ image_name }}"
{% endblock %}

{% block NAME_header %}{% endblock %}

ADD NAME-archive /NAME-source
RUN python3 -m pip install /service

{% block NAME_footer %}{% endblock %}
{% block footer %}{% endblock %}

USER anybody
"""
    """What all of kolla's templates have: blocks at top and bottom, empty."""

    def render(self, image: str, override: bool = True) -> str:
        """As kolla-build does: in a sandbox, the parent as a variable."""
        name = image.replace('-', '_')
        values: dict[str, Any] = {'image_name': image}
        env = jinja2.sandbox.SandboxedEnvironment(
            loader=jinja2.DictLoader(
                {'Dockerfile.j2': self.PARENT.replace('NAME', name)}
            )
        )
        template = env.get_template('Dockerfile.j2')
        if override:
            text = (KOLLA / 'template-overrides.j2').read_text()
            values['parent_template'] = template
            env = jinja2.sandbox.SandboxedEnvironment(
                loader=jinja2.DictLoader({'override': text})
            )
            template = env.get_template('override')
        return template.render(values)

    def test_images_of_others_stay(self) -> None:
        for image in ('keystone', 'watcher-engine', 'nova-scheduler'):
            self.assertEqual(
                deployers.instructions(self.render(image, override=False)),
                deployers.instructions(self.render(image)),
            )

    def test_base_images(self) -> None:
        """Ours comes behind the service itself, before its user."""
        for image, added in (
            ('watcher-base', ['ADD', 'RUN']),
            ('nova-base', ['RUN']),
        ):
            plain = deployers.instructions(self.render(image, override=False))
            ours = deployers.instructions(self.render(image))
            self.assertEqual([*plain[:-1]], ours[: len(plain) - 1])
            self.assertEqual(plain[-1], ours[-1])
            self.assertEqual(
                added, [word for word, _ in ours[len(plain) - 1 : -1]]
            )

    def test_sources_are_for_the_images_that_take_plugins(self) -> None:
        text = (KOLLA / 'kolla-build.conf').read_text()
        for name, options in deployers.sections(text).items():
            self.assertRegex(name, '^(watcher|nova)-base-plugin-kronos$')
            self.assertEqual(['local'], options['type'])
            self.assertRegex(options['location'][0], r'\.tar\.gz$')

    def test_validator_learns_the_options(self) -> None:
        """With the very file by which kolla-ansible validates."""
        place = 'etc/watcher/oslo-config-generator/watcher.conf'
        text = (pathlib.Path(sys.prefix) / place).read_text()
        generator = self.write(f'watcher/{place}', text)
        conf = self.write(
            'watcher.conf', (PACKAGES / 'kronos.conf').read_text()
        )
        run = deployers.instructions(self.render('watcher-base'))[-2][1]
        command = run[run.index('echo ') :].replace(
            ' /watcher/', f' {self.folder}/watcher/'
        )
        subprocess.run(['/bin/sh', '-c', command], check=True)
        self.assertEqual([], self.validated(generator, conf))
        # Without it the same options are errors.
        other = self.write('other.conf', '[DEFAULT]\nnamespace = oslo.log\n')
        self.assertIn(
            'kronos/policies_file is not part of the sample config',
            self.validated(other, conf),
        )

    def validated(
        self, generator: pathlib.Path, conf: pathlib.Path
    ) -> list[str]:
        """What oslo-config-validator calls errors."""
        done = subprocess.run(
            [
                f'{sys.prefix}/bin/oslo-config-validator',
                *('--config-file', str(generator)),
                *('--input-file', str(conf)),
            ],
            capture_output=True,
            text=True,
        )
        found = re.findall(r'^ERROR.*?(\w+/\w+ .*)$', done.stderr, re.M)
        self.assertEqual(bool(found), bool(done.returncode), done.stderr)
        return found


class TestAsTheLab(FilesCase):
    """Whoever deploys it, Watcher reads what it reads in the lab.

    Options of Watcher included: nothing of theirs is lost.
    """

    def kolla(self) -> list[deployers.Service]:
        merged = self.write(
            'kolla/watcher.conf',
            deployers.merged(
                [
                    deployers.of_the_lab('watcher.conf'),
                    _filled('watcher.conf'),
                    _text(self.own_options()),
                ]
            ),
        )
        return [deployers.Service(OF_WATCHER, ['--config-file', str(merged)])]

    def helm(self) -> list[deployers.Service]:
        values = _values(deployers.of_the_lab('watcher.conf'))
        for above in (
            _helm_values('watcher.yaml')['conf']['watcher'],
            {
                'kronos': {
                    'hypervisor_types': ['fake'],
                    'cooldown': 130,
                    'min_age': 0,
                    'migration_poll_interval': 1,
                },
                'kronos_prometheus': {'url': deployers.PROMETHEUS},
            },
        ):
            values = deployers.layered(values, above)
        ini = self.write('helm/watcher.conf', deployers.as_ini(values))
        return [deployers.Service(OF_WATCHER, ['--config-file', str(ini)])]

    def packages(self) -> list[deployers.Service]:
        """Both as a unit names watcher.conf, and as it names nothing."""
        conf = self.write(
            'packages/watcher.conf', deployers.of_the_lab('watcher.conf')
        )
        own = (PACKAGES / 'kronos.conf').read_text()
        example = re.search('^url = (.+)$', own, re.M)
        assert example
        own = own.replace(example[1], deployers.PROMETHEUS)
        folder = self.write('packages/watcher.conf.d/kronos.conf', own).parent
        self.write(
            'packages/watcher.conf.d/site.conf', _text(self.own_options())
        )
        return [
            deployers.Service(OF_WATCHER, files=[conf], folders=[folder]),
            deployers.Service(
                OF_WATCHER, ['--config-file', str(conf)], folders=[folder]
            ),
        ]

    def test_each(self) -> None:
        lab, *others = deployers.effective(
            self.the_lab('watcher.conf', OF_WATCHER),
            *self.kolla(),
            *self.helm(),
            *self.packages(),
        )
        self.assertGreater(len(lab), 200)
        self.assertEqual('130', lab['kronos.cooldown'])
        self.assertEqual(4, len(others))
        for other in others:
            self.assertEqual(lab, other)


class TestKollaConfiguration(FilesCase):
    def test_scheduler_as_the_lab(self) -> None:
        name = 'nova/nova-scheduler.conf'
        merged = self.write(
            'nova.conf',
            deployers.merged(
                [
                    deployers.of_the_lab('nova-common.conf'),
                    _filled(name),
                    _text(self.own_options()),
                ]
            ),
        )
        lab, kolla = deployers.effective(
            self.the_lab('nova-common.conf', OF_KRONOS),
            deployers.Service(OF_KRONOS, files=[merged]),
        )
        self.assertEqual(
            WEIGHERS, kolla.pop('filter_scheduler.weight_classes')
        )
        del lab['filter_scheduler.weight_classes']
        self.assertEqual(lab, kolla)
        theirs = deployers.sections(merged.read_text())['filter_scheduler']
        self.assertIn('enabled_filters', theirs)

    def test_with_what_kolla_protects_prometheus_by(self) -> None:
        for name in ('watcher.conf', 'nova/nova-scheduler.conf'):
            path = self.write(
                name,
                _filled(
                    name, prometheus_password='secret', openstack_cacert='/ca'
                ),
            )
            (found,) = deployers.effective(
                deployers.Service(OF_KRONOS, files=[path])
            )
            for option, value in (
                ('username', 'admin'),
                ('password', 'secret'),
                ('cafile', '/ca'),
            ):
                self.assertEqual(
                    repr(value), found[f'kronos_prometheus.{option}']
                )

    def test_volumes(self) -> None:
        """Whatever others have mounted stays mounted."""
        text = (KOLLA / 'globals.d' / 'kronos.yml').read_text()
        facts = {
            'default_extra_volumes': ['/a:/a'],
            'nova_extra_volumes': ['/b:/b'],
            'ansible_facts': {'nodename': 'cmp1.example.org'},
        }
        env = jinja2.Environment(undefined=jinja2.StrictUndefined)
        found = {
            name: env.from_string(value).render(facts)
            for name, value in yaml.safe_load(text).items()
        }
        kronos = '/etc/kronos:/etc/kronos:ro'
        self.assertEqual(
            str(['/a:/a', kronos]), found['watcher_extra_volumes']
        )
        self.assertEqual(
            str(['/b:/b', kronos]), found['nova_scheduler_extra_volumes']
        )
        self.assertEqual(
            'cmp1.example.org', found['prometheus_instance_label']
        )
        self.assertEqual(
            str(pathlib.Path(deployers.POLICIES).parent),
            kronos.split(':')[1],
        )


class TestHelm(FilesCase):
    def test_as_it_is(self) -> None:
        """Nothing but the policies, Prometheus and the weigher is set."""
        for name, chart in (
            ('watcher.yaml', 'watcher'),
            ('nova.yaml', 'nova'),
        ):
            ini = deployers.as_ini(_helm_values(name)['conf'][chart])
            path = self.write(f'{chart}.conf', ini)
            plain, ours = deployers.effective(
                deployers.Service(OF_KRONOS),
                deployers.Service(OF_KRONOS, files=[path]),
            )
            changed = {key for key in ours if ours[key] != plain[key]}
            wanted = {'kronos_prometheus.url'}
            if chart == 'nova':
                wanted.add('filter_scheduler.weight_classes')
                self.assertEqual(
                    WEIGHERS, ours['filter_scheduler.weight_classes']
                )
            self.assertEqual(wanted, changed)
            self.assertEqual(
                repr(deployers.POLICIES), ours['kronos.policies_file']
            )

    def test_policies_come_into_every_pod(self) -> None:
        """Where the option looks for them; with the image of Kronos."""
        for name, chart, pods in (
            (
                'watcher.yaml',
                'watcher',
                {'watcher_decision_engine', 'watcher_applier'},
            ),
            ('nova.yaml', 'nova', {'nova_scheduler'}),
        ):
            values = _helm_values(name)
            self.assertEqual(pods, set(values['images']['tags']))
            self.assertEqual(pods, set(values['pod']['mounts']))
            policies = values['conf'][chart]['kronos']['policies_file']
            for pod in pods:
                mounts = values['pod']['mounts'][pod][pod]
                (mount,) = mounts['volumeMounts']
                (volume,) = mounts['volumes']
                self.assertEqual(volume['name'], mount['name'])
                self.assertEqual(
                    {'name': 'kronos-policies'}, volume['configMap']
                )
                self.assertEqual(
                    mount['mountPath'], str(pathlib.Path(policies).parent)
                )

    def test_large_numbers(self) -> None:
        """Helm would print them as no integer; there is none."""
        self.assertEqual(
            '[a]\nb = 1e+06\nc = 900\n',
            deployers.as_ini({'a': {'b': 1000000, 'c': 900}}),
        )
        for name in ('watcher.yaml', 'nova.yaml'):
            text = deployers.as_ini(
                next(iter(_helm_values(name)['conf'].values()))
            )
            self.assertNotRegex(text, r'= [\d.]+e\+')


class TestMonitor(FilesCase):
    """The instance monitor on compute nodes, by either deployer."""

    UNIT = (MONITOR / 'kronos-instance-monitor.service').read_text()

    def read(self, text: str) -> Any:
        """The options of a file that the monitor reads."""
        ((group, names),) = deployers.sections(text).items()
        self.assertEqual(monitor.GROUP, group)
        self.assertLessEqual(
            set(names), {option.dest for option in monitor.OPTS}
        )
        conf = cfg.ConfigOpts()
        monitor.register_opts(conf)
        conf([], default_config_files=[str(self.write('k.conf', text))])
        return conf[group]

    def objects(self) -> tuple[Any, Any]:
        """The options, and the pod."""
        secret, daemons = yaml.safe_load_all(
            (HELM / 'monitor.yaml').read_text()
        )
        self.assertEqual(
            ('Secret', 'DaemonSet'), (secret['kind'], daemons['kind'])
        )
        self.assertEqual(
            daemons['spec']['selector']['matchLabels'],
            daemons['spec']['template']['metadata']['labels'],
        )
        return secret, daemons['spec']['template']

    def test_pod(self) -> None:
        """It has what the monitor reads and writes, and nothing else."""
        secret, template = self.objects()
        pod = template['spec']
        (container,) = pod['containers']
        places = {
            mount['name']: mount['mountPath']
            for mount in container['volumeMounts']
        }
        volumes = {volume['name']: volume for volume in pod['volumes']}
        self.assertEqual(set(volumes), set(places))
        ((name, text),) = secret['stringData'].items()
        self.assertEqual(
            ['--config-file', f'{places["conf"]}/{name}'],
            container['command'][1:],
        )
        self.assertEqual(
            secret['metadata']['name'], volumes['conf']['secret']['secretName']
        )
        found = self.read(text)
        state = pathlib.Path(found.state_file)
        self.assertEqual(places['state'], str(state.parent))
        self.assertEqual('/run/libvirt', places['libvirt'])
        for name in ('state', 'libvirt'):
            self.assertEqual(places[name], volumes[name]['hostPath']['path'])
        self.assertEqual(
            str(found.metrics_port),
            template['metadata']['annotations']['prometheus.io/port'],
        )

    def test_pod_has_the_bounds_of_the_unit(self) -> None:
        _, template = self.objects()
        (container,) = template['spec']['containers']
        memory = container['resources']['limits']['memory']
        self.assertIn(f'\nMemoryMax={memory.removesuffix("i")}\n', self.UNIT)
        context = container['securityContext']
        self.assertEqual(['ALL'], context['capabilities']['drop'])
        self.assertIn('\nCapabilityBoundingSet=\n', self.UNIT)
        self.assertTrue(context['readOnlyRootFilesystem'])

    def test_variables_of_the_pod_are_options(self) -> None:
        """As oslo.config reads them from the environment."""
        _, template = self.objects()
        (container,) = template['spec']['containers']
        known = {option.dest for option in monitor.OPTS}
        for variable in container['env']:
            group, _, option = (
                variable['name'].removeprefix('OS_').lower().partition('__')
            )
            self.assertEqual(monitor.GROUP, group)
            self.assertIn(option, known)

    def playbook(self) -> tuple[dict[str, Any], Any]:
        """The playbook, and what fills in a text of it."""
        (play,) = yaml.safe_load((KOLLA / 'kronos-monitor.yml').read_text())
        facts: dict[str, Any] = {
            'playbook_dir': str(KOLLA),
            'network_interface': 'eth0',
            'ansible_facts': {
                'nodename': 'cmp1',
                'os_family': 'Debian',
                'eth0': {'ipv4': {'address': '192.0.2.17'}},
            },
        }
        env = jinja2.Environment(
            undefined=jinja2.StrictUndefined, keep_trailing_newline=True
        )

        def fill(text: str) -> str:
            while '{{' in text:
                text = env.from_string(text).render({**play['vars'], **facts})
            return text

        return play, fill

    def test_options_of_the_playbook(self) -> None:
        play, fill = self.playbook()
        found = self.read(fill(play['vars']['kronos_monitor_conf']))
        self.assertEqual(
            ('cmp1', '192.0.2.17', '/var/lib/kronos/monitor.db'),
            (found.host, found.metrics_host, found.state_file),
        )
        self.assertIn('\nStateDirectory=kronos\n', self.UNIT)

    def test_tasks_of_the_playbook(self) -> None:
        """What they copy is there, and whom they notify, too."""
        play, fill = self.playbook()
        handlers = {handler['name'] for handler in play['handlers']}
        for task in play['tasks']:
            self.assertLessEqual(
                {task['notify']} if 'notify' in task else set(), handlers
            )
            (module,) = (name for name in task if 'ansible.' in name)
            arguments = task[module]
            if 'src' in arguments:
                path = pathlib.Path(fill(arguments['src']))
                self.assertTrue(path.is_file(), path)
            if 'ExecStart' in arguments.get('content', ''):
                self.assertIn(
                    '\nExecStart=\nExecStart=/opt/kronos/monitor/bin/'
                    'kronos-instance-monitor\n',
                    fill(arguments['content']),
                )
            if module.endswith('.user'):
                self.assertIn(f'\nUser={arguments["name"]}\n', self.UNIT)

    def test_scrapes_of_kolla(self) -> None:
        """Each compute node, by the address that the playbook has."""
        name = 'config/prometheus/prometheus.yml.d/kronos-monitor.yml'
        addresses = {'cmp1': '192.0.2.17', 'cmp2': '2001:db8::2'}
        env = jinja2.Environment(undefined=jinja2.StrictUndefined)
        env.filters['kolla_address'] = lambda _, host: addresses[host]
        env.filters['put_address_in_context'] = lambda address, _: (
            f'[{address}]' if ':' in address else address
        )
        text = env.from_string((KOLLA / name).read_text()).render(
            groups={'compute': ['cmp1', 'cmp2']},
            hostvars={
                host: {'ansible_facts': {'nodename': f'{host}.example.org'}}
                for host in addresses
            },
        )
        (job,) = yaml.safe_load(text)['scrape_configs']
        self.assertEqual(
            [
                (['192.0.2.17:9877'], 'cmp1.example.org'),
                (['[2001:db8::2]:9877'], 'cmp2.example.org'),
            ],
            [
                (target['targets'], target['labels']['instance'])
                for target in job['static_configs']
            ],
        )
        (sample,) = yaml.safe_load(
            (MONITOR / 'prometheus-scrape.yaml').read_text()
        )['scrape_configs']
        self.assertEqual(sample['job_name'], job['job_name'])


class TestPackages(FilesCase):
    """Plain packages: folders that services read by themselves."""

    def test_scheduler(self) -> None:
        """The folder goes before nova.conf, unless that one is named."""
        conf = self.write(
            'nova.conf', '[filter_scheduler]\nweight_classes = a.B\n'
        )
        for path in PACKAGES.glob('*.conf'):
            self.write(f'scheduler.d/{path.name}', path.read_text())
        folders = [self.folder / 'scheduler.d']
        plain, named = deployers.effective(
            deployers.Service(OF_KRONOS, files=[conf], folders=folders),
            deployers.Service(
                OF_KRONOS, ['--config-file', str(conf)], folders=folders
            ),
        )
        option = 'filter_scheduler.weight_classes'
        self.assertEqual(WEIGHERS, plain[option])
        self.assertEqual(repr(['a.B']), named[option])
        for found in plain, named:
            self.assertEqual(
                repr(deployers.POLICIES), found['kronos.policies_file']
            )


class TestContainerfile(FilesCase):
    def test_instructions(self) -> None:
        found = deployers.instructions(CONTAINERFILE.read_text())
        self.assertEqual(
            ['ARG', 'FROM', 'ARG', 'ARG', 'USER', 'COPY', 'RUN', 'RUN']
            + ['USER'],
            [word for word, _ in found],
        )
        arguments = dict(found_argument(rest) for rest in _all(found, 'ARG'))
        used = set(re.findall(r'\$\{(\w+)\}', CONTAINERFILE.read_text()))
        self.assertEqual(set(arguments), used)
        self.assertEqual(['${BASE_IMAGE}'], _all(found, 'FROM'))
        self.assertEqual(['root', '${IMAGE_USER}'], _all(found, 'USER'))

    def test_lines_run(self) -> None:
        """pip puts Kronos beside Watcher, and changes nothing else."""
        wheel = built.distributions().wheel
        image = images.Image(self.folder)
        found = deployers.instructions(CONTAINERFILE.read_text())
        (copied,) = _all(found, 'COPY')
        pattern, place = copied.split()
        self.assertTrue(wheel.match(pattern), wheel)
        inside = image.root / place.strip('/')
        inside.mkdir(parents=True)
        inside.joinpath(wheel.name).write_bytes(wheel.read_bytes())
        before = {path.name for path in image.packages.iterdir()}
        first, check = _all(found, 'RUN')
        missing = image.run(check)
        self.assertNotEqual(0, missing.returncode)
        done = image.run(
            first.replace(place.rstrip('/'), str(inside)),
            {'EXTRA': 'watcher'},
        )
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertFalse(inside.exists())
        done = image.run(check)
        self.assertEqual(0, done.returncode, done.stderr)
        after = {path.name for path in image.packages.iterdir()}
        self.assertEqual(
            {'kronos', f'kronos_watcher-{built.VERSION}.dist-info'},
            after - before,
        )
        self.assertEqual(set(), before - after)
        self.assertTrue((image.venv / 'bin' / 'kronos-replay').exists())


def _filled(name: str, **more: str) -> str:
    """A file of kolla-ansible's configuration, as Ansible fills it in."""
    facts = {
        'prometheus_internal_endpoint': deployers.PROMETHEUS,
        'prometheus_password': '',
        'openstack_cacert': '',
        **more,
    }
    env = jinja2.Environment(undefined=jinja2.StrictUndefined)
    return env.from_string((KOLLA / 'config' / name).read_text()).render(facts)


def _helm_values(name: str) -> Any:
    return yaml.safe_load((HELM / name).read_text())


def _all(found: list[tuple[str, str]], word: str) -> list[str]:
    return [rest for name, rest in found if name == word]


def found_argument(text: str) -> tuple[str, str]:
    name, _, default = text.partition('=')
    return name, default


def _text(options: dict[str, dict[str, list[str]]]) -> str:
    return ''.join(
        f'[{name}]\n'
        + ''.join(f'{key} = {value[-1]}\n' for key, value in group.items())
        for name, group in options.items()
    )


def _values(text: str) -> dict[str, dict[str, str]]:
    return {
        name: {key: value[-1] for key, value in options.items()}
        for name, options in deployers.sections(text).items()
    }
