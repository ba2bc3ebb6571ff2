"""OpenAI's API over both wires, and its variants: requests, streams, usage, errors. Begin with `completion_stream`."""
