# SPDX-License-Identifier: Apache-2.0
"""Nova itself leaves a server in disorder: what does Kronos say of it?

======================  ==================================  ==================
Nova                    The action, which is FAILED         The server
======================  ==================================  ==================
calls a migration       MigrationFailed, inconsistent:      on its source,
completed that is not   where it is, and its task           idle or busy
breaks on the way       MigrationFailed, where it is        ERROR on its source
breaks after it         MigrationFailed, where it is        ERROR on its
                                                            destination
======================  ==================================  ==================

None is tried again. These servers hold room on two hosts, which is Nova's to
put right; no other row of the faults ends so.
"""

from tests.lab import test_failures
from tests.lab.moves import DESTINATION

FAILED = test_failures.FAILED
IN_ERROR = 'in ERROR'
"""Where, and why, may be cut off behind the command that helps."""


class TestLeftByNova(test_failures.FailuresTestCase):
    def test_what_kronos_says(self):
        """Not of Kronos' making; it says what it finds."""
        inconsistent = (
            'KRONOS:MigrationFailed: [inconsistent] inconsistent: the '
            'migration is completed, but'
        )
        self.broken(
            {
                'stayed': (
                    {'end': 'stayed'},
                    [inconsistent, 'the instance is ACTIVE on cmp1'],
                ),
                'lost': (
                    {'end': 'lost'},
                    [inconsistent, 'MIGRATING on cmp3, task state migrating'],
                ),
                'crashed': (
                    {'end': 'error'},
                    [FAILED, IN_ERROR],
                ),
                'left-badly': (
                    {'fail': 'post-source'},
                    [FAILED, IN_ERROR],
                ),
            }
        )
        for name, host in (
            ('stayed', 'cmp1'),
            ('lost', 'cmp3'),
            ('crashed', 'cmp1'),
            ('left-badly', DESTINATION),
        ):
            self.assertEqual(host, self.cloud.placement()[name])
