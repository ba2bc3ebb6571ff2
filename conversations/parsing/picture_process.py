"""The child process: reads one picture from its standard input, and writes it to its standard output, encoded again.

{"seconds": …, "memory_megabytes": …, "size": [width, height] or null} ⏎ the bytes of the file
{"media_type": …, "width": …, "height": …} ⏎ the bytes of the picture      or {"error": …, "width": …, "height": …} ⏎

What is written has none of the file's metadata: only its pixels go on, turned as its orientation says, in sRGB, scaled
down to `MOST_PIXELS_OF_A_SIDE`, or to the size of the order. Of a GIF that is the first frame.
"""

from __future__ import annotations

import json
import re
import sys
from io import BytesIO

from PIL import Image, ImageCms, UnidentifiedImageError

from conversations.core.errors import (
    PictureDamaged,
    PictureEmpty,
    PictureError,
    PictureKindUnknown,
    PictureTooCostly,
    PictureTooManyPixels,
)
from conversations.parsing.parsed import ParsingLimits
from conversations.parsing.picture_limits import MOST_MEGAPIXELS, MOST_PIXELS_OF_A_SIDE, MOST_STORED_BYTES
from conversations.parsing.sandbox.confinement import confine

MOST_COLOURS_OF_A_DRAWING = 4_096  # a drawing or a screenshot of text stays sharp as a PNG, and is small
MOST_SCANS = 64  # of a progressive JPEG: cameras and editors write about ten
# Fill bytes, restarts and what stands for a byte FF among the pixels are no markers that something belongs to.
NEXT_MARKER = re.compile(rb"\xff([\x02-\xcf\xd9-\xfe])")
START_OF_SCAN, END_OF_PICTURE = b"\xda", b"\xd9"
STRIP_PIXELS = 4_000_000  # scaled down at once, so that a large picture is in memory only once
JPEG_QUALITIES = (90, 80, 65)
SRGB = ImageCms.createProfile("sRGB")

Size = tuple[int, int]  # width and height in pixels

ORIENTATION = 0x0112  # the tag of EXIF, and how a picture is turned for each of its values
TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def main() -> None:
    order = json.loads(sys.stdin.buffer.readline())
    _load_decoders()
    limits = ParsingLimits(seconds=order["seconds"], memory_megabytes=order["memory_megabytes"])
    confine(limits, allow_threads=True)  # the decoder of HEIC makes one
    try:
        answer, content = encode_again(sys.stdin.buffer.read(), size=order["size"] and tuple(order["size"]))
    except Exception as error:
        answer, content = _failure(error), b""
    sys.stdout.buffer.write(json.dumps(answer).encode("ascii") + b"\n" + content)
    sys.stdout.buffer.flush()


def encode_again(content: bytes, *, size: Size | None = None) -> tuple[dict[str, object], bytes]:
    """Return what is stored of a file, and what that is. Raises a `PictureError`, or what a decoder raises.

    *size* is what a picture that is stored already is scaled down to.
    """
    if not content:
        raise PictureEmpty
    kind = kind_of(content)
    if kind == "JPEG" and _has_more_scans(content, MOST_SCANS):
        raise PictureTooCostly
    picture = _open(content, kind)
    orientation, profile = _orientation(picture), picture.info.get("icc_profile")
    if picture.format == "JPEG":
        picture.draft("RGB", size or (MOST_PIXELS_OF_A_SIDE, MOST_PIXELS_OF_A_SIDE))  # no larger than is needed
    picture.load()
    picture = _in_srgb(_scaled(_with_plain_pixels(picture), size), profile)
    if orientation in TURNS:
        picture = picture.transpose(TURNS[orientation])
    media_type, encoded, (width, height) = _encode(picture)
    return {"media_type": media_type, "width": width, "height": height}, encoded


def kind_of(content: bytes) -> str:
    """Return Pillow's name for the format, by how the file begins: no other decoder is tried."""
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG"
    if content.startswith(b"\xff\xd8\xff"):
        return "JPEG"
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "GIF"
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "WEBP"
    if content[4:8] == b"ftyp" and content[8:12] in (b"heic", b"heix", b"heim", b"heis", b"hevc", b"mif1", b"msf1"):
        return "HEIF"
    raise PictureKindUnknown


def _has_more_scans(content: bytes, most: int) -> bool:
    """Tell whether a JPEG goes over its pixels more than so often: a small file could do it thousands of times."""
    scans, place = 0, 2
    while marker := NEXT_MARKER.search(content, place):
        place = marker.end()
        if marker[1] == END_OF_PICTURE:
            break
        if marker[1] == START_OF_SCAN:
            scans += 1
            if scans > most:
                return True
        place += int.from_bytes(content[place : place + 2])  # of what belongs to the marker
    return False


def _load_decoders() -> None:
    """Load what decodes, before memory is limited: only that of HEIC is slow and large, and few pictures need it."""
    import pi_heif

    pi_heif.register_heif_opener(thumbnails=False)
    pi_heif.options.DECODE_THREADS = 1
    Image.MAX_IMAGE_PIXELS = None  # our own bound says by how much


def _open(content: bytes, kind: str) -> Image.Image:
    try:
        picture: Image.Image = Image.open(BytesIO(content), formats=[kind])
    except UnidentifiedImageError as error:
        raise PictureDamaged from error
    if picture.width * picture.height > MOST_MEGAPIXELS * 1_000_000:
        raise PictureTooManyPixels(width=picture.width, height=picture.height, megapixels=MOST_MEGAPIXELS)
    return picture


