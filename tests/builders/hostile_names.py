# SPDX-License-Identifier: Apache-2.0
"""The names that break a shell command, a line or a terminal."""

HOSTILE = (
    'two words',
    '',
    "it's",
    'a "quoted" name',
    '$(touch /tmp/x)',
    '`touch /tmp/x`',
    'x; touch /tmp/x',
    'x && touch /tmp/x | cat > /etc/passwd',
    'x # y',
    '$HOME ~ * ? [a] {b,c} !1',
    'back\\slash\\',
    '-x',
    '--force',
    'two\nlines',
    'a return\r and a tab\t',
    '\x1b]0;title\x07\x1b[2J',
    'bidi \u202e\u2066 and \u2028 breaks',
    'ümläut ☃ \U0001f600',
)
"""What a tenant may call a server, and worse."""
