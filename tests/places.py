# SPDX-License-Identifier: Apache-2.0
"""The directories that tests read from."""

import pathlib

TOP = pathlib.Path(__file__).resolve().parents[1]
"""Of the repository."""
FIXTURES = TOP / 'tests' / 'fixtures'
CLUSTERS = FIXTURES / 'clusters'
EXAMPLES = TOP / 'kronos' / 'examples'