def _orientation(picture: Image.Image) -> int:
    """Return how it is turned; 1 for a HEIC, which its decoder has turned, and where its EXIF can't be read."""
    if picture.format == "HEIF":
        return 1
    try:
        orientation = picture.getexif().get(ORIENTATION, 1)
    except Exception:
        return 1
    return orientation if isinstance(orientation, int) else 1


def _with_plain_pixels(picture: Image.Image) -> Image.Image:
    """Return it with 8 bits for each of red, green and blue, and opacity if it has any; CMYK waits for its profile."""
    if picture.mode in ("RGB", "RGBA", "L", "CMYK"):
        return picture
    if picture.mode.startswith("I"):  # grey, of 16 bits
        return picture.point(lambda value: value / 256).convert("L")
    return picture.convert("RGBA" if picture.has_transparency_data else "RGB")


def _scaled(picture: Image.Image, size: Size | None) -> Image.Image:
    """Return it scaled down to *size*, or else with no side longer than `MOST_PIXELS_OF_A_SIDE`."""
    scale = (max(size) if size else MOST_PIXELS_OF_A_SIDE) / max(picture.size)
    if scale >= 1:
        return picture
    size = size or (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    factor = int(1 / scale / 2)  # halves and more are taken by averaging, which is quick; the rest with care
    if factor > 1:
        picture = _reduced(picture, factor)
    return picture.resize(size, Image.Resampling.LANCZOS)


def _reduced(picture: Image.Image, factor: int) -> Image.Image:
    """Return it with each *factor* × *factor* pixels averaged to one, strip by strip."""
    rows = max(1, STRIP_PIXELS // picture.width // factor) * factor
    factors = (min(factor, picture.width), min(factor, picture.height))
    size = -(-picture.width // factors[0]), -(-picture.height // factors[1])
    reduced = Image.new(picture.mode, size)
    for top in range(0, picture.height, rows):
        strip = picture.crop((0, top, picture.width, min(top + rows, picture.height)))
        reduced.paste(strip.reduce(factors), (0, top // factors[1]))
    return reduced


def _in_srgb(picture: Image.Image, profile: bytes | None) -> Image.Image:
    """Return it in the colours that a picture without a profile is shown in; a wrong profile is left out."""
    opacity = picture.getchannel("A") if picture.mode == "RGBA" else None
    colours = picture.convert("RGB") if opacity else picture
    if profile:
        try:
            source = ImageCms.ImageCmsProfile(BytesIO(profile))
            colours = ImageCms.profileToProfile(colours, source, SRGB, outputMode="RGB") or colours
        except Exception:
            print("a colour profile is left out", file=sys.stderr)
    colours = colours.convert("RGB")
    if opacity:
        # Colours that can’t be seen may have been erased on purpose: they are not kept.
        colours = Image.composite(
            colours, Image.new("RGB", colours.size), opacity.point(lambda value: 255 * (value > 0))
        )
        colours.putalpha(opacity)
    return colours


def _encode(picture: Image.Image) -> tuple[str, bytes, tuple[int, int]]:
    """Return the media type, the bytes and the size: a PNG where it is transparent or has few colours, else a JPEG.

    What is too many bytes becomes a JPEG of less quality, and smaller in the end.
    """
    if picture.mode == "RGBA" and picture.getchannel("A").getextrema() == (255, 255):
        picture = picture.convert("RGB")
    if picture.mode == "RGBA" or picture.getcolors(MOST_COLOURS_OF_A_DRAWING):
        encoded = _saved(picture, "PNG", optimize=True)
        if len(encoded) <= MOST_STORED_BYTES:
            return "image/png", encoded, picture.size
    picture = _on_white(picture)
    while True:
        for quality in JPEG_QUALITIES:
            encoded = _saved(picture, "JPEG", quality=quality, subsampling=0 if quality >= 90 else 2)
            if len(encoded) <= MOST_STORED_BYTES:
                return "image/jpeg", encoded, picture.size
        picture = picture.resize((max(1, picture.width // 2), max(1, picture.height // 2)))


def _on_white(picture: Image.Image) -> Image.Image:
    if picture.mode != "RGBA":
        return picture
    white = Image.new("RGB", picture.size, "white")
    white.paste(picture, mask=picture.getchannel("A"))
    return white


def _saved(picture: Image.Image, kind: str, **options: object) -> bytes:
    """Return the bytes of a file with the pixels and nothing else."""
    picture.info = {}
    file = BytesIO()
    picture.save(file, kind, **options)
    return file.getvalue()


def _failure(error: Exception) -> dict[str, object]:
    """Return the `PictureError` for *error*. A decoder's message may quote the file: only the class is logged."""
    known = error if isinstance(error, PictureError) else None
    if known is None:
        known = PictureTooCostly() if isinstance(error, MemoryError | RecursionError) else PictureDamaged()
    print(f"{known.code}: {type(error).__module__}.{type(error).__name__}", file=sys.stderr)
    size = known.size if isinstance(known, PictureTooManyPixels) else (0, 0)
    return {"error": known.code, "width": size[0], "height": size[1]}


if __name__ == "__main__":
    main()
