"""Pages of the ledger: completions with their prompts and windows, prices, calibrations, spending."""
