"""The command `optgap`; importing this package first finds out whether a folder of the user's hides one of ours."""

import signal
from typing import NoReturn


def main() -> NoReturn:
    """Run the command; before it begins and after its end, Ctrl-C ends the process without a word."""
    listens = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if listens:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from studies.cli.main import main as run_command

    if listens:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run_command()
    finally:
        if listens:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    main()
