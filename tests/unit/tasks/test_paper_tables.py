"""Every table and figure of a report, out of a small synthetic run with groups."""

from __future__ import annotations

import json
from dataclasses import replace

import polars as pl
import pytest
from paper_frames import AXES, PAIRS, RULES, WORDING, tables_of_a_run
from synthetic import Plan, synthetic_run

from adapters.pages.figures import AnyFigure, BarFigure, HeatFigure, LineFigure, ScatterFigure
from adapters.pages.latex import latex_table
from adapters.pages.markdown import markdown_table
from adapters.pages.paper_table import PaperTable
from domain.loading import load
from domain.suites import Rules
from domain.taxonomy import Taxonomy
from metrics import scoring
from tasks.group_tables import GROUP_TABLES, group_tables, scoring_rules
from tasks.paper_figures import paper_figures
from tasks.paper_groups import distance_cell
from tasks.paper_index import USED, index_files
from tasks.paper_tables import Absent, paper_tables
from tasks.paper_text import Wording, estimate_cell, extremes, file_name, number_text, rules_text
from tasks.scoring import files_of, unknown_groups

TAXONOMY = load(Taxonomy, "face-edit-attributes")


@pytest.fixture(scope="module")
def tables() -> dict[str, pl.DataFrame]:
    return tables_of_a_run()


@pytest.fixture(scope="module")
def made(tables: dict[str, pl.DataFrame]) -> dict[str, PaperTable | Absent]:
    return {table.name: table for table in paper_tables(tables, WORDING)}


@pytest.fixture(scope="module")
def figures(tables: dict[str, pl.DataFrame]) -> dict[str, AnyFigure | Absent]:
    return {
        figure.name if isinstance(figure, Absent) else figure.caption.name: figure
        for figure in paper_figures(tables, WORDING, TAXONOMY)
    }


def shown(table: PaperTable | Absent) -> PaperTable:
    assert isinstance(table, PaperTable), table
    return table


def test_the_layout_needs_the_tables_that_it_says_it_does(tables: dict[str, pl.DataFrame]):
    assert paper_tables({name: tables[name] for name in USED}, WORDING)
    assert list(paper_figures({name: tables[name] for name in USED}, WORDING, TAXONOMY))


def test_every_table_of_the_paper_has_its_counterpart(made: dict[str, PaperTable | Absent]):
    numbers = " ".join(table.number for table in made.values() if isinstance(table, PaperTable))
    printed = {int(word) for word in numbers.split() if word.isdigit()}
    assert printed == {1, 2, 3, 4, *range(5, 11), *range(18, 28), 28, 29, 30}


def test_all_are_well_formed_and_tell_n_and_the_rules(made: dict[str, PaperTable | Absent]):
    for table in (table for table in made.values() if isinstance(table, PaperTable)):
        widths = {sum(head.span for head in row) for row in table.heads}
        widths |= {len(row) for section in table.sections for row in section.rows}
        assert widths == {table.columns}, table.name
        assert table.n > 0, table.name
        assert table.rules == rules_text(RULES)
        for text in (markdown_table(table), latex_table(table)):
            assert "99" in text
            assert "nan" not in text.casefold().replace("nano", "")


def test_means_are_those_of_the_leaderboard(
    tables: dict[str, pl.DataFrame], made: dict[str, PaperTable | Absent]
):
    table = shown(made["means_sc"])
    assert [head.text for head in table.heads[0]] == [
        "Model", "Hair", "Accessories", "Pose", "Multi-axis", "Avg.",
    ]  # fmt: skip
    assert [section.title for section in table.sections] == ["celeba", "celebset"]
    [row] = tables["leaderboard"].filter(
        (pl.col("dataset") == "celeba") & (pl.col("model") == "bagel-edit") & (pl.col("test_set") == "all")
    ).iter_rows(named=True)  # fmt: skip
    bagel = table.sections[0].rows[0]
    assert bagel[0].text == "Bagel-Edit"
    assert bagel[-1].text == f"{row['sc'] * 100:.2f}"
    assert bagel[-1].n == f"n = {row['sc_n']}"
    assert bagel[-1].half_width == f"{(row['sc_high'] - row['sc_low']) / 2 * 100:.2f}"


