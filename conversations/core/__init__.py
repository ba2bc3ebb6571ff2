"""The pure centre: standard library only, no Django, network, clock or settings. Begin with `window.compute_window`."""
