"""The site: `make docs` builds it from the pages of this folder, the docstrings and the gallery, without a network."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import tiebreak

ROOT = Path(__file__).resolve().parent.parent

sys.path.insert(0, str(ROOT / "docs"))

project = "tiebreak"
author = "The tiebreak developers"
copyright = "the tiebreak developers"  # noqa: A001 - Sphinx's name
version = release = tiebreak.__version__

templates_path = ["_templates"]
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "hooks",
]
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py", "gallery/*.md5", "sg_execution_times.rst"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(numpy|scipy|cobra|sklearn|abc|enum|builtins)\..*"), ("py:.*", "optional")]

myst_enable_extensions = ["colon_fence", "attrs_inline", "html_image"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say the types
autodoc_mock_imports = ["jax", "torch", "dask", "distributed", "zarr"]
numpydoc_show_class_members = False  # the template of autosummary lists them
numpydoc_class_members_toctree = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_extra_path = ["_build/extra"]  # hooks.py writes it
html_css_files = ["site.css"]
html_title = "tiebreak"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "tiebreak"},
    "header_links_before_dropdown": 6,
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "show_prev_next": True,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "start": []}

sphinx_gallery_conf = {
    "examples_dirs": [str(ROOT / "examples" / "gallery")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"^_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "image_scrapers": ("matplotlib",),
    "reset_modules": ("matplotlib", "hooks.clock"),
    "reset_modules_order": "both",
    "matplotlib_animations": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
    "plot_gallery": True,
    "parallel": 2,
}

warnings.filterwarnings("ignore", category=DeprecationWarning)
