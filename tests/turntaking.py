# SPDX-License-Identifier: Apache-2.0
"""Many processes take turns over one database; a witness counts.

The witness is a file that every process appends a line to: after it was
given its turn, and before it gives it back. So what the file shows at any
line is at most what was really held.
"""

import collections
import multiprocessing
import os
import pathlib
import random
import subprocess
import sys
import time
import uuid as uuids

import sqlalchemy as sa
from oslo_db.sqlalchemy import enginefacade
from watcher import conf, objects
from watcher.db.sqlalchemy import models

from kronos.actions.core import slots
from kronos.snapshots import watcher_actions

TOP = pathlib.Path(__file__).resolve().parent.parent
GOAL = {'name': 'x', 'display_name': 'x', 'efficacy_specification': []}
AUDIT = {
    'audit_type': 'ONESHOT',
    'goal_id': 1,
    'auto_trigger': False,
    'force': False,
}
AT_MOST = 2
FULL = 'as many as may are under way'


def configure(url: str) -> None:
    """Let Watcher's code use a database."""
    objects.register_all()
    conf.CONF([], project='watcher', default_config_files=[])
    conf.CONF.set_override('connection', url, 'database')
    conf.CONF.set_override('sqlite_synchronous', False, 'database')


def furnish(url: str, moves: int) -> list[str]:
    """Watcher's tables with a plan that goes on; uuids of its actions."""
    engine = sa.create_engine(url)
    models.Base.metadata.create_all(engine)
    made = [move_uuid(number) for number in range(moves)]
    rows = [
        (models.Goal, GOAL),
        (
            models.Strategy,
            {'name': 'way', 'display_name': 'way', 'goal_id': 1},
        ),
        (models.Audit, AUDIT),
        (
            models.ActionPlan,
            {'audit_id': 1, 'strategy_id': 1, 'state': 'ONGOING'},
        ),
    ]
    with engine.begin() as link:
        for model, fields in rows:
            values = {'id': 1, 'uuid': str(uuids.uuid4()), **fields}
            link.execute(sa.insert(model).values(values))
        link.execute(
            sa.insert(models.ActionDescription).values(
                action_type=watcher_actions.ACTION_TYPE, description='x'
            )
        )
        for uuid in made:
            link.execute(sa.insert(models.Action).values(action(uuid)))
    engine.dispose()
    return made


def move_uuid(number: int) -> str:
    """The uuid of a move's action."""
    return f'{number:08d}-5555-5555-5555-555555555555'


def action(uuid: str, **fields: object) -> dict[str, object]:
    """A row of a move of plan 1."""
    return {
        'uuid': uuid,
        'action_plan_id': 1,
        'action_type': watcher_actions.ACTION_TYPE,
        'state': 'PENDING',
        'input_parameters': {
            'aggregate': 'alpha',
            'resource_id': str(uuids.uuid4()),
            'source_node': 'h1',
            'destination_node': 'h2',
        },
        **fields,
    }


def take_turns(url: str, witness: str, rounds: int, uuid: str) -> None:
    """What one process does: its move has its turn, ``rounds`` times."""
    configure(url)
    mine = slots.Slots(uuid)
    chance = random.Random(uuid)
    file = os.open(witness, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    asked = 0
    for _ in range(rounds):
        while True:
            asked += 1
            if not mine.take(_decide):
                break
            time.sleep(chance.uniform(0, 0.02))
        os.write(file, f'+ {uuid}\n'.encode())
        time.sleep(chance.uniform(0, 0.05))
        os.write(file, f'- {uuid}\n'.encode())
        mine.release()
    os.write(file, f'= {asked}\n'.encode())
    enginefacade.writer.get_engine().dispose()


def _decide(others: list[slots.Slot]) -> str:
    held = sum(one.is_held for one in others)
    return FULL if held >= AT_MOST else ''


def run(url: str, witness: pathlib.Path, moves: int, rounds: int) -> 'Seen':
    """Let one process for each move take its turn, all at once."""
    done = subprocess.run(
        [sys.executable, '-m', 'tests.turntaking', url, str(witness)]
        + [str(moves), str(rounds)],
        cwd=TOP,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise AssertionError(done.stdout + done.stderr)
    return Seen(witness.read_text())


def compete(url: str, witness: str, moves: int, rounds: int) -> int:
    """Start the processes; the number of those that failed.

    They are forked: importing Watcher takes longer than all the turns.
    """
    fork = multiprocessing.get_context('fork')
    made = furnish(url, moves)
    start = time.monotonic()
    running = [
        fork.Process(target=take_turns, args=(url, witness, rounds, uuid))
        for uuid in made
    ]
    for one in running:
        one.start()
    for one in running:
        one.join()
    with open(witness, 'a') as file:
        file.write(f'seconds {time.monotonic() - start}\n')
    return sum(one.exitcode != 0 for one in running)


class Seen:
    """What the witness saw."""

    def __init__(self, text: str) -> None:
        self.granted = collections.Counter[str]()
        self.most = self.asked = 0
        self.seconds = 0.0
        held: set[str] = set()
        for line in text.splitlines():
            sign, word = line.split()
            if sign == '+':
                held.add(word)
                self.granted[word] += 1
            elif sign == '-':
                held.remove(word)
            elif sign == '=':
                self.asked += int(word)
            else:
                self.seconds = float(word)
            self.most = max(self.most, len(held))

    def __str__(self) -> str:
        return (
            f'{self.asked} takes in {self.seconds:.1f} s '
            f'({self.asked / self.seconds:.0f}/s), '
            f'{self.granted.total()} granted to {len(self.granted)} moves, '
            f'at most {self.most} at a time'
        )


if __name__ == '__main__':
    url, witness, moves, rounds = sys.argv[1:]
    sys.exit(compete(url, witness, int(moves), int(rounds)))
