"""How the reference library was made: `python -m studies.library.make_library --out FOLDER`.

The files are the library: should a generator change, they stay. The ledger of what is written here is empty;
`optgap library update` fills it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from instances.library.library import read_library
from instances.library.write_library import write_library
from studies.library.design import LIBRARY_VERSION, library_instances


def main() -> None:
    """Write catalogue, instances and an empty ledger."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder to make")
    folder: Path = parser.parse_args().out
    if folder.exists() and any(folder.iterdir()):
        parser.error(f"--out: expected a new or empty folder, got {folder}.")
    write_library(folder, LIBRARY_VERSION, library_instances())
    library = read_library(folder)
    print(f"{len(library.catalogue)} instances, {len(library.entries())} entries: {library.identifier}")


if __name__ == "__main__":
    main()
