# SPDX-License-Identifier: Apache-2.0
"""The command kronos-simulate: what days of plans do to a recorded load.

Exit status: 0 when all columns were simulated; 1 when the load, a policies
file or a setting cannot be used, or the output cannot be written; 2 when the
arguments are wrong.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kronos.cmd import program, tables, terminal, what_if
from kronos.cmd.loads import arguments as own_arguments
from kronos.cmd.loads import fetching
from kronos.cmd.loads import tables as loads_tables
from kronos.cmd.screen import progress
from kronos.simulate import load as loads
from kronos.simulate import runs, variants
from kronos.simulate.accounting import Floats, Watts
from kronos.simulate.columns import Column, Result
from kronos.simulate.load import Load
from kronos.simulate.outcome import advice, results
from kronos.simulate.outcome.advice import Advice
from kronos.simulate.variants import Request

PROGRAM = 'kronos-simulate'


@program.command(PROGRAM)
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    :param arguments: those of the process if None
    :returns: the exit status
    """
    parser = argument_parser()
    words = sys.argv[1:] if arguments is None else arguments
    parsed = program.parsed(parser, words)
    if fault := own_arguments.misuse(parsed, words):
        parser.error(fault)
    if parsed.fetch is not None:
        with progress.shown(PROGRAM, parsed.debug):
            fetching.run(parsed, _report)
        return 0
    if parsed.path is None:
        parser.error(
            'name the directory of a load, before any --set; --fetch TIME '
            '--out DIR writes one'
        )
    return _simulate(parsed)


def argument_parser() -> argparse.ArgumentParser:
    return own_arguments.parser_of(PROGRAM)


def power(values: Sequence[float]) -> Watts:
    """The power of hosts by the ratio of their CPU in use."""
    grid = np.linspace(0.0, 1.0, len(values))

    def watts(used: Floats) -> Floats:
        return np.interp(used, grid, values)

    return watts


def _simulate(parsed: argparse.Namespace) -> int:
    load = loads.read(parsed.path)
    request = _request(parsed)
    if parsed.html:
        program.require_writable(parsed.html)
    if parsed.advise:
        return _advise(parsed, load, request)
    columns = variants.columns(load, request)
    outcome = _run(parsed, load, columns)
    document = _document(parsed, load)
    fills = columns[variants.BASE].fills
    document['sentence'] = results.sentence(outcome, fills)
    document['columns'] = results.document(outcome)
    if parsed.html:
        _write_page(parsed.html, document, outcome)
    width = program.width(parsed)
    _show(
        parsed,
        document,
        lambda: loads_tables.table(document, outcome, width),
        lambda: loads_tables.rows(outcome),
    )
    return 0


def _run(
    parsed: argparse.Namespace, load: Load, columns: Sequence[Column]
) -> list[Result]:
    jobs = parsed.jobs or runs.processors()
    watts = power(parsed.watts) if parsed.watts else None
    # Processes are forked before the progress line has its thread.
    with (
        runs.Runs(load, columns, jobs, watts) as all_runs,
        progress.shown(PROGRAM),
    ):
        return all_runs.results(_tell)


def _advise(parsed: argparse.Namespace, load: Load, request: Request) -> int:
    """Try windows, then all else with the best of them."""
    fills = advice.fills_hosts(load, request)
    trials = advice.windows(load, request)
    outcome = _run(parsed, load, [trial.column for trial in trials])
    answers = advice.judged(trials, outcome, fills)
    best = next(answer for answer in answers if answer.is_best)
    trials = advice.others(load, request, best)
    outcome = _run(parsed, load, [trial.column for trial in trials])
    answers += advice.judged(trials, outcome, fills)
    document = _document(parsed, load)
    document['advice'] = advice.document(Advice(answers), fills)
    width = program.width(parsed)
    _show(
        parsed,
        document,
        lambda: loads_tables.advice_table(document, width),
        lambda: loads_tables.advice_rows(document['advice']),
    )
    return 0


def _show(
    parsed: argparse.Namespace,
    document: dict[str, Any],
    table: Callable[[], str],
    rows: Callable[[], Sequence[tables.Row]],
) -> None:
    """Print it in the format that was asked for."""
    if parsed.format in tables.WHOLE:
        terminal.show(tables.whole(document, parsed.format))
    elif parsed.format == 'table':
        terminal.show(table())
    else:
        terminal.show(tables.printed(rows(), parsed.format))


def _write_page(
    path: str, document: dict[str, Any], outcome: Sequence[Result]
) -> None:
    # Nobody else needs its template engine.
    from kronos.simulate.outcome import page

    title = f'Kronos: {document["load"]["days"]:.1f} simulated days'
    program.write(path, page.render(document, outcome, title))


def _report(text: str) -> None:
    terminal.complain(PROGRAM, text)


def _tell(ticks: int, total: int) -> None:
    progress.step(f'simulating, {100 * ticks // max(total, 1)} %')


def _request(parsed: argparse.Namespace) -> Request:
    base = [(f'window.{name}', text) for name, text in parsed.window]
    base += [
        (f'host_window.{name}', text) for name, text in parsed.host_window
    ]
    base += [
        (name, text)
        for name in ('interval', 'boots', 'failures')
        if (text := getattr(parsed, name)) is not None
    ]
    return Request(
        what_if.policies_of(parsed.policies) if parsed.policies else None,
        {path: what_if.policies_of(path) for path in parsed.compare},
        parsed.strategy,
        base,
        parsed.set,
        parsed.seed,
    )


def _document(parsed: argparse.Namespace, load: Load) -> dict[str, Any]:
    """What is known of the load, for programs."""
    return {
        'format_version': 1,
        'command': parsed.command,
        'load': {
            'path': parsed.path,
            'start': load.meta.start,
            'days': load.days,
            'step': load.meta.step,
            'hosts': len(load.meta.hosts),
            'servers': len(load.meta.instances),
            'limits': load.meta.limits,
        },
    }


if __name__ == '__main__':
    sys.exit(main())
