"""Extensions as Agent Zero's documentation has them: files in folders named after a point."""

from __future__ import annotations

import functools
import importlib.util
import inspect
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[1]


class Extension:
    """The base of an extension; ``execute`` may be a coroutine where the point is asynchronous."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent

    def execute(self, **kwargs: Any) -> Any:
        raise NotImplementedError


def plugin_files(*below: str) -> list[Path]:
    """The files of all plugins under a folder of theirs, by name."""
    found = (ROOT / "usr" / "plugins").glob("/".join(("*", *below)))
    return sorted(found, key=lambda file: file.name)


def first_subclass(file: Path, base: type) -> type:
    """The class in a file that is a subclass."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    classes = [kind for _, kind in inspect.getmembers(module, inspect.isclass)]
    return next(kind for kind in classes if issubclass(kind, base) and kind is not base)


@functools.cache
def _extensions(point: str) -> list[type]:
    return [first_subclass(file, Extension) for file in plugin_files("extensions", "python", point, "*.py")]


async def call_extensions_async(point: str, agent: Any, **kwargs: Any) -> None:
    """Run all of an asynchronous point."""
    for kind in _extensions(point):
        result = kind(agent).execute(**kwargs)
        if isinstance(result, Awaitable):
            await result


def call_extensions_sync(point: str, agent: Any, **kwargs: Any) -> None:
    """Run all of a synchronous point."""
    for kind in _extensions(point):
        assert kind(agent).execute(**kwargs) is None, f"{kind} is asynchronous at a synchronous point"


def extensible(call: Callable[..., Any]) -> Callable[..., Any]:
    """A method with the implicit points ``_functions/MODULE/QUALNAME/start`` and ``end`` around it."""
    point = "/".join(("_functions", call.__module__, *call.__qualname__.split(".")))

    def data_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        agent = args[0] if type(args[0]).__name__ == "Agent" else None
        return agent, {"args": args, "kwargs": kwargs, "result": None, "exception": None}

    @functools.wraps(call)
    async def run_async(*args: Any, **kwargs: Any) -> Any:
        agent, data = data_of(args, kwargs)
        await call_extensions_async(f"{point}/start", agent, data=data)
        data["result"] = await call(*args, **kwargs)
        await call_extensions_async(f"{point}/end", agent, data=data)
        return data["result"]

    @functools.wraps(call)
    def run_sync(*args: Any, **kwargs: Any) -> Any:
        agent, data = data_of(args, kwargs)
        call_extensions_sync(f"{point}/start", agent, data=data)
        data["result"] = call(*args, **kwargs)
        call_extensions_sync(f"{point}/end", agent, data=data)
        return data["result"]

    return run_async if inspect.iscoroutinefunction(call) else run_sync
