# SPDX-License-Identifier: Apache-2.0
"""A WSGI application under waitress, with a clean argv.

Some applications parse sys.argv when they are imported, hence:
``serve.py MODULE PORT [arguments of the application]``
"""

import importlib
import sys

import waitress


def main() -> None:
    module, port = sys.argv[1:3]
    sys.argv = [module, *sys.argv[3:]]
    application = importlib.import_module(module).application
    waitress.serve(
        application,
        host='127.0.0.1',
        port=int(port),
        threads=8,
        ident='',
        clear_untrusted_proxy_headers=True,
    )


if __name__ == '__main__':
    main()
