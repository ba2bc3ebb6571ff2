"""What `make release` builds: wheel, source archive, bill of materials, exact versions, checksums."""
