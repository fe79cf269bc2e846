# SPDX-License-Identifier: Apache-2.0
"""The options of an extension: in a module that imports nothing that plans."""

from dataclasses import dataclass, field

from kronos.common.names.name_marks import HostName, Text
from kronos.options import row


@dataclass
class RackOptions:
    rack_watts: float = row.option(
        0, 'Watts that a rack keeps spare.', configured=500, least=0
    )
    rack_words: list[Text] = row.option([], 'Words on the doors of racks.')
    rack_hosts: list[HostName] = field(default_factory=list)
