# SPDX-License-Identifier: Apache-2.0
"""A process whose moves want their turns while another connection hangs.

That connection has locked the row that all appliers queue up for, and says
nothing more, as if its machine were dead. The process prints what it saw.
"""

import collections
import json
import pathlib
import subprocess
import sys
import threading
from typing import Any

import sqlalchemy as sa
from watcher.db.sqlalchemy import models

from kronos.actions.core import slots
from kronos.common import exceptions
from kronos.watcher_db import lock
from tests import turntaking

TOP = pathlib.Path(__file__).resolve().parent.parent
PATIENCE = 0.5
MOVES = 4


def run(url: str, rounds: int) -> dict[str, Any]:
    """Let a process try so often.

    :returns: ``threads`` and ``connections``, the most that there were for
        the lock; ``messages``, how often each; ``after``, how many of its
        moves had their turn once the connection was ended
    """
    done = subprocess.run(
        [sys.executable, '-m', 'tests.held_lock', url, str(rounds)],
        cwd=TOP,
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode:
        raise AssertionError(done.stdout + done.stderr)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


class Attempts:
    """What the moves of the process try, and what comes of it."""

    def __init__(self, url: str) -> None:
        self.moves = turntaking.furnish(url, MOVES)
        turntaking.configure(url)
        self.engine = sa.create_engine(url)
        self.messages = collections.Counter[str]()
        self.threads = self.connections = self.turns = 0

    def together(self, rounds: int) -> None:
        for _ in range(rounds):
            trying = [
                threading.Thread(target=self._attempt, args=(uuid,))
                for uuid in self.moves
            ]
            for thread in trying:
                thread.start()
            for thread in trying:
                thread.join()
            self._count()

    def reach_the_row(self) -> None:
        """Try until one of its transactions waits for the row.

        Before that, the first connection may take longer than the patience.
        """
        while not self._waiting():
            self._attempt(self.moves[0])
        self.messages.clear()

    def _attempt(self, uuid: str) -> None:
        try:
            slots.Slots(uuid).take(lambda others: '')
            self.turns += 1
        except exceptions.TurnUnknown as error:
            self.messages[str(error)] += 1

    def _count(self) -> None:
        """Threads and connections beside those of the test itself."""
        self.connections = max(self.connections, self._waiting())
        self.threads = max(self.threads, threading.active_count() - 1)

    def _waiting(self) -> int:
        """How many transactions wait for a lock."""
        query = (
            'SELECT COUNT(*) FROM information_schema.innodb_trx '
            "WHERE trx_state = 'LOCK WAIT'"
        )
        with self.engine.connect() as link:
            number: int = link.execute(sa.text(query)).scalar_one()
        return number


def main(url: str, rounds: int) -> None:
    attempts = Attempts(url)
    lock.PATIENCE = PATIENCE
    with attempts.engine.connect() as holder:
        holder.execute(
            sa.update(models.ActionDescription).values(description='held')
        )
        attempts.reach_the_row()
        attempts.together(rounds)
    lock.PATIENCE = 60.0
    attempts.together(1)
    print(
        json.dumps(
            {
                'threads': attempts.threads,
                'connections': attempts.connections,
                'messages': attempts.messages,
                'after': attempts.turns,
            }
        )
    )


if __name__ == '__main__':
    main(sys.argv[1], int(sys.argv[2]))
