"""The archive: records of jobs in a folder that can be zipped, copied, merged and queried."""

from redelve.store.archive import Archive, MergeReport
from redelve.store.delve import ExportReport
from redelve.store.soundness import VerifyReport

__all__ = ["Archive", "ExportReport", "MergeReport", "VerifyReport"]
