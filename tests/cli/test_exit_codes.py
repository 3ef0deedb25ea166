"""What the command says and how it ends, with a stand-in for the engine."""

from __future__ import annotations

import io
import json
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.cli.conftest import FakeApi
from tests.report.findings import make_finding
from torchlint.cli import main
from torchlint.diagnostics import InternalError, Note, Report, Severity

Capture = pytest.CaptureFixture[str]


def report_of(*severities: Severity) -> Report:
    return Report(tuple(make_finding(severity=severity) for severity in severities), files=("train.py",))


@pytest.mark.parametrize(
    ("severities", "options", "code"),
    [
        ([], [], 0),
        ([Severity.INFO], [], 0),
        ([Severity.WARNING], [], 1),
        ([Severity.INFO, Severity.ERROR], [], 1),
        ([Severity.WARNING], ["--fail-on", "error"], 0),
        ([Severity.ERROR], ["--fail-on", "error"], 1),
        ([Severity.INFO], ["--fail-on", "info"], 1),
        ([Severity.ERROR], ["--exit-zero"], 0),
    ],
)
def test_findings_decide(api: FakeApi, severities: list[Severity], options: list[str], code: int) -> None:
    api.report = report_of(*severities)
    assert main(["check", *options]) == code


def test_fail_on_comes_from_the_configuration_of_the_finding(api: FakeApi) -> None:
    strict = Path("strict")
    strict.mkdir()
    (strict / "torchlint.toml").write_text('fail-on = "info"')
    api.report = Report((make_finding("a.py", severity=Severity.INFO),))
    assert main(["check"]) == 0
    api.report = Report((make_finding("strict/a.py", severity=Severity.INFO),))
    assert main(["check"]) == 1


def test_a_clean_run(api: FakeApi, capsys: Capture) -> None:
    assert main(["check"]) == 0
    assert capsys.readouterr() == ("No findings in 1 file.\n", "")
    assert api.asked[0][0] == (Path(),)


