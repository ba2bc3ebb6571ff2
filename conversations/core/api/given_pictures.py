"""Pictures in the messages of a program: `{"type": "image_url", "image_url": {"url": "data:image/png;base64,…"}}`.

Only data: URLs are taken. No address is fetched for programs: the site would ask at whatever place a key names.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conversations.core.errors import ParameterInvalid

from .fields import NOTHING, NULL, JsonSchema, object_schema, refuse_other_fields, refuse_telling_fields, said

MOST_PICTURES = 100  # of one request; each is opened in a process of its own
HEAD = r"[dD][aA][tT][aA]:[iI][mM][aA][gG][eE]/[a-zA-Z0-9.+-]{1,40};[bB][aA][sS][eE]64,"
DATA_URL = re.compile(HEAD)
BASE64 = "([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)"
URL: JsonSchema = {"type": "string", "pattern": f"^{HEAD}{BASE64}$"}
DETAIL = said({"enum": ["auto", None]}, "The window sets it.")
IMAGE_URL = object_schema({"url": URL, "detail": DETAIL}, required=("url",), others=NULL)
IMAGE_PART = object_schema(
    {"type": {"const": "image_url"}, "image_url": IMAGE_URL},
    required=("type", "image_url"),
    others=NOTHING,
    title="ImagePart",
)
INPUT_IMAGE = object_schema(
    {"type": {"const": "input_image"}, "image_url": URL, "detail": DETAIL},
    required=("type", "image_url"),
    others=NOTHING,
    title="InputImage",
)


@dataclass(frozen=True, slots=True)
class GivenPicture:
    """The file of a picture as it came, not opened yet; *where* names the part of the request that it stood in."""

    where: str
    content: bytes = field(repr=False)


def read_image_part(part: Mapping[str, Any], where: str) -> GivenPicture:
    """Return the picture of a part of a message. Raises `ParameterInvalid`."""
    image = part.get("image_url")
    if not isinstance(image, Mapping) or not isinstance(image.get("url"), str):
        raise ParameterInvalid(f"{where}.image_url.url", "a data: URL is needed")
    refuse_telling_fields(part, IMAGE_PART["properties"], where)
    told = {name: each for name, each in image.items() if each is not None}
    refuse_other_fields(told, IMAGE_URL["properties"], f"{where}.image_url")
    if image.get("detail") not in (None, "auto"):
        raise ParameterInvalid(f"{where}.image_url.detail", "only auto is supported: the window sets it")
    return GivenPicture(where, _read_data_url(image["url"], f"{where}.image_url.url"))


def read_input_image(part: Mapping[str, Any], where: str) -> GivenPicture:
    """Return the picture of a part of a response's input, where its URL is not nested. Raises `ParameterInvalid`."""
    if not isinstance(part.get("image_url"), str):
        raise ParameterInvalid(f"{where}.image_url", "a data: URL is needed")
    refuse_telling_fields(part, INPUT_IMAGE["properties"], where)
    if part.get("detail") not in (None, "auto"):
        raise ParameterInvalid(f"{where}.detail", "only auto is supported: the window sets it")
    return GivenPicture(where, _read_data_url(part["image_url"], f"{where}.image_url"))


def _read_data_url(url: str, where: str) -> bytes:
    """Return the bytes of a picture in a data: URL. Raises `ParameterInvalid`."""
    if (head := DATA_URL.match(url)) is None:
        raise ParameterInvalid(where, "only pictures as data: URLs in base64 are supported; no address is fetched")
    try:
        content = base64.b64decode(url[head.end() :].encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise ParameterInvalid(where, "it is not base64") from None
    if not content:
        raise ParameterInvalid(where, "it is empty")
    return content
