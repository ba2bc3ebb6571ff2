"""Templates whose nodes the loader changed write what Django writes, and keep nothing that may change.

`chatsite/compiled_templates` reads Django's nodes by their attributes. With a new Django: compare the classes in
`KNOWN` (`fixed_nodes`) and `WITHOUT_STATE` (`included_templates`), and each class of Django that one in that folder
inherits from, with those of the old one. A node that can do more than before (another argument, another thing that it
reads) is fixed only without it. Then change `READ_AGAINST`.
"""

from __future__ import annotations

import datetime as dt
import re
import uuid
from collections import Counter
from decimal import Decimal
from typing import NamedTuple

import django
import pytest
from django.core.exceptions import ObjectDoesNotExist
from django.db import models
from django.http import HttpResponse
from django.template import Context, Library, TemplateDoesNotExist, TemplateSyntaxError
from django.template.base import TextNode
from django.template.defaulttags import URLNode
from django.template.engine import Engine
from django.template.loader_tags import BlockNode, IncludeNode
from django.templatetags.i18n import TranslateNode
from django.test import override_settings
from django.urls import NoReverseMatch, get_resolver, include, path, re_path, set_script_prefix
from django.utils import translation
from django.utils.functional import SimpleLazyObject
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy

from chatsite.compiled_templates import reader_key
from chatsite.compiled_templates.address_nodes import AddressNode
from chatsite.compiled_templates.fixed_nodes import KNOWN, MOST_TEXTS_KEPT, FixedNode, FixedNodes
from chatsite.folders import TEMPLATES

READ_AGAINST = (5, 2)
ID = uuid.UUID("0b6e5fd8-7e0c-4d0b-9c55-2f2a6d3c9a11")
register = Library()
calls = Counter()


@register.simple_tag
def count_calls(name):
    calls[name] += 1
    return str(calls[name])


@register.filter
def marked(value):
    return f"<{value}>"


def view(request, **ids):
    return HttpResponse()


OF_APP = ([path("a/<uuid:id>/<int:number>/b", view, name="two")], "app")
urlpatterns = [
    path("plain/", view, name="plain"),
    path("one/<uuid:id>/", view, name="one"),
    path("a space/<int:id>", view, name="quoted"),
    path("a&b/", view, name="and"),
    path("a&b/<uuid:id>/", view, name="ampersand"),
    path("words/<str:id>/", view, name="word"),
    path("twice/<int:id>/", view, name="kinds"),
    path("twice/as-uuid/<uuid:id>/", view, name="kinds"),
    re_path(r"^few/(?P<id>[1-3])/$", view, name="few"),
    path("in/", include(OF_APP)),
]
LIBRARIES = {
    "i18n": "django.templatetags.i18n",
    "static": "django.templatetags.static",
    "ours": __name__,
}


def engine_of(sources, *, ours=True, debug=False):
    loader = ("django.template.loaders.locmem.Loader", sources)
    around = "chatsite.compiled_templates.loader.Loader" if ours else "django.template.loaders.cached.Loader"
    return Engine(loaders=[(around, [loader])], libraries=LIBRARIES, debug=debug)


def nodes_of(source):
    return [type(node) for node in engine_of({"page": source, **PARTS}).get_template("page").nodelist]


