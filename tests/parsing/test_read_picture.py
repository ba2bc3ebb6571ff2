"""Pictures are opened in a child process and encoded again: what comes out, and what is refused."""

from __future__ import annotations

import sys
from io import BytesIO

import pytest
from PIL import Image, ImageCms, ImageOps

from conversations.core.errors import (
    PictureDamaged,
    PictureEmpty,
    PictureError,
    PictureKindUnknown,
    PictureTooCostly,
    PictureTooManyPixels,
)
from conversations.parsing import ParsingLimits, read_picture, scale_picture
from conversations.parsing.picture_limits import MOST_PIXELS_OF_A_SIDE, MOST_STORED_BYTES
from tests.parsing.pictures import (
    KINDS,
    decoded,
    drawing,
    encoded,
    gif_of_frames,
    gif_of_size,
    photo,
    png_of_size,
    text_bomb,
)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_read(kind):
    read = read_picture(encoded(photo(), kind))
    shown = decoded(read.content)
    assert (read.width, read.height) == shown.size == (320, 240)
    red, green, _ = shown.convert("RGB").getpixel((300, 20))
    assert red > 200 > 60 > green or red < 60 < 200  # to the right, at the top


def test_a_photo_becomes_a_jpeg():
    assert read_picture(encoded(photo(), "PNG")).media_type == "image/jpeg"


def test_a_drawing_becomes_a_png_without_loss():
    read = read_picture(encoded(drawing(), "PNG"))
    assert read.media_type == "image/png"
    assert decoded(read.content).convert("RGB").tobytes() == drawing().tobytes()


def test_what_is_transparent_stays_so():
    clear = photo().convert("RGBA")
    clear.putalpha(100)
    read = read_picture(encoded(clear, "WEBP"))
    assert (read.media_type, decoded(read.content).getpixel((0, 0))[3]) == ("image/png", 100)


def test_colours_that_can_not_be_seen_are_not_kept():
    erased = photo().convert("RGBA")
    erased.putalpha(0)
    erased.putpixel((5, 5), (10, 20, 30, 1))
    shown = decoded(read_picture(encoded(erased, "PNG")).content)
    assert shown.getpixel((5, 5)) == (10, 20, 30, 1)
    assert shown.getpixel((300, 20)) == (0, 0, 0, 0)


def repeated_scans(times):
    """Return a progressive JPEG that goes over its pixels so often again; what follows its end is no part of it."""
    file = BytesIO()
    photo().save(file, "JPEG", progressive=True)
    head, scan, last = file.getvalue().rpartition(b"\xff\xda")
    return head + (scan + last.removesuffix(b"\xff\xd9")) * times + b"\xff\xd9" + b"\xff\xda\x00\x02" * 1_000


def test_a_jpeg_with_many_scans_is_too_costly():
    assert read_picture(repeated_scans(20)).media_type == "image/jpeg"
    with pytest.raises(PictureTooCostly):
        read_picture(repeated_scans(100))


def test_opacity_that_is_full_is_none():
    assert read_picture(encoded(photo().convert("RGBA"), "PNG")).media_type == "image/jpeg"


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_stored_picture_is_scaled_down_to_a_size_of_choice(kind):
    scaled = scale_picture(encoded(photo(1_600, 1_200), kind), width=403, height=303)

    assert decoded(scaled.content).size == (scaled.width, scaled.height) == (403, 303)
    red, green, _ = decoded(scaled.content).convert("RGB").getpixel((390, 20))
    assert red > 200 > 60 > green or red < 60 < 200  # to the right, at the top


def test_what_is_transparent_stays_so_when_it_is_scaled_down():
    clear = photo().convert("RGBA")
    clear.putalpha(100)
    assert decoded(scale_picture(encoded(clear), width=100, height=75).content).getpixel((0, 0))[3] == 100


def test_a_stored_picture_is_not_enlarged():
    with pytest.raises(PictureDamaged):
        scale_picture(encoded(photo()), width=640, height=480)


def test_a_large_picture_is_scaled_down():
    read = read_picture(encoded(photo(5_000, 2_500), "JPEG"))
    assert (read.width, read.height) == (MOST_PIXELS_OF_A_SIDE, MOST_PIXELS_OF_A_SIDE // 2)
    tall = read_picture(encoded(drawing(30, 9_000), "PNG"))
    assert (tall.width, tall.height) == (7, MOST_PIXELS_OF_A_SIDE)
    left, right = decoded(tall.content).convert("RGB").getpixel((0, 900)), decoded(tall.content).getpixel((6, 900))
    assert left[:3] == (255, 255, 255) != right[:3]


def test_a_small_picture_keeps_its_size():
    assert (read_picture(encoded(drawing(3, 1))).width, read_picture(encoded(drawing(3, 1))).height) == (3, 1)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_it_is_turned_as_its_orientation_says(orientation):
    """Of a picture whose top left is red, turned by Pillow itself for comparison."""
    picture = Image.new("RGB", (64, 32), "white")
    picture.paste("red", (0, 0, 32, 16))
    exif = Image.Exif()
    exif[0x0112] = orientation
    content = encoded(picture, "JPEG", exif=exif, quality=95)
    expected = ImageOps.exif_transpose(decoded(content)).convert("RGB")
    read = decoded(read_picture(content).content).convert("RGB")
    assert read.size == expected.size
    for place in ((8, 8), (8, read.height - 8), (read.width - 8, 8), (read.width - 8, read.height - 8)):
        assert all(abs(a - b) < 30 for a, b in zip(read.getpixel(place), expected.getpixel(place), strict=True))


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "HEIF"])
def test_no_metadata_is_kept(kind):
    exif = Image.Exif()
    exif[0x010E] = "CANARY of a camera"
    exif.get_ifd(0x8825)[29] = "2026:01:01"  # where and when it was taken
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    content = encoded(photo(), kind, exif=exif, icc_profile=profile)
    assert b"CANARY" in content
    stored = read_picture(content).content
    assert b"CANARY" not in stored
    assert not decoded(stored).getexif()
    assert "icc_profile" not in decoded(stored).info


