"""The limits of pictures that are read, and of what is stored of them."""

# OpenAI scales to 2,048 px in "high" detail; Anthropic to 1,568 or 2,576 px, and refuses more than 2,000 px from 21 on.
MOST_PIXELS_OF_A_SIDE = 2_048
# Above what phones make (108 million); decoded to four bytes a pixel it stays within the limit of memory.
MOST_MEGAPIXELS = 120
# 5 MB is the most that Anthropic takes of one picture, in base64; others take more.
MOST_STORED_BYTES = 3_750_000
