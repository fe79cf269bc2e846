# SPDX-License-Identifier: Apache-2.0
"""The command kronos-explain: why a server was moved, or was not.

Exit status: 0 when there is an answer, whatever it is; 1 when the recording
or a name in the question cannot be used; 2 when the arguments are wrong.
"""

import argparse
import functools
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from kronos.cmd import program, tables, terminal, what_if
from kronos.cmd.replays import explain_tables
from kronos.cmd.screen import progress
from kronos.common.exceptions import ArchiveError
from kronos.common.names import near_names
from kronos.engine.explain import answers
from kronos.engine.scoring import labels
from kronos.recordings.replay import Replay

PROGRAM = 'kronos-explain'
SHOWN = 20
"""So many instances of one name are listed."""
SHORTEST = 8
"""Characters of the beginning of a uuid that is taken for it."""


@program.command(PROGRAM)
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    :param arguments: those of the process if None
    :returns: the exit status
    """
    parser = argument_parser()
    parsed = parser.parse_args(arguments)
    if parsed.destination and not parsed.instance:
        parser.error('--destination needs --instance')
    if [parsed.path, parsed.policies].count('-') > 1:
        parser.error('- can be used only once')
    with progress.shown(PROGRAM):
        answer = _answered(parsed)
    if parsed.format in tables.WHOLE:
        text = tables.whole(answer, parsed.format)
    elif parsed.format == 'table':
        text = explain_tables.text(answer, program.width(parsed))
    else:
        text = tables.printed(explain_tables.rows(answer), parsed.format)
    terminal.show(text)
    return 0


def _answered(parsed: argparse.Namespace) -> dict[str, Any]:
    plan = what_if.played(parsed.path, what_if.of(parsed, parsed.policies))
    if cause := what_if.cause(plan):
        terminal.complain(PROGRAM, f'{parsed.path}: {cause}')
    progress.step('planning the alternatives')
    # Sums of absurd values overflow, as they do in planning.
    with np.errstate(over='ignore', invalid='ignore'):
        return document(plan, parsed)


def argument_parser() -> argparse.ArgumentParser:
    parser = program.parser(
        PROGRAM,
        description='Explain why a plan for a recorded cloud moves an '
        'instance or not, why a host sends or receives servers, '
        'or why there is no plan.',
        epilog='Exit status: 0 answered, 1 not answered, 2 wrong usage.',
    )
    parser.add_argument(
        'path',
        metavar='PATH',
        help='a recording, or a file of format cluster/1, optionally '
        'gzipped; - is standard input',
    )
    about = parser.add_mutually_exclusive_group()
    about.add_argument(
        '--instance',
        metavar='UUID|NAME',
        help='explain why this instance moves or stays',
    )
    about.add_argument(
        '--host',
        metavar='HOST',
        help='explain why this host sends or receives servers, or neither',
    )
    parser.add_argument(
        '--destination',
        metavar='HOST',
        help='with --instance: explain this destination only, and plan as if '
        'every rule that forbids it were lifted',
    )
    program.add_format(parser)
    what_if.add(parser)
    return parser


def document(plan: Replay, parsed: argparse.Namespace) -> dict[str, Any]:
    """The answer for programs.

    :raises ArchiveError: a name in the question is unknown or means several
    """
    questions = answers.PlanAnswers(
        what_if.cycle(plan),
        plan.report,
        functools.partial(what_if.prepared, plan),
    )
    result: dict[str, Any] = {
        'format_version': answers.FORMAT_VERSION,
        'recording': what_if.about(plan.recording),
        'question': 'scope',
    }
    if parsed.instance:
        result['question'] = 'instance'
        uuid = _instance(plan, parsed.instance)
        result['answers'] = _of_instance(
            plan, questions, uuid, parsed.destination
        )
    elif parsed.host:
        result['question'] = 'host'
        name = _host(plan, parsed.host)
        result['answers'] = [
            questions.host(index, name)
            for index in questions.scopes_of(host=name)
        ]
    else:
        result['answers'] = [
            questions.scope(index) for index in range(len(plan.report.scopes))
        ]
    return result


def _of_instance(
    plan: Replay,
    questions: answers.PlanAnswers,
    uuid: str,
    destination: str | None,
) -> list[dict[str, Any]]:
    scopes = questions.scopes_of(instance=uuid)
    if destination is not None:
        destination = _host(plan, destination)
        both = [
            index
            for index in scopes
            if destination in plan.report.scopes[index].availability_zones
        ]
        if not both:
            name = plan.report.scopes[scopes[0]].name
            raise ArchiveError(
                path=plan.recording.source,
                reason=f'host {destination} is not in scope {name} of '
                f'instance {uuid}: no plan moves the instance there',
            )
        scopes = both
    return [questions.instance(index, uuid, destination) for index in scopes]


def _instance(plan: Replay, text: str) -> str:
    """The uuid of an instance of the planned scopes.

    :param text: its uuid, the beginning of that, or its name
    """
    names = {
        uuid: instance.name
        for scope in plan.report.scopes
        for uuid, instance in scope.instances.items()
    }
    if text in names:
        return text
    matches = sorted(uuid for uuid, name in names.items() if name == text)
    if not matches and len(text) >= SHORTEST:
        # As tables have it.
        matches = sorted(uuid for uuid in names if uuid.startswith(text))
    if len(matches) == 1:
        return matches[0]
    if matches:
        more = len(matches) - SHOWN
        listed = ', '.join(matches[:SHOWN])
        raise ArchiveError(
            path=plan.recording.source,
            reason=f'{len(matches)} instances have the name {text}: {listed}'
            + (f' and {more} more' if more > 0 else '')
            + '; use the uuid',
        )
    outside = [
        instance
        for instance in plan.recording.gathered.instances
        if text in (instance.uuid, instance.name)
    ]
    if outside:
        raise ArchiveError(
            path=plan.recording.source,
            reason=f'instance {text} is on {outside[0].host}, which is in no '
            'planned scope; name its scope with --scope',
        )
    choices = sorted(filter(None, {*names, *names.values()}))
    alike = near_names.near(text, choices, near_names.NEAR)
    hint = near_names.question(alike) or 'use its uuid or its name'
    raise _unknown(plan, f'instance {text}', hint)


def _host(plan: Replay, name: str) -> str:
    hosts = {
        host
        for scope in plan.report.scopes
        for host in scope.availability_zones
    }
    if host := labels.find_host(name, hosts):
        return host
    hint = near_names.of_cloud(name, sorted(hosts))
    raise _unknown(plan, f'host {name}', hint)


def _unknown(plan: Replay, what: str, hint: str) -> ArchiveError:
    return ArchiveError(
        path=plan.recording.source,
        reason=f'no {what} is in the planned scopes; {hint}',
    )


if __name__ == '__main__':
    sys.exit(main())
