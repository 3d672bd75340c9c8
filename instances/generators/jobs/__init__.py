"""Instances of the jobs problem: arrivals, sizes, users and networks, and one family with a planted optimum."""

from instances.generators.jobs.families import ALL_JOBS_FAMILIES as ALL_JOBS_FAMILIES
from instances.generators.jobs.families import INTERFERING_FAMILIES as INTERFERING_FAMILIES
from instances.generators.jobs.families import JOBS_FAMILIES as JOBS_FAMILIES
from instances.generators.jobs.generate_jobs import generate_jobs as generate_jobs
from instances.generators.jobs.planted_jobs import PlantedJobs as PlantedJobs
from instances.generators.jobs.planted_jobs import planted_jobs as planted_jobs
from instances.generators.jobs.releases_at_load import load_factor as load_factor
