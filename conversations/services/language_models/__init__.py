"""Which language model makes a reply, with its limits, its calibration and its prices. Begin with `model_context`."""