def test_what_follows_a_picture_is_not_kept():
    stored = read_picture(encoded(drawing()) + b"<script>alert('CANARY')</script>").content
    assert b"CANARY" not in stored


def test_of_a_moving_picture_the_first_frame_is_read():
    assert decoded(read_picture(gif_of_frames(50)).content).convert("RGB").getpixel((9, 9)) == (0, 0, 128)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "I;16", "CMYK"])
def test_every_way_to_write_a_pixel_is_read(mode):
    picture = Image.new(mode, (40, 30), 40_000) if mode == "I;16" else drawing(40, 30).convert(mode)
    read = decoded(read_picture(encoded(picture, "JPEG" if mode == "CMYK" else "PNG")).content).convert("RGB")
    assert read.size == (40, 30)
    if mode == "I;16":
        assert read.getpixel((0, 0)) == (156, 156, 156)
    elif mode != "CMYK":
        assert read.getpixel((0, 0)) == (255, 255, 255)


def test_what_is_stored_is_bounded_in_bytes():
    noise = Image.effect_noise((2_048, 2_048), 100)
    clear = Image.merge("RGBA", (noise, noise.rotate(90), noise.rotate(180), noise.rotate(270)))
    read = read_picture(encoded(clear, "PNG"))
    assert read.media_type == "image/jpeg"
    assert len(read.content) <= MOST_STORED_BYTES


@pytest.mark.parametrize(
    ("content", "refusal"),
    [
        (b"", PictureEmpty),
        (b"<!doctype html><title>cat.png</title>", PictureKindUnknown),
        (b"%PDF-1.7", PictureKindUnknown),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", PictureKindUnknown),
        (encoded(drawing(), "BMP"), PictureKindUnknown),
        (encoded(drawing(), "TIFF"), PictureKindUnknown),
        (b"\x89PNG\r\n\x1a\n<!doctype html>", PictureDamaged),
        (b"\xff\xd8\xff", PictureDamaged),
        (png_of_size(100, 100), PictureDamaged),
        (png_of_size(0, 100), PictureDamaged),
        (b"RIFF\x10\x00\x00\x00WEBPVP8 ", PictureDamaged),
        (b"\x00\x00\x00\x18ftypheic" + b"\x00" * 40, PictureDamaged),
        (png_of_size(30_000, 30_000), PictureTooManyPixels),
        (gif_of_size(65_535, 65_535), PictureTooManyPixels),
        *((encoded(photo(), kind)[:-400], PictureDamaged) for kind in ("PNG", "JPEG", "WEBP", "HEIF")),
    ],
)
def test_what_is_no_picture_is_refused(content, refusal):
    with pytest.raises(PictureError) as refused:
        read_picture(content)
    assert type(refused.value) is refusal


def test_what_has_a_hundred_megabytes_of_text_is_refused():
    with pytest.raises(PictureError) as refused:
        read_picture(text_bomb())
    assert type(refused.value) is PictureDamaged


def test_too_many_pixels_are_said_in_numbers():
    with pytest.raises(PictureTooManyPixels, match=r"30,000 × 30,000 pixels.*120 million"):
        read_picture(png_of_size(30_000, 30_000))


def test_what_takes_too_much_memory_is_refused():
    with pytest.raises(PictureTooCostly):
        read_picture(encoded(drawing(8_000, 8_000)), limits=ParsingLimits(seconds=20, memory_megabytes=320))


def test_what_takes_too_long_is_refused():
    with pytest.raises(PictureTooCostly):
        read_picture(encoded(photo(10_000, 8_000), "JPEG"), limits=ParsingLimits(seconds=0, memory_megabytes=1_024))


@pytest.mark.parametrize(
    "answer",
    [
        b"not JSON\n",
        b"[" * 400 + b"\n",
        b'{"media_type": "text/html", "width": 1, "height": 1}\n<html>',
        b'{"media_type": "image/png", "width": 1, "height": 1}\n<html>',
        b'{"media_type": "image/png", "width": 9999, "height": 1}\n\x89PNG\r\n\x1a\n',
        b'{"media_type": "image/png", "width": true, "height": 1}\n\x89PNG\r\n\x1a\n',
        b'{"error": "no_such_error"}\n',
        b'{"media_type": "image/jpeg", "width": 1, "height": 1}\n\xff\xd8\xff' + b"a" * MOST_STORED_BYTES,
    ],
)
def test_a_child_that_is_led_astray_gets_no_further(monkeypatch, answer, tmp_path):
    program = tmp_path / "astray.py"
    program.write_text(f"import sys; sys.stdin.buffer.read(); sys.stdout.buffer.write({answer!r})")
    monkeypatch.setattr(sys.modules[read_picture.__module__], "COMMAND", (sys.executable, str(program)))
    with pytest.raises(PictureDamaged):
        read_picture(b"anything")
