"""What the machine has to offer a cluster, and what is said when it doesn't; needs no cluster."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cluster import build, cluster, control_plane
from tests.cluster.fixture import refuse
from tests.cluster.images import mirror_in
from tests.cluster.paths import Instance, Unavailable


def test_a_machine_that_cannot_run_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    monkeypatch.setattr(build, "SYSTEM", "")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(Unavailable) as caught:
        cluster.Cluster.start(print)
    said = str(caught.value)
    assert "root" in said and "(Debian: etcd-server)" in said and "Go 1.25 or newer, to build kube-apiserver" in said
    assert "\n" not in said


def test_tests_without_a_cluster_are_skipped_at_a_desk_and_fail_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="why"):
        refuse("why")
    monkeypatch.setenv("CI", "1")
    with pytest.raises(pytest.fail.Exception, match="why"):
        refuse("why")


def test_programs_of_a_test_environment_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "etcd").touch()
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    assert build.program("etcd") == tmp_path / "etcd"


def test_clusters_share_neither_folder_nor_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    def facts(index: str) -> set[str]:
        monkeypatch.setenv("AIARTS_CLUSTER_INSTANCE", index)
        found = Instance.current()
        return {found.name, str(found.folder), found.api_url, found.services, found.pods("node-a"), found.address(254)}

    assert not facts("0") & facts("1")


def test_the_mirror_is_read_from_either_form_of_the_package_sources() -> None:
    paragraphs = "Types: deb\nURIs: http://security/\nSuites: bookworm-security\nComponents: main\n\n"
    paragraphs += "Types: deb\n# old\nURIs: http://mirror/debian\nSuites: bookworm bookworm-updates\nComponents: main\n"
    assert mirror_in(paragraphs) == "http://mirror/debian"
    line = "deb [arch=amd64 signed-by=/k] http://other/ tool main\ndeb [trusted=yes] http://mirror/debian trixie main\n"
    assert mirror_in(line) == "http://mirror/debian"
    assert mirror_in("deb http://other/ tool main\n") is None


def test_of_an_audit_log_that_is_being_written_only_whole_lines_are_read(tmp_path: Path) -> None:
    log = tmp_path / "audit.log"
    lines = [b'{"verb":"get"}\n', b'{"verb":"list"}\n', b'{"verb":"watch"}\n']
    whole = b"".join(lines)
    for size in range(len(whole) + 1):
        log.write_bytes(whole[:size])
        for since in range(size + 1):
            starts = [sum(map(len, lines[:n])) for n in range(3)]
            there = [n for n in range(3) if starts[n] >= since and starts[n] + len(lines[n]) <= size]
            assert control_plane.audited(log, since) == [json.loads(lines[n]) for n in there]
