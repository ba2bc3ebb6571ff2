"""Shared by all views: typed requests and parameters, body limits and error responses."""
