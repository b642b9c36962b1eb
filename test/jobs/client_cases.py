"""What Ray's own Python client expects of whoever answers it: `client_cases.py KIND ADDRESS FOLDER`, with the token in
RAY_AUTH_TOKEN. KIND is `plain` (Ray itself), `ray` (Manta before a Ray) or `embedded`. One line of JSON a case."""

import json
import os
import sys
import tarfile
import threading
import time
import traceback
import zipfile

import ray
import requests
from ray.job_submission import JobStatus, JobSubmissionClient

kind, address, folder = sys.argv[1:4]
token = os.environ["RAY_AUTH_TOKEN"]
client = JobSubmissionClient(address)
beginning = "runtime_env setup failed: Failed to set up runtime environment."
is_new = tuple(int(part) for part in ray.__version__.split(".")[:2]) >= (2, 60)
cases = []
os.makedirs(folder, exist_ok=True)


def case(name, *kinds):
    def add(function):
        if kind in kinds:
            cases.append((name, function))
        return function

    return add


def file(name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as out:
        out.write(text)
    return path


def script(name, text):
    return f"{sys.executable} {file(name, text)}"


def until(what, condition, seconds=240):
    deadline = time.time() + seconds
    while time.time() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.2)
    raise TimeoutError(what)


def over(job):
    def ended():
        info = client.get_job_info(job)
        return info if info.status.is_terminal() else None

    return until(f"{job} is over", ended)


def succeeded(job):
    info = over(job)
    assert info.status == JobStatus.SUCCEEDED, (info.message, client.get_job_logs(job))
    return client.get_job_logs(job)


def marked(logs, mark):
    """What a job printed behind a word; Ray's own lines stand beside it."""
    return json.loads(next(line for line in logs.splitlines() if line.startswith(mark))[len(mark) :])


@case("metadata and the submission id reach the driver", "ray", "plain")
def metadata():
    entrypoint = script(
        "metadata.py",
        "import json, ray\nray.init(log_to_driver=False)\n"
        "config = ray._private.worker.global_worker.core_worker.get_job_config()\n"
        "print('METADATA' + json.dumps(dict(config.metadata)), flush=True)\n",
    )
    job = f"metadata-of-{kind}"
    assert client.submit_job(entrypoint=entrypoint, submission_id=job, metadata={"key1": "val1", "key2": "val2"}) == job
    found = marked(succeeded(job), "METADATA")
    assert found == {"job_name": job, "job_submission_id": job, "key1": "val1", "key2": "val2"}, found
    assert client.get_job_info(job).metadata == {"key1": "val1", "key2": "val2"}


@case("a driver may set every variable that its job does not", "ray", "plain")
def free_variables():
    names = ["PYTHONUNBUFFERED", "MANTA_JOB_ID", "MANTA_JOB_ATTEMPT", "RAY_JOB_STOP_WAIT_TIME_S"]
    entrypoint = script(
        "variables.py",
        f"import os, ray\nray.init(runtime_env={{'env_vars': {{name: '1' for name in {names}}}}}, log_to_driver=False)\n"
        "@ray.remote(num_cpus=0)\ndef seen():\n    return os.environ['MANTA_JOB_ID']\n"
        "assert ray.get(seen.remote()) == '1'\n",
    )
    succeeded(client.submit_job(entrypoint=entrypoint, runtime_env={"env_vars": {"MINE": "1"}}))


@case("the runtime environment of a driver is that of its job", "ray", "plain")
def own_environment():
    entrypoint = script(
        "environment.py",
        "import json, os\n"
        "env = json.loads(os.environ['RAY_JOB_CONFIG_JSON_ENV_VAR'])['runtime_env']\n"
        "print('ENV' + json.dumps([env, os.environ['WHERE'], os.environ['PYTHONUNBUFFERED']]), flush=True)\n",
    )
    bare = marked(succeeded(client.submit_job(entrypoint="WHERE= " + entrypoint)), "ENV")
    env = {"env_vars": {"WHERE": "${HOME}/x"}, "config": {"setup_timeout_seconds": 77}}
    full = marked(succeeded(client.submit_job(entrypoint=entrypoint, runtime_env=env)), "ENV")
    return [bare, full]


