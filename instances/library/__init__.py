"""The reference library: stored instances, and the best bound and schedule known for each.

Papers cite it by `Library.identifier`, which follows from the content of the instances alone.
"""

from instances.library.catalogue_entry import CatalogueEntry as CatalogueEntry
from instances.library.known_bound import KnownBound as KnownBound
from instances.library.known_schedule import KnownSchedule as KnownSchedule
from instances.library.ledger_entry import LedgerEntry as LedgerEntry
from instances.library.library import Library as Library
from instances.library.library import read_library as read_library
from instances.library.provenance import Provenance as Provenance
