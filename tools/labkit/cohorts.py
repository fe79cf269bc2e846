# SPDX-License-Identifier: Apache-2.0
"""Which releases of Nova and Watcher is Kronos tested beside?

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
    until: str
    """The day at whose beginning the package index is looked at."""
    below: str = ''
    """What is to be older than on that day, as pip writes it."""
    are_floors: bool = False
    """Of what pyproject names, whether the lowest versions are taken."""

    @property
    def constraints(self) -> pathlib.Path:
        return TOOLS / f'constraints-{self.name}.txt'

    @property
    def folder(self) -> str:
        """Of its environment, below .lab."""
        return f'venv-{self.name}'


COHORTS = {
    one.name: one
    for one in (
        Cohort('2025.2', 32, 15, '2025-10-15'),
        Cohort('2026.1', 33, 16, '2026-04-15'),
        Cohort('2026.2', 34, 17, '2026-10-15'),
        # A cloud whose Nova is upgraded last.
        Cohort('nova31', 31, 15, '2025-10-15', below='nova<32'),
        Cohort('lowest', 31, 15, '2025-10-15', are_floors=True),
    )
}


def constraints(cohort: Cohort | None) -> pathlib.Path:
    """The versions of an environment.

    :param cohort: None: of the one that all else is tested in
    """
    return cohort.constraints if cohort else TOOLS / 'constraints.txt'


def versions(cohort: Cohort | None) -> dict[str, str]:
    """What :func:`constraints` says, by the name of the package."""
    lines = constraints(cohort).read_text().splitlines()
    pairs = [line.partition(' ')[0].partition('==') for line in lines]
    return {name: version for name, equals, version in pairs if equals}
