"""What pages show as recorded: one file an experiment."""
