"""Token counts: of texts in `tokenizer`, of prompts and tool schemas in `prompt_tokens`."""
