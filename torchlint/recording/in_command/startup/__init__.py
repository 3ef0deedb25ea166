"""The folder that goes on PYTHONPATH, which is why it holds nothing but `sitecustomize`."""
