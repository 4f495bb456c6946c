"""``honchod ui``."""

from __future__ import annotations

import webbrowser

import click

from honchod.cli.answers import read
from honchod.cli.options import json_option, open_client, socket_option
from honchod.cli.output import facts, show, show_json
from honchod.ops.views import UiAccess

EPILOG = """\b
examples:
  honchod ui
  honchod ui --open
  honchod ui --token
"""


@click.command(epilog=EPILOG)
@click.option("--open", "in_browser", is_flag=True, help="Open the page in a browser, too.")
@click.option("--token", "show_token", is_flag=True, help="Show the token again.")
@json_option
@socket_option
def ui(in_browser: bool, show_token: bool, as_json: bool) -> None:
    """Tell where the web page is, and once its token.

    The page needs a listener: [http] listen in honchod.toml.
    """
    with open_client() as client:
        answer = client.ui(show_token=show_token)
    if as_json:
        show_json(answer)
        return
    access = read(answer, UiAccess)
    token = access.token or "shown before; it stands in the file, and honchod ui --token shows it"
    show([facts(page=access.url, token=token, token_file=access.token_file)])
    if in_browser and not webbrowser.open(access.url):
        raise click.ClickException("no browser could be opened")
