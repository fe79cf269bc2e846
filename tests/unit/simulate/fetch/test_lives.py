# SPDX-License-Identifier: Apache-2.0
"""Is every server where it was, and only while it lived?"""

from typing import Any

from oslotest import base

from kronos.clients.nova.server_lives import ServerLife
from kronos.engine.types import (
    Event,
    Instance,
    Origin,
    Outcome,
    ServerGroup,
)
from kronos.simulate.fetch import lives
from kronos.simulate.fetch.lives import Life, Stay, Whereabouts
from kronos.simulate.load_schema import ServerRow

HOSTS = ['a', 'b', 'c']


def move(uuid: str, source: str, destination: str, at: float) -> Event:
    return Event(uuid, source, destination, Outcome.MOVED, at, Origin.NOVA)


class TestJoined(base.BaseTestCase):
    def joined(self, **more: Any) -> dict[str, Life]:
        values: dict[str, Any] = {'present': [], 'changed': [], 'events': []}
        return {
            life.server.uuid: life for life in lives.joined(**(values | more))
        }

    def test_born_and_gone(self) -> None:
        result = self.joined(
            present=[Instance('old', 'a'), Instance('new', 'a', created=5.0)],
            changed=[
                ServerLife(Instance('new', 'a', created=5.0)),
                ServerLife(Instance('dead', 'b', created=6.0), 9.0),
            ],
        )
        self.assertEqual(['dead', 'new', 'old'], list(result))
        self.assertEqual(
            [(6.0, 9.0), (5.0, None), (None, None)],
            [(life.server.born, life.server.gone) for life in result.values()],
        )
        self.assertEqual([Stay('b')], result['dead'].stays)

    def test_deleted_while_it_was_listed(self) -> None:
        """It is in the recording, so it lives."""
        result = self.joined(
            present=[Instance('x', 'a')],
            changed=[ServerLife(Instance('x', 'a', created=5.0), 9.0)],
        )
        self.assertIsNone(result['x'].server.gone)

    def test_moves(self) -> None:
        """From the last host backwards; what does not lead there is not it."""
        result = self.joined(
            present=[Instance('x', 'c')],
            events=[
                move('x', 'b', 'c', 20.0),
                move('x', 'a', 'b', 10.0),
                move('x', 'a', 'z', 15.0),
                move('y', 'a', 'c', 30.0),
                Event('x', 'c', 'a', Outcome.FAILED, 40.0, Origin.NOVA),
                Event('x', 'c', 'b', Outcome.UNDER_WAY, 41.0, Origin.NOVA),
            ],
        )
        self.assertEqual(
            [Stay('a', 10.0), Stay('b', 20.0), Stay('c')], result['x'].stays
        )

    def test_groups(self) -> None:
        result = self.joined(
            present=[Instance('x', 'a'), Instance('y', 'a')],
            groups=[ServerGroup('g', 'affinity', ['x', 'gone'])],
        )
        self.assertEqual('g', result['x'].server.group)
        self.assertIsNone(result['y'].server.group)


class TestWhereabouts(base.BaseTestCase):
    """Ticks of 10 s from 1,000 on."""

    def column(
        self, *stays: Stay, first: int = 0, ticks: int = 5, **more: Any
    ) -> list[int]:
        life = Life(ServerRow('x', **more), list(stays))
        block = Whereabouts([life], HOSTS, 1000.0, 10).block(first, ticks)
        result: list[int] = block[:, 0].tolist()
        return result

    def test_always(self) -> None:
        self.assertEqual([1] * 5, self.column(Stay('b')))

    def test_elsewhere(self) -> None:
        self.assertEqual([-1] * 5, self.column(Stay('z')))
        self.assertEqual(
            [-1, -1, 0, 0, 0], self.column(Stay('z', 1015.0), Stay('a'))
        )

    def test_moves(self) -> None:
        """From the first tick that is not before the end of the move."""
        stays = (Stay('a', 1010.0), Stay('b', 1031.0), Stay('c'))
        self.assertEqual([0, 1, 1, 1, 2], self.column(*stays))
        self.assertEqual([1, 2], self.column(*stays, first=3, ticks=2))
        self.assertEqual([2, 2], self.column(*stays, first=9, ticks=2))
        before = (Stay('a', 900.0), Stay('b'))
        self.assertEqual([1] * 5, self.column(*before))

    def test_born_and_gone(self) -> None:
        stay = Stay('a')
        for born, gone, expected in (
            (1010.0, None, [-1, 0, 0, 0, 0]),
            (1011.0, None, [-1, -1, 0, 0, 0]),
            (900.0, 1020.0, [0, 0, -1, -1, -1]),
            (None, 1021.0, [0, 0, 0, -1, -1]),
            (1011.0, 1019.0, [-1] * 5),
            (2000.0, None, [-1] * 5),
            (None, 900.0, [-1] * 5),
        ):
            with self.subTest(born=born, gone=gone):
                self.assertEqual(
                    expected, self.column(stay, born=born, gone=gone)
                )


class TestColumns(base.BaseTestCase):
    def test_names(self) -> None:
        """Of those that two have, none is known; '' is no name."""
        columns, repeated = lives.columns_of(['a', '', 'b', 'a', ''])
        self.assertEqual({'b': 2}, columns)
        self.assertEqual({'a'}, repeated)
