import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    """What is made up at random is never run: the shell ends on the line before it."""
    if case.operation.definition.raw.get("operationId") != "submitJob" or not isinstance(case.body, dict):
        return
    entrypoint = case.body.get("entrypoint")
    if isinstance(entrypoint, str):
        case.body["entrypoint"] = "exit 0\n" + entrypoint
