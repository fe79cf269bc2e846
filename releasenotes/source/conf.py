# SPDX-License-Identifier: Apache-2.0
"""How the release notes are built."""

extensions = ['openstackdocstheme', 'reno.sphinxext']
project = 'Kronos release notes'
copyright = 'The Kronos developers'
html_theme = 'openstackdocs'
