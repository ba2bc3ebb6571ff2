from django.apps import AppConfig


class EmbeddedPostgresConfig(AppConfig):
    name = "chatsite.postgres"
    label = "embedded_postgres"

    def ready(self) -> None:
        from . import checks  # noqa: F401 -- registers them
