"""Good tables of scores as every tool writes them, folders of studies, and the commands that read them."""

from __future__ import annotations

import io
import shutil
import tarfile
from pathlib import Path
from random import Random

from tests.fuzzing.scenes import Target, run, target

QUESTIONS = 30
FOLDERS = ("every-eval-ever", "helm", "lm-eval")
"""Tools that leave a folder of files, each under its name."""
FILES = {
    "benchopt": "benchopt/run.parquet",
    "inspect": "inspect/one.eval inspect/two.json -n match",
    "openml": "openml/tree.arff openml/forest.arff",
    "predictions": "predictions/both.npz -n accuracy",
    "sklearn": "sklearn/tree.csv sklearn/forest.csv -R 1",
    "tracked": "tracked/one/eval_results_table.json tracked/two/eval_results_table.json",
    "tsml": "tsml/HC2_accuracy.csv tsml/RDST_accuracy.csv -R 1",
}
PAGE = "# A page\n\n<!-- made by redelve study neal -->\n<!-- end of what is made -->\n\nMore.\n"


def score_rows(models: str = "ab") -> list[dict[str, object]]:
    """A score of every model on every question, with groups and weights."""
    chance = Random(11)
    return [
        {
            "model": model,
            "case": f"q{k}",
            "score": round(chance.random(), 3),
            "group": f"g{k // 3}",
            "weight": 1.5,
        }
        for model in models
        for k in range(QUESTIONS)
    ]


def make_scores(folder: Path) -> None:
    """Tables of scores in every format, those of models apart, an archive, and the files of other tools."""
    import pandas

    from tests.data.scores.examples import EXAMPLES

    long = pandas.DataFrame(score_rows("abc"))
    wide = long.pivot(index="case", columns="model", values="score").reset_index()
    folds = pandas.DataFrame(
        [
            {"model": m, "fold": k, "accuracy": 0.5 + k / 20, "task": t}
            for m in "ab"
            for k in range(5)
            for t in "xy"
        ]
    )
    for name, table in {"s": long, "wide": wide, "folds": folds}.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    long.to_parquet(folder / "s.parquet")
    long.to_json(folder / "s.jsonl", orient="records", lines=True)
    long.to_json(folder / "s.json", orient="records")
    for name in "ab":
        long[long["model"] == name].drop(columns="model").to_csv(folder / f"{name}.csv", index=False)
    long[["case", "group", "weight"]].drop_duplicates().to_csv(folder / "questions.csv", index=False)
    for name, make in EXAMPLES.items():
        (folder / name).mkdir()
        for path in make(folder / name)[0]:
            if not path.is_relative_to(folder):
                shutil.copy(path, folder / name)
    run("compare s.csv -H -S group,weight -a kept", folder)


def make_studies(folder: Path) -> None:
    """Folders of studies, a page to write results into, and PROBEN1's files as far as they are at hand."""
    from tests.data.proben1.genuine import FOLDER
    from tests.studies.proben1.made import write_dataset

    (folder / "raw/pydataset").mkdir(parents=True)
    for name in ("cancer1", "glass1", "heartac1"):
        if (FOLDER / f"{name}.dt").is_file():
            shutil.copyfile(FOLDER / f"{name}.dt", folder / f"raw/{name}.dt")
        else:
            write_dataset(folder / "raw", name)
    with tarfile.open(folder / "raw/pydataset/resources.tar.gz", "w:gz") as packed:
        member = tarfile.TarInfo("resources/rdata/csv/MASS/biopsy.csv")
        member.size = 6
        packed.addfile(member, io.BytesIO(b"a,b\n1\n"))
    (folder / "page.md").write_text(PAGE)
    run(NEAL.removeprefix("redelve "), folder)
    run(WCCI.removeprefix("redelve "), folder)


NEAL = "redelve study neal n -p 1000 -d kin-8nm -n 64 -m lin-1,knn-cv-1 -j 1 -q"
WCCI = "redelve study wcci -n 2 -d twonorm -c logistic -o w -q"
PROBEN1 = "redelve study proben1 --quick -t 3 -n 1 -j 1 -q"


def _compared(files: str, options: str = "-H") -> str:
    return f"redelve compare {files} {options}"


SCORES = (
    target("scores", "s.csv", _compared("s.csv"), "redelve race s.csv -H -n new.csv"),
    target("scores", "s.csv", _compared("s.csv", "-H -S group,weight -a new -o new.html -d 0.01")),
    target("scores", "wide.csv", _compared("wide.csv"), "redelve race wide.csv -H -d 0.1"),
    target(
        "scores", "folds.csv", _compared("folds.csv", "-R 1/4"), _compared("folds.csv", "-R 1/4 -t task -p")
    ),
    target("scores", "s.parquet", _compared("s.parquet"), "redelve race s.parquet -H"),
    target("scores", "s.jsonl", _compared("s.jsonl"), "redelve gate s.jsonl -H -d 0.1 -m a -o b"),
    target("scores", "s.json", _compared("s.json", "-H -o new.md")),
    target(
        "scores",
        "[ab].csv",
        "redelve gate a.csv -T b.csv -H -d 0.1 -j new.xml -w new.md",
        _compared("a.csv b.csv"),
    ),
    target("scores", "questions.csv", "redelve race s.csv -H -Q questions.csv -n new.csv"),
    target(
        "scores", "kept/**/*", "redelve differ kept a b -b group -o new.csv", "redelve report kept -o new"
    ),
    target("scores", "kept/**/*", "redelve archive verify kept", "redelve archive merge new kept"),
    *(
        target("scores", f"{tool}/**/*", _compared(tool, ""), _compared(tool, f"-H -F {tool}"))
        for tool in FOLDERS
    ),
    *(
        target("scores", f"{tool}/**/*", _compared(words, ""), _compared(words, f"-H -F {tool}"))
        for tool, words in FILES.items()
    ),
)
STUDIES = (
    target("studies", "n/**/*", f"{NEAL}"),
    target("studies", "page.md", f"{NEAL} -P page.md"),
    target("studies", "w/**/*", WCCI),
    target("studies", "raw/**/*", PROBEN1, "redelve proben1 names"),
    target(
        "studies", "raw/*.dt", f"{PROBEN1} -d glass1 -o new", "redelve assess proben1:glass1 -m constant -q"
    ),
)
OPTIONS_ALONE = (
    target(
        "studies",
        "page.md",
        "redelve study hamey -p xor -n 20 -T 60",
        "redelve proben1 rebuild glass1 -o new",
    ),
    target("studies", "page.md", "redelve proben1 download glass1 -s http://127.0.0.1:9"),
    target("tables", "d.csv", "redelve methods lin-1", "redelve csv demo", "redelve check-method constant"),
    target("challenge", "answers.zip", "redelve challenge submit answers.zip -s http://127.0.0.1:9"),
)
"""Commands that read no file of the scene, for mutated options."""
FURTHER: tuple[Target, ...] = (*SCORES, *STUDIES)
FURTHER_SCENES = {"scores": make_scores, "studies": make_studies}
