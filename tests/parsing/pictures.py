"""Files of pictures, ordinary and hostile, made by Pillow."""

from __future__ import annotations

import zlib
from io import BytesIO
from typing import Any

import pillow_heif
from PIL import Image

pillow_heif.register_heif_opener()
KINDS = ("PNG", "JPEG", "WEBP", "GIF", "HEIF")


def photo(width: int = 320, height: int = 240) -> Image.Image:
    """Return a picture of very many colours: red to the right, green to the bottom."""
    across = Image.linear_gradient("L").transpose(Image.Transpose.ROTATE_90).resize((width, height))
    down = Image.linear_gradient("L").resize((width, height))
    return Image.merge("RGB", (across, down, across.transpose(Image.Transpose.ROTATE_180)))


def drawing(width: int = 320, height: int = 240, *, colour: str = "navy") -> Image.Image:
    """Return a picture of two colours: its left half is white."""
    picture = Image.new("RGB", (width, height), colour)
    picture.paste("white", (0, 0, width // 2, height))
    return picture


def encoded(picture: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    file = BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def decoded(content: bytes) -> Image.Image:
    picture: Image.Image = Image.open(BytesIO(content))
    picture.load()
    return picture


def png_of_size(width: int, height: int) -> bytes:
    """Return a PNG whose header promises so many pixels, and that has none."""
    header = b"IHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x06\x00\x00\x00"
    chunk = b"\x00\x00\x00\r" + header + zlib.crc32(header).to_bytes(4, "big")
    return b"\x89PNG\r\n\x1a\n" + chunk + b"\x00\x00\x00\x00IEND\xaeB`\x82"


def gif_of_size(width: int, height: int) -> bytes:
    """Return a GIF whose screen and only frame are that large, in a few bytes: a bomb."""
    size = width.to_bytes(2, "little") + height.to_bytes(2, "little")
    return (
        b"GIF89a" + size + b"\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00" + size + b"\x00\x02\x02D\x01\x00;"
    )


def gif_of_frames(count: int) -> bytes:
    """Return a moving GIF whose first frame is navy, and the others something else."""
    frames = [Image.new("RGB", (400, 400), (number % 256, 200, 0)) for number in range(count)]
    return encoded(Image.new("RGB", (400, 400), "navy"), "GIF", save_all=True, append_images=frames)


def text_bomb() -> bytes:
    """Return a PNG with 100 MB of text in a chunk of 100 kB."""
    packed = b"zTXtComment\x00\x00" + zlib.compress(b"a" * 100_000_000, 9)
    chunk = (len(packed) - 4).to_bytes(4, "big") + packed + zlib.crc32(packed).to_bytes(4, "big")
    whole = encoded(drawing())
    return whole[:33] + chunk + whole[33:]
