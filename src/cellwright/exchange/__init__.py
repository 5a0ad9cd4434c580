"""Exchange with other programs: logs as bags and tables, and bags through perception."""

from cellwright._lazy import lazy_names

__all__ = [
    "ExportFormat",
    "ExportOptions",
    "ExportResult",
    "FrameDifferences",
    "Perceived",
    "compare_detections",
    "compare_tracks",
    "export_log",
    "perceive",
    "read_recording",
]

__getattr__ = lazy_names(
    __name__,
    {
        ".compare_perception": "FrameDifferences compare_detections compare_tracks",
        ".export": "ExportFormat ExportOptions ExportResult export_log",
        ".perceived": "Perceived perceive",
        ".recordings": "read_recording",
    },
)
