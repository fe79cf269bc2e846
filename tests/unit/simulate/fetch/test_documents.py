# SPDX-License-Identifier: Apache-2.0
"""Is all called the same in the recording and in the columns of a load?"""

from kronos.simulate.fetch import assembly, documents, lives
from kronos.simulate.fetch.assembly import Columns
from kronos.simulate.fetch.documents import Names
from tests.unit.simulate.fetch import fetching
from tests.unit.simulate.fetch.fetching import FetchTestCase


class NamesTestCase(FetchTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.recording.policies[0].name = 'acme'
        source = self.source()
        self.own: Columns = assembly.Columns(
            lives.joined(
                self.recording.gathered.instances,
                source.changed(0.0),
                source.moves(0.0),
                self.recording.gathered.groups,
            ),
            fetching.HOSTS,
            None,  # type: ignore[arg-type]
        )


class TestOwnNames(NamesTestCase):
    def test_as_they_are(self) -> None:
        names = documents.own_names(self.recording, self.own)
        self.assertEqual(
            [life.server for life in self.own.lives], names.servers
        )
        self.assertEqual({'acme': 'acme'}, names.policies)
        self.assertEqual(fetching.HOSTS, names.hosts)


class TestOtherNames(NamesTestCase):
    def named(self) -> Names:
        return documents.other_names(self.recording, self.own)

    def test_nothing_is_left(self) -> None:
        names = self.named()
        text = str([names.recording, names.servers, names.hosts])
        for name in ('acme', 'secret', "'h1'", 'instance-00000003'):
            self.assertNotIn(name, text)

    def test_the_same_everywhere(self) -> None:
        names = self.named()
        gathered = names.recording.gathered
        self.assertEqual(3, len(gathered.instances))
        for was, new in zip(
            self.recording.gathered.instances, gathered.instances, strict=True
        ):
            place = [life.server.uuid for life in self.own.lives].index(
                was.uuid
            )
            row = names.servers[place]
            self.assertEqual(
                (new.uuid, new.name, new.internal_name, new.flavor),
                (row.uuid, row.name, row.internal_name, row.flavor),
            )
            host = names.hosts[fetching.HOSTS.index(was.host)]
            self.assertEqual(new.host, host)

    def test_one_that_is_gone(self) -> None:
        """It has a name of its own, and its numbers stay."""
        names = self.named()
        [uuid] = {row.uuid for row in names.servers} - {
            instance.uuid for instance in names.recording.gathered.instances
        }
        [row] = [each for each in names.servers if each.uuid == uuid]
        self.assertEqual((2, fetching.GONE), (row.vcpus, row.gone))
        self.assertEqual(4, len({each.name for each in names.servers}))

    def test_policies(self) -> None:
        names = self.named()
        [policy] = names.recording.policies
        self.assertEqual({'acme': policy.name}, names.policies)