def test_best_worst_and_leader_are_marked_once(made: dict[str, PaperTable | Absent]):
    for name, best_is in (("means_sc", max), ("means_oer", min)):
        for section in shown(made[name]).sections:
            for row in section.rows:
                values = [float(cell.text) for cell in row[1:-1]]
                [best] = [cell for cell in row if "best" in cell.marks]
                assert float(best.text) == best_is(values)
                assert sum("worst" in cell.marks for cell in row) == 1
            averages = [row[-1] for row in section.rows]
            [leader] = [cell for cell in averages if "leader" in cell.marks]
            assert float(leader.text) == best_is(float(cell.text) for cell in averages)


def test_a_control_never_leads(tables: dict[str, pl.DataFrame]):
    wording = replace(WORDING, controls=frozenset({"bagel-edit"}))
    table = shown({t.name: t for t in paper_tables(tables, wording)}["means_oer"])
    rows = [row for section in table.sections for row in section.rows if "(control)" in row[0].text]
    assert len(rows) == 2
    assert not any("leader" in cell.marks for row in rows for cell in row)


def test_the_worst_group_is_at_the_left(
    tables: dict[str, pl.DataFrame], made: dict[str, PaperTable | Absent]
):
    table = shown(made["disparity_sc_gender"])
    means = tables["group_means"].filter(
        (pl.col("metric") == "sc") & (pl.col("dataset") == "celeba") & (pl.col("model") == "bagel-edit")
        & (pl.col("test_set") == "hair") & (pl.col("axis") == "gender")
    )  # fmt: skip
    low, high = means.sort("mean").select("group", "mean", "n").rows()
    label = {"male": "M", "female": "F"}
    cell = table.sections[0].rows[0][1]
    assert cell.text == f"{label[low[0]]}: {low[1]:.1f}  {label[high[0]]}: {high[1]:.1f}"
    assert cell.n == f"n = {low[2]}, {high[2]}"


def test_an_intersection_shows_two_groups_and_the_tests_of_its_parts(made: dict[str, PaperTable | Absent]):
    table = shown(made["disparity_drop_fss_gender_skin"])
    assert [head.text for head in table.heads[1]][:4] == ["Model", "Mean", "WD gender", "WD skin"]
    assert [section.title for section in table.sections] == ["celebset"]
    assert table.number == "Table 6"


@pytest.mark.parametrize(
    ("wd", "p", "marks"),
    [
        (3.4, 0.01, {"prominent"}),
        (3.4, 0.2, {"prominent", "not_significant"}),
        (3.0, 0.01, set()),
        (1.0, 0.05, {"not_significant"}),
    ],
)
def test_marks_of_a_distance(wd: float, p: float, marks: set[str]):
    row = {"wd": wd, "p": p, "p_adjusted": 0.5, "null_mean": 1.25, "wd_per_sd": 0.1234}
    cell = distance_cell(row)
    assert cell.marks == marks
    assert cell.n == f"p = {p:.2g}, adj. 0.5, by chance 1.2, 0.12 sd"
    assert distance_cell(row | {"p_adjusted": None, "wd_per_sd": None}).n == f"p = {p:.2g}, by chance 1.2"


@pytest.mark.parametrize("row", [None, {"wd": None, "p": None}])
def test_no_distance_is_a_dash_with_n_0(row: dict[str, None] | None):
    cell = distance_cell(row)
    assert (cell.text, cell.n) == ("–", "n = 0")


@pytest.mark.parametrize("name", ["sensitivity", "coverage"])
def test_rows_of_two_datasets_are_told_apart(made: dict[str, PaperTable | Absent], name: str):
    table = shown(made[name])
    assert [section.title for section in table.sections] == ["celeba", "celebset"]
    for section in table.sections:
        keys = [tuple(cell.text for cell in row[:4]) for row in section.rows]
        assert len(set(keys)) == len(keys)


def test_sessions_are_counted_once_in_the_n_of_a_table(
    made: dict[str, PaperTable | Absent], tables: dict[str, pl.DataFrame]
):
    pooled = tables["leaderboard"].filter(pl.col("test_set") == "all")
    assert shown(made["sensitivity"]).n <= pooled["n_complete"].sum()


