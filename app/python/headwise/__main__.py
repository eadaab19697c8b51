"""`python -m headwise` and the command `headwise`: the program itself, with the same arguments."""
from __future__ import annotations

import os
import sys

from headwise.program import program_path


def main() -> None:
    try:
        program = program_path(but=sys.argv[0])
    except FileNotFoundError as missing:
        sys.exit(str(missing))
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
