"""What the commands that prepare a data folder have in common: exit code and output."""

import os
import sys
from collections.abc import Callable

from certificates import CertificateError
from store import StoreError


def run_command(prepare: Callable[[], list[str]]) -> int:
    """Prepare a folder for its owner only and print each change. Exit code 1 with a message if something is missing."""
    os.umask(0o077)
    try:
        done = prepare()
    except (StoreError, CertificateError, ValueError, OSError) as error:
        sys.stderr.write(f"broker: {error}\n")
        return 1
    sys.stdout.write("".join(f"broker: {line}\n" for line in done or ["nothing to change"]))
    return 0
