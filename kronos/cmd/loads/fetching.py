# SPDX-License-Identifier: Apache-2.0
"""The fetching of a load by a command: its arguments, and where it asks."""

import argparse
import re
import time
from collections.abc import Callable, Sequence

from kronos.clients.nova import server_lives
from kronos.clients.prometheus import client
from kronos.cmd import config_files, record
from kronos.cmd.screen import progress
from kronos.common import exceptions
from kronos.policies import promql
from kronos.simulate.fetch import session
from kronos.simulate.fetch.session import Report, Source
from kronos.simulate.fetch.workplace import Wish

LONGEST_STEP = 3600


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of a fetch, but for ``--policies``."""
    group = parser.add_argument_group(
        'fetching', 'Read a load from Prometheus and Nova, without planning.'
    )
    group.add_argument(
        '--fetch',
        type=_duration,
        metavar='TIME',
        help='fetch this span of time until now, such as 7d. Repeat the same '
        'command to continue an interrupted fetch',
    )
    group.add_argument(
        '--out',
        metavar='DIR',
        help='directory to write the load to; it is created, or contains an '
        'interrupted fetch with the same arguments',
    )
    group.add_argument(
        '--step',
        type=_step,
        default=session.STEP,
        metavar='TIME',
        help='time between two values (default: 5m)',
    )
    group.add_argument(
        '--raw',
        action='append',
        type=_raw,
        default=[],
        metavar='POLICY=QUERY',
        help='query for the usage of servers without windows, if the query '
        'that Kronos derives from vm_profile_query does not fit; may be '
        'repeated',
    )
    group.add_argument(
        '--aggregate',
        action='append',
        default=[],
        metavar='NAME',
        help='host aggregate to plan (default: aggregates in [kronos], else '
        'all); may be repeated. The fetch always contains the whole '
        'cloud',
    )
    group.add_argument(
        '--unassigned',
        action='store_true',
        help='also plan the hosts that are in no aggregate',
    )
    group.add_argument(
        '--anonymize',
        action='store_true',
        help='replace the names and uuids of the cloud',
    )
    config_files.add_arguments(group)
    config_files.add_debug(group)


OF_FETCH = (
    '--step',
    '--raw',
    '--aggregate',
    '--unassigned',
    '--anonymize',
    '--config-file',
    '--config-dir',
    '--os-cloud',
)
OF_SIMULATION = (
    '--html',
    '--set',
    '--compare',
    '--strategy',
    '--advise',
    '--window',
    '--host-window',
    '--interval',
    '--boots',
    '--failures',
    '--watts',
)


def misuse(parsed: argparse.Namespace, words: Sequence[str]) -> str:
    """What is wrong between the options; '': nothing.

    :param words: those that were parsed
    """
    options = {word.partition('=')[0] for word in words}
    foreign = OF_FETCH if parsed.fetch is None else OF_SIMULATION
    if unfit := [name for name in foreign if name in options]:
        return _foreign(unfit, parsed.fetch is not None)
    if parsed.fetch is not None and not parsed.out:
        return '--fetch needs --out DIR'
    if parsed.fetch is None and parsed.out:
        return '--out needs --fetch TIME'
    if parsed.fetch is not None and parsed.path is not None:
        return '--fetch reads no load; remove LOAD'
    names = [name for name, _ in parsed.raw]
    if len(set(names)) < len(names):
        return '--raw: the same policy is given twice'
    return ''


def _foreign(unfit: Sequence[str], fetches: bool) -> str:
    if fetches:
        more = 'simulate the load afterwards, without --fetch'
    else:
        more = 'it requires --fetch; a load contains the options of its cloud'
    return f'{" and ".join(unfit)}: {more}'


def run(
    parsed: argparse.Namespace,
    report: Callable[[str], None],
    clock: Callable[[], float] = time.time,
) -> None:
    """Fetch a load, and say what it cannot tell.

    :param parsed: with the options of :func:`add_arguments`, and ``policies``
        as for :func:`.record.cloud_of`
    :raises KronosException: it could not be fetched, or not yet
    """
    config_files.log(parsed.debug)
    cloud = record.cloud_of(parsed)
    nova = cloud.access.clients.nova()
    source = Source(
        lambda: record.recorded(cloud, lambda _text: None),
        lambda since: server_lives.listing(nova.api, since),
        nova.list_migrations,
        lambda: client.from_options(
            cloud.conf.kronos_prometheus, cloud.access.session
        ),
    )
    wish = Wish(
        parsed.fetch,
        parsed.step,
        dict(parsed.raw),
        cloud.policies_text,
        parsed.anonymize,
    )
    screen = Report(progress.step, progress.count, report)
    try:
        limits = session.fetch(parsed.out, wish, source, clock(), screen)
    except (KeyboardInterrupt, exceptions.ClientError):
        report(f'{parsed.out} is not complete; repeat the command to continue')
        raise
    for text in limits:
        report(f'limit: {text}')
    report(f'{parsed.out} was written')


def _duration(text: str) -> float:
    seconds = promql.seconds_of(text)
    if seconds <= 0 or text.strip().isdigit():
        raise argparse.ArgumentTypeError(
            f'{text!r} is not a time such as 7d or 36h'
        )
    return seconds


def _step(text: str) -> int:
    seconds = promql.seconds_of(text)
    if not 1 <= seconds <= LONGEST_STEP or seconds % 1:
        raise argparse.ArgumentTypeError(
            f'{text!r} is not a time such as 5m, in whole seconds and at '
            'most 1h'
        )
    return int(seconds)


def _raw(text: str) -> tuple[str, str]:
    policy, sign, query = text.partition('=')
    if not sign or not re.fullmatch('[a-z0-9][a-z0-9_-]*', policy):
        raise argparse.ArgumentTypeError(
            f'{text!r:.80} is not of the form POLICY=QUERY'
        )
    return policy, query.strip()
