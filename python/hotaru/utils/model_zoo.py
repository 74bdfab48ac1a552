"""The older place of what `hub` has."""

from __future__ import annotations

from ..hub import _progress, download_url_to_file, load_state_dict_from_url

__all__ = ["load_url"]

load_url = load_state_dict_from_url
tqdm = _progress.tqdm
_download_url_to_file = download_url_to_file
