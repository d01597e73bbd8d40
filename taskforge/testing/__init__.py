"""Running test suites inside a sandbox: variants, outcomes, per-test lines and the baseline."""
