"""What all views share: typed requests and parameters, body limits and error responses."""
