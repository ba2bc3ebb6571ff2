"""The limits of pictures that are read, and of what is stored of them."""

# Providers scale what is larger down before a model sees it: OpenAI to 2,048 px ("high" detail), Anthropic to 1,568 px.
MOST_PIXELS_OF_A_SIDE = 2_048
# Above what phones make (108 million); decoded to four bytes a pixel it stays within the limit of memory.
MOST_MEGAPIXELS = 120
# 5 MB is the most that Anthropic takes of one picture, in base64; others take more.
MOST_STORED_BYTES = 3_750_000
