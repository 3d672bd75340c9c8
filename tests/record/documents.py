"""Instances, generators, schedules that break rules, shipped files, results as documents, and the command line."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import os
import sys
import tempfile
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.record.digest import LENGTH, digest, without_volatile
from tests.record.method_runs import SEED, package_files, shipped_files
from tests.record.product import (
    ALL_JOBS_FAMILIES,
    BUNDLED,
    CLUSTER_PRESETS,
    FAMILIES,
    GPU_KINDS,
    CostModel,
    DagSchedule,
    JobsSchedule,
    MaxEvaluations,
    bundled_instance,
    dag_instance_from_json,
    dag_instance_to_json,
    dag_schedule_to_json,
    generate,
    generate_jobs,
    job_completion_times,
    jobs_instance_from_json,
    jobs_instance_to_json,
    jobs_schedule_to_json,
    lower_bound,
    lower_bound_jobs,
    main,
    parse_cluster,
    planted_jobs,
    planted_optimum,
    read_library,
    solve,
    verify_dag_schedule,
    verify_jobs_schedule,
)
from tests.record.small_instances import dag_instances, jobs_instances

if TYPE_CHECKING:
    from collections.abc import Iterator


def instances_record() -> dict[str, str]:
    """Return content hash and digest of the document of each small instance, which is read back."""
    found = {}
    for name, instance in dag_instances().items():
        text = dag_instance_to_json(instance)
        assert dag_instance_from_json(text).sha256 == instance.sha256
        found[f"dag: {name}"] = f"{instance.sha256[:LENGTH]} {digest(text)}"
    for name, instance in jobs_instances().items():
        text = jobs_instance_to_json(instance)
        assert jobs_instance_from_json(text).sha256 == instance.sha256
        found[f"jobs: {name}"] = f"{instance.sha256[:LENGTH]} {digest(text)}"
    return found


def generators_record() -> dict[str, str]:
    """Return the digest of one instance of each family and of each cluster, and of those with a planted optimum."""
    found = {}
    for name, family in FAMILIES.items():
        found[f"family {name}"] = digest(
            [list(family.parameters()), dag_instance_to_json(generate(name, tasks=25, seed=SEED))]
        )
    for name in CLUSTER_PRESETS:
        cost = CostModel(ccr=0.7, memory_tightness=0.6, forbidden=0.1)
        instance = generate("layered", tasks=12, seed=SEED, cluster=parse_cluster(name), cost=cost)
        found[f"cluster {name}"] = digest(dag_instance_to_json(instance))
        with contextlib.suppress(ValueError):  # servers with GPUs of several kinds are for tasks only
            jobs = generate_jobs("jobs-poisson", jobs=6, seed=SEED, cluster=parse_cluster(name), max_gang=2)
            found[f"cluster {name}, jobs"] = digest(jobs_instance_to_json(jobs))
    for text in ("2xV100-16GB+1xT4,4xP100", "16*8xT4"):
        instance = generate("chains", tasks=8, seed=SEED, cluster=parse_cluster(text))
        found[f"cluster {text}"] = digest(dag_instance_to_json(instance))
    for name, jobs_family in ALL_JOBS_FAMILIES.items():
        made = generate_jobs(name, jobs=15, seed=SEED, load=0.9)
        found[f"family {name}"] = digest([list(jobs_family.parameters()), jobs_instance_to_json(made)])
    for certificate in ("area", "path"):
        planted = planted_optimum(tasks=14, seed=SEED, num_gpus=3, certificate=certificate)  # type: ignore[arg-type]
        found[f"planted {certificate}"] = digest(
            [
                dag_instance_to_json(planted.instance),
                dag_schedule_to_json(planted.instance, planted.schedule),
                planted.optimum,
                planted.gpu_weights,
                planted.path,
            ]
        )
    for name in BUNDLED:
        found[f"bundled {name}"] = digest(dag_instance_to_json(bundled_instance(name)))
        elsewhere = bundled_instance(name, cluster=parse_cluster("mixed-8"), seed=SEED)
        found[f"bundled {name}, mixed-8"] = digest(dag_instance_to_json(elsewhere))
    for name, kind in GPU_KINDS.items():
        values = {key: value for key, value in asdict(kind).items() if key not in ("source", "looked_up")}
        found[f"GPU kind {name}"] = digest(values)
    return found


def planted_jobs_record() -> dict[str, str]:
    """Return the digest of jobs instances with a planted optimum."""
    found = {}
    for seed in range(3):
        planted = planted_jobs(jobs=8, seed=seed)
        found[f"seed {seed}"] = digest(
            [
                jobs_instance_to_json(planted.instance),
                jobs_schedule_to_json(planted.instance, planted.schedule),
                planted.optimum,
            ]
        )
    return found


def violations_record() -> dict[str, str]:
    """Return how many violations the verifiers find in spoilt schedules, and a digest of their fields."""
    found = {}
    rng = np.random.default_rng(SEED)
    for name, instance in dag_instances().items():
        for rule in ("none", "nic"):
            gpu = rng.integers(instance.num_gpus, size=instance.num_tasks)
            start = rng.integers(-1, 40, size=instance.num_tasks)
            transfers = None if rule == "none" else rng.integers(0, 40, size=len(instance.edges))
            schedule = DagSchedule(gpu=gpu, start=start, transfer_start=transfers, instance=instance)
            found[f"dag: {name}, {rule}"] = _violations(verify_dag_schedule(instance, schedule, rule))  # type: ignore[arg-type]
    for name, jobs in jobs_instances().items():
        right = solve(jobs, "wcs-duration", seed=SEED, bounds=[]).schedule
        assert isinstance(right, JobsSchedule)
        early = rng.integers(-3, 4, size=jobs.num_jobs) * max(1, int(right.start.max()) // 10)
        spoilt = replace(
            right,
            start=right.start + early,
            entry_server=rng.permutation(right.entry_server) if (right.entry_count == 1).all() else right.entry_server,
            entry_count=right.entry_count + rng.integers(0, 2, size=len(right.entry_count)) * int(right.gpu is None),
        )
        found[f"jobs: {name}"] = _violations(verify_jobs_schedule(jobs, spoilt))
        if jobs.interference is not None:
            found[f"jobs: {name}, completions"] = digest(job_completion_times(jobs, right))
    return found


def _violations(violations: Any) -> str:
    """Return number and digest of violations; their names and words may change."""
    return f"{len(violations)} {digest([asdict(violation) for violation in violations])}"


def files_record() -> dict[str, str]:
    """Return the hash of the bytes of all weights and instance sets, and of the documents beside them."""
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in shipped_files()}


def library_record() -> dict[str, str]:
    """Return identifier and revision of the reference library, and what is known of each instance."""
    library = read_library()
    found = {"identifier": library.identifier, "revision": library.revision, "version": library.version}
    for name in ("catalogue.json", "ledger.json"):
        found[name] = sha256((library.folder / name).read_bytes()).hexdigest()
    for entry in library.entries():
        bound = None if entry.bound is None else entry.bound.value
        objective = None if entry.schedule is None else entry.schedule.objective
        number = "-".join(entry.instance.split("-")[:2])
        found[f"{number} {entry.objective_name[0]}"] = f"{objective}/{bound}"
    instances = sorted((library.folder / "instances").glob("*.json.gz"))
    schedules = sorted((library.folder / "schedules").glob("*.json.gz"))
    for kind, paths in (("instances", instances), ("schedules", schedules)):
        found[f"{len(paths)} files of {kind}"] = digest(
            [[path.name, sha256(gzip.decompress(path.read_bytes())).hexdigest()] for path in paths]
        )
    return found


def results_record() -> dict[str, str]:
    """Return digests of documents of results and tables of bounds without what changes from run to run."""
    dag, jobs, shared = dag_instances()["tiny in-tree"], jobs_instances()["tiny small"], jobs_instances()["shared"]
    budget = MaxEvaluations(100)
    documents = {
        "dag, exact": solve(dag, "cp-sat", threads=1, seed=SEED).to_dict(),
        "dag, exact, confirmed": solve(dag, "down-sets", threads=1, seed=SEED, confirm=True).to_dict(),
        "dag, search": solve(dag, "woa", seed=SEED, stop=budget, decoding="eft", contention="nic").to_dict(),
        "dag, no schedule": solve(dag_instances()["stuck"], "round-robin", seed=SEED).to_dict(),
        "dag, infeasible": solve(dag_instances()["infeasible"], "cp-sat", threads=1, seed=SEED).to_dict(),
        "jobs, exact": solve(jobs, "cp-sat", threads=1, seed=SEED).to_dict(),
        "jobs, policy": solve(shared, "a-srpt", seed=SEED, theta="2", predictor="running-median").to_dict(),
        "dag, bounds": lower_bound(dag, objective="weighted_completion").to_dict(),
        "dag, bounds, exact": lower_bound(dag, methods=["area", "cp-sat"], threads=1, confirm=True).to_dict(),
        "jobs, bounds": lower_bound_jobs(jobs).to_dict(),
    }
    return {name: digest(without_volatile(document)) for name, document in documents.items()}


COMMANDS: dict[str, tuple[str, ...]] = {
    "generate": ("generate", "pipeline-training", "--tasks", "16", "--seed", "1", "--gpus", "mixed-3", "--ccr", "0.5",
                 "-o", "train.json"),
    "generate jobs": ("generate", "jobs-recurrent", "--jobs", "12", "--load", "0.9", "--seed", "1", "--set", "users=3",
                      "-o", "jobs.json"),
    "generate planted": ("generate", "planted", "--tasks", "9", "--seed", "2", "--gpus", "mixed-2",
                         "--schedule-out", "planted.best.json", "-o", "planted.json"),
    "generate tiny": ("generate", "layered", "--tasks", "6", "--seed", "3", "--gpus", "mixed-2", "--mean-ticks", "5",
                      "-o", "tiny.json"),
    "solve heft": ("solve", "train.json", "--method", "heft", "--schedule-out", "heft.json"),
    "solve woa": ("solve", "train.json", "--method", "woa", "--evaluations", "200", "--seed", "7",
                  "--set", "variant=mealpy", "--schedule-out", "woa.json", "--objective", "weighted_completion"),
    "solve tiny": ("solve", "tiny.json", "--threads", "1", "--schedule-out", "tiny.best.json"),
    "solve against": ("solve", "tiny.json", "--method", "peft", "--against", "cp-sat", "--threads", "1",
                      "--time-limit", "60"),
    "solve jobs": ("solve", "jobs.json", "--method", "a-srpt", "--set", "predictor=running-median",
                   "--schedule-out", "jobs.best.json"),
    "verify": ("verify", "train.json", "heft.json"),
    "verify jobs": ("verify", "jobs.json", "jobs.best.json"),
    "verify another": ("verify", "train.json", "tiny.best.json"),
    "bound": ("bound", "train.json", "--methods", "critical-path,join-aware-path,area,energetic,probing"),
    "bound jobs": ("bound", "jobs.json", "--csv", "bounds.csv"),
    "bound contention": ("bound", "tiny.json", "--contention", "nic"),
    "bad name": ("solve", "train.json", "--method", "hefty"),
    "library list": ("library", "list", "--max-tasks", "20"),
    "library show": ("library", "show", "dag-042", "--instance-out", "dag-042.json", "--schedule-out", "best.json"),
    "library verify": ("verify", "dag-042.json", "best.json"),
}  # fmt: skip
"""Commands in the order in which they are run, in one folder; each with --json."""


def commands_record() -> dict[str, str]:
    """Return exit status and digest of the JSON of each command, and of the files that they write."""
    found = {}
    with _empty_folder():
        for name, arguments in COMMANDS.items():
            status, out = run_command(*arguments, "--json")
            found[name] = f"{status} {digest(without_volatile(json.loads(out)) if out.strip() else None)}"
        status, out = run_command("convert", "--from", "pipedream", str(_bundled_file()), "--gpus", "mixed-3",
                                  "--seed", "4", "-o", "inception.json", "--json")  # fmt: skip
        found["convert"] = f"{status} {digest(without_volatile(json.loads(out)))}"
        for path in sorted(Path().glob("*.json")):
            found[f"file {path.name}"] = digest(path.read_text())
        status, out = run_command("methods", "--json")
        names = {
            key: [[item["name"], item.get("kind"), sorted(item)] for item in items]
            for key, items in json.loads(out).items()
        }
        found["methods"] = f"{status} {digest(names)}"
        for name in ("generate", "convert"):
            status, out = run_command(name, "--list", "--json")
            found[f"{name} --list"] = f"{status} {digest(_names(json.loads(out)))}"
    return found


def _names(value: Any) -> Any:
    """Return the keys and names of a document that lists things, without other words."""
    if isinstance(value, dict):
        return {key: entry if key == "name" else _names(entry) for key, entry in value.items()}
    return [_names(entry) for entry in value] if isinstance(value, list) else None


def _bundled_file() -> Path:
    """Return where the bundled file is."""
    return next(path for path in package_files(BUNDLED["inception-block"].file))


@contextlib.contextmanager
def _empty_folder() -> Iterator[None]:
    """Work in an empty folder, with 80 columns; worker processes find the packages where this process does."""
    places = os.pathsep.join(str(Path(place).resolve()) for place in sys.path if place)
    changed = {"COLUMNS": "80", "PYTHONPATH": places}
    before = {name: os.environ.get(name) for name in changed}
    os.environ.update(changed)
    try:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def run_command(*arguments: str) -> tuple[int, str]:
    """Run the command line in this process; return the exit status and what it wrote to stdout."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as ending:
            status = ending.code
    assert isinstance(status, int)
    return status, out.getvalue()


