"""Readers of public traces of GPU clusters."""

from instances.readers.jobs.alibaba_nodes import read_alibaba_nodes as read_alibaba_nodes
from instances.readers.jobs.gpu_trace import GpuTraceJob as GpuTraceJob
from instances.readers.jobs.gpu_trace import parse_gpu_trace as parse_gpu_trace
from instances.readers.jobs.helios import read_helios as read_helios
from instances.readers.jobs.jobs_readers import JOBS_READERS as JOBS_READERS
from instances.readers.jobs.jobs_readers import read_jobs as read_jobs
from instances.readers.jobs.philly import read_philly as read_philly
