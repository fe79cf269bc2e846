# SPDX-License-Identifier: Apache-2.0
"""What of a text may be secret, whoever wrote it?"""

import re

from oslo_utils import strutils

HIDDEN = '***'
# Up to the last @: a password may hold any character.
_USER = re.compile(r'(?<=://)\S+(?=@)')


def masked(text: str) -> str:
    """A text without passwords, tokens and users of URLs."""
    if not text:
        return text
    return _USER.sub(HIDDEN, str(strutils.mask_password(text, HIDDEN)))
