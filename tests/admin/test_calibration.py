"""What was learned of a language model's counting, beside what it was learned from."""

from __future__ import annotations

import json

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from conversations.core.window.calibration import ERROR_EDGES_PERCENT
from conversations.models import Calibration, KeptText
from conversations.services.language_models.calibration import find_calibration
from tests.admin.stored import make_completion

LIST = reverse("admin:conversations_calibration_changelist")


@pytest.fixture(autouse=True)
def _language_model(settings):
    settings.OPENAI_API_KEY, settings.LANGUAGE_MODELS = "x", "letters context_window=8192"


@pytest.fixture
def calibration(db):
    return Calibration.objects.create(language_model="letters", ratio="1.2000", pairs=7, limit_tokens=4_096)


def url_of(calibration, page="change"):
    return reverse(f"admin:conversations_calibration_{page}", args=[calibration.pk])


def page_of(browser, calibration):
    return browser.get(url_of(calibration)).content.decode()


def report(user, *, estimated=2_000, reported=2_400, **fields):
    return make_completion(
        user,
        estimated_input_tokens=estimated,
        input_tokens=reported,
        cached_input_tokens=0,
        usage_estimated=False,
        **fields,
    )


def test_the_list_says_what_holds_for_each_language_model(admin_browser, calibration):
    page = admin_browser.get(LIST).content.decode()
    for words in ("letters", "× 1.2", "4,096 instead of 8,192"):
        assert words in page


def test_the_list_says_how_far_reports_are_from_estimates(admin_browser, alice, calibration):
    report(alice, estimated=100, reported=90)
    report(alice, estimated=100, reported=150)
    page = admin_browser.get(LIST).content.decode()
    for words in ("Reported by providers", ">200<", ">240<", "+20.0 %", "48.0 %", "+50.0 %"):
        assert words in page


def test_without_reports_the_list_says_nothing_of_them(admin_browser, calibration):
    assert "Reported by providers" not in admin_browser.get(LIST).content.decode()


def test_the_page_says_what_is_known_and_how_much_is_missing(admin_browser, calibration):
    page = page_of(admin_browser, calibration)
    assert "7 of the 20 that are needed" in page
    assert "named a limit of 4,096 tokens, which is lower than the configured 8,192" in page
    assert "No usage has been reported yet" in page
    assert "<canvas" not in page


def test_a_limit_that_was_found_by_trying_is_said_as_such(admin_browser, calibration):
    Calibration.objects.update(limit_tokens=3_000, refused_tokens=5_000)
    page = page_of(admin_browser, calibration)
    assert "refused 5,000 tokens without naming a limit, and took 3,000" in page
    assert "at most 4,000 tokens instead of the configured 8,192" in page
    assert "4,000 instead of 8,192" in admin_browser.get(LIST).content.decode()


def test_a_refusal_of_which_no_limit_is_known_yet_can_be_forgotten(admin_browser, calibration):
    Calibration.objects.update(limit_tokens=None, refused_tokens=5_000)
    assert "refused 5,000 tokens and named no limit" in page_of(admin_browser, calibration)
    assert admin_browser.post(url_of(calibration, "forget_limit")).status_code == 302
    assert Calibration.objects.get().refused_tokens is None


def test_a_limit_that_is_not_the_lower_one_any_more_changes_nothing(admin_browser, calibration, settings):
    settings.LANGUAGE_MODELS = "letters context_window=2048"
    assert "it changes nothing" in page_of(admin_browser, calibration)


def test_a_language_model_that_is_no_longer_configured_is_still_shown(admin_browser, calibration, settings, alice):
    report(alice)
    settings.LANGUAGE_MODELS = "another context_window=2048"
    assert "no longer configured" in page_of(admin_browser, calibration)
    assert admin_browser.get(LIST).status_code == 200


def test_the_pairs_lead_to_their_completions(admin_browser, calibration, alice):
    completion = report(alice)
    report(alice, language_model="another", estimated=5_555)
    page = page_of(admin_browser, calibration)
    assert reverse("admin:conversations_completion_change", args=[completion.pk]) in page
    for words in ("2,000", "2,400", "+20.0 %"):
        assert words in page
    assert "5,555" not in page


def test_our_own_estimates_are_no_reports(admin_browser, calibration, alice):
    make_completion(alice, usage_estimated=True)
    assert "No usage has been reported yet" in page_of(admin_browser, calibration)


def test_the_chart_counts_errors_of_long_prompts_apart_from_the_others(admin_browser, calibration, alice):
    report(alice)
    report(alice, estimated=10, reported=30)
    report(alice, reported=2_000, tool_schemas=KeptText.objects.create(digest="a digest", text="[{}]"))
    shown = admin_browser.get(url_of(calibration)).context["shown"]
    chart = json.loads(shown.chart["data"])
    long, others = (series["data"] for series in chart["datasets"])
    assert len(chart["labels"]) == len(long) == len(ERROR_EDGES_PERCENT) + 1
    assert [label for label, count in zip(chart["labels"], long, strict=True) if count] == ["+20 … +50 %"]
    counted = [label for label, count in zip(chart["labels"], others, strict=True) if count]
    assert counted == ["−1 … +1 %", "≥ +100 %"]


def test_the_pages_take_the_same_queries_however_much_there_is(queries_for, calibration, alice):
    report(alice)
    few = queries_for(LIST), queries_for(url_of(calibration))
    for number in range(30):
        report(alice)
        Calibration.objects.create(language_model=f"model {number}", limit_tokens=2_000)
    assert (queries_for(LIST), queries_for(url_of(calibration))) == few
    assert max(few) <= 6


def test_the_limit_can_be_forgotten_and_who_did_it_is_written_down(admin_browser, superuser, calibration):
    assert find_calibration("letters").limit_tokens == 4_096
    response = admin_browser.post(url_of(calibration, "forget_limit"), follow=True)
    assert "The provider’s limit of 4,096 tokens has been forgotten." in response.content.decode()
    assert find_calibration("letters").limit_tokens is None
    entry = LogEntry.objects.get()
    assert (entry.user, entry.object_id) == (superuser, str(calibration.pk))


def test_what_was_forgotten_already_is_not_forgotten_again(admin_browser, calibration):
    for _ in range(2):
        assert admin_browser.post(url_of(calibration, "forget_limit")).status_code == 302
    assert LogEntry.objects.count() == 1


def test_reading_an_address_forgets_nothing(admin_browser, calibration):
    assert admin_browser.get(url_of(calibration, "forget_limit")).status_code == 405
    assert admin_browser.post(reverse("admin:conversations_calibration_forget_limit", args=[10**30])).status_code == 404
    calibration.refresh_from_db()
    assert calibration.limit_tokens == 4_096


def test_a_reviewer_cannot_forget(reviewer_browser, calibration):
    assert reviewer_browser.post(url_of(calibration, "forget_limit")).status_code == 403
    calibration.refresh_from_db()
    assert calibration.limit_tokens == 4_096


def test_an_admin_can(admin_browser, calibration):
    assert "Forget this limit" in page_of(admin_browser, calibration)
    assert admin_browser.post(url_of(calibration, "forget_limit")).status_code == 302
    calibration.refresh_from_db()
    assert calibration.limit_tokens is None


def test_hostile_names_are_text(admin_browser, calibration, alice):
    Calibration.objects.update(language_model="</script><script>alert(1)</script>")
    assert "<script>alert" not in page_of(admin_browser, calibration)
    assert "<script>alert" not in admin_browser.get(LIST).content.decode()
