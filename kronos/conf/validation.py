# SPDX-License-Identifier: Apache-2.0
"""The validation of options: which one is wrong, where and why."""

import math
import pathlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

from oslo_config import cfg

from kronos.common import exceptions
from kronos.common.units import dates, time_units
from kronos.conf import extensions
from kronos.conf import opts as conf_opts

OLD_GROUPS = {'engine': 'kronos', 'prometheus': 'kronos_prometheus'}
"""Groups of kronos-openstack, and what took their place."""
DATES = ('hold_until',)
"""Options that are dates."""
# oslo.config tells the place only within its text.
_PLACE = re.compile(r"detail='([^']+)'\) is not valid")

# The texts of Python's own int and float.
_NO_NUMBER = re.compile(
    r'(?:invalid literal for int\(\) with base 10|could not convert string '
    r"to float): '([^']*)'"
)


def require_valid(conf: Any) -> None:
    """Read every option of Kronos, so that a bad one is found at once.

    :param conf: a configuration with the options of Kronos
    :raises ConfigurationError: names all bad options, their files and
        rules; never a value that may hold a secret
    """
    extensions.require_usable()
    if every := '; '.join(faults(conf)):
        # Without the chain: its texts hold the values.
        raise exceptions.ConfigurationError(reason=every) from None


def faults(
    conf: Any, groups: Sequence[tuple[str, Sequence[Any]]] | None = None
) -> Iterator[str]:
    """Every bad option, as :func:`require_valid` tells one.

    :param groups: with their options; None: those that all processes have
    """
    rules = extensions.rules() if groups is None else {}
    for group, opts in conf_opts.list_opts() if groups is None else groups:
        for opt in opts:
            where = f'[{group}] {opt.name}'
            try:
                value = conf[group][opt.dest]
                wrong = fault_of(opt, value)
                if not wrong and group == conf_opts.KRONOS:
                    wrong = rules.get(opt.name, _nothing)(value)
            except (cfg.Error, ValueError) as error:
                yield f'{where}{_place(error)}: {rule_of(opt, error)}'
                continue
            if wrong:
                yield f'{where}{_origin(conf, group, opt)}: {wrong}'


def _nothing(_: Any) -> str:
    return ''


def old_groups(conf: Any) -> Iterator[str]:
    """The groups of kronos-openstack in the files of a configuration.

    :param conf: one that was read
    """
    for path in _files(conf):
        sections: dict[str, Any] = {}
        try:
            cfg.ConfigParser(path, sections).parse()
        except (OSError, ValueError, cfg.ParseError):
            continue  # who reads the options tells
        for name in sections:
            if name in OLD_GROUPS:
                text, remedy = old_group(path, name)
                yield f'{text}; {remedy}'


def old_group(path: str, name: str) -> tuple[str, str]:
    """What is said of such a group in a file, and what to do."""
    return (
        f'{path}: [{name}] is a group of kronos-openstack and has no effect',
        f'set its options in [{OLD_GROUPS[name]}], under their names in '
        'configuration.rst of the documentation',
    )


def _files(conf: Any) -> Iterator[str]:
    """All that oslo.config reads, in its order."""
    try:
        yield from conf.config_file or conf.default_config_files or ()
        folders = conf.config_dir or conf.default_config_dirs or ()
    except cfg.Error:
        return  # nothing was read
    for folder in folders:
        yield from sorted(map(str, pathlib.Path(folder).glob('*.conf')))


def fault_of(opt: Any, value: Any) -> str:
    """What is wrong with a value that oslo.config lets pass; '' if nothing.

    To it an empty number is None, and "nan" a number within all limits.
    """
    if value in (None, '') and opt.default not in (None, ''):
        return (
            'it is empty: give it a value, or remove it; the default is '
            f'{opt.default}'
        )
    if isinstance(value, float) and not math.isfinite(value):
        return f'{value:g} is not a finite number'
    if opt.name in DATES and value:
        return dates.fault(value)
    return ''


def _origin(conf: Any, group: str, opt: Any) -> str:
    """The file that the value is from, where it is from one."""
    origin = conf.get_location(opt.dest, group)
    is_file = origin is not None and origin.location.name == 'user'
    return f' in {origin.detail}' if is_file else ''


def told(error: cfg.Error) -> str:
    """What may be told of an error of any option, be it a secret or not.

    It is not known which option failed, so no text may hold its value.
    """
    if isinstance(error, cfg.ConfigSourceValueError):
        name = re.match(r'Value for option (\S+)', str(error))
        if name:
            return f'option {name[1]}{_place(error)} is not valid'
    if isinstance(error, cfg.NoSuchOptError | cfg.NoSuchGroupError):
        return str(error)
    return f'{type(error).__name__} of oslo.config'


def _place(error: Exception) -> str:
    place = _PLACE.search(str(error))
    return f' in {place[1]}' if place else ''


def rule_of(opt: Any, error: Exception) -> str:
    """What is wrong with a value by the type of its option."""
    if isinstance(opt, cfg.URIOpt):
        # It may hold a user and a password.
        return f'it must be a URL: {" or ".join(opt.type.schemes)}'
    if opt.secret:
        return 'its value is not valid'
    text = re.sub(r'^Value for option .*? is not valid: ', '', str(error))
    return _of_number(opt, text) or text


def _of_number(opt: Any, text: str) -> str:
    """What is said of a value that is no number; '' of any other one."""
    value = _NO_NUMBER.search(text)
    if value is None:
        return ''
    is_whole = isinstance(opt, cfg.IntOpt)
    kind = 'a whole number' if is_whole else 'a number'
    if not is_duration(opt):
        return f'{value[1]!r} is not {kind}'
    hint = time_units.hint(value[1])
    return f'{value[1]!r} is not {kind} of seconds' + (
        f': {hint}' if hint else ''
    )


def is_duration(opt: Any) -> bool:
    """Whether the value of an option is a number of seconds."""
    return bool(re.search(r'\bseconds\b', opt.help or '', re.IGNORECASE))
