"""The command `optgap`; importing this package first finds out whether a folder of the user's hides one of ours."""

import signal

if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until `main` listens, Ctrl-C ends the process without a word

from studies.cli.main import main

if __name__ == "__main__":
    main()
