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

from kronos.cmd import config_files, program, tables, terminal, what_if
from kronos.cmd.replays import explain_tables, slots
from kronos.cmd.screen import progress
from kronos.common.exceptions import ArchiveError
from kronos.common.names import near_names
from kronos.engine.explain import answers
from kronos.engine.scoring import labels
from kronos.recordings import replay
from kronos.recordings.replay import Replay

PROGRAM = 'kronos-explain'
LIVE = 'the cloud as it is now'
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
    if parsed.flavor and not parsed.host:
        parser.error('--flavor needs --host')
    if [parsed.path, parsed.policies].count('-') > 1:
        parser.error('- can be used only once')
    _require_source(parser, parsed)
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


def _require_source(
    parser: argparse.ArgumentParser, parsed: argparse.Namespace
) -> None:
    """Either a recording or the cloud, and options that fit it."""
    if parsed.blockers and parsed.mode:
        parser.error('--blockers plans a drain: leave --mode out')
    if parsed.live and parsed.path:
        parser.error('give either PATH or --live')
    if not parsed.live and not parsed.path:
        parser.error('PATH is missing: give a recording, or --live')
    if parsed.path and (parsed.config_file or parsed.config_dir):
        parser.error(f'--config-file is for --live only, {what_if.REASON}')


def _answered(parsed: argparse.Namespace) -> dict[str, Any]:
    plan = _planned(parsed)
    if cause := what_if.cause(plan):
        terminal.complain(PROGRAM, f'{plan.recording.source}: {cause}')
    progress.step('planning the alternatives')
    # Sums of absurd values overflow, as they do in planning.
    with np.errstate(over='ignore', invalid='ignore'):
        return document(plan, parsed)


def _planned(parsed: argparse.Namespace) -> Replay:
    """The plan that the question is about."""
    if parsed.live:
        # A replay does without the clients of a cloud.
        from kronos.cmd import record

        options = what_if.of(parsed, None)
        config_files.log(False)
        cloud = record.cloud_of(parsed)
        recording = record.recorded(cloud, progress.step)
        recording.source = LIVE
    else:
        options = what_if.of(parsed, parsed.policies)
        recording = what_if.read(parsed.path, options)
    if parsed.blockers:
        names = recording.gathered.cloud.hosts
        name = labels.find_host(parsed.blockers, names)
        options.drain_hosts = [name or parsed.blockers]
    progress.step(f'planning {recording.source}')
    return replay.replay(recording, options)


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
        nargs='?',
        help='a recording, or a file of format cluster/1, optionally '
        'gzipped; - is standard input',
    )
    _add_questions(parser)
    parser.add_argument(
        '--live',
        action='store_true',
        help='explain what would be planned for the cloud as it is now, '
        'instead of a recording',
    )
    config_files.add_arguments(parser)
    program.add_format(parser)
    what_if.add(parser, reads_configuration=True)
    # As a recording of the whole cloud; --scope says which are planned.
    parser.set_defaults(aggregate=[], unassigned=False)
    return parser


def _add_questions(parser: argparse.ArgumentParser) -> None:
    """What the answer is about; without any, the plan."""
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
    about.add_argument(
        '--blockers',
        metavar='HOST',
        help='explain which servers stay on this host if it is drained, and '
        'what would let them leave',
    )
    parser.add_argument(
        '--flavor',
        metavar='NAME',
        help='with --host: explain how many more servers of this flavor fit '
        'on the host, and what keeps out one more',
    )
    parser.add_argument(
        '--destination',
        metavar='HOST',
        help='with --instance: explain this destination only, and plan as if '
        'every rule that forbids it were lifted',
    )


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
    elif parsed.host and parsed.flavor:
        result['question'] = 'slots'
        name = _host(plan, parsed.host)
        result['answers'] = slots.of_host(plan, name, parsed.flavor)
    elif parsed.host:
        result['question'] = 'host'
        name = _host(plan, parsed.host)
        result['answers'] = [
            questions.host(index, name)
            for index in questions.scopes_of(host=name)
        ]
    elif parsed.blockers:
        result['question'] = 'blockers'
        name = _host(plan, parsed.blockers)
        result['answers'] = [
            questions.drain(index, name)
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
