"""Makes load on a Ray cluster: one JSON command a line in, one JSON answer a line out."""
import json
import sys

import ray
from ray.util.placement_group import placement_group, remove_placement_group

ray.init(log_to_driver=False, logging_level="error")


@ray.remote
class Holder:
    def ready(self):
        return True


@ray.remote
def wait():
    return True


def options(resources):
    others = {name: amount for name, amount in resources.items() if name != "CPU"}
    return {"num_cpus": resources.get("CPU", 0), "resources": others}


undo = {}


def occupy(command):
    holder = Holder.options(**options(command["resources"])).remote()
    ray.get(holder.ready.remote())
    return lambda: ray.kill(holder)


def submit(command):
    tasks = [wait.options(**options(command["resources"])).remote() for _ in range(command["count"])]
    return lambda: [ray.cancel(task, force=True) for task in tasks]


def gang(command):
    group = placement_group(command["bundles"], strategy=command["strategy"])
    return lambda: remove_placement_group(group)


makers = {"occupy": occupy, "submit": submit, "gang": gang}

for number, line in enumerate(sys.stdin):
    command = json.loads(line)
    if command["op"] in makers:
        undo[number] = makers[command["op"]](command)
    elif command["op"] == "undo":
        undo.pop(command["id"])()
    print(json.dumps({"id": number}), flush=True)
