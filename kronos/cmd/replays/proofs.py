# SPDX-License-Identifier: Apache-2.0
"""The check of the proofs of a report against its recording."""

import argparse
from dataclasses import dataclass
from typing import Any

from kronos.cmd import tables
from kronos.cmd.tables import Row
from kronos.common import plain_text
from kronos.common.exceptions import ConfigurationError
from kronos.engine.planning import propose
from kronos.engine.types import AggregateResult, StopReason
from kronos.recordings import replay, safe_files
from kronos.recordings.recording import Recording
from kronos.recordings.replay import ReplayOptions

HEAD = ('scope', 'proven', 'result')


@dataclass(frozen=True)
class ProofTable:
    """The proofs of all scopes of a recording."""

    scopes: list[AggregateResult]

    @property
    def holds(self) -> bool:
        """Whether all of them do."""
        return all(map(_holds, self.scopes))

    def rows(self) -> list[Row]:
        """For programs, the names of the columns first."""
        return [
            HEAD,
            *(
                (each.name, 'yes' if _holds(each) else 'no', each.reason)
                for each in self.scopes
            ),
        ]

    def document(self) -> dict[str, Any]:
        return {
            'proofs': [
                {
                    'scope': each.name,
                    'proven': _holds(each),
                    'result': each.reason,
                }
                for each in self.scopes
            ]
        }

    def printed(self, form: str, width: int | None) -> str:
        """As a command prints it."""
        if form in tables.WHOLE:
            return tables.whole(self.document(), form)
        if form != 'table':
            return tables.printed(self.rows(), form)
        lines = tables.aligned(self.rows(), width)
        return '\n'.join(map(plain_text.line, lines))


def _holds(scope: AggregateResult) -> bool:
    return scope.stopped is StopReason.DONE


def add(parser: argparse.ArgumentParser) -> None:
    """Add its option to kronos-replay."""
    parser.add_argument(
        '--check-proof',
        metavar='FILE',
        help='plan nothing, and check the proofs in the report FILE (the '
        'output of this command with -f json) against the recording, without '
        'a solver; - is standard input',
    )


def misuse(parsed: argparse.Namespace, recordings: int) -> str:
    """What is wrong with its arguments; '' if nothing."""
    if parsed.check_proof is None:
        return ''
    others = parsed.slots or parsed.compare is not None or parsed.html
    if recordings != 1 or others:
        return (
            '--check-proof requires exactly one recording, and no --slots, '
            '--compare or --html'
        )
    return ''


def check(
    recording: Recording, options: ReplayOptions, path: str
) -> ProofTable:
    """Check the proofs of a report.

    :param path: of the report
    :raises ConfigurationError: it has no proofs, or of another format
    """
    report = safe_files.document(path)
    inputs = replay.cycle(recording, options)
    try:
        checking = inputs.settings.extension.checking(report)
    except ConfigurationError as error:
        raise ConfigurationError(
            reason=f'--check-proof {path}: {error}'
        ) from error
    if checking is None:
        raise ConfigurationError(
            reason='--check-proof: the plans of this strategy have no proofs '
            'by prices; make room with --mode make_room'
        )
    inputs.settings.extension = checking
    plan = propose.plan(
        inputs.snapshots,
        inputs.policies,
        inputs.settings,
        recording.max_concurrent,
    )
    return ProofTable(plan.report.scopes)
