"""Published job shops and a flexible job shop as DAG instances: an operation is a task, a machine is a GPU, no data.

ft06 and ft10: Fisher and Thompson (1963); la01: Lawrence (1984); mk01: Brandimarte (1993). A row is a job: for job
shops pairs of machine and duration, for flexible ones the number of choices and then as many pairs, machines from 1.
"""

from __future__ import annotations

from instances.dag.instance import DagInstance

FT06 = """
2 1 0 3 1 6 3 7 5 3 4 6
1 8 2 5 4 10 5 10 0 10 3 4
2 5 3 4 5 8 0 9 1 1 4 7
1 5 0 5 2 5 3 3 4 8 5 9
2 9 1 3 4 5 5 4 0 3 3 1
1 3 3 3 5 9 0 10 4 4 2 1
"""
FT10 = """
0 29 1 78 2 9 3 36 4 49 5 11 6 62 7 56 8 44 9 21
0 43 2 90 4 75 9 11 3 69 1 28 6 46 5 46 7 72 8 30
1 91 0 85 3 39 2 74 8 90 5 10 7 12 6 89 9 45 4 33
1 81 2 95 0 71 4 99 6 9 8 52 7 85 3 98 9 22 5 43
2 14 0 6 1 22 5 61 3 26 4 69 8 21 7 49 9 72 6 53
2 84 1 2 5 52 3 95 8 48 9 72 0 47 6 65 4 6 7 25
1 46 0 37 3 61 2 13 6 32 5 21 9 32 8 89 7 30 4 55
2 31 0 86 1 46 5 74 4 32 6 88 8 19 9 48 7 36 3 79
0 76 1 69 3 76 5 51 2 85 9 11 6 40 7 89 4 26 8 74
1 85 0 13 2 61 6 7 8 64 9 76 5 47 3 52 4 90 7 45
"""
LA01 = """
1 21 0 53 4 95 3 55 2 34
0 21 3 52 4 16 2 26 1 71
3 39 4 98 1 42 2 31 0 12
1 77 0 55 4 79 2 66 3 77
0 83 3 34 2 64 1 19 4 37
1 54 2 43 4 79 0 92 3 62
3 69 4 77 1 87 2 87 0 93
2 38 0 60 1 41 3 24 4 83
3 17 1 49 4 25 0 44 2 98
4 77 3 79 2 43 1 75 0 96
"""
MK01 = """
2 1 5 3 4 3 5 3 3 5 2 1 2 3 4 6 2 3 6 5 2 6 1 1 1 3 1 3 6 6 3 6 4 3
1 2 6 1 3 1 1 1 2 2 2 6 4 6 3 6 5 2 6 1 1
1 2 6 2 3 4 6 2 3 6 5 2 6 1 1 3 3 4 2 6 6 6 2 1 1 5 5
3 6 5 2 6 1 1 1 2 6 1 3 1 3 5 3 3 5 2 1 2 3 4 6 2
3 5 3 3 5 2 1 3 6 5 2 6 1 1 1 2 6 2 1 5 3 4 2 2 6 4 6 3 3 4 2 6 6 6
2 3 4 6 2 1 1 2 3 3 4 2 6 6 6 1 2 6 3 6 5 2 6 1 1 2 1 3 4 2
1 6 1 2 1 3 4 2 3 3 4 2 6 6 6 3 2 6 5 1 1 6 1 3 1
2 3 4 6 2 3 3 4 2 6 6 6 3 6 5 2 6 1 1 1 2 6 2 2 6 4 6
1 6 1 2 1 1 5 5 3 6 6 3 6 4 3 1 1 2 3 3 4 2 6 6 6 2 2 6 4 6
2 3 4 6 2 3 3 4 2 6 6 6 3 5 3 3 5 2 1 1 6 1 2 2 6 4 6 2 1 3 4 2
"""


def job_shop(name: str, text: str) -> DagInstance:
    """Return a job shop: every operation may run on one machine only."""
    rows = [[int(entry) for entry in line.split()] for line in text.split("\n") if line]
    return _shop(name, [[[(row[at], row[at + 1])] for at in range(0, len(row), 2)] for row in rows])


def flexible_job_shop(name: str, text: str) -> DagInstance:
    """Return a flexible job shop: an operation may run on several machines, each with a duration of its own."""
    jobs = []
    for line in filter(None, text.split("\n")):
        entries, operations = iter(int(entry) for entry in line.split()), []
        for choices in entries:
            operations.append([(next(entries) - 1, next(entries)) for _ in range(choices)])
        jobs.append(operations)
    return _shop(name, jobs)


def _shop(name: str, jobs: list[list[list[tuple[int, int]]]]) -> DagInstance:
    """Make the instance from the possible (machine, duration) of every operation of every job."""
    machines = 1 + max(machine for job in jobs for choices in job for machine, _ in choices)
    durations: list[list[int | None]] = []
    edges = []
    for job in jobs:
        for place, choices in enumerate(job):
            of_machine = dict(choices)
            durations.append([of_machine.get(machine) for machine in range(machines)])
            if place:
                edges.append((len(durations) - 2, len(durations) - 1, 0))
    return DagInstance.from_lists(durations, edges, name=name)
