"""Embeddings on this machine: a folder of weights becomes vectors, in a process of its own."""
