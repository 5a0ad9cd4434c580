"""Tries any CRCL server against the rules: every command, units, errors, pre-emption, bad input, several clients."""

from cellwright.crcl.conform.answer import ConformOptions
from cellwright.crcl.conform.check import Check, CheckVerdict
from cellwright.crcl.conform.evidence import Exchange
from cellwright.crcl.conform.page import as_html
from cellwright.crcl.conform.report import CheckResult, ConformReport
from cellwright.crcl.conform.runner import CHECKS, conform, plan, select

__all__ = [
    "CHECKS",
    "Check",
    "CheckResult",
    "CheckVerdict",
    "ConformOptions",
    "ConformReport",
    "Exchange",
    "as_html",
    "conform",
    "plan",
    "select",
]
