"""A folder on a full disk, for one process, until `make_room`."""

import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")


class FullDisk:
    """Run the process with ``environment``; ``make_room`` frees the disk while it runs. Needs a C compiler."""

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
        """Free the disk."""
        self._flag.unlink()
