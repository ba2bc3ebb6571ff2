"""The addresses of conversations."""

from django.urls import path

from conversations.views import documents, drafting, editing, keeping, marking, reading, scenarios, windows, writing

app_name = "conversations"
urlpatterns = [
    path("", reading.new, name="new"),
    path("conversations/", reading.conversations, name="list"),
    path("estimate/", drafting.estimate, name="estimate"),
    path("preview/", drafting.preview, name="preview"),
    path("c/<uuid:public_id>/", reading.conversation, name="conversation"),
    path("c/<uuid:public_id>/messages/", reading.older, name="older"),
    path("c/<uuid:public_id>/messages/post/", writing.post, name="post"),
    path("c/<uuid:public_id>/messages/<int:message_id>/pin/", marking.pin, name="pin"),
    path("c/<uuid:public_id>/messages/<int:message_id>/exclude/", marking.exclude, name="exclude"),
    path("c/<uuid:public_id>/messages/<int:message_id>/edit/", editing.edit, name="edit"),
    path("c/<uuid:public_id>/messages/<int:message_id>/show/", editing.show, name="show"),
    path("c/<uuid:public_id>/sync/", reading.sync, name="sync"),
    path("c/<uuid:public_id>/replies/<int:reply_id>/stop/", writing.stop, name="stop"),
    path("c/<uuid:public_id>/replies/<int:reply_id>/regenerate/", writing.regenerate, name="regenerate"),
    path("c/<uuid:public_id>/replies/<int:reply_id>/window/", windows.window, name="window"),
    path("c/<uuid:public_id>/replies/<int:reply_id>/request/", windows.request_body, name="request"),
    path("c/<uuid:public_id>/replies/<int:reply_id>/sources/", windows.sources, name="sources"),
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
    path("c/<uuid:public_id>/scenario/", keeping.scenario, name="scenario"),
    path("c/<uuid:public_id>/rename/", keeping.rename, name="rename"),
    path("c/<uuid:public_id>/delete/", keeping.delete, name="delete"),
    path("c/<uuid:public_id>/restore/", keeping.restore, name="restore"),
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