@case("the driver of a job is told, and the job is found by it", "ray", "plain")
def driver():
    go = os.path.join(folder, "go")
    entrypoint = script(
        "driver.py",
        "import os, ray, time\nray.init(log_to_driver=False)\nprint('joined', flush=True)\n"
        f"while not os.path.exists({go!r}): time.sleep(0.1)\n",
    )
    job = client.submit_job(entrypoint=entrypoint)

    def joined():
        info = client.get_job_info(job)
        return info if info.driver_info else None

    def check(info):
        assert info.job_id == info.driver_info.id and len(info.job_id) == 8, info
        assert info.driver_info.node_ip_address and int(info.driver_info.pid) > 0, info
        by_id = client.get_job_info(info.job_id)
        assert (by_id.submission_id, by_id.job_id) == (job, info.job_id), by_id
        [listed] = [each for each in client.list_jobs() if each.submission_id == job]
        assert (listed.job_id, listed.driver_info) == (info.job_id, info.driver_info), listed

    info = until("the driver is told", joined)
    check(info)
    # Ray tells of the driver a moment before it prints.
    until("its output is found by the driver", lambda: "joined" in client.get_job_logs(info.job_id))
    open(go, "w").close()
    succeeded(job)
    check(client.get_job_info(job))
    assert client.get_job_info(client.submit_job(entrypoint="true")).job_id is None


@case("a hook of worker processes runs", "ray", "plain")
def hook():
    file("hook/of_workers.py", "import os\n\ndef run():\n    os.environ['HOOKED'] = 'yes'\n")
    file(
        "hook/main.py",
        "import os, ray\nray.init(log_to_driver=False)\n"
        "@ray.remote(num_cpus=0)\ndef seen():\n    return os.environ.get('HOOKED')\n"
        "assert ray.get(seen.remote()) == 'yes'\n",
    )
    env = {"working_dir": os.path.join(folder, "hook"), "worker_process_setup_hook": "of_workers.run"}
    succeeded(client.submit_job(entrypoint=f"{sys.executable} main.py", runtime_env=env))


@case("packages of other schemes are fetched by Ray", "ray", "plain")
def schemes():
    path = os.path.join(folder, "by-file.zip")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("top/word", "by file\n")
        archive.writestr("top/of_file.py", "word = 'module by file'\n")
    env = {"working_dir": f"file://{path}", "py_modules": [f"file://{path}"]}
    entrypoint = f"cat word && {sys.executable} -c 'import of_file; print(of_file.word)'"
    logs = succeeded(client.submit_job(entrypoint=entrypoint, runtime_env=env))
    assert "by file\n" in logs and "module by file\n" in logs, logs


