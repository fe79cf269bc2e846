# SPDX-License-Identifier: Apache-2.0
"""How the documentation is built."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'ext'))
extensions = [
    'openstackdocstheme',
    'oslo_config.sphinxext',
    'sphinxcontrib.autoprogram',
    'cliff.sphinxext',
    'drawings',
    'module_list',
    'code_tables',
    'troubleshooting',
    'plugin_reference',
    'upgrade_notes',
]
project = 'Kronos'
copyright = 'The Kronos developers'
html_theme = 'openstackdocs'
html_theme_options = {'sidebar_search': True}
html_static_path = ['css']
html_css_files = ['kronos.css']
openstackdocs_auto_name = False
# Of two hyphens they would make a dash, in the names of options too.
smartquotes = False
