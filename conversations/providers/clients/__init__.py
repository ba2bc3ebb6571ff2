"""The clients that ask providers for completions and embeddings. Begin with `completions`."""
