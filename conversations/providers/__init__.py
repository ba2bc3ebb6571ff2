"""The outside world: providers of completions and embeddings, MCP servers, tokenizers and prices.

A streamed reply begins in `clients/completions`; without a provider the `demo` model answers.
"""
