# SPDX-License-Identifier: Apache-2.0
"""The sink of a file: each message is a line."""

from typing import ClassVar

from oslo_config import cfg

from kronos.monitor.messages import Message
from kronos.monitor.sinks.base import Options, Outcome, Result, Sink


class Lines(Sink):
    OPTS: ClassVar = [cfg.StrOpt('path', help='File that gets the lines.')]

    @classmethod
    def faults(cls, options: Options) -> list[str]:
        return [] if options['path'] else ['path: is not set; name a file']

    def deliver(self, message: Message) -> Result:
        try:
            with open(self.options['path'], 'a') as file:
                file.write(f'{message.model_dump_json(by_alias=True)}\n')
        except OSError as error:
            return Result(Outcome.AWAY, error.strerror or 'it is away')
        return Result(Outcome.DELIVERED)

    def check(self, host: str) -> str:
        return ''
