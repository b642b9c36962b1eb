"""A driver that does as the lines on its standard input say, and tells when. Times are milliseconds since 1970."""
import sys
import time

import ray

ray.init(address="auto", logging_level="error", log_to_driver=False)


@ray.remote(num_cpus=0)
def hold(seconds):
    # A cancel does not wake a sleep: it is heard between two.
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.05)


@ray.remote(num_cpus=0)
class Holder:
    pass


def tell(*words):
    print("BENCH", *words, flush=True)


def alive():
    return sum(1 for node in ray.nodes() if node["Alive"])


refs, actors = [], []
tell("ready")
for line in sys.stdin:
    word, *rest = line.split()
    if word == "submit":
        resource, count, seconds = rest[0], int(rest[1]), float(rest[2])
        task = hold.options(resources={resource: 1})
        began = time.time()
        refs = [task.remote(seconds) for _ in range(count)]
        tell("submitted", began * 1000)
    elif word == "actors":
        resource, count = rest[0], int(rest[1])
        began = time.time()
        actors = [Holder.options(resources={resource: 1}).remote() for _ in range(count)]
        tell("submitted", began * 1000)
    elif word == "cancel":
        for actor in actors:
            ray.kill(actor)
        # Ray loses a cancel that arrives while the task's worker starts.
        while refs:
            for ref in refs:
                ray.cancel(ref)
            _, refs = ray.wait(refs, num_returns=len(refs), timeout=1, fetch_local=False)
        refs, actors = [], []
        tell("cancelled", time.time() * 1000)
    elif word == "alive":
        while alive() < int(rest[0]):
            time.sleep(0.05)
        tell("alive", time.time() * 1000)
    elif word == "only":
        while alive() > 1:
            time.sleep(0.05)
        tell("alone", time.time() * 1000)
