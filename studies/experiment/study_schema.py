"""Tables of a study's database."""

from __future__ import annotations

SCHEMA_VERSION = 2

SCHEMA = """
CREATE TABLE IF NOT EXISTS study (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    schema_version INTEGER NOT NULL,
    name TEXT NOT NULL,
    problem TEXT NOT NULL,
    objective TEXT NOT NULL,
    seed INTEGER NOT NULL,
    specification TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS instances (
    sha256 TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    file TEXT NOT NULL,
    origin TEXT NOT NULL,
    family TEXT NOT NULL,
    cluster TEXT NOT NULL,
    ccr REAL,
    load REAL,
    heterogeneity TEXT NOT NULL,
    tasks INTEGER,
    jobs INTEGER,
    gpus INTEGER NOT NULL,
    edges INTEGER,
    tick_seconds REAL,
    position INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS environments (
    id INTEGER PRIMARY KEY,
    content TEXT NOT NULL UNIQUE
);
CREATE TABLE IF NOT EXISTS owners (
    id TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    beat REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS runs (
    key TEXT PRIMARY KEY,
    sha256 TEXT NOT NULL REFERENCES instances (sha256),
    phase TEXT NOT NULL,
    kind TEXT NOT NULL,
    label TEXT NOT NULL,
    method TEXT NOT NULL,
    parameters TEXT NOT NULL,
    all_parameters TEXT NOT NULL,
    budget TEXT NOT NULL,
    budget_evaluations INTEGER,
    budget_seconds REAL,
    repetition INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    threads INTEGER NOT NULL,
    position INTEGER NOT NULL,
    is_planned INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'finished', 'failed')),
    owner TEXT,
    objective INTEGER,
    bound INTEGER,
    bound_method TEXT,
    bound_proof TEXT,
    is_infeasible INTEGER,
    termination TEXT,
    seconds REAL,
    evaluations INTEGER,
    trace TEXT,
    schedule TEXT,
    figures TEXT,
    error TEXT,
    ended_at TEXT,
    environment INTEGER REFERENCES environments (id)
);
CREATE INDEX IF NOT EXISTS runs_to_do ON runs (is_planned, state, phase, threads, position);
CREATE INDEX IF NOT EXISTS runs_of_instance ON runs (sha256);
CREATE INDEX IF NOT EXISTS runs_with_bound ON runs (sha256, bound DESC, position) WHERE bound IS NOT NULL;
"""
"""One row of `runs` per run; `is_planned` is 0 for runs of an earlier version of the specification.

Tasks and edges are those of DAG instances, the load that of jobs. `figures` are more numbers of a schedule, as JSON.
"""

ANSWER_COLUMNS = (
    "objective",
    "bound",
    "bound_method",
    "bound_proof",
    "is_infeasible",
    "termination",
    "seconds",
    "evaluations",
    "trace",
    "schedule",
    "figures",
    "error",
)
"""What a run brings back: the fields of `RunAnswer`."""
