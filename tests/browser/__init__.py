"""Panels in real browsers: JupyterLab, Notebook 7 and Voila, with real kernels and the sandbox."""
