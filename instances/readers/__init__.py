"""Readers of public formats, each into a `DagInstance`.

Formats whose tasks have one measured time are put on a cluster by a stated model, see `dag_instance_from_measured`.
"""

from instances.readers.option_from_text import option_from_text as option_from_text
from instances.readers.readers import READERS as READERS
from instances.readers.readers import Reader as Reader
from instances.readers.readers import read_instance as read_instance
