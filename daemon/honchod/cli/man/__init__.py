"""The manual pages, made from what ``--help`` and the settings are made from."""
