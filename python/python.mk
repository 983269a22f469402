# The library as a package of Python, doc/python.md.
python_sources = python/commplace/__init__.py python/commplace/_library.py python/commplace/py.typed
if PYTHON_PACKAGE
pythonpackagedir = $(pythondir)/commplace
pythonpackage_DATA = $(python_sources)
endif
EXTRA_DIST += $(python_sources) python/pyproject.toml
