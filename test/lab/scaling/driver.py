"""Makes demand on a Ray cluster: one JSON order a line in, one JSON answer a line out. Orders run side by side."""
import json
import os
import socket
import sys
import threading
import time
import urllib.request

import ray
from ray.autoscaler.sdk import request_resources
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

ray.init(address="auto", logging_level="error")
turnstile = sys.argv[1]


def pass_turnstile(order, piece):
    """Holds its place until the turnstile opens; answers with where it was held."""
    host = socket.gethostname()
    while True:
        try:
            with urllib.request.urlopen(f"{turnstile}/piece/{order}/{piece}/{host}", timeout=10) as answer:
                if answer.read() == b"open":
                    return host
        except OSError:
            pass
        time.sleep(0.2)


@ray.remote(max_retries=-1)
def task(order, piece):
    return pass_turnstile(order, piece)


@ray.remote(max_restarts=-1, max_task_retries=-1)
class Actor:
    def work(self, order, piece):
        return pass_turnstile(order, piece)


def options(order):
    found = {"num_cpus": order.get("cpus", 0), "resources": order.get("resources", {})}
    return {**found, "label_selector": order["labels"]} if "labels" in order else found


def tasks(number, order):
    refs = [task.options(**options(order)).remote(number, piece) for piece in range(order["count"])]
    undo[number] = lambda: [ray.cancel(ref, force=True) for ref in refs]
    return ray.get(refs)


def actors(number, order):
    made = [Actor.options(**options(order)).remote() for _ in range(order["count"])]
    undo[number] = lambda: [ray.kill(actor) for actor in made]
    hosts = ray.get([actor.work.remote(number, piece) for piece, actor in enumerate(made)])
    undo[number]()
    return hosts


def group(number, order):
    made = placement_group(order["bundles"], strategy=order["strategy"])
    undo[number] = lambda: remove_placement_group(made)

    def inside(piece, bundle):
        strategy = PlacementGroupSchedulingStrategy(made, placement_group_bundle_index=piece)
        others = {name: amount for name, amount in bundle.items() if name != "CPU"}
        held = task.options(num_cpus=bundle.get("CPU", 0), resources=others, scheduling_strategy=strategy)
        return held.remote(number, piece)

    hosts = ray.get([inside(piece, bundle) for piece, bundle in enumerate(order["bundles"])])
    undo[number]()
    return hosts


def request(number, order):
    undo[number] = lambda: request_resources(bundles=[])
    request_resources(bundles=order["bundles"])
    return []


def withdraw(number, order):
    undo.pop(order["order"])()
    return []


undo = {}
makers = {"tasks": tasks, "actors": actors, "group": group, "request": request, "withdraw": withdraw}


def say(answer):
    # In one piece and on a line of its own: Ray prints into the same output.
    os.write(1, f"\nANSWER{json.dumps(answer)}\n".encode())


def serve(number, order):
    try:
        say({"order": number, "hosts": makers[order["kind"]](number, order)})
    except BaseException as error:
        say({"order": number, "error": repr(error)})


say({"order": 0, "hosts": []})
for number, line in enumerate(sys.stdin, 1):
    threading.Thread(target=serve, args=(number, json.loads(line)), daemon=True).start()