def test_findings_go_to_stdout_and_notes_to_stderr(api: FakeApi, capsys: Capture) -> None:
    notes = (Note("is larger than 2 000 000 bytes", "big.py"), Note("rule off"))
    api.report = Report((make_finding(),), notes=notes, files=("train.py",))
    assert main(["check"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("train.py:3:5: TL101 ")
    assert err == "note: big.py: is larger than 2 000 000 bytes\nnote: rule off\n"


def test_nothing_to_check_is_said_and_no_failure(api: FakeApi, capsys: Capture) -> None:
    api.report = Report(())
    assert main(["check"]) == 0
    assert capsys.readouterr() == ("", "note: nothing to check: no Python file or notebook found\n")


def test_nothing_to_check_is_still_json(api: FakeApi, capsys: Capture) -> None:
    api.report = Report(())
    assert main(["check", "--output-format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_a_missing_path_is_reported_and_the_others_checked(api: FakeApi, capsys: Capture) -> None:
    Path("here.py").touch()
    assert main(["check", "gone.py", "here.py", "--exit-zero"]) == 2
    assert api.asked[0][0] == (Path("here.py"),)
    assert capsys.readouterr().err == "error: gone.py: no such file or folder\n"


def test_only_missing_paths(api: FakeApi, capsys: Capture) -> None:
    assert main(["check", "gone.py", "nul\0.py"]) == 2
    assert not api.asked
    assert capsys.readouterr().out == ""


def test_an_internal_error_is_one_line_naming_check_and_file(api: FakeApi, capsys: Capture) -> None:
    api.report = Report((), internal_errors=(InternalError("scatter", "a.py", "KeyError:\n 'x'"),), files=("a.py",))
    assert main(["check", "--exit-zero"]) == 2
    assert capsys.readouterr() == ("", "error: internal: check `scatter` broke on a.py: KeyError: 'x'\n")


def test_a_crash_is_one_line(api: FakeApi, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    api.failure = ZeroDivisionError("by\nzero")
    assert main(["check"]) == 2
    assert capsys.readouterr().err.startswith("error: internal: ZeroDivisionError: by zero (")
    monkeypatch.setenv("TORCHLINT_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["check"])


def test_interruption(api: FakeApi, capsys: Capture) -> None:
    api.failure = KeyboardInterrupt()
    assert main(["check"]) == 130
    assert capsys.readouterr() == ("", "interrupted\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--frob"], "error: no such option `--frob` (`torchlint check --help` shows what there is)"),
        (["--output-format", "xml"], "error: --output-format: unknown value `xml` (choose from full, gcc, "),
        (["--fail-on", "never"], "error: --fail-on: unknown value `never` (choose from error, warning, info)"),
        (["--jobs", "0"], "error: --jobs: 0 is not in the range"),
        (["--select", "TL999"], "error: --select: unknown rule `TL999`"),
        (["--select", ","], "error: --select: names nothing"),
        (["--devices", "gpux"], "choose from cuda, rocm, cpu, mps, xpu"),
        (["--devices", "gpu"], "--devices: unknown value `gpu`; did you mean `cuda`?"),
        (["--devices", "hip"], "did you mean `rocm`?"),
        (["--fail-on", "warn"], "; did you mean `warning`?"),
        (["--output-format", "sarf"], "; did you mean `sarif`?"),
        (["--also", "sarf:out"], "; did you mean `sarif`?"),
        (["--assume", "luck"], "--assume: unknown value `luck` (choose from deterministic)"),
        (["--torch", "new"], "--torch: `new` is not a torch version"),
        (["--config", "gone.toml"], "error: --config: file `gone.toml` does not exist"),
        (["--config", "a.toml", "--isolated"], "error: --config and --isolated exclude each other"),
        (["--stdin-filename", "a.py"], "error: --stdin-filename needs `-` among the paths"),
        (["--fixes"], "error: no such option `--fixes`"),
        (["--slect", "TL1"], "error: no such option `--slect`; did you mean `--select`?"),
        (["--torch"], "error: option `--torch` requires an argument"),
        (["--also", "out"], "error: --also: `out` is not FORMAT:FILE, such as sarif:out.sarif"),
    ],
)
@pytest.mark.usefixtures("api")
def test_wrong_usage(capsys: Capture, arguments: list[str], message: str) -> None:
    Path("a.toml").touch()
    assert main(["check", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1


@pytest.mark.usefixtures("api")
def test_a_configuration_error(capsys: Capture) -> None:
    Path("torchlint.toml").write_text("selct = []")
    assert main(["check"]) == 2
    assert "torchlint.toml: `selct`: unknown key; did you mean `select`?" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["check"], ["verify", "--dry-run"]], ids=" ".join)
def test_a_wrong_table_of_a_target_is_one_note(
    arguments: list[str], capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("import torch\n")
    Path("torchlint.toml").write_text("[verify.'pkg:UNet']\ninputs = ['flot32[2]']")
    assert main(arguments) == 0
    assert capsys.readouterr().err.count('`verify."pkg:UNet".inputs[0]`: `flot32[2]` is neither') == 1


@pytest.mark.parametrize(("word", "meant"), [("chek", "check"), ("audti", "audit"), ("operator", "operators")])
def test_a_mistyped_command(word: str, meant: str, capsys: Capture) -> None:
    assert main([word]) == 2
    assert f"error: no such command `{word}`; did you mean `{meant}`?" in capsys.readouterr().err


def test_an_unknown_command_that_resembles_none(capsys: Capture) -> None:
    assert main(["deploy"]) == 2
    assert capsys.readouterr().err == "error: no such command `deploy` (`torchlint --help` shows what there is)\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rule"], "error: missing argument `CODE|NAME` (`torchlint rule --help` shows what there is)"),
        (["rules", "x"], "error: got unexpected extra argument (x) (`torchlint rules --help` shows what there is)"),
        (["verify", "--"], "error: after -- stands the command to run, such as python train.py"),
        (["verify", "--memory", "x"], "error: --memory: `x` is no size such as 4G or 512M"),
        (["verify", "--device", "rocm"], "did you mean `cuda`? (torch calls ROCm devices cuda)"),
        (["verify", "--device", "gpu"], "error: --device: unknown value `gpu`; did you mean `cuda`? (choose from "),
        (["baseline", "gone", "lost.py"], "error: gone: no such file or folder\nerror: lost.py: no such file"),
        (["audit", "gone"], "error: gone: no such file or folder\n"),
        (["verify", "gone"], "error: gone: no such file or folder\n"),
        (["operators", "foo"], "error: no operator `foo` in the registry (`torchlint operators` lists them)\n"),
        (["rule", "TL999"], "error: unknown rule `TL999` (`torchlint rules` lists them)\n"),
        (["completion", "tcsh"], "unknown value `tcsh` (choose from bash, zsh, fish)"),
        (["--foo"], "error: no such option `--foo` (`torchlint --help` shows what there is)\n"),
        (["--select", "TL1", "a.py"], "error: no such option `--select`; did you mean `torchlint check --select`?\n"),
    ],
)
def test_every_command_says_its_errors_in_one_way(arguments: list[str], said: str, capsys: Capture) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert all(line.startswith("error: ") for line in err.splitlines())


def test_the_help_of_completion_shows_a_line_for_each_shell(capsys: Capture) -> None:
    assert main(["completion", "--help"]) == 0
    shown = capsys.readouterr().out.splitlines()
    for shell in ("bash", "zsh", "fish"):
        assert [line for line in shown if line.startswith(f"  {shell} ") and f"torchlint completion {shell}" in line]
    assert not any("\\b" in line for line in shown)


