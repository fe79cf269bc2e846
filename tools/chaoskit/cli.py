# SPDX-License-Identifier: Apache-2.0
"""The command line of ``tools/chaos``, and its verdict."""

import argparse
import contextlib
import io
import json
import pathlib
import sys
import threading
import traceback
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chaoskit.running import Run

EPILOG = """\
It needs the lab, brings it up if need be, and leaves it up:
  ./tools/chaos --seed 7 --minutes 5
A seed always gives the same events; what comes of them depends on the
machine, so repeat a case with the same seed some times.

Exit status: 0 no violation, 1 violations, 2 no verdict.
"""


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog='tools/chaos',
        description='Break the lab in every way while continuous audits '
        'run, heal it, and judge what Kronos did all the time.',
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument('--seed', type=int, default=1, help='which events; 1')
    top.add_argument('--minutes', type=float, default=5.0, help='of faults; 5')
    top.add_argument(
        '--report', type=pathlib.Path, help='a file for all lines, too'
    )
    top.add_argument(
        '--json', type=pathlib.Path, help='a file for the counts and findings'
    )
    top.add_argument(
        '--events', action='store_true', help='only list the events'
    )
    top.add_argument(
        '--ha',
        action='store_true',
        help='with three databases and brokers, whose nodes fail, too',
    )
    return top


class Teller:
    """Prints lines, whoever has one."""

    def __init__(self, report: io.TextIOBase | None) -> None:
        self._report = report
        self._lock = threading.Lock()

    def say(self, line: str) -> None:
        with self._lock:
            print(line, flush=True)
            if self._report is not None:
                print(line, file=self._report, flush=True)


def main() -> int:
    """Run it and give the exit status."""
    wanted = parser().parse_args()
    if wanted.events:
        return _list(wanted)
    with contextlib.ExitStack() as stack:
        report = None
        if wanted.report:
            report = stack.enter_context(wanted.report.open('w'))
        return _run(wanted, Teller(report))


def _list(wanted: argparse.Namespace) -> int:
    from chaoskit import events, scene

    names = scene.names(wanted.ha)
    for step in events.steps(wanted.seed, names, 60.0 * wanted.minutes):
        print(f'{step.at:7.1f} s  {step}')
    return 0


def _run(wanted: argparse.Namespace, teller: Teller) -> int:
    from labkit.lab import Lab
    from labkit.running import LabError

    from chaoskit.running import Run

    again = f'./tools/chaos --seed {wanted.seed} --minutes {wanted.minutes:g}'
    if wanted.ha:
        again += ' --ha'
    teller.say(f'chaos; the same again: {again}')
    lab = Lab(teller.say)
    seconds = 60.0 * wanted.minutes
    run = Run(lab, wanted.seed, seconds, teller.say, wanted.ha)
    try:
        lab.up(ha=wanted.ha)
        run.run()
    except LabError as error:
        teller.say(f'the lab does not work: {error}')
        return 2
    # Nothing was judged then, which is no verdict.
    except Exception:
        teller.say(f'chaos itself does not work:\n{traceback.format_exc()}')
        return 2
    if wanted.json:
        from chaoskit import night

        document = night.document(run, wanted.seed, wanted.minutes, again)
        wanted.json.write_text(json.dumps(document, indent=1))
    return verdict(run, again, teller)


def verdict(run: 'Run', again: str, teller: Teller) -> int:
    """Tell what was counted and found."""
    teller.say('')
    for line in counted(run):
        teller.say(line)
    ours = [one for one in run.findings if one.is_ours]
    for finding in run.findings:
        kind = 'VIOLATION' if finding.is_ours else 'not of Kronos'
        teller.say(f'{kind}: {finding.judge}: {finding.what}')
        teller.say(f'    look at: {finding.look_at}')
    others = len(run.findings) - len(ours)
    teller.say(
        f'{len(ours)} violations, {others} findings of the surroundings; '
        f'the same again: {again}'
    )
    return 1 if ours else 0


def counted(run: 'Run') -> list[str]:
    """What happened, in numbers."""
    from chaoskit import night

    lines = [
        f'events {run.counts["events"]}, not done {run.counts["not done"]}; '
        f'runs of audits {run.counts["runs of audits"]}'
    ]
    for what, states in night.states(run).items():
        result = ', '.join(
            f'{state} {number}' for state, number in states.most_common()
        )
        lines.append(f'{what} {states.total()}: {result or "none"}')
    return lines


if __name__ == '__main__':
    sys.exit(main())
