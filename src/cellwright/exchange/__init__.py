"""Exchange with other programs: logs as bags and tables, and bags through perception."""

from cellwright._lazy import lazy_names

__all__ = ["ExportFormat", "ExportOptions", "ExportResult", "export_log"]

__getattr__ = lazy_names(__name__, {".export": "ExportFormat ExportOptions ExportResult export_log"})
