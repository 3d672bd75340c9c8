"""The command `optgap`; importing this package first finds out whether a folder of the user's hides one of ours."""

from studies.cli.main import main

if __name__ == "__main__":
    main()