def test_sessions_in_no_group_of_an_axis_are_counted(tables: dict[str, pl.DataFrame]):
    rows = unknown_groups(tables["session_counts"])
    assert rows.schema == tables["coverage"].schema
    assert set(rows["reason"]) == {"unknown_group"}
    age = rows.filter((pl.col("what") == "axis age") & (pl.col("dataset") == "celebset"))
    assert age.height > 0, "people of other ages are in neither group"
    counts = tables["session_counts"].filter((pl.col("axis") == "age") & (pl.col("dataset") == "celebset"))
    total = counts.group_by("model", "test_set").agg(pl.col("n_sessions").sum())
    both = age.join(total, on=["model", "test_set"])
    assert both.height == age.height
    assert (both["n"] < both["n_sessions"]).all()


def test_controls_are_no_models_and_a_family_of_their_own():
    taxonomy = load(Taxonomy, "face-edit-attributes")
    plan = Plan(pairs=PAIRS[:2], test_sets={"hair": 2, "pose": 1}, every=12)
    run = synthetic_run(taxonomy, 3, plan)
    scored = scoring.score(run.steps, run.photos, taxonomy, scoring_rules(RULES))

    def tables_with(controls: tuple[str, ...]) -> dict[str, pl.DataFrame]:
        return group_tables(run.steps, run.photos, scored.sessions, taxonomy, AXES[:1], RULES, controls)

    together, apart = tables_with(()), tables_with(("bagel-edit",))
    key = ["model", "test_set", "metric", "axis", "group_a"]
    both = together["disparities"].join(apart["disparities"], on=key)
    assert both.height == together["disparities"].height
    assert (both["p"] == both["p_right"]).all(), "a raw p does not depend on others"
    model = both.filter(pl.col("model") != "bagel-edit").drop_nulls("p_adjusted")
    assert (model["p_adjusted_right"] <= model["p_adjusted"]).all()
    assert together["shared_attributes"]["n_compared"].max() == 2
    assert apart["shared_attributes"]["n_compared"].max() == 1


def test_without_axes_nothing_is_compared_and_nothing_invented(tables: dict[str, pl.DataFrame]):
    bare = {name: frame.clear() if name in GROUP_TABLES else frame for name, frame in tables.items()}
    made = {t.name: t for t in paper_tables(bare, replace(WORDING, axes=()))}
    about_groups = ("dispari", "session_counts", "stereotypes")
    named = [table for name, table in made.items() if name.startswith(about_groups)]
    assert all(isinstance(table, Absent) for table in named)
    assert {table.number for table in named} == {"Tables 5–10 and 22–27", "Tables 18–21", "Table 30"}
    assert all(isinstance(made[name], Absent) for name in ("attribute_bias", "fss_sanity", "sensitivity"))
    drawn = list(paper_figures(bare, replace(WORDING, axes=()), TAXONOMY))
    assert sum(isinstance(figure, BarFigure) for figure in drawn) == 0


def test_unknown_groups_give_no_table(tables: dict[str, pl.DataFrame]):
    """Axes are defined, but no photo says to which group it belongs."""
    nobody = {
        name: frame.with_columns(pl.lit(0, pl.Int64).alias("n"), pl.lit(None, pl.Float64).alias("mean"))
        if name in ("group_means", "stereotype_means", "fss0_means")
        else frame
        for name, frame in tables.items()
    }
    made = {t.name: t for t in paper_tables(nobody, WORDING)}
    for name in ("disparity_sc_age", "stereotypes_gender", "fss_sanity"):
        absent = made[name]
        assert isinstance(absent, Absent)
        assert "two of its groups" in absent.reason


def test_an_axis_without_known_groups_gives_rows_with_n_0():
    tables = tables_of_a_run()
    photos = tables["photos"].with_columns(pl.lit([], pl.List(pl.String)).alias("groups")).head(4)
    planned = pl.DataFrame(schema=tables_steps_schema())
    found = group_tables(planned, photos, sessions_without_rows(), TAXONOMY, AXES, Rules(permutations=9))
    assert found["photo_counts"].filter(pl.col("group").is_not_null())["n_photos"].sum() == 0
    assert found["photo_counts"].filter(pl.col("group").is_null())["n_photos"].to_list() == [4] * 4
    assert found["fss0_means"]["n"].sum() == 0
    assert found["fss0_distances"]["wd"].null_count() == found["fss0_distances"].height > 0


def tables_steps_schema() -> pl.Schema:
    from metrics.frames import steps_schema

    return steps_schema(TAXONOMY)


def sessions_without_rows() -> pl.DataFrame:
    from metrics.frames import SESSIONS

    return pl.DataFrame(schema=SESSIONS)


