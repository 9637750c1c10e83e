"""A table with every mark and a name that breaks what is not escaped."""

from __future__ import annotations

from typing import Any

from adapters.pages.paper_table import Head, PaperCell, PaperTable, Section

EVIL = r"""a_b & 50% <c> | $x$ #1 {y} ~^ \end{table*} `q` *z* [k](u) "d" """ + "two\nlines\x00"


def a_table(**fields: Any) -> PaperTable:
    base: dict[str, Any] = {
        "name": "means_drop_fss",
        "number": "Table 1",
        "title": "Mean Drop_FSS (%)",
        "legend": "Low is good.",
        "rules": "no face = zero",
        "heads": [[Head(""), Head("Hair", 2)], [Head("Model"), Head("Mean"), Head("WD")]],
        "sections": [
            Section(
                "celeba",
                [
                    [
                        PaperCell(EVIL),
                        PaperCell("24.60", "0.16", "n = 5490", frozenset({"best"})),
                        PaperCell("3.4", n="p = 0.2", marks=frozenset({"prominent", "not_significant"})),
                    ],
                    [
                        PaperCell("other"),
                        PaperCell("30.00", marks=frozenset({"worst"})),
                        PaperCell("–", n="n = 0"),
                    ],
                ],
            )
        ],
        "n": 5490,
    }
    return PaperTable(**base | fields)
