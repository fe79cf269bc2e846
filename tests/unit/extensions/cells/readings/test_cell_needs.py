# SPDX-License-Identifier: Apache-2.0
"""Is what a cell drain needs asked for, and a wrong flavor map refused?"""

import pathlib
from collections.abc import Collection
from typing import Any

import fixtures
import requests_mock
from keystoneauth1 import adapter, noauth, session
from oslotest import base

from kronos.clients import neutron
from kronos.common.exceptions import ConfigurationError
from kronos.engine.types import Event, Flavor, Origin, Outcome
from kronos.extensions.cells.cell_drain import (
    POLICY,
    CellDrain,
    CellNeeds,
    CrossCellPolicy,
)
from kronos.extensions.cells.readings import cell_needs
from tests.builders.cells import server

KNOWN = {name: Flavor(id_, name, 1, 1) for id_, name in
         (('1', 'small'), ('2', 'large'), ('3', '1'))}  # fmt: skip


class Listings:
    """What Nova would say."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def flavors(self) -> list[Flavor]:
        return list(KNOWN.values())

    def quota_left(self, project: str) -> dict[str, int]:
        self.asked.append(project)
        return {'cores': 3}

    def has_shares(self, uuid: str) -> bool:
        return uuid == 'b'

    def loses_keys(self) -> bool:
        return True

    def offloaded(self) -> dict[str, str]:
        return {'z': 'last', 'y': 'first'}


class TestGather(base.BaseTestCase):
    def test_all(self) -> None:
        """Quotas only of those whose flavor changes."""
        servers = [
            server('a', project_id='p1'),
            server('b', project_id='p2', flavor='large'),
        ]
        drain = CellDrain('old', ['new'], flavor_map={'*': 'large'})
        listings: Any = Listings()
        lines: list[str] = []
        found = cell_needs.gather(
            listings, cell_needs.Sources(), drain, servers, lines.append
        )
        self.assertEqual(KNOWN, found.flavors)
        self.assertEqual({'p1': {'cores': 3}}, found.quota_left)
        self.assertEqual(['y', 'z'], [one.uuid for one in found.offloaded])
        self.assertEqual([False, True], [one.has_shares for one in servers])
        self.assertEqual(
            ['3 flavors, quotas of 1 projects', 'shares of 2 instances'],
            lines,
        )
        self.assertIs(CrossCellPolicy.UNKNOWN, found.cell_policy)
        self.assertTrue(found.loses_keys)
        self.assertEqual([], found.warnings)


class TestSources(base.BaseTestCase):
    def needs(self, sources: cell_needs.Sources) -> CellNeeds:
        listings: Any = Listings()
        self.servers = [server('a'), server('b')]
        return cell_needs.gather(
            listings,
            sources,
            CellDrain('old', ['new']),
            self.servers,
            lambda _: None,
        )

    def tied(self, servers: Collection[str]) -> dict[str, str]:
        network = adapter.Adapter(
            session.Session(noauth.NoAuth()),
            service_type='network',
            endpoint_override='http://neutron.example',
        )
        return neutron.tied(network, servers)

    def test_policy(self) -> None:
        """The last file counts; a file that cannot be read tells nothing."""
        folder = self.useFixture(fixtures.TempDir()).path
        paths = {}
        for name, text in (
            ('open', 'rule:admin_api'),
            ('closed', '!'),
            ('broken', '['),
        ):
            paths[name] = f'{folder}/{name}.yaml'
            content = f'"{POLICY}": {text!r}' if name != 'broken' else text
            pathlib.Path(paths[name]).write_text(content)
        for names, state in (
            ([], 'unknown'),
            (['open'], 'open'),
            (['closed'], 'closed'),
            (['closed', 'open'], 'open'),
            (['open', 'closed'], 'closed'),
            (['open', 'broken'], 'unknown'),
        ):
            chosen = [paths[name] for name in names]
            self.assertEqual(state, cell_needs.policy(chosen).value, names)
            # The files count before what was seen.
            crossed = cell_needs.policy(chosen, has_crossed=True).value
            self.assertEqual(state.replace('unknown', 'open'), crossed)
        sources = cell_needs.Sources(policy_files=[paths['closed']])
        found = self.needs(sources)
        self.assertEqual('closed', found.cell_policy.value)
        self.assertEqual(
            [f'no server may leave: Nova has closed the policy {POLICY}'],
            found.warnings,
        )

    def test_a_server_that_has_left_its_cell(self) -> None:
        """That proves that the policy is open."""
        cells = {'a': 'old', 'b': 'old', 'c': 'new', 'd': ''}

        def crossed(source: str, destination: str, outcome: Outcome) -> bool:
            event = Event('u', source, destination, outcome, 0.0, Origin.NOVA)
            return cell_needs.has_crossed([event], cells)

        self.assertTrue(crossed('a', 'c', Outcome.MOVED))
        for source, destination, outcome in (
            ('a', 'b', Outcome.MOVED),
            ('a', 'd', Outcome.MOVED),
            ('a', 'gone', Outcome.MOVED),
            ('a', 'c', Outcome.FAILED),
            ('a', 'c', Outcome.UNDER_WAY),
        ):
            self.assertFalse(crossed(source, destination, outcome))

    def test_keys(self) -> None:
        """An operator may tell of a backport."""
        sources = cell_needs.Sources(keeps_keys=True)
        self.assertFalse(self.needs(sources).loses_keys)

    @requests_mock.Mocker()
    def test_ports(self, wire: requests_mock.Mocker) -> None:
        path = 'http://neutron.example/v2.0/ports'
        request = {'resources': {'NET_BW_EGR_KILOBIT_PER_SEC': 1}}
        port = {'id': 'p', 'device_id': 'b', 'resource_request': request}
        wire.get(path, json={'ports': [port]})
        sources = cell_needs.Sources(self.tied)
        found = self.needs(sources)
        self.assertEqual(
            ['', 'a resource request'],
            [one.tied_port for one in self.servers],
        )
        self.assertEqual([], found.warnings)
        wire.get(path, status_code=403, json={})
        [warning] = self.needs(sources).warnings
        self.assertIn('which servers have ports that tie them', warning)
        self.assertIn('HTTP 403', warning)


class TestOfCloud(base.BaseTestCase):
    def test_all(self) -> None:
        """Quotas of every project, and of no instance its shares."""
        servers = [server('a', project_id='p1'), server('b', project_id='')]
        listings: Any = Listings()
        found = cell_needs.of_cloud(
            listings, cell_needs.Sources(), servers, lambda _: None
        )
        self.assertEqual(KNOWN, found.flavors)
        self.assertEqual({'p1': {'cores': 3}}, found.quota_left)
        self.assertEqual(['y', 'z'], [one.uuid for one in found.offloaded])
        self.assertEqual([False, False], [one.has_shares for one in servers])


class TestMap(base.BaseTestCase):
    def test_names_and_ids(self) -> None:
        """A name goes before an id that looks like it."""
        for given, expected in (
            (None, None),
            ({'small': 'large'}, {'small': 'large'}),
            ({'2': 'same', '*': '1'}, {'large': 'same', '*': '1'}),
            ({'small': '2'}, {'small': 'large'}),
            ({'gone': 'small'}, {'gone': 'small'}),
            ({'small': 'small'}, {'small': 'same'}),
        ):
            self.assertEqual(expected, cell_needs.resolved(given, KNOWN))

    def test_refused(self) -> None:
        for given, text in (
            ({'small': 'huge'},
             'entry small: huge: there is no flavor huge; known: 1, large, '
             'small'),
            ({'small': 'Lagre'}, 'no flavor Lagre; did you mean large?'),
            ({'large': '1', '2': 'small'}, 'large is mapped twice'),
            ({'small': 'large', 'large': 'small'},
             'it is a loop: small -> large -> small'),
        ):  # fmt: skip
            error = self.assertRaises(
                ConfigurationError, cell_needs.resolved, given, KNOWN
            )
            self.assertIn(text, str(error))
