# SPDX-License-Identifier: Apache-2.0
"""The releases of Nova and Watcher that Kronos is tested beside.

Standard library only. A cohort has an environment of its own, with what was
on the package index when it was released: tools/constraints-COHORT.txt, which
./tools/constrain makes.
"""

import pathlib
from dataclasses import dataclass

TOOLS = pathlib.Path(__file__).resolve().parent.parent
REQUIREMENTS = TOOLS / 'requirements-cohort.txt'


@dataclass(frozen=True)
class Cohort:
    """Releases that a cloud may have side by side."""

    name: str
    nova: int
    watcher: int
    watcher_api: str
    """Its newest microversion."""
    until: str = ''
    """The day at whose beginning the package index is looked at."""
    below: str = ''
    """What is to be older than on that day, as pip writes it."""
    are_floors: bool = False
    """Of what pyproject names, whether the lowest versions are taken."""

    @property
    def constraints(self) -> pathlib.Path:
        return TOOLS / f'{self.named("constraints")}.txt'

    @property
    def environment(self) -> str:
        """The folder of its virtual environment, below .lab."""
        return self.named('venv')

    def named(self, what: str) -> str:
        return f'{what}-{self.name}' if self.name else what

    def versions(self) -> dict[str, str]:
        """By the name of the package, on whatever Python."""
        lines = self.constraints.read_text().splitlines()
        pairs = [line.partition('==') for line in lines if ';' not in line]
        return {name: version for name, equals, version in pairs if equals}


REFERENCE = Cohort('', 34, 17, '1.7')
"""What all else is tested with: constraints.txt."""
COHORTS = {
    one.name: one
    for one in (
        Cohort('2025.2', 32, 15, '1.6', '2025-10-15'),
        Cohort('2026.1', 33, 16, '1.6', '2026-04-15'),
        Cohort('2026.2', 34, 17, '1.7', '2026-10-15'),
        # A cloud whose Nova is upgraded last.
        Cohort('nova31', 31, 15, '1.6', '2025-10-15', below='nova<32'),
        Cohort('lowest', 31, 15, '1.6', '2025-10-15', are_floors=True),
    )
}