@pytest.mark.parametrize("word", ["src", "src/", "train.py", "gone.py", "nb.ipynb", "-", ".", "../src"])
@pytest.mark.usefixtures("api")
def test_a_forgotten_subcommand(word: str, capsys: Capture) -> None:
    Path("src").mkdir()
    Path("train.py").touch()
    assert main([word]) == 2
    assert capsys.readouterr().err == f"error: no such command `{word}`; did you mean `torchlint check {word}`?\n"


def test_lists_are_comma_separated_and_repeatable(api: FakeApi) -> None:
    main(["check", "--select", "TL1,unset-mode", "--select", " ALL ,", "--ignore=TL101", "--devices", "cpu,mps"])
    assert api.overrides.select == ("TL1", "unset-mode", "ALL")
    assert api.overrides.ignore == ("TL101",)
    assert api.overrides.devices == ("cpu", "mps")
    assert api.overrides.extend_select == ()
    main(["check"])
    assert api.overrides.select is None


def test_options_reach_the_engine(api: FakeApi) -> None:
    Path("o.toml").touch()
    main(
        shlex.split(
            "check --extend-select TL110 --extend-ignore TL1 --exclude a --extend-exclude b --force-exclude "
            "--torch 2.6 --assume deterministic --min-severity error --min-confidence low --isolated-facts "
            "--config o.toml --jobs 3 --no-cache"
        )
    )
    _, options, _ = api.asked[0]
    assert (options.config, options.isolated, options.jobs) == (Path("o.toml"), False, 3)
    given = options.overrides
    assert (given.extend_select, given.extend_ignore) == (("TL110",), ("TL1",))
    assert (given.exclude, given.extend_exclude, given.force_exclude) == (("a",), ("b",), True)
    assert (given.torch, given.assume_deterministic, given.isolated_facts) == ("2.6", True, True)
    assert given.min_severity is Severity.ERROR


@pytest.mark.parametrize(("options", "name"), [([], "<stdin>"), (["--stdin-filename", "a/b.py"], "a/b.py")])
def test_standard_input(api: FakeApi, monkeypatch: pytest.MonkeyPatch, options: list[str], name: str) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"\xff\n"), isatty=lambda: False))
    assert main(["check", "-", *options]) == 0
    paths, _, contents = api.asked[0]
    assert paths == (Path(name),)
    assert contents == {Path(name): b"\xff\n"}


def test_show_files(api: FakeApi, capsys: Capture) -> None:
    for name in ("b.py", "a.py"):
        Path(name).touch()
    assert main(["check", "--show-files"]) == 0
    assert capsys.readouterr().out == "a.py\nb.py\n"
    assert not api.asked


def test_colour_is_for_terminals(api: FakeApi, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    api.report = report_of(Severity.ERROR)
    main(["check"])
    assert "\x1b" not in capsys.readouterr().out
    monkeypatch.setenv("FORCE_COLOR", "1")
    main(["check"])
    assert "\x1b[" in capsys.readouterr().out
    main(["check", "--output-format", "json"])
    assert "\x1b" not in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    main(["check"])
    assert "\x1b" not in capsys.readouterr().out


def test_full_shows_the_reason_of_the_catalogue(api: FakeApi, capsys: Capture) -> None:
    api.report = report_of(Severity.WARNING)
    main(["check", "--output-format", "full"])
    assert "  why:  It varies. And more.\n" in capsys.readouterr().out


def test_statistics(api: FakeApi, capsys: Capture) -> None:
    api.report = report_of(Severity.WARNING, Severity.WARNING)
    assert main(["check", "--statistics"]) == 1
    assert (
        capsys.readouterr().out == "2 TL101 nondeterministic-operator\n\n2 findings (2 warnings; all fail the run).\n"
    )
    main(["check", "--statistics", "--output-format", "json"])
    assert json.loads(capsys.readouterr().out) == [{"code": "TL101", "name": "nondeterministic-operator", "count": 2}]


def test_rule_pages(api: FakeApi, capsys: Capture) -> None:
    del api
    assert main(["rule", "tl101"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("TL101 nondeterministic-operator\n")
    assert "\nUse instead\n    good()\n" in page
    assert main(["rule", "unset-mode", "--output-format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["code"] == "TL201"
    assert main(["rule", "TL301"]) == 0
    assert "planned: this rule cannot be selected" in capsys.readouterr().out
    assert main(["rule", "unset-mod"]) == 2
    assert "did you mean `unset-mode`?" in capsys.readouterr().err


def test_rules_are_listed(api: FakeApi, capsys: Capture) -> None:
    del api
    assert main(["rules"]) == 0
    out = capsys.readouterr().out
    assert "TL101 * nondeterministic-operator  The summary of nondeterministic-operator.\n" in out
    assert "(planned)\n" in out
    assert main(["rules", "--output-format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 8
