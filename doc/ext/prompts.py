# SPDX-License-Identifier: Apache-2.0
"""Prompts that are seen and not copied.

A browser neither selects nor copies what a style sheet puts before a text.
"""

import re
from typing import Any

from sphinx.application import Sphinx

PROMPT = re.compile(r'<span class="gp">([^<]*)</span>')


def unselectable(html: str) -> str:
    """The same page with each prompt as an attribute."""
    return PROMPT.sub(r'<span class="gp" data-prompt="\1"></span>', html)


def _change(
    app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any
) -> None:
    if 'body' in context:
        context['body'] = unselectable(context['body'])


def setup(app: Sphinx) -> dict[str, bool]:
    """Make an extension of Sphinx of this."""
    app.connect('html-page-context', _change)
    return {'parallel_read_safe': True, 'parallel_write_safe': True}
