# SPDX-License-Identifier: Apache-2.0
"""How the documentation is built."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'ext'))
extensions = [
    'openstackdocstheme',
    'oslo_config.sphinxext',
    'drawings',
    'faults_table',
    'troubleshooting',
    'command_reference',
    'plugin_reference',
    'upgrade_notes',
]
project = 'Kronos'
copyright = 'The Kronos developers'
html_theme = 'openstackdocs'
openstackdocs_auto_name = False
