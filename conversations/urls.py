"""URLs of the pages and forms of conversations, scenarios, documents, usage and the account's content."""

from django.urls import path

from conversations.views.account import about_me, own_account, readings
from conversations.views.conversations import (
    conversation_actions,
    estimate,
    messages,
    model_choice,
    notes,
    pages,
    pins,
    reasoning,
    reply_markdown,
    summaries,
    tool_calls,
    versions,
    windows,
)
from conversations.views.documents import documents
from conversations.views.http.metrics import metrics
from conversations.views.pictures import pictures
from conversations.views.scenarios import scenarios
from conversations.views.usage import usage

app_name = "conversations"
urlpatterns = [
    path("", pages.new, name="new"),
    path("metrics", metrics, name="metrics"),
    path("conversations/", pages.conversations, name="list"),
    path("estimate/", estimate.estimate, name="estimate"),
    path("preview/", estimate.preview, name="preview"),
    path("account/about-me/", about_me.about_me, name="about_me"),
    path("account/export/", own_account.export_account, name="export_account"),
    path("account/delete/", own_account.delete_account, name="delete_account"),
    path("account/readings/", readings.readings, name="readings"),
    path("usage/", usage.usage, name="usage"),
    path("usage/export/", usage.export_usage, name="export_usage"),
    path("usage/costs/", usage.show_costs, name="show_costs"),
    path("c/<uuid:public_id>/", pages.conversation, name="conversation"),
    path("c/<uuid:public_id>/messages/", pages.older, name="older"),
    path("c/<uuid:public_id>/messages/post/", messages.post, name="post"),
    path("c/<uuid:public_id>/messages/<int:message_id>/pin/", pins.pin, name="pin"),
    path("c/<uuid:public_id>/messages/<int:message_id>/exclude/", pins.exclude, name="exclude"),
    path("c/<uuid:public_id>/messages/<int:message_id>/recall/", pins.recall, name="recall"),
    path("c/<uuid:public_id>/messages/<int:message_id>/edit/", versions.edit, name="edit"),
    path("c/<uuid:public_id>/messages/<int:message_id>/show/", versions.show, name="show"),
    path(
        "c/<uuid:public_id>/messages/<int:message_id>/reasoning/",
        reasoning.reasoning,
        name="reasoning",
    ),
    path("c/<uuid:public_id>/sync/", pages.sync, name="sync"),
    path("c/<uuid:public_id>/replies/<int:reply_id>/stop/", messages.stop, name="stop"),
    path("c/<uuid:public_id>/replies/<int:reply_id>/regenerate/", messages.regenerate, name="regenerate"),
    path("c/<uuid:public_id>/replies/<int:reply_id>/continue/", messages.go_on, name="continue"),
    path(
        "c/<uuid:public_id>/replies/<int:reply_id>/regenerate/with/",
        model_choice.regenerate_with,
        name="regenerate_with",
    ),
    path("c/<uuid:public_id>/replies/<int:reply_id>/window/", windows.window, name="window"),
    path("c/<uuid:public_id>/replies/<int:reply_id>/request/", windows.request_body, name="request"),
    path("c/<uuid:public_id>/replies/<int:reply_id>/sources/", windows.sources, name="sources"),
    path("c/<uuid:public_id>/replies/<int:reply_id>/markdown/", reply_markdown.reply_markdown, name="reply_markdown"),
    path("c/<uuid:public_id>/calls/<int:call_id>/decide/", tool_calls.decide, name="decide_call"),
    path("c/<uuid:public_id>/calls/<int:call_id>/result/", tool_calls.result, name="call_result"),
    path("c/<uuid:public_id>/documents/", documents.documents, name="conversation_documents"),
    path("c/<uuid:public_id>/documents/add/", documents.add, name="add_conversation_documents"),
    path("c/<uuid:public_id>/documents/<uuid:document_id>/", documents.download, name="download_conversation_document"),
    path(
        "c/<uuid:public_id>/documents/<uuid:document_id>/delete/",
        documents.delete,
        name="delete_conversation_document",
    ),
    path(
        "c/<uuid:public_id>/documents/<uuid:document_id>/again/",
        documents.again,
        name="read_again_conversation_document",
    ),
    path("c/<uuid:public_id>/pictures/add/", pictures.add, name="add_picture"),
    path("c/<uuid:public_id>/pictures/<int:picture_id>/", pictures.picture, name="picture"),
    path("c/<uuid:public_id>/pictures/<int:picture_id>/describe/", pictures.describe, name="describe_picture"),
    path("c/<uuid:public_id>/summary/", summaries.switch, name="switch_summary"),
    path("c/<uuid:public_id>/summary/edit/", summaries.edit, name="edit_summary"),
    path("c/<uuid:public_id>/summary/undo/", summaries.undo, name="undo_summary"),
    path("c/<uuid:public_id>/scenario/", conversation_actions.scenario, name="scenario"),
    path("c/<uuid:public_id>/model/", model_choice.choose_model, name="choose_model"),
    path("c/<uuid:public_id>/web-search/", conversation_actions.web_search, name="web_search"),
    path("c/<uuid:public_id>/notes/", notes.notes, name="notes"),
    path("c/<uuid:public_id>/rename/", conversation_actions.rename, name="rename"),
    path("c/<uuid:public_id>/delete/", conversation_actions.delete, name="delete"),
    path("c/<uuid:public_id>/restore/", conversation_actions.restore, name="restore"),
    path("scenarios/", scenarios.scenarios, name="scenarios"),
    path("scenarios/new/", scenarios.new, name="new_scenario"),
    path("scenarios/from-file/", scenarios.from_file, name="scenario_from_file"),
    path("scenarios/<int:scenario_id>/", scenarios.edit, name="edit_scenario"),
    path("scenarios/<int:scenario_id>/delete/", scenarios.delete, name="delete_scenario"),
    path("scenarios/<int:scenario_id>/export/", scenarios.export, name="export_scenario"),
    path("scenarios/<int:scenario_id>/documents/", documents.documents, name="scenario_documents"),
    path("scenarios/<int:scenario_id>/documents/add/", documents.add, name="add_scenario_documents"),
    path(
        "scenarios/<int:scenario_id>/documents/<uuid:document_id>/",
        documents.download,
        name="download_scenario_document",
    ),
    path(
        "scenarios/<int:scenario_id>/documents/<uuid:document_id>/delete/",
        documents.delete,
        name="delete_scenario_document",
    ),
    path(
        "scenarios/<int:scenario_id>/documents/<uuid:document_id>/again/",
        documents.again,
        name="read_again_scenario_document",
    ),
]
