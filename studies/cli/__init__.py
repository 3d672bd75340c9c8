"""The command `optgap`: one file per command, and the options, messages and progress they share."""
