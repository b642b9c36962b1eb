"""Judges Serve configs as Ray does. Standard input: a JSON list of texts. Standard output: a verdict for each."""

import json
import sys
import warnings

import yaml
from pydantic import ValidationError
from ray.serve.schema import ServeDeploySchema

warnings.simplefilter("ignore")


def judge(text):
    try:
        ServeDeploySchema.model_validate(yaml.safe_load(text))
    except (ImportError, ModuleNotFoundError):
        # The schema imports policies and routers that a config names.
        return "unknown"
    except (ValidationError, yaml.YAMLError, TypeError, AttributeError, NotImplementedError, ValueError):
        return "refused"
    return "taken"


json.dump([judge(text) for text in json.load(sys.stdin)], sys.stdout)
