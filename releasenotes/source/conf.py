# SPDX-License-Identifier: Apache-2.0
"""How the release notes are built."""

extensions = ['openstackdocstheme', 'reno.sphinxext']
project = 'Kronos release notes'
copyright = 'The Kronos developers'
html_theme = 'openstackdocs'
# As the other pages: see doc/source/conf.py.
html_theme_options = {'analytics_tracking_code': '', 'display_badge': False}
templates_path = ['../../doc/source/site/templates']
html_static_path = ['../../doc/source/site/assets']
html_css_files = ['kronos.css']
