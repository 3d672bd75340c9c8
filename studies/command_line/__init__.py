"""The pieces that the commands share: options, messages, progress, tables of text."""
