"""A folder that lies on a full disk, for one process, until somebody makes room."""

import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")


class FullDisk:
    """``environment`` goes to the process; ``make_room`` ends it while it runs. Needs a C compiler."""

    def __init__(self, folder: Path, full: Path) -> None:
        self._flag = folder / "disk-is-full"
        self._flag.touch()
        library = folder / "full_disk.so"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"], check=True)
        self.environment = {
            "LD_PRELOAD": str(library),
            "FULL_DISK_FOLDER": str(full),
            "FULL_DISK_FLAG": str(self._flag),
        }

    def make_room(self) -> None:
        """The disk takes everything from now on."""
        self._flag.unlink()