FIXED = {
    "text": "<p>",
    "a comment": "{% comment %}{{ secret }}{% endcomment %}{# {{ secret }} #}",
    "a library": "{% load i18n static %}",
    "a sentence": "{% load i18n %}{% translate 'Send' %} {% translate 'Send' context 'a letter' %}",
    "a block of words": "{% load i18n %}{% blocktranslate trimmed %} Send 100% <b>it</b> {% endblocktranslate %}",
    "an address": "{% url 'plain' %}",
    "a file": "{% load static %}{% static 'icon.svg' %}",
    "a script's sentence": "{% load i18n %}{% filter escapejs %}{% translate 'Send' %}'{% endfilter %}",
    "an included part": "{% include 'part' %}",
}
CHANGING = {
    "a variable": "{{ word }}",
    "a variable's sentence": "{% load i18n %}{% translate word %}",
    "a filtered sentence": "{% load i18n ours %}{% translate 'Send'|marked %}",
    "a sentence in a variable": "{% load i18n %}{% translate 'Send' as word %}",
    "words with a variable": "{% load i18n %}{% blocktranslate %}Send {{ word }}{% endblocktranslate %}",
    "words with a name": "{% load i18n %}{% blocktranslate with a=word %}Send{% endblocktranslate %}",
    "counted words": "{% load i18n %}{% blocktranslate count n=1 %}One{% plural %}Many{% endblocktranslate %}",
    "words in a variable": "{% load i18n %}{% blocktranslate asvar word %}Send{% endblocktranslate %}",
    "an address of a variable": "{% url word %}",
    "an address with an id": "{% url 'one' id %}",
    "an address with a name": "{% url 'one' id=id %}",
    "an address in a variable": "{% url 'plain' as word %}",
    "a variable's file": "{% load static %}{% static word %}",
    "a file in a variable": "{% load static %}{% static 'icon.svg' as word %}",
    "another filter": "{% load ours %}{% filter marked %}a{% endfilter %}",
    "two filters": "{% load ours %}{% filter marked|escapejs %}a{% endfilter %}",
    "a filtered variable": "{% filter escapejs %}{{ word }}{% endfilter %}",
    "an included part that changes": "{% include 'changing' %}",
    "an included part with a name": "{% include 'part' with word='b' %}",
    "an included variable": "{% include word %}",
    "a part of a variable and a name": "{% include 'changing' with word='<b>' %}{% include 'changing' %}",
    "a part without the page's names": "{% include 'changing' only %}{% include 'changing' with id=word only %}",
    "a part that sets names": "{% include 'setting' %}{{ kept }}{{ word }}",
    "a part in a part": "{% include 'outer' %}{{ kept }}",
    "a part with what is cycled": "{% for each in 'abc' %}{% include 'cycling' %}{% endfor %}",
    "a part with a block": "{% include 'blocked' %}",
    "a part that extends another": "{% include 'extending' %}",
    "a part in a loop": "{% for each in 'abc' %}{% include 'looped' with last=forloop.last %}{% endfor %}",
    "a part in another language": "{% load i18n %}{% language 'zh-hans' %}{% include 'outer' %}{% endlanguage %}",
    "a part that is missing": "{% include 'missing' %}",
    "a part that can't be compiled": "{% include 'broken' %}",
    "a tag of ours": "{% load ours %}{% count_calls 'a' %}",
    "a token": "{% csrf_token %}",
    "the time": "{% now 'e' %}",
    "what is cycled": "{% cycle 'a' 'b' %}",
    "a language": "{% load i18n %}{% get_current_language as word %}",
    "another language": "{% load i18n %}{% language 'zh-hans' %}{% translate 'Send' %}{% endlanguage %}",
    "a condition": "{% if word %}a{% endif %}",
    "a loop": "{% for each in word %}a{% endfor %}",
}
PARTS = {
    "part": "{% load i18n %}{% translate 'Cancel' %}{% include 'inner' %}",
    "inner": "{% url 'plain' %}",
    "changing": "{{ word }}",
    "broken": "{% if %}",
    "setting": "{% load i18n %}{% translate 'Send' as kept %}{% url 'plain' as word %}{{ kept }}{{ word }}",
    "outer": "{% load i18n %}<{% include 'setting' %}{% include 'changing' with word=kept %}{% translate 'Send' %}>",
    "cycling": "{% cycle 'odd' 'even' %}{{ each }}",
    "blocked": "{% block a %}{{ word }}{% endblock %}",
    "extending": "{% extends 'blocked' %}{% block a %}[{{ block.super }}]{% endblock %}",
    "looped": "{{ forloop.counter }}{{ each }}{{ last }}{% with word=each %}{{ word }}{% endwith %}",
}


@pytest.fixture(autouse=True)
def _addresses():
    calls.clear()
    with override_settings(ROOT_URLCONF=__name__), translation.override("en"):
        yield
    set_script_prefix("/")