REPEATABLE_COLUMNS = (
    "study", "instance", "sha256", "family", "cluster", "setting", "tasks", "jobs", "gpus", "ccr", "load",
    "heterogeneity", "tick_seconds", "label", "method", "kind", "budget", "repetition", "seed", "objective", "bound",
    "is_optimum", "gap", "evaluations", "status",
)  # fmt: skip
"""Columns of the frame of a study that do not depend on time."""

STUDIES = {
    "quick": """
[study]
name = "quick"
seed = 1
repetitions = 2
objective = "makespan"

[[instances]]
family = ["layered", "cholesky"]
tasks = 8
cluster = "mixed-3"
ccr = [0.3, 3.0]
heterogeneity = "inconsistent"

[[methods]]
method = "heft"

[[methods]]
method = "ddqn"

[[methods]]
method = "random-search"

[[methods]]
label = "woa, no HEFT seed"
method = "woa"
parameters = { heft_seed = false }

[[methods]]
method = "worl-rtgs"

[[budgets]]
evaluations = 200

[reference]
bounds = ["join-aware-path", "probing"]

[[reference.exact]]
method = "cp-sat"
time_limit = 60
threads = 1
""",
    "online-quick": """
[study]
name = "online-quick"
problem = "jobs"
objective = "total_completion"
seed = 0
repetitions = 2

[[instances]]
family = "jobs-small"
jobs = 5
load = [0.7, 1.1]
count = 2
seed = 0

[[methods]]
method = "fifo"

[[methods]]
label = "spjf, lengths wrong by up to 4"
method = "spjf"
parameters = { predictor = "noisy-oracle", predictor_parameters = { mu = 4.0 } }

[[methods]]
method = "wcs-duration"

[[methods]]
method = "a-srpt"

[[methods]]
label = "a-srpt, work-conserving"
method = "a-srpt"
parameters = { mode = "work_conserving" }

[[methods]]
label = "srtf (oracle)"
method = "srtf"

[reference]
bounds = ["default"]

[[reference.exact]]
method = "cp-sat"
time_limit = 60
threads = 1
""",
    "marl-quick": """
[study]
name = "marl-quick"
problem = "jobs"
objective = "total_completion"
seed = 0

[[instances]]
family = "jobs-small-co-located"
jobs = 4
load = [0.7, 1.1]
cluster = "2xV100-32GB,2xT4"
count = 1
seed = 2000000000

[[methods]]
label = "marl"
method = "marl"
parameters = { stage = "trained" }
vary = { training = [1, 2] }

[[methods]]
label = "marl, imitated"
method = "marl"
parameters = { stage = "imitated" }
vary = { training = [1, 2] }

[[methods]]
method = "srtf"

[[methods]]
method = "load-balancing"

[reference]
bounds = ["default"]

[[reference.exact]]
method = "co-location-search"
time_limit = 60
""",
}
"""The shipped studies of seconds, smaller, with one thread and without budgets in seconds."""

