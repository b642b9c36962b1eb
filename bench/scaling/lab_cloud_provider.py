"""A lab cloud for Ray's own autoscaler, so that it and Manta can be measured on the same cloud."""
import json
import threading
import urllib.parse
import urllib.request
import uuid

from ray.autoscaler.node_provider import NodeProvider
from ray.autoscaler.tags import TAG_RAY_CLUSTER_NAME

GONE = ("terminating", "terminated")


class LabCloudNodeProvider(NodeProvider):
    def __init__(self, provider_config, cluster_name):
        super().__init__(provider_config, cluster_name)
        self._endpoint = provider_config["endpoint"]
        self._token = provider_config["token"]
        self._login = provider_config["login"]
        self._known = {}
        self._lock = threading.Lock()

    def non_terminated_nodes(self, tag_filters):
        found, page = {}, None
        while True:
            query = {f"tag.{TAG_RAY_CLUSTER_NAME}": self.cluster_name}
            if page:
                query["page_token"] = page
            answer = self._ask("GET", "/v1/instances?" + urllib.parse.urlencode(query))
            found.update((each["id"], each) for each in answer["instances"])
            page = answer.get("next_page")
            if not page:
                break
        alive = {id: each for id, each in found.items() if each["state"] not in GONE}
        with self._lock:
            self._known = alive
        wanted = tag_filters.items()
        return [id for id, each in alive.items() if wanted <= each["tags"].items()]

    def is_running(self, node_id):
        return self._get(node_id).get("state") == "running"

    def is_terminated(self, node_id):
        return self._get(node_id).get("state", "terminated") in GONE

    def node_tags(self, node_id):
        return dict(self._get(node_id).get("tags", {}))

    def internal_ip(self, node_id):
        return self._get(node_id, lambda each: "address" in each).get("address")

    external_ip = internal_ip

    def create_node(self, node_config, tags, count):
        body = {
            "client_token": uuid.uuid4().hex,
            "machine_type": node_config["machine_type"],
            "count": count,
            "tags": {TAG_RAY_CLUSTER_NAME: self.cluster_name, **tags},
            "login": self._login,
        }
        return {each["id"]: each for each in self._ask("POST", "/v1/instances", body)["instances"]}

    def set_node_tags(self, node_id, tags):
        self._remember(self._ask("POST", f"/v1/instances/{node_id}/tags", tags))

    def terminate_node(self, node_id):
        return self.terminate_nodes([node_id])

    def terminate_nodes(self, node_ids):
        return self._ask("POST", "/v1/instances/terminate", {"ids": list(node_ids)})

    def _get(self, node_id, enough=lambda each: True):
        with self._lock:
            known = self._known.get(node_id)
        if known is not None and enough(known):
            return known
        try:
            return self._remember(self._ask("GET", f"/v1/instances/{node_id}"))
        except urllib.error.HTTPError:
            return {}

    def _remember(self, instance):
        with self._lock:
            self._known[instance["id"]] = instance
        return instance

    def _ask(self, method, path, body=None):
        request = urllib.request.Request(
            self._endpoint + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)
