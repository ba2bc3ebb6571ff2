"""The language model of a scenario: limits, token counts, calibration and prices. Begin with `model_context`."""
