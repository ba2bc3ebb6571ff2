from channels.security.websocket import WebsocketDenier
from django.urls import path, re_path

from .consumers import PageConsumer

# Channels raises an error at a path without a route, so this one answers the rest: with 403.
websocket_urlpatterns = [path("ws/", PageConsumer.as_asgi()), re_path("", WebsocketDenier.as_asgi())]
