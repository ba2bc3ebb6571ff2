"""Health of this process's site: what `/readyz` says, and the probes that find it out within a time limit.

Begin with `readiness`. An app adds a probe of its own with `readiness.register_probe`.
"""
