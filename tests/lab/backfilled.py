# SPDX-License-Identifier: Apache-2.0
"""A Prometheus with a past: its samples are written before it starts."""

import contextlib
import pathlib
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator

import requests

TRIES = 300


@contextlib.contextmanager
def serve(text: str) -> Iterator[str]:
    """Run it on loopback.

    :param text: all samples, as OpenMetrics has them
    :returns: its address
    """
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        file, data = folder / 'past.txt', folder / 'data'
        file.write_text(text)
        command = ['promtool', 'tsdb', 'create-blocks-from', 'openmetrics']
        subprocess.run(
            [*command, str(file), str(data)],
            check=True,
            timeout=120,
            capture_output=True,
        )
        config = folder / 'prometheus.yml'
        config.write_text('scrape_configs: []\n')
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            port = free.getsockname()[1]
        with subprocess.Popen(
            [
                'prometheus',
                f'--config.file={config}',
                f'--storage.tsdb.path={data}',
                '--storage.tsdb.retention.time=100y',
                f'--web.listen-address=127.0.0.1:{port}',
            ],
            stderr=subprocess.DEVNULL,
        ) as child:
            try:
                yield _ready(f'http://127.0.0.1:{port}')
            finally:
                child.terminate()


def _ready(url: str) -> str:
    for _ in range(TRIES):
        try:
            if requests.get(f'{url}/-/ready', timeout=5).ok:
                return url
        except requests.ConnectionError:
            pass
        time.sleep(0.2)
    raise AssertionError('Prometheus does not come up')
