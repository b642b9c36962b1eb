"""Ray's own autoscaler-v2 planner behind standard input and output.

Reads one scheduling request a line, as JSON (the request object itself, or an object that holds it under
`in`/`args`), and prints one reply a line with the fields of Ray's SchedulingReply. A request that Ray fails on gives
{"error": {"type", "message"}}. Messages are in protobuf's JSON form.

  --keep     one planner for all lines, so that it remembers since when pending nodes have been unneeded
  --timing   adds "seconds" and "cpu_seconds", the time spent inside Ray's schedule()
"""
import dataclasses
import json
import logging
import sys
import time

from google.protobuf.json_format import MessageToDict, ParseDict
from ray.autoscaler.v2.instance_manager.config import NodeTypeConfig
from ray.autoscaler.v2.scheduler import ResourceDemandScheduler, SchedulingRequest
from ray.autoscaler.v2.schema import AutoscalerInstance
from ray.core.generated.autoscaler_pb2 import (
    ClusterResourceConstraint,
    GangResourceRequest,
    NodeState,
    ResourceRequestByCount,
)
from ray.core.generated.instance_manager_pb2 import Instance


def plain(value):
    """The value without type marks, which protobuf's parser does not know."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if k != "$pb"}
    if isinstance(value, list):
        return [plain(v) for v in value]
    return value


def message(value, kind):
    return None if value is None else ParseDict(plain(value), kind())


def to_request(line):
    line = line.get("in", line)
    if "args" in line:
        line = line["args"][0]
    names = {f.name for f in dataclasses.fields(NodeTypeConfig)}
    types = {
        name: NodeTypeConfig(**{k: v for k, v in {"name": name, **config}.items() if k in names})
        for name, config in line.get("node_type_configs", {}).items()
    }
    instances = [
        AutoscalerInstance(
            cloud_instance_id=one.get("cloud_instance_id"),
            ray_node=message(one.get("ray_node"), NodeState),
            im_instance=message(one.get("im_instance"), Instance),
        )
        for one in line.get("current_instances", [])
    ]

    def messages(key, kind):
        return [message(one, kind) for one in line.get(key, [])]

    return SchedulingRequest(
        disable_launch_config_check=line.get("disable_launch_config_check", False),
        node_type_configs=types,
        max_num_nodes=line.get("max_num_nodes"),
        idle_timeout_s=line.get("idle_timeout_s"),
        pending_idle_timeout_s=line.get("pending_idle_timeout_s"),
        resource_requests=messages("resource_requests", ResourceRequestByCount),
        gang_resource_requests=messages("gang_resource_requests", GangResourceRequest),
        cluster_resource_constraints=messages("cluster_resource_constraints", ClusterResourceConstraint),
        current_instances=instances,
        cloud_resource_availabilities=line.get("cloud_resource_availabilities") or {},
        recoverable_resource_availabilities=line.get("recoverable_resource_availabilities") or {},
    )


def to_dict(reply):
    def dump(value):
        if isinstance(value, list):
            return [dump(v) for v in value]
        if hasattr(value, "DESCRIPTOR"):
            return {"$pb": value.DESCRIPTOR.full_name, **MessageToDict(value, preserving_proto_field_name=True)}
        return value

    return {
        "cluster_resources": dict(reply.cluster_resources),
        "infeasible_cluster_resource_constraints": dump(reply.infeasible_cluster_resource_constraints),
        "infeasible_gang_resource_requests": dump(reply.infeasible_gang_resource_requests),
        "infeasible_resource_requests": dump(reply.infeasible_resource_requests),
        "to_ippr": [],
        "to_launch": dump(reply.to_launch),
        "to_terminate": dump(reply.to_terminate),
    }


def main():
    logging.disable(logging.CRITICAL)
    keep = ResourceDemandScheduler() if "--keep" in sys.argv else None
    timing = "--timing" in sys.argv
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            request = to_request(json.loads(line))
            planner = keep or ResourceDemandScheduler()
            start, cpu_start = time.perf_counter(), time.process_time()
            reply = planner.schedule(request)
            seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
            out = to_dict(reply)
            if timing:
                out["seconds"] = seconds
                out["cpu_seconds"] = cpu_seconds
        except Exception as error:
            out = {"error": {"type": type(error).__name__, "message": str(error)}}
        sys.stdout.write(json.dumps(out) + "\n")
        sys.stdout.flush()


main()
