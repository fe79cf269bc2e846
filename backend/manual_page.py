# SPDX-License-Identifier: Apache-2.0
"""The manual page of a command, from its argparse parser.

The macros are those of man(7), which groff and mandoc know.
"""

import argparse
import functools
import re
import textwrap
from collections.abc import Collection, Iterator

EXIT_STATUS = 'Exit status: '
"""How a parser's epilog begins."""
FILES = {
    '/etc/kronos/kronos.conf, ~/.kronos/kronos.conf': 'The configuration, '
    'where no other file is named.',
    '/etc/kronos/policies.yaml': 'The policies, unless policies_file in '
    '[kronos] names others.',
}
"""Of a command that reads configuration."""
WIDTH = 72


def of(
    parser: argparse.ArgumentParser, version: str, others: Collection[str]
) -> str:
    """The text of a page of section 1.

    :param version: that stands in its foot, with the name of the package
    :param others: commands to name below SEE ALSO
    """
    name, told = parser.prog, parser.description or ''
    lines = [
        f'.TH {_escaped(name.upper())} 1 "" "{_escaped(version)}" "Kronos"',
        # Names are not to be hyphenated, nor lines to be stretched.
        '.nh',
        '.ad l',
        '.SH NAME',
        f'{_escaped(name)} \\-',
        *_text(_title(told)),
        '.SH SYNOPSIS',
        *_synopsis(parser),
        '.SH DESCRIPTION',
        *_text(told),
        *_arguments(parser),
    ]
    epilog = parser.epilog or ''
    if epilog.startswith(EXIT_STATUS):
        status = epilog.removeprefix(EXIT_STATUS)
        lines += ['.SH EXIT STATUS', *_text(status[0].upper() + status[1:])]
    if '--config-file' in parser.format_usage():
        lines.append('.SH FILES')
        for path, meaning in FILES.items():
            lines += ['.TP', f'\\fI{_escaped(path)}\\fR', *_text(meaning)]
    lines.append('.SH SEE ALSO')
    references = [f'\\fB{_escaped(one)}\\fR(1)' for one in sorted(others)]
    lines.append(',\n'.join(references))
    return '\n'.join(lines) + '\n'


def _title(description: str) -> str:
    """The first sentence, as the line of apropos(1) has it."""
    first = description.partition('. ')[0].rstrip('.')
    return first[:1].lower() + first[1:]


def _synopsis(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The usage, with options in bold; no line breaks within brackets."""
    parser.formatter_class = functools.partial(
        argparse.HelpFormatter, width=10**6
    )
    usage = ' '.join(parser.format_usage().split()[1:])
    for piece in _pieces(usage):
        words = re.split(r'(?<![\w-])(--?[a-z][a-z-]*)', piece)
        yield ''.join(
            f'\\fB{_escaped(word)}\\fR'
            if word.startswith('-') or word == parser.prog
            else _escaped(word).replace(' ', '\\ ')
            for word in words
        )


def _pieces(usage: str) -> Iterator[str]:
    """Words, and what is in brackets as one."""
    piece = ''
    for word in usage.split():
        piece = f'{piece} {word}'.lstrip()
        if piece.count('[') == piece.count(']'):
            yield piece
            piece = ''


def _arguments(parser: argparse.ArgumentParser) -> Iterator[str]:
    # argparse tells its groups to nobody but its own formatters.
    for group in parser._action_groups:
        shown = [
            one
            for one in group._group_actions
            if one.help != argparse.SUPPRESS
        ]
        if shown:
            title = (group.title or 'options').removeprefix('positional ')
            yield f'.SH {_escaped(title.upper())}'
        for action in shown:
            yield '.TP'
            yield _tag(action)
            told = {**vars(action), 'prog': parser.prog}
            yield from _text((action.help or '') % told)


def _tag(action: argparse.Action) -> str:
    value = _value(action)
    if not action.option_strings:
        return value
    options = (f'\\fB{_escaped(one)}\\fR' for one in action.option_strings)
    return f'{", ".join(options)} {value}'.rstrip()


def _value(action: argparse.Action) -> str:
    """The placeholders of what an argument takes."""
    if action.nargs == 0:
        return ''
    shown = action.metavar or action.dest.upper()
    if action.choices is not None and action.metavar is None:
        shown = f'{{{",".join(map(str, action.choices))}}}'
    names = [shown] if isinstance(shown, str) else list(shown)
    first, last = (f'\\fI{_escaped(one)}\\fR' for one in (names[0], names[-1]))
    if action.nargs == '?':
        return f'[{first}]'
    if action.nargs == '*':
        return f'[{first} ...]'
    return f'{first} [{last} ...]' if action.nargs == '+' else first


def _text(text: str) -> list[str]:
    """Lines of running text."""
    lines = textwrap.wrap(text, WIDTH, break_on_hyphens=False)
    return [_escaped(line) for line in lines]


def _escaped(text: str) -> str:
    """Text that is no request, whatever it begins with."""
    plain = text.replace('\\', '\\e').replace('-', '\\-')
    return f'\\&{plain}' if plain.startswith(('.', "'")) else plain
