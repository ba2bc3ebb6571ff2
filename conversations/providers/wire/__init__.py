"""OpenAI's wire format and its variants: requests, streams, usage, errors. Begin with `completion_stream`."""
