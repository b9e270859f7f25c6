"""How notebooks are executed and stamped."""
