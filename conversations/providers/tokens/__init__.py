"""Token counts of texts, prompts and tool schemas, in `tokenizer`, with the vocabularies that it needs."""