def outcome(template, *, autoescape=True, **context):
    """Return what *template* writes, or the class of what it raises."""
    try:
        return template.render(Context(context, autoescape=autoescape))
    except (TemplateDoesNotExist, TemplateSyntaxError, NoReverseMatch, AttributeError) as error:
        return type(error)


def test_this_is_the_django_whose_nodes_were_read():
    assert django.VERSION[:2] == READ_AGAINST, f"{__doc__}"


@pytest.mark.parametrize("source", FIXED.values(), ids=FIXED)
def test_what_is_the_same_for_all_is_joined_with_its_neighbours(source):
    assert nodes_of(f"a{source}b{source}c") in ([FixedNode], [TextNode])


@pytest.mark.parametrize("source", CHANGING.values(), ids=CHANGING)
def test_what_may_change_is_not_kept(source):
    assert FixedNode not in nodes_of(f"a{source}b")


@pytest.mark.parametrize("autoescape", [True, False])
@pytest.mark.parametrize("source", [*FIXED.values(), *CHANGING.values()], ids=[*FIXED, *CHANGING])
def test_each_writes_what_django_writes_in_every_language_and_context(source, autoescape):
    whole = f"a{source}b{{% if word %}}<{source}>{{% endif %}}{source}{{{{ word }}}}"
    templates = {ours: engine_of({"page": whole, **PARTS}, ours=ours).get_template("page") for ours in (True, False)}
    for language in ("en", "zh-hans", "en"):
        for word in ("plain", "part", ""):
            texts = []
            for template in templates.values():
                calls.clear()
                with translation.override(language):
                    texts.append(outcome(template, autoescape=autoescape, word=word, id=ID, csrf_token="a&b"))
            assert texts[0] == texts[1]


def test_a_tag_is_asked_for_each_page():
    template = engine_of({"page": "{% load ours %}a{% count_calls 'here' %}b"}).get_template("page")
    assert [template.render(Context()) for _ in range(3)] == ["a1b", "a2b", "a3b"]


def test_no_class_made_from_a_known_one_is_taken_for_it():
    fixed = FixedNodes(Engine(), [])
    for known in KNOWN:
        made = object.__new__(type("Made", (known,), {}))
        assert not fixed.is_fixed(made)


def test_a_text_is_rendered_once_for_a_language(monkeypatch):
    template = engine_of({"page": "{% load i18n %}<b>{% translate 'Send' %}</b>"}).get_template("page")
    with translation.override("zh-hans"):
        chinese = template.render(Context())
    english = template.render(Context())
    monkeypatch.setattr(TranslateNode, "render", None)
    assert template.render(Context()) == english == "<b>Send</b>"
    with translation.override("zh-hans"):
        assert template.render(Context()) == chinese != english


def test_what_is_not_escaped_is_another_text():
    template = engine_of({"page": "<{% url 'and' %}>"}).get_template("page")
    texts = [template.render(Context(autoescape=autoescape)) for autoescape in (True, False, True)]
    assert texts == ["</a&amp;b/>", "</a&b/>", "</a&amp;b/>"]


def test_the_texts_of_a_node_have_a_bound():
    template = engine_of({"page": "<{% url 'plain' %}>{% url 'one' id %}"}).get_template("page")
    for number in range(3 * MOST_TEXTS_KEPT):
        set_script_prefix(f"/{number}/")
        assert template.render(Context({"id": ID})) == f"</{number}/plain/>/{number}/one/{ID}/"
    [fixed] = (node for node in template.nodelist if type(node) is FixedNode)
    assert len(fixed.texts) == MOST_TEXTS_KEPT


def test_parts_that_include_each_other_are_left_to_django():
    sources = {
        "page": "{% include 'one' %}",
        "one": "1{% if deep %}{% include 'two' with deep=False %}{% endif %}{% include 'text' %}",
        "two": "2{% include 'one' %}",
        "itself": "a{% include 'itself' %}",
        "text": "t",
    }
    ours, djangos = engine_of(sources), engine_of(sources, ours=False)
    assert ours.get_template("page").render(Context({"deep": True})) == "121tt"
    assert djangos.get_template("page").render(Context({"deep": True})) == "121tt"
    assert [type(node) for node in ours.get_template("itself").nodelist] == [TextNode, IncludeNode]


