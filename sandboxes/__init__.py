"""Where foreign code runs. The contract is in taskforge.domain.sandbox."""
