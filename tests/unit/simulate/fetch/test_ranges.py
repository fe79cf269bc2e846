# SPDX-License-Identifier: Apache-2.0
"""Is each sample of a range where its tick and its label are?"""

import math
from typing import Any
from unittest import mock

import numpy as np
import requests
import responses
from oslotest import base

from kronos.clients.prometheus.client import PrometheusClient
from kronos.common import exceptions
from kronos.simulate.fetch import ranges
from kronos.simulate.fetch.ranges import Block, RangeReader
from tests.fakes.past_prometheus import URL, PastPrometheus

START = 1_700_000_100.0


class TestRead(base.BaseTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.prometheus = PastPrometheus(START)
        self.wire = responses.RequestsMock(assert_all_requests_are_fired=False)
        self.wire.start()
        self.addCleanup(self.wire.stop, False)
        self.prometheus.at(self.wire)
        self.client = PrometheusClient(URL, requests.Session(), max_retries=0)

    def read(self, ticks: int = 10, reader: Any = None) -> Block:
        reader = reader or RangeReader(self.client, 300)
        block: Block = reader.read('q', 'uuid', START, ticks)
        return block

    def test_values(self) -> None:
        """NaN where there is none; infinity stays."""
        values = {
            'a': lambda at: (at - START) / 300,
            'b': lambda at: None if at < START + 900 else 7.5,
            'c': lambda at: math.inf,
        }
        self.prometheus.add('q', 'uuid', values)
        block = self.read(5)
        table = dict(zip(block.labels, block.values.T.tolist(), strict=True))
        self.assertEqual([0, 1, 2, 3, 4], table['a'])
        self.assertEqual([7.5, 7.5], table['b'][3:])
        self.assertTrue(np.isnan(table['b'][:3]).all())
        self.assertEqual([math.inf] * 5, table['c'])
        self.assertEqual(np.float32, block.values.dtype)

    def test_two_series_of_one_label(self) -> None:
        self.prometheus.series['q'] = [
            ({'uuid': 'a', 'n': '1'}, lambda at: 1.0),
            ({'uuid': 'a', 'n': '2'}, lambda at: 3.0 if at > START else None),
        ]
        self.assertEqual([[1.0], [3.0]], self.read(2).values.tolist())

    def test_a_series_without_the_label(self) -> None:
        """Left out, as where an audit asks."""
        self.prometheus.series['q'] = [
            ({}, lambda at: 9.0),
            ({'uuid': 'a'}, lambda at: 1.0),
        ]
        block = self.read(2)
        self.assertEqual(['a'], block.labels)
        self.assertEqual([[1.0], [1.0]], block.values.tolist())

    def test_nothing(self) -> None:
        block = self.read()
        self.assertEqual([], block.labels)
        self.assertEqual((10, 0), block.values.shape)

    def test_a_request_is_for_so_many_samples(self) -> None:
        """One tick at first, since nobody knows how many series there are."""
        self.prometheus.add(
            'q', 'uuid', {str(n): lambda at: 1.0 for n in range(100)}
        )
        reader = RangeReader(self.client, 300)
        with mock.patch.object(ranges, 'MOST_SAMPLES', 700):
            block = self.read(20, reader)
        self.assertEqual((20, 100), block.values.shape)
        self.assertFalse(np.isnan(block.values).any())
        lengths = [
            (float(query['end']) - float(query['start'])) / 300 + 1
            for query in self.prometheus.ranges
        ]
        self.assertEqual([1, 7, 7, 5], lengths)

    def test_too_much(self) -> None:
        self.prometheus.add('q', 'uuid', {'a': lambda at: at - START})
        self.prometheus.most_samples = 3
        reader = RangeReader(self.client, 300)
        expected = [[float(300 * tick)] for tick in range(40)]
        self.assertEqual(expected, self.read(40, reader).values.tolist())
        self.prometheus.most_samples = 0
        self.assertRaises(
            exceptions.PrometheusSizeError, self.read, 40, reader
        )