def test_blocks_are_found_and_replaced():
    sources = {
        "base": "{% load i18n %}{% translate 'Send' %}<{% block a %}{% translate 'Cancel' %}{% endblock %}>{{ word }}",
        "middle": "{% extends 'base' %}{% block a %}{{ block.super }} 2{% block b %}{% endblock %}{% endblock %}",
        "page": "{% extends 'middle' %}{% load i18n %}{% block b %}{% translate 'Edit' %}{{ word }}{% endblock %}",
    }
    ours = engine_of(sources)
    assert ours.get_template("page").render(Context({"word": 1})) == "Send<Cancel 2Edit1>1"
    assert ours.get_template("middle").render(Context({"word": 2})) == "Send<Cancel 2>2"
    assert ours.get_template("base").render(Context()) == "Send<Cancel>"
    assert [node.name for node in ours.get_template("base").nodelist.get_nodes_by_type(BlockNode)] == ["a"]
    assert len(ours.get_template("base").nodelist.get_nodes_by_type(TranslateNode)) == 2


def test_with_debug_templates_are_as_django_compiles_them():
    template = engine_of({"page": "a{% url 'plain' %}{% url 'one' id %}"}, debug=True).get_template("page")
    assert [type(node) for node in template.nodelist] == [TextNode, URLNode, URLNode]


class Colour(models.TextChoices):
    RED = "red", gettext_lazy("Send")


class Pair(NamedTuple):
    left: object
    count: int


class Plain:
    """What templates may ask an object for."""

    inside: object = "<in>"
    kind = Colour

    def __init__(self, asked):
        self._asked = asked

    def __str__(self):
        return "<plain>"

    __repr__ = __str__

    @property
    def asked(self):
        self._asked.append("asked")
        return len(self._asked)

    @property
    def gone(self):
        raise ObjectDoesNotExist

    @property
    def broken(self):
        return self.nothing.at.all

    @property
    def mistaken(self):
        return 1 + "1"

    @property
    def failing(self):
        raise ValueError("failing")

    def method(self):
        return Pair("<m>", 1)

    def of_two(self, one):
        return one

    def delete(self):
        raise AssertionError("a template may not delete")

    delete.alters_data = True


class Mapped(dict):
    inside = "not this"


VARIABLES = {
    "text": "<b>&'",
    "marked": mark_safe("<i>"),
    "lazy": gettext_lazy("Send"),
    "number": 1234567,
    "truth": True,
    "none": None,
    "fraction": 12345.5,
    "amount": Decimal("0.10"),
    "moment": dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.UTC),
    "id": ID,
    "list": ["<a>", {"b": "<c>"}],
    "pair": Pair({"x": "<y>"}, 2),
    "mapped": Mapped(inside="<this>", items="<items>"),
    "colour": Colour.RED,
    "colours": Colour,
    "called": lambda: Pair("<called>", 3),
}
EXPRESSIONS = [
    *VARIABLES,
    *(
        "list.0",
        "list.1.b",
        "list.2",
        "list.append",
        "pair.0.x",
        "pair.left.x",
        "pair.count",
        "pair.index",
        "pair.none",
    ),
    *(
        "mapped.inside",
        "mapped.items",
        "mapped.keys",
        "mapped.other",
        "colour.label",
        "colours.RED",
        "colours.RED.label",
    ),
    *("called.left", "called.count", "text.upper", "text.0", "none.any", "number.real", "nothing", "nothing.at.all"),
    *(f"{place}.{name}" for place in ("plain", "later") for name in ("asked", "inside", "gone", "broken", "mistaken")),
    *(f"{place}.{name}" for place in ("plain", "later") for name in ("failing", "method", "method.left", "of_two")),
    *("plain.kind.RED", "plain.delete", "plain.other", "later", "later.inside.upper"),
    *("text|upper", "nothing|default:text", "number|add:1", "_('Send')", "'<quoted>'", "12.5", "True"),
]
USES = {
    "written": "{{ EXPRESSION }}",
    "asked": "{% if EXPRESSION %}yes{% elif not EXPRESSION == number %}other{% endif %}",
    "named": "{% with it=EXPRESSION %}{{ it }}{{ text }}{% endwith %}",
    "run through": "{% for each in EXPRESSION %}[{{ each }}{{ forloop.counter }}]{% empty %}-{% endfor %}",
    "passed": "{% include 'one' with it=EXPRESSION %}{% firstof EXPRESSION text %}",
}


