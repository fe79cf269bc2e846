# SPDX-License-Identifier: Apache-2.0
"""Is each field of a cluster file what it must be?"""

import copy
import json
from typing import Any

from kronos.common.exceptions import ArchiveError
from tests.unit.recordings import test_reader
from tests.unit.recordings.formats import test_cluster

GOOD = test_cluster.GOOD


class TestFields(test_cluster.ClusterTestCase):
    def test_faults(self) -> None:
        """The message names the field and what it must be."""
        table: list[tuple[list[Any], Any, str]] = [
            (['hosts'], None, 'hosts: is missing'),
            (['hosts'], {}, 'hosts: must be a list, is {}'),
            (['hosts', 0], 7, 'hosts[0]: must be an object, is 7'),
            (['hosts', 0, 'name'], '', 'hosts[0].name: must be a non-empty'),
            (
                ['hosts', 0, 'scores', 'cpu'],
                'x',
                'hosts[0].scores.cpu: must be a finite number, is "x"',
            ),
            (
                ['hosts', 0, 'scores', 'cpu'],
                float('nan'),
                'hosts[0].scores.cpu: must be a finite number, is NaN',
            ),
            (
                ['hosts', 0, 'scores', 'cpu'],
                True,
                'hosts[0].scores.cpu: must be a finite number, is true',
            ),
            (
                ['hosts', 0, 'available'],
                1,
                'hosts[0].available: must be true or false, is 1',
            ),
            (
                ['hosts', 0, 'memory_mb'],
                1.5,
                'hosts[0].memory_mb: must be an integer',
            ),
            (
                ['hosts', 0, 'vcpus'],
                -1,
                'hosts[0].vcpus: must be at least 0, is -1',
            ),
            (
                ['instances', 0, 'shares', 'cpu'],
                -0.1,
                'instances[0].shares.cpu: must be at least 0, is -0.1',
            ),
            (['instances', 0, 'movable'], None, 'movable: is missing'),
            (
                ['groups', 0, 'members', 0],
                5,
                'groups[0].members[0]: must be a non-empty string, is 5',
            ),
        ]
        for path, value, words in table:
            self.refused_with(path, value, words)

    def test_amounts_that_no_host_has(self) -> None:
        wrong = copy.deepcopy(GOOD)
        wrong['instances'][0]['memory_mb'] = 2**70
        error = self.assertRaises(
            ArchiveError, self.read, json.dumps(wrong).encode()
        )
        self.assertIn('instances[0].memory_mb: must be', str(error))

    def test_whatever_a_field_is(self) -> None:
        """Each field as something else: it is read, or refused with words."""
        values = [*test_reader.VALUES, '\ud800', -(10**400)]
        read = 0
        for way in test_reader.paths_in(GOOD):
            for value in values:
                document: Any = copy.deepcopy(GOOD)
                inner = document
                for key in way[:-1]:
                    inner = inner[key]
                if way:
                    inner[way[-1]] = value
                else:
                    document = value
                try:
                    self.read(json.dumps(document).encode())
                    read += 1
                except ArchiveError as error:
                    self.assertIn(str(self.path), str(error))
                    self.assertTrue(str(error).encode())
        self.assertGreater(read, 10)

    def test_numbers_without_end(self) -> None:
        for digits in (400, 5000):
            number = '1' + '0' * digits
            text = json.dumps(GOOD).replace('0.25', number)
            error = self.assertRaises(ArchiveError, self.read, text.encode())
            self.assertLess(len(str(error)), 500)
