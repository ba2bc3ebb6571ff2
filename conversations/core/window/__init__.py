"""Which messages are sent, and the record of why. Begin with `compute_window`; policies are in `built_in_policies`."""
