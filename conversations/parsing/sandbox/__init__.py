"""The sandbox that the child process parses in. Begin with `confinement`."""
