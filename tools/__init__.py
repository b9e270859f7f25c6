"""What authors use: notebooks, lockstep, prose, exercises, benchmarks."""
