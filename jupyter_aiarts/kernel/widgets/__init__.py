"""Controls, charts and logs for front ends that run widgets and do not know our mime type: VS Code, Colab.

Buttons are ipywidgets, the rest is drawn by anywidget.
"""
