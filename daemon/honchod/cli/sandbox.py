"""``honchod sandbox``."""

from __future__ import annotations

import click

from honchod.cli.exits import Exit

EPILOG = """\b
examples:
  honchod sandbox --port 8000
  honchod sandbox --faults "POST messages: cut-after-commit p=0.05 seed=1; *: status=503 times=2"

It answers as Honcho does and keeps everything in memory. GET /sandbox/messages?workspace=W&session=S
shows what arrived.
"""


@click.command(epilog=EPILOG)
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=0, metavar="N", help="0 (default): a free one."
)
@click.option("--host", default="127.0.0.1", metavar="ADDRESS", show_default=True, help="Where to listen.")
@click.option("--faults", metavar="SPEC", help="What goes wrong; see the examples.")
@click.option(
    "--api-key",
    envvar="HONCHOD_SANDBOX_API_KEY",
    metavar="KEY",
    help="Ask callers for this key. Also from $HONCHOD_SANDBOX_API_KEY.",
)
@click.option("--state", type=click.Path(dir_okay=False), metavar="FILE", help="Keep what was stored here.")
@click.option(
    "--latency",
    "latency_s",
    type=click.FloatRange(0, 60),
    default=0.0,
    metavar="S",
    help="Seconds each request takes.",
)
def sandbox(
    port: int, host: str, faults: str | None, api_key: str | None, state: str | None, latency_s: float
) -> int:
    """Run a small Honcho server for trials; prints its URL when it listens."""
    from honchod.sandbox.fault_spec import SpecError
    from honchod.sandbox.main import run

    try:
        run(port, host, faults, api_key, state, latency_s)
    except SpecError as error:
        raise click.BadParameter(str(error), param_hint="--faults") from error
    except OSError as error:
        click.echo(f"honchod: {error.strerror or error}", err=True)
        return Exit.FAILED
    return Exit.DONE
