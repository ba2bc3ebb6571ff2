"""The models that the settings name, with windows and prices. Begin with `language_models`."""
