"""This folder goes on PYTHONPATH, so it holds nothing but `sitecustomize`."""
