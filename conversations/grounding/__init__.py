"""What is looked up for one question: passages of documents that belong to it."""
