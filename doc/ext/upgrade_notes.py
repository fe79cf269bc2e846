# SPDX-License-Identifier: Apache-2.0
"""The directive ``upgrade-notes``: those of all release notes, by release."""

from pathlib import Path

import generated
from reno import config, loader

TOP = Path(__file__).resolve().parents[2]
SECTIONS = ('upgrade', 'deprecations')
NONE = {'0.0.0': 'The first release'}
"""What reno calls a clone without a tag."""


class UpgradeNotes(generated.Generated):
    def lines(self) -> list[str]:
        lines = []
        with loader.Loader(config.Config(str(TOP))) as notes:
            for version in notes.versions:
                texts = [
                    text
                    for name, digest in notes[version]
                    for section in SECTIONS
                    for text in notes.parse_note_file(name, digest).get(
                        section, []
                    )
                ]
                if texts:
                    lines += [f'**{NONE.get(version, version)}**', '']
                for text in texts:
                    first, *more = text.strip().splitlines()
                    lines += [f'* {first}', *(f'  {one}' for one in more), '']
        return lines


def setup(app):
    app.add_directive('upgrade-notes', UpgradeNotes)
    return {'parallel_read_safe': True}