@case("archives of every format are unpacked", "ray", "plain", "embedded")
def archives():
    word = file("packed/word", "packed\n")
    run = file("packed/run.sh", "#!/bin/sh\ncat word\n")
    os.chmod(run, 0o755)
    endings = {".tar.gz": "w:gz", ".tgz": "w:gz", ".tar.xz": "w:xz"} if is_new else {}
    jobs = {}
    for ending, mode in endings.items():
        path = os.path.join(folder, f"packed{ending}")
        with tarfile.open(path, mode) as archive:
            archive.add(word, "word")
            archive.add(run, "run.sh")
        jobs[ending] = client.submit_job(entrypoint="./run.sh", runtime_env={"working_dir": path})
    wheel = os.path.join(folder, "spoken-1.0-py3-none-any.whl")
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("spoken.py", "print('spoken')\n")
        archive.writestr("spoken-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: spoken\nVersion: 1.0\n")
        archive.writestr(
            "spoken-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr("spoken-1.0.dist-info/RECORD", "spoken.py,,\n")
    module = client.submit_job(entrypoint="python3 -c 'import spoken'", runtime_env={"py_modules": [wheel]})
    for ending, job in jobs.items():
        assert "packed\n" in succeeded(job), ending
    assert "spoken\n" in succeeded(module)


@case("a set-up that fails is told in Ray's words", "ray", "plain", "embedded")
def failed_set_up():
    path = file("broken.zip", "no archive at all")
    jobs = [client.submit_job(entrypoint="echo ran", runtime_env={"working_dir": path})]
    if kind != "embedded":
        jobs += [
            client.submit_job(entrypoint="echo ran", runtime_env=env)
            for env in [{"conda": "no-such-environment"}, {"nsight": "default"}]
        ]
    for job in jobs:
        info = over(job)
        assert info.status == JobStatus.FAILED and info.error_type == "RUNTIME_ENV_SETUP_FAILURE", info
        assert info.message.startswith(beginning), info.message
        assert info.message.count("runtime_env setup failed") == 1, info.message
        assert "\nran\n" not in client.get_job_logs(job)
    if kind != "embedded":
        assert "conda" in client.get_job_info(jobs[1]).message and "nsight" in client.get_job_info(jobs[2]).message


@case("a set-up has the time that its job gives it", "ray", "plain")
def timeout():
    env = {
        "pip": {"packages": ["no-such-package"], "pip_version": "==23.3.2", "pip_check": False},
        "config": {"setup_timeout_seconds": 1},
    }
    info = over(client.submit_job(entrypoint="true", runtime_env=env))
    assert info.message.startswith(beginning), info.message
    assert "Timeout" in info.message and "setup_timeout_seconds" in info.message, info.message


@case("every part of a runtime environment reaches Ray as it was submitted", "ray")
def passed_on():
    at_ray = JobSubmissionClient(
        os.environ["PLAIN_ADDRESS"], headers={"Authorization": f"Bearer {os.environ['PLAIN_TOKEN']}"}
    )
    environments = [
        {"image_uri": "image:1", "env_vars": {"A": "b"}, "config": {"setup_timeout_seconds": 9, "eager_install": False}},
        {"container": {"image": "image:1", "run_options": ["--cap-drop=SYS_ADMIN"]}},
        {"conda": {"dependencies": ["pip", {"pip": ["x"]}]}, "_inject_current_ray": True},
        {"_nsight": {"t": "cuda"}},
        {"pip": {"packages": ["x"], "pip_version": "==23.3", "pip_check": True, "pip_install_options": ["--no-deps"]}},
        {"uv": {"packages": ["x"], "uv_version": "==0.4", "uv_check": True, "uv_pip_install_options": ["--no-cache"]}},
        {"working_dir": "s3://bucket/x.zip", "py_modules": ["gs://bucket/m.zip", "https://x.invalid/m"], "excludes": ["y"]},
        {"py_executable": "python3 -u", "java_jars": ["x.jar"], "a_plug_in": {"of": ["somebody"]}},
    ]
    # Manta fetches https itself, so that what it cannot fetch never comes to Ray.
    environments[6]["py_modules"].pop()
    jobs = [f"passed-on-{number}" for number in range(len(environments))]
    for job, env in zip(jobs, environments):
        body = {"entrypoint": "true", "submission_id": job, "runtime_env": env}
        answer = requests.post(f"{address}/api/jobs/", json=body, headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 200, answer.text

    def there(job):
        try:
            return at_ray.get_job_info(job)
        except RuntimeError:
            return None

    for job, env in zip(jobs, environments):
        info = until(f"{job} is at Ray", lambda: there(job))
        assert info.runtime_env == env, info.runtime_env
        assert info.entrypoint.endswith("; true") and client.get_job_info(job).entrypoint == "true"
        client.stop_job(job)


@case("what the engine cannot give is refused by its name", "embedded")
def refused():
    environments = {
        "conda": "x",
        "image_uri": "x",
        "container": {"image": "x"},
        "nsight": "default",
        "worker_process_setup_hook": "a.b",
        "pip": {"packages": ["x"], "pip_version": "==1"},
        "uv": {"packages": ["x"], "uv_version": "==1"},
        "working_dir": "s3://bucket/x.zip",
        "py_modules": ["gs://bucket/x.zip"],
    }
    for key, value in environments.items():
        try:
            client.submit_job(entrypoint="true", runtime_env={key: value})
        except RuntimeError as error:
            assert "status code 400" in str(error) and key in str(error), error
        else:
            raise AssertionError(f"{key} was taken")


@case("the version is that of a Ray, with its commit", "ray", "plain")
def version():
    answer = requests.get(f"{address}/api/version", headers={"Authorization": f"Bearer {token}"}).json()
    assert answer.pop("session_name").startswith("session_")
    assert answer == {"version": "4", "ray_version": ray.__version__, "ray_commit": ray.__commit__}, answer


said = threading.Lock()


def run(name, function):
    try:
        told = {"name": name, "ok": True, "value": function()}
    except BaseException:
        told = {"name": name, "ok": False, "value": traceback.format_exc()[-3000:]}
    with said:
        print("CASE" + json.dumps(told), flush=True)


# Most of their time they wait for Ray: three at once.
todo = list(cases)


def work():
    while todo:
        try:
            name, function = todo.pop(0)
        except IndexError:
            return
        run(name, function)


threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
