# SPDX-License-Identifier: Apache-2.0
"""Do the files of a lab with three of each node say what they have to?"""

import pathlib
import re
import sys

import fixtures
from oslotest import base

from tests.unit.monitor import alone

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(TOP / 'tools'))

from labkit import layout, running, services, transport  # noqa: E402
from labkit.ha import (  # noqa: E402
    choice,
    cluster,
    galera,
    packages,
    proxy,
)

PORTS = {name: 21000 + at for at, name in enumerate(choice.PORTS)}
PORTS |= {'mariadb': 22000, 'rabbitmq': 22001, 'epmd': 22002}
PORTS['rabbitmq_dist'] = 22003
SYNCED = {
    'wsrep_local_state': '4',
    'wsrep_cluster_status': 'Primary',
    'wsrep_cluster_size': '3',
}


class FilesTestCase(base.BaseTestCase):
    """A lab in folders of its own."""

    def setUp(self) -> None:
        super().setUp()
        home = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        for name in ('ETC', 'DATA', 'RUN', 'LOG'):
            place = home / name.lower()
            place.mkdir()
            self.useFixture(
                fixtures.MonkeyPatch(f'labkit.layout.{name}', place)
            )
        for name, value in (
            ('choice.CHOSEN', home / 'data/ha.json'),
            ('proxy.CONFIGURATION', home / 'etc/haproxy.cfg'),
            ('brokers.COOKIE', home / 'data/mq-cookie'),
            ('cluster.OF_WATCHER', home / 'etc/ha.conf'),
        ):
            patch = fixtures.MonkeyPatch(f'labkit.ha.{name}', value)
            self.useFixture(patch)


class TestChoice(FilesTestCase):
    def test_data_is_of_one_kind(self) -> None:
        self.assertFalse(cluster.chosen(ha=False, is_kept=False))
        self.assertTrue(cluster.chosen(ha=True, is_kept=False))
        self.assertRaises(
            running.LabError, cluster.chosen, ha=True, is_kept=True
        )
        choice.write(chosen=True)
        self.assertTrue(cluster.chosen(ha=False, is_kept=True))
        self.assertFalse(cluster.chosen(ha=False, is_kept=False))

    def test_one_of_each_stays_as_it_was(self) -> None:
        url = 'rabbit://guest:guest@127.0.0.1:22001/'
        self.assertEqual(url, transport.url(PORTS))
        self.assertEqual({}, cluster.table(PORTS))
        self.assertEqual((), cluster.nodes())
        self.assertEqual(services.ON_DEMAND, services.on_demand())
        self.assertEqual((), services.seconds())
        self.assertEqual(
            '{scheme}://{username}:{password}@{hostname}:{port}/cell2',
            transport.template('cell2'),
        )

    def test_three_brokers(self) -> None:
        choice.write(chosen=True)
        url = transport.url(PORTS, 'cell2')
        self.assertEqual(3, url.count('guest:guest@127.0.0.1:'))
        for name in choice.BROKERS:
            self.assertIn(f':{PORTS[name]}', url)
        # As Nova fills it in from the configuration.
        values = {'scheme': 'rabbit'}
        for at, name in enumerate(choice.BROKERS, start=1):
            values |= {
                f'username{at}': 'guest',
                f'password{at}': 'guest',
                f'hostname{at}': '127.0.0.1',
                f'port{at}': str(PORTS[name]),
            }
        template = transport.template('cell2')
        self.assertEqual(url, template.format(**values))


class TestFiles(FilesTestCase):
    def setUp(self) -> None:
        super().setUp()
        choice.write(chosen=True)
        cluster.write(PORTS)

    def test_each_front_has_a_node_of_its_own(self) -> None:
        text = proxy.CONFIGURATION.read_text()
        lines = re.findall(r'    server .*', text)
        first = [
            line.split()[1] for line in lines if not line.endswith(' backup')
        ]
        self.assertEqual(['db1', 'db2', 'db3'], first)
        self.assertEqual(6, len(re.findall(r' backup$', text, re.M)))
        self.assertEqual(3, len(re.findall(r' check port ', text)))

    def test_nodes_know_each_other(self) -> None:
        for name in choice.BROKERS:
            text = (layout.ETC / f'{name}.conf').read_text()
            self.assertIn(f'127.0.0.1:{PORTS[name]}', text)
        cookies = {
            (layout.DATA / name / '.erlang.cookie').read_text()
            for name in choice.BROKERS
        }
        self.assertEqual(1, len(cookies))

    def test_the_second_ones_prefer_another_node(self) -> None:
        for place in (
            cluster.OF_WATCHER,
            layout.ETC / 'nova-controller-2.conf',
        ):
            text = place.read_text()
            self.assertIn(f':{PORTS["mariadb_2"]}/', text)
            self.assertNotIn('$', text)

    def test_nothing_stays_for_a_lab_with_one_of_each(self) -> None:
        choice.write(chosen=False)
        cluster.write(PORTS)
        self.assertFalse(cluster.OF_WATCHER.exists())


class TestState(base.BaseTestCase):
    def test_a_node_is_used_while_it_is_like_the_others(self) -> None:
        self.assertTrue(galera.is_synced(SYNCED))
        for key, value in (
            ('wsrep_local_state', '2'),
            ('wsrep_cluster_status', 'non-Primary'),
        ):
            self.assertFalse(galera.is_synced({**SYNCED, key: value}))
        self.assertFalse(galera.is_synced({}))


class TestAlone(alone.AloneTestCase):
    MODULE = 'tests.unit.tools.clustercheck_alone'

    def test_all(self) -> None:
        self.run_alone()


class TestPackages(base.BaseTestCase):
    def test_all_of_them_stand_in_bindep(self) -> None:
        text = (TOP / 'bindep.txt').read_text()
        for name in packages.PACKAGES:
            self.assertRegex(text, rf'(?m)^{re.escape(name)} ')
