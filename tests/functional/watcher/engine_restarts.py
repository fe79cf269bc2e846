# SPDX-License-Identifier: Apache-2.0
"""A decision engine that is started again and again, as a program.

The argument is the directory of the metrics. Each line of stdin starts one, a
child of this process with a database and a cloud of its own. Once its audit is
over, its process id is written to stdout. Another line then ends it as a
service that is stopped, unless it was killed before. Its end is a line, too.
"""

import os
import sys
import unittest

from tests.functional.watcher import base

# A test case may have put something else in place of sys.stdout.
STDOUT = sys.stdout.fileno()
STDERR = sys.stderr.fileno()


class AuditCase(base.KronosTestCase):
    """One audit of a decision engine, which then waits to be ended."""

    CAST_AS_CALL = False
    START_APPLIER = False

    def runTest(self):  # noqa: N802
        self.set('kronos_metrics', directory=sys.argv[1], interval=1)
        self.create_audit()
        os.write(STDOUT, f'{os.getpid()}\n'.encode())
        sys.stdin.readline()


def main():
    while sys.stdin.readline():
        child = os.fork()
        if not child:
            result = unittest.TestResult()
            AuditCase().run(result)
            if not result.wasSuccessful():
                for _, reason in result.errors + result.failures:
                    os.write(STDERR, reason.encode())
                os._exit(1)
            # As a service that is stopped: by the end of the interpreter.
            return 0
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status > 0:
            return status
        # The next line must not be read by one that is being killed.
        os.write(STDOUT, b'ended\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