@pytest.mark.parametrize("autoescape", [True, False])
@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_variable_is_what_django_finds(use, autoescape, settings):
    sources = {f"page {each}": f"a{use.replace('EXPRESSION', each)}" for each in EXPRESSIONS}
    engines = [engine_of(sources | {"one": "<{{ it }}>{{ nothing }}"}, ours=ours) for ours in (True, False)]
    for settings.USE_THOUSAND_SEPARATOR in (False, True):
        for language in ("en", "zh-hans"):
            for name in sources:
                ours, djangos = (written(engine.get_template(name), language, autoescape) for engine in engines)
                assert ours == djangos, name


def written(template, language, autoescape):
    """Return what *template* writes of `VARIABLES`, or what it raises."""
    plain = Plain([])
    values = VARIABLES | {"plain": plain, "later": SimpleLazyObject(lambda: plain)}
    with translation.override(language):
        try:
            return template.render(Context(values, autoescape=autoescape))
        except (ValueError, TypeError, AttributeError) as error:
            return repr(error)


ADDRESSES = {
    "a UUID": ("one", [ID]),
    "a UUID and a number": ("app:two", [ID, 5]),
    "a sign to be quoted": ("quoted", [0]),
    "a sign to be escaped": ("ampersand", [ID]),
    "a word's place": ("word", [7]),
    "a UUID in a word's place": ("word", [ID]),
    "one of two patterns": ("kinds", [12]),
    "the other of two patterns": ("kinds", [ID]),
    "a number that few patterns know": ("few", [2]),
    "a word": ("word", ["a/b c&d"]),
    "a number below zero": ("quoted", [-1]),
    "a truth": ("quoted", [True]),
    "nothing": ("one", [None]),
    "an id of the wrong kind": ("one", [5]),
    "too many": ("one", [ID, 5]),
    "no name": ("unknown", [ID]),
}


@pytest.mark.parametrize("autoescape", [True, False])
@pytest.mark.parametrize("stored", ["", " as address"])
@pytest.mark.parametrize(("name", "ids"), ADDRESSES.values(), ids=ADDRESSES)
def test_an_address_with_ids_is_what_django_writes(name, ids, stored, autoescape):
    arguments = " ".join(f"ids.{index}" for index in range(len(ids)))
    source = f"<{{% url '{name}' {arguments}{stored} %}}>{{{{ address }}}}"
    ours, djangos = (engine_of({"page": source}, ours=ours).get_template("page") for ours in (True, False))
    assert AddressNode in map(type, ours.nodelist)
    for prefix in ("/", "/below/", "/"):
        set_script_prefix(prefix)
        for _ in range(2):
            expected = outcome(djangos, autoescape=autoescape, ids=ids)
            assert outcome(ours, autoescape=autoescape, ids=ids) == expected


