"""Second factors: authenticator apps, recovery codes and passkeys. Begin with `factors`."""
