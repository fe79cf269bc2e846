# SPDX-License-Identifier: Apache-2.0
"""The page of a report, which needs nothing else.

No scripts, no network, no file beside it; every value is escaped.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import jinja2

from kronos.reports import parts
from kronos.reports.html import formatting, sankey, scale, view
from kronos.reports.parts import ReportPart


def render(document: Mapping[str, Any], title: str) -> str:
    """A report as HTML.

    :param document: of :func:`kronos.reports.document.document`, also one that
        was read from JSON, and one of an older version
    :param title: of the page
    :returns: a whole page, which can be encoded as UTF-8
    :raises ValueError: if the document is not of format_version 1
    :raises KeyError: if it lacks what every version has
    """
    scopes = view.scopes(document)
    sortings = [
        sorting
        for scope in scopes
        for sorting in (scope.host_sorting, scope.move_sorting)
        if sorting
    ]
    return (
        environment()
        .get_template('page.html')
        .render(
            title=title,
            document=document,
            scopes=scopes,
            moves=sum(len(scope.plan['steps']) for scope in scopes),
            memory_mb=sum(scope.plan['memory_mb'] for scope in scopes),
            scale_width=scale.WIDTH,
            row_height=sankey.ROW,
            limits=_LIMITS,
            sections=[
                f'{name}/{template}'
                for name, part in parts.by_name().items()
                for template in part.sections
            ],
            orders=max(
                (len(sorting.labels) for sorting in sortings), default=0
            ),
        )
    )


_LIMITS = {'moves': view.MOVES, 'listed': view.LISTED}


def environment() -> jinja2.Environment:
    """What finds all templates, and escapes every value."""
    return _environment(tuple(parts.by_name().items()))


@functools.cache
def _environment(
    of_parts: Sequence[tuple[str, ReportPart]],
) -> jinja2.Environment:
    """:param of_parts: by whose names their templates are found"""
    templates = {
        name: jinja2.PackageLoader(type(part).__module__.rpartition('.')[0])
        for name, part in of_parts
        if part.sections
    }
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [
                jinja2.PackageLoader('kronos.reports.html'),
                jinja2.PrefixLoader(templates),
            ]
        ),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=formatting.finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        duration=formatting.duration,
        gibibytes=formatting.gibibytes,
        imbalance=formatting.imbalance,
        phase=view.phase,
        plain=formatting.plain,
        score=formatting.score,
        setting=formatting.setting,
        whole=formatting.whole,
    )
    environment.globals.update(many=formatting.many)
    return environment