SENTENCES = {
    "a variable": "{% blocktranslate %}Send {{ word }}.{% endblocktranslate %}",
    "two, one twice": "{% blocktranslate %}{{ word }} {{ number }} {{ word }}{% endblocktranslate %}",
    "one with a name": "{% blocktranslate with a=word|upper b=number %}{{ a }}: {{ b }}{% endblocktranslate %}",
    "a name that hides another": "{% blocktranslate with word=number %}{{ word }}{% endblocktranslate %}{{ word }}",
    "names of each other": "{% blocktranslate with word=number number=word %}{{ word }}{% endblocktranslate %}",
    "a sign of per cent": "{% blocktranslate %}100 % of %s, {{ word }}{% endblocktranslate %}",
    "several lines": "{% blocktranslate trimmed %}\n  Send\n  {{ word }}\n{% endblocktranslate %}",
    "a context": "{% blocktranslate context 'a letter' %}Send {{ word }}{% endblocktranslate %}",
    "a context that is a variable": "{% blocktranslate context word %}Send {{ word }}{% endblocktranslate %}",
    "kept for later": "{% blocktranslate asvar kept %}<{{ word }}>{% endblocktranslate %}{{ kept }}",
    "no such variable": "{% blocktranslate %}Send {{ nothing }}{% endblocktranslate %}",
    "one of a path": "{% blocktranslate %}Send {{ word.upper }}{% endblocktranslate %}",
    "one that can be called": "{% blocktranslate %}{{ called }}{% endblocktranslate %}",
    "counted": "{% blocktranslate count n=number %}{{ word }}{% plural %}{{ n }} {{ word }}{% endblocktranslate %}",
    "one": "{% blocktranslate count n=1 %}{{ word }}{% plural %}{{ n }} {{ word }}{% endblocktranslate %}{{ n }}",
    "counted by a text": "{% blocktranslate count n=word %}One{% plural %}{{ n }}{% endblocktranslate %}",
    "counted by a fraction": "{% blocktranslate count n=1.5 %}One{% plural %}{{ n }}{% endblocktranslate %}",
    "counted by a name of its own": (
        "{% blocktranslate with number=word|length count n=number %}{{ n }}{% plural %}{{ n }}s{% endblocktranslate %}"
    ),
    "counted without a plural": "{% blocktranslate count n=number %}One{% plural %}{% endblocktranslate %}",
    "counted in words alone": "{% blocktranslate count n=number %}One{% plural %}Many{% endblocktranslate %}",
    "counted with a context": (
        "{% blocktranslate count n=number context 'a letter' %}One {{ word }}{% plural %}{{ n }}{% endblocktranslate %}"
    ),
    "counted and translated": (
        "{% blocktranslate count conversations=number %}{{ conversations }} conversation{% plural %}"
        "{{ conversations }} conversations{% endblocktranslate %}"
    ),
    "translated": "{% blocktranslate with entry=word %}Actions for “{{ entry }}”{% endblocktranslate %}",
}


@pytest.mark.filterwarnings("ignore:Plural value must be an integer")
@pytest.mark.parametrize("autoescape", [True, False])
@pytest.mark.parametrize("sentence", SENTENCES.values(), ids=SENTENCES)
def test_a_sentence_with_values_is_what_django_writes(sentence, autoescape):
    source = f"{{% load i18n %}}<{sentence}>{{{{ word }}}}"
    ours, djangos = (engine_of({"page": source}, ours=ours).get_template("page") for ours in (True, False))
    for language in ("en", "zh-hans", "en"):
        for word in ("<b>", mark_safe("<i>"), 12345.5, None, gettext_lazy("Send")):
            values = {"autoescape": autoescape, "word": word, "number": 1234567, "called": len}
            with translation.override(language):
                assert outcome(ours, **values) == outcome(djangos, **values)


def test_the_form_of_a_sentence_is_looked_up_once_for_a_language(monkeypatch):
    source = f"{{% load i18n %}}{SENTENCES['translated']}"
    template = engine_of({"page": source}).get_template("page")
    with translation.override("zh-hans"):
        chinese = template.render(Context({"word": "One"}))
    assert template.render(Context({"word": "One"})) == "Actions for “One”" != chinese
    monkeypatch.setattr("chatsite.compiled_templates.sentence_nodes.gettext", None)
    with translation.override("zh-hans"):
        assert template.render(Context({"word": "Two"})) == chinese.replace("One", "Two")


