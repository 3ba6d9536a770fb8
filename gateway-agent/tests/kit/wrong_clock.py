"""A wrong wall clock for one process, as on a Pi without a battery clock."""

import struct
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")


class WrongClock:
    """Run the process with ``environment``; ``set`` moves its clock while it runs. Needs a C compiler."""

    def __init__(self, folder: Path, off_by_s: int) -> None:
        self._offset = folder / "clock-offset"
        library = folder / "wrong_clock.so"
        self.set(off_by_s)
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"], check=True)
        self.environment = {"LD_PRELOAD": str(library), "WRONG_CLOCK_FILE": str(self._offset)}

    def set(self, off_by_s: int) -> None:
        """Set the clock's error in seconds."""
        with self._offset.open("r+b" if self._offset.exists() else "w+b") as file:
            file.write(struct.pack("=q", off_by_s))
