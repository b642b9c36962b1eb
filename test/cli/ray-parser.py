"""What Ray's own command line makes of word lists: JSON lines in, JSON lines out. Parses only; nothing runs."""
import contextlib
import io
import json
import sys

import click

with contextlib.redirect_stdout(io.StringIO()):
    from ray.scripts.scripts import cli

seen = {}


def replace_callbacks(command):
    if isinstance(command, click.Group):
        command.callback = None
        command.invoke_without_command = False
        for below in command.commands.values():
            replace_callbacks(below)
    else:
        command.callback = record


def record(**values):
    context = click.get_current_context()
    path = []
    at = context
    while at.parent is not None:
        path.insert(0, at.info_name)
        at = at.parent
    given = {}
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name)
        if source is not None and source.name == "COMMANDLINE":
            kind = "args" if isinstance(parameter, click.Argument) else "options"
            given.setdefault(kind, []).append([parameter.name, values[parameter.name]])
    seen.update({"kind": "run", "path": path, "args": given.get("args", []), "options": given.get("options", [])})


def read(words):
    seen.clear()
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            cli.main(args=list(words), prog_name="ray", standalone_mode=False)
    except click.UsageError as error:
        path = error.ctx.command_path.split()[1:] if error.ctx is not None else []
        parameter = getattr(error, "param", None)
        return {
            "kind": "refused",
            "path": path,
            "error": type(error).__name__,
            "option": getattr(error, "option_name", None) or (parameter.opts[0] if parameter is not None else None),
            "message": error.format_message(),
        }
    except Exception as error:
        return {"kind": "refused", "path": [], "error": type(error).__name__, "option": None, "message": str(error)}
    if seen:
        return dict(seen)
    return {"kind": "version" if "version" in printed.getvalue()[:40] else "help", "path": []}


replace_callbacks(cli)
for line in sys.stdin:
    print(json.dumps(read(json.loads(line)), default=str), flush=True)