def test_a_translation_that_is_wrong_is_left_to_django(monkeypatch):
    template = engine_of({"page": "{% load i18n %}{% blocktranslate %}Send {{ word }}{% endblocktranslate %}"})
    monkeypatch.setattr("chatsite.compiled_templates.sentence_nodes.gettext", lambda text: "%(another)s")
    assert template.get_template("page").render(Context({"word": "it"})) == "Send it"


def test_another_kind_of_id_has_an_address_of_its_own():
    template = engine_of({"page": "{% url 'kinds' id %}"}).get_template("page")
    texts = [template.render(Context({"id": each})) for each in (3, ID, 40)]
    assert texts == ["/twice/3/", f"/twice/as-uuid/{ID}/", "/twice/40/"]


def test_a_part_is_found_when_the_page_is_compiled(monkeypatch):
    template = engine_of({"page": "<{% include 'changing' with word=id %}>{{ word }}", **PARTS}).get_template("page")
    monkeypatch.setattr(Engine, "get_template", None)
    assert template.render(Context({"word": 1, "id": 2})) == "<2>1"


def test_what_is_read_on_the_way_to_a_name_that_django_looks_up_is_read_once():
    template = engine_of({"page": "{{ later.counted.method.left }}"}).get_template("page")
    asked = []
    counting = type("Counting", (), {"counted": property(lambda self: asked.append("asked") or Plain([]))})
    assert template.render(Context({"later": SimpleLazyObject(counting)})) == "&lt;m&gt;"
    assert asked == ["asked"]


def test_the_language_is_looked_up_once_for_a_page_and_again_for_the_next(monkeypatch):
    asked = []
    monkeypatch.setattr(reader_key, "get_language", lambda: asked.append("asked") or translation.get_language())
    source = "{% load i18n %}{% translate 'Send' %}{{ word }}{% translate 'Cancel' %}{% include 'outer' %}"
    template = engine_of({"page": source, **PARTS}).get_template("page")
    context = Context({"word": 1})
    english = template.render(context)
    with translation.override("zh-hans"):
        chinese = template.render(context)
    assert english != chinese
    assert template.render(context) == english
    assert len(asked) == 3


def test_an_address_with_ids_is_matched_once(monkeypatch):
    template = engine_of({"page": "{% url 'one' id %}"}).get_template("page")
    template.render(Context({"id": ID}))
    monkeypatch.setattr("chatsite.addresses.reverse", None)
    other = uuid.uuid4()
    assert template.render(Context({"id": other})) == f"/one/{other}/"


@override_settings(ROOT_URLCONF="chatsite.urls")
def test_html_of_a_file_comes_without_indentation_and_mail_as_it_is(tmp_path):
    def rendered(name, *, debug=False):
        loaders = ["chatsite.compiled_templates.loader.UnindentedLoader"]
        return Engine(loaders=loaders, dirs=[tmp_path], debug=debug).get_template(name).render(Context())

    written = "<ul>\n  <li> a\n\n  </li>\n</ul>\n"
    for name in ("page.html", "mail.txt"):
        (tmp_path / name).write_text(written)
    assert rendered("page.html") == "<ul>\n<li> a\n</li>\n</ul>\n"
    assert rendered("mail.txt") == rendered("page.html", debug=True) == written


def test_no_template_says_something_by_its_indentation():
    """Neither what is translated, which is found by each of its blanks, nor what is shown as it is written."""
    meant = re.compile(
        r"{% blocktranslate(?:(?! trimmed)[^%])*%}(.*?){% endblocktranslate|<(?:pre|textarea)[^>]*>(.*?)</", re.DOTALL
    )
    sources = [file.read_text() for file in TEMPLATES.rglob("*.html")]
    texts = ["".join(texts) for source in sources for texts in meant.findall(source)]
    assert len(texts) > 100
    assert not [text for text in texts if re.search(r"\n\s", text)]


def test_no_application_is_in_the_sites_addresses_twice():
    """Else an address would depend on the one that the reader came by, and could not be kept."""
    assert {name: spaces for name, spaces in get_resolver().app_dict.items() if len(spaces) > 1} == {}
