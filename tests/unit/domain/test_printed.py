from __future__ import annotations

import pytest

from domain.errors import DefinitionError
from domain.printed import PrintedCell, Slip, printed_paper, read_rows

HEAD = "table,dataset,model,test_set,group,metric,value,ci,significant,rank,unit\n"
ROW = "1,celeba,bagel-edit,hair,all,mean_drop_fss,18.79,0.09,,,\n"


def test_empty_fields_are_null():
    [cell] = read_rows(HEAD + ROW, PrintedCell, "cells.csv")
    assert (cell.number, cell.ci, cell.significant, cell.rank) == (18.79, "0.09", None, None)


@pytest.mark.parametrize(
    ("value", "unit", "half"),
    [("24.60", "", 0.005), ("3.4", "", 0.05), ("1220", "", 0.5), ("76.10", "0.1", 0.05)],
)
def test_half_a_unit_of_the_last_digit(value: str, unit: str, half: float):
    row = ROW.replace("18.79", value).replace(",,,\n", f",,,{unit}\n")
    [cell] = read_rows(HEAD + row, PrintedCell, "cells.csv")
    assert cell.half_unit == pytest.approx(half)


@pytest.mark.parametrize(
    ("text", "line", "field"),
    [
        (HEAD + ROW + ROW.replace("18.79", "about 19"), 3, "value"),
        (HEAD + ROW.replace("0.09,,", "0.09,maybe,"), 2, "significant"),
        (HEAD + ROW.replace("celeba", ""), 2, "dataset"),
        (HEAD.replace("ci", "half") + ROW, 2, "half"),
        (HEAD + ROW.replace("\n", ",more\n"), 2, ""),
    ],
)
def test_what_is_wrong_is_named_with_file_line_and_field(text: str, line: int, field: str):
    with pytest.raises(DefinitionError) as caught:
        read_rows(text, PrintedCell, "cells.csv")
    assert (caught.value.file, caught.value.line) == ("cells.csv", line)
    assert (caught.value.field or "") == field


def test_a_file_without_rows_is_wrong():
    with pytest.raises(DefinitionError, match="no row"):
        read_rows(HEAD, PrintedCell, "cells.csv")


def test_an_open_quote_is_wrong():
    with pytest.raises(DefinitionError, match="not CSV"):
        read_rows(HEAD + '1,"celeba', PrintedCell, "cells.csv")


def test_a_paper_that_is_not_packaged():
    with pytest.raises(DefinitionError, match="no printed tables"):
        printed_paper("1234.56789")


def test_a_slip_is_about_the_cells_that_it_names():
    [cell] = read_rows(HEAD + ROW, PrintedCell, "cells.csv")
    told = {"id": "1", "where": "w", "printed": "p", "numbers_say": "n", "severity": "low", "table": "1"}
    assert Slip.model_validate(told).is_about(cell)
    assert Slip.model_validate(told | {"model": "bagel-edit"}).is_about(cell)
    assert not Slip.model_validate(told | {"model": "flux-dev"}).is_about(cell)
    assert not Slip.model_validate(told | {"table": None}).is_about(cell)
