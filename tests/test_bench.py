"""What the bench says where something that it measures is missing."""

from __future__ import annotations

from bench import peers


def test_a_library_that_is_not_installed_is_named_in_one_line_and_the_others_are_measured(
    tmp_path, capsys, monkeypatch
):
    def missing(path: str, text: str) -> peers.Operation:
        import no_such_library  # type: ignore[import-not-found]

        return no_such_library.step

    steps: list[str] = []
    monkeypatch.setattr(peers, "PEERS", {"Missing: a step": missing, "There: a step": lambda path, text: steps.clear})
    assert list(peers.each(str(tmp_path / "peers"), "x" * 10_000)) == ["There: a step"]
    said = capsys.readouterr().out.splitlines()
    assert said == ["  Missing: a step: not measured, no_such_library is not installed (make bench)"]