TABLES = {
    "quick": ("gaps,bounds", "worl-rtgs"),
    "online-quick": ("gaps,jct", "a-srpt"),
    "marl-quick": ("gaps,jct,interference", "marl, imitated"),
}
"""What is tabulated of each study, and against what."""


RENDERED = {
    "quick": ("--what", "gaps", "--by", "family", "--statistic", "median"),
    "online-quick": ("--what", "jct"),
    "marl-quick": ("--what", "jct"),
}
"""Tables without times (those of targets and of agents have some), which are recorded as Markdown and LaTeX, too."""


def study_record(study: str) -> dict[str, str]:
    """Run a study and return digests of its runs, one line per instance and method, and of its tables."""
    found = {}
    with _empty_folder():
        Path("spec.toml").write_text(STUDIES[study])
        status, out = run_command("study", "run", "spec.toml", "--dry-run", "--json")
        found["plan"] = f"{status} {digest(without_volatile(json.loads(out)))}"
        status, out = run_command("study", "run", "spec.toml", "--out", "runs", "--workers", "1", "--json")
        found["state"] = f"{status} {digest(without_volatile(json.loads(out)))}"
        what, baseline = TABLES[study]
        status, out = run_command(
            "study", "table", "runs", "--what", what, "--baseline", baseline, "--frame", "frame.csv", "--json"
        )
        # SciPy and formulas of our own agree to about 14 digits in the statistics of ranks.
        tables = json.loads(out, parse_float=lambda text: f"{float(text):.10g}")
        found["tables"] = f"{status} {digest(without_volatile(tables))}"
        status, _ = run_command(
            "study", "table", "runs", *RENDERED[study], "--markdown", "table.md", "--latex", "table.tex"
        )
        found["rendered tables"] = f"{status} {digest(_table_rows(Path('table.md'), Path('table.tex')))}"
        with open("frame.csv", newline="") as file:
            rows = list(csv.DictReader(file))
    groups: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        kept = {key: value for key, value in row.items() if _repeats(key)}
        groups.setdefault(f"{row['instance']}: {row['label']}", []).append(kept)
    for name, group in groups.items():
        objectives = " ".join(row["objective"] for row in group if row["budget"] or len(group) == 1)
        found[name] = f"{objectives} {digest(group)}"
    return found


def _table_rows(markdown: Path, latex: Path) -> list[str]:
    """Return the rows of tables below their headings; headings, captions and notes are words."""
    found: list[str] = []
    for path, begin, end in ((markdown, "| ---", ""), (latex, "\\midrule", "\\bottomrule")):
        is_row = False
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith(begin):
                is_row = True
            elif line == end:
                is_row = False
            elif is_row:
                found.append(line)
    return found


def _repeats(column: str) -> bool:
    """Say whether a column does not depend on time: one of the list, or a figure of a schedule of jobs."""
    return column in REPEATABLE_COLUMNS or column.startswith(("jct", "queueing", "stretch", "interference", "mean_"))