def test_every_figure_of_the_paper_has_its_counterpart(figures: dict[str, AnyFigure | Absent]):
    numbers = {figure.caption.number for figure in figures.values() if not isinstance(figure, Absent)}
    assert numbers - {""} == {f"Figure {number}" for number in (4, 5, *range(6, 19))}


def test_what_is_drawn_is_what_was_computed(
    tables: dict[str, pl.DataFrame], figures: dict[str, AnyFigure | Absent]
):
    line = figures["progression"]
    assert isinstance(line, LineFigure)
    assert [len(drawn.mean) for panel in line.panels for drawn in panel.lines] == [5] * 4
    scatter = figures["p_against_wd"]
    assert isinstance(scatter, ScatterFigure)
    assert all(p >= 0.05 for points in scatter.points for p in points.y)
    heat = figures["overediting_celeba_bagel-edit"]
    assert isinstance(heat, HeatFigure)
    [panel] = heat.panels
    assert (len(panel.rows), len(panel.columns)) == (35, 43)
    own = tables["overediting"].filter((pl.col("dataset") == "celeba") & (pl.col("model") == "bagel-edit"))
    assert sum(value is not None for row in panel.values for value in row) == own.height
    bars = figures["groups_oer_gender_skin_celebset"]
    assert isinstance(bars, BarFigure)
    assert bars.groups == ["ML", "MD", "FL", "FD"]
    assert bars.caption.number == "Figure 15"


def test_the_files_of_all_tables_are_equal_for_equal_tables(tables: dict[str, pl.DataFrame]):
    files = files_of(tables, RULES.model_dump())
    assert files == files_of(tables, RULES.model_dump())
    assert json.loads(files["rules.json"])["permutations"] == 99
    for name, data in files.items():
        if name.endswith(".csv"):
            text = data.decode()
            assert not {"NaN", "nan", "inf"} & {
                cell for line in text.splitlines() for cell in line.split(",")
            }
            assert len(pl.read_csv(data, infer_schema=False)) == tables[name.removesuffix(".csv")].height


def test_the_index_lists_what_is_there_and_what_is_not():
    there = {
        "name": "a",
        "kind": "table",
        "number": "Table 1",
        "title": "x|y",
        "n": 3,
        "files": ["tables/a.md"],
    }
    absent = there | {"name": "b", "files": [], "n": 0, "absent": "nothing | to show"}
    files = index_files([there, absent], RULES)
    assert json.loads(files["index.json"])["entries"] == [there, absent]
    assert json.loads(files["index.json"])["rules"] == RULES.model_dump()
    text = files["index.md"].decode()
    assert "[tables/a.md](tables/a.md)" in text
    assert r"absent: nothing \| to show" in text


@pytest.mark.parametrize(
    ("values", "low_is_good", "wanted"),
    [
        ([1.0, 2.0, 3.0], True, ["best", "", "worst"]),
        ([1.0, 2.0, 3.0], False, ["worst", "", "best"]),
        ([None, 2.0, 3.0], True, ["", "best", "worst"]),
        ([2.0, 2.0], True, ["", ""]),
        ([2.0], True, [""]),
        ([1.0, 1.0, 3.0], True, ["best", "best", "worst"]),
    ],
)
def test_extremes(values: list[float | None], low_is_good: bool, wanted: list[str]):
    assert ["".join(marks) for marks in extremes(values, low_is_good=low_is_good)] == wanted


@pytest.mark.parametrize(("value", "text"), [(None, "–"), (-0.001, "0.00"), (-1.5, "-1.50"), (0.125, "0.12")])
def test_number_text(value: float | None, text: str):
    assert number_text(value, 2) == text


def test_a_mean_of_one_person_has_no_interval():
    row = {"sc": 0.5, "sc_low": None, "sc_high": None, "sc_n": 4}
    cell = estimate_cell(row, "sc", 1, 100.0)
    assert (cell.text, cell.half_width, cell.n) == ("50.0", "", "n = 4")


def test_names_of_files_are_plain():
    assert file_name("groups", "a.b", "x|y/../z") == "groups_a.b_x_y_.._z"


def test_models_keep_the_order_of_the_suite():
    assert Wording(RULES, {"b": "B", "a": "A"}).models(["a", "c", "b", "a"]) == ["b", "a", "c"]
