from __future__ import annotations

import re

import pytest
from paper_examples import EVIL, a_table

from adapters.pages.latex import escaped, latex_table


def assert_balanced(text: str) -> None:
    """Environments are closed in order, braces match, and no special character stands alone."""
    body = re.sub(r"(?<!\\)%.*", "", text)
    open_environments: list[str] = []
    for kind, name in re.findall(r"\\(begin|end)\{([a-z]+\*?)\}", body):
        if kind == "begin":
            open_environments.append(name)
        else:
            assert open_environments.pop() == name
    assert open_environments == []
    plain = re.sub(r"\\[{}$&#%_\\]", "", body)
    depth = 0
    for character in plain:
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0
    assert plain.count("$") % 2 == 0
    assert not re.search(r"[#~^]", re.sub(r"\$[^$]*\$", "", plain))


def rows_of(text: str) -> list[str]:
    body = text.partition(r"\toprule")[2].partition(r"\bottomrule")[0]
    return [line for line in body.splitlines() if line.endswith(r"\\")]


def width(row: str) -> int:
    spans = [int(span) - 1 for span in re.findall(r"\\multicolumn\{(\d+)\}", row)]
    return len(re.findall(r"(?<!\\)&", row)) + 1 + sum(spans)


def test_it_would_compile():
    text = latex_table(a_table())
    assert_balanced(text)
    assert text.count(r"\begin{tabular}{lrr}") == 1
    assert text.index(r"\toprule") < text.index(r"\midrule") < text.index(r"\bottomrule")


def test_every_row_has_the_columns_of_the_tabular():
    assert {width(row) for row in rows_of(latex_table(a_table()))} == {3}


def test_a_heading_over_columns_has_its_rule():
    text = latex_table(a_table())
    assert r"\multicolumn{2}{c}{Hair}" in text
    assert r"\cmidrule(lr){2-3}" in text


def test_marks_interval_and_n_are_printed():
    first, second = rows_of(latex_table(a_table()))[-2:]
    assert r"\textcolor{blue}{24.60}$_{0.16}$ {\scriptsize (n = 5490)}" in first
    assert r"\textbf{3.4}$^{*}$" in first
    assert r"\textcolor{red}{30.00}" in second
    assert "-- {\\scriptsize (n = 0)}" in second


def test_caption_tells_the_counterpart_the_rules_and_n():
    [caption] = re.findall(r"\\caption\{(.*)\}", latex_table(a_table()))
    assert caption.startswith(r"Mean Drop\_FSS (\%).")
    for told in ("Counterpart of Table 1", "Rules: no face = zero.", "$n = 5490$"):
        assert told in caption


@pytest.mark.parametrize("field", ["title", "legend", "rules", "number"])
def test_markup_from_data_is_text_everywhere(field: str):
    assert_balanced(latex_table(a_table(**{field: EVIL})))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a_b", r"a\_b"),
        ("50%", r"50\%"),
        ("a&b", r"a\&b"),
        ("<|>", r"\textless{}\textbar{}\textgreater{}"),
        ("\\input{x}", r"\textbackslash{}input\{x\}"),
        ("FSS₀ → ×", r"FSS$_0$ $\rightarrow$ $\times$"),
        ("[1]", "{[}1{]}"),
        ("one\ntwo", "one two"),
    ],
)
def test_escapes(text: str, wanted: str):
    assert escaped(text) == wanted
