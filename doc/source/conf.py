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
    'prompts',
    'module_list',
    'code_tables',
    'troubleshooting',
    'plugin_reference',
    'upgrade_notes',
]
project = 'Kronos'
copyright = 'The Kronos developers'
html_theme = 'openstackdocs'
# Nothing is loaded from elsewhere, and no reader is counted.
html_theme_options = {'analytics_tracking_code': '', 'display_badge': False}
templates_path = ['site/templates']
html_static_path = ['site/assets']
html_css_files = ['kronos.css']
html_js_files = [('kronos.js', {'defer': 'defer'})]
openstackdocs_auto_name = False
# Of two hyphens they would make a dash, in the names of options too.
smartquotes = False
