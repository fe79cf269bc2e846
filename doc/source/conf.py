# SPDX-License-Identifier: Apache-2.0
"""How the documentation is built."""

extensions = ['openstackdocstheme', 'oslo_config.sphinxext']
project = 'Kronos'
copyright = 'The Kronos developers'
html_theme = 'openstackdocs'
openstackdocs_auto_name = False
