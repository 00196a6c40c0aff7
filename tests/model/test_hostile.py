"""Whatever a client sends, the answer is a spec or a refusal with keys: no other error, no secret."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_aiarts.errors import InvalidSpec
from jupyter_aiarts.model.foreign import from_dlc, recognise
from jupyter_aiarts.model.postjob import _KNOWN as POSTJOB_KEYS
from jupyter_aiarts.model.reading import read_spec
from jupyter_aiarts.model.spec import DEVICES, JobSpec
from jupyter_aiarts.model.templates import PRESETS, apply_template, new_template

texts = st.text(st.characters(), max_size=8)
leaves = st.none() | st.booleans() | st.integers() | st.floats() | texts
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts | st.integers(), inner, max_size=3),
    max_leaves=6,
)
keys = st.sampled_from([*JobSpec.__struct_fields__, "vc", "workspace_id", "endpoints"]) | texts
anything = st.dictionaries(keys, values, max_size=6)

plausible = st.fixed_dictionaries(
    {"script": st.text("abc./", min_size=1, max_size=8)},
    optional={
        "name": st.text("ab 训", min_size=1, max_size=5),
        "nodes": st.integers(1, 3),
        "device": st.sampled_from(DEVICES),
        "devices": st.sampled_from([0, 1, 2, 4, 8]),
        "params": st.dictionaries(st.text("ab", min_size=1), leaves | st.lists(leaves, max_size=2), max_size=3),
        "args": st.lists(leaves, max_size=3),
        "env": st.dictionaries(st.sampled_from(["A", "HF_TOKEN", "B_C", "RANK"]), leaves, max_size=3),
        "secret_env": st.dictionaries(st.sampled_from(["S", "T"]), st.text("xyz"), max_size=2),
        "cpu": st.floats(0, 4),
        "priority": st.integers(1, 9),
        "queue": st.text("ab", min_size=1) | st.integers(0, 9),
        "cluster": st.sampled_from(["local", "k"]),
        "mounts": st.lists(st.fixed_dictionaries({"source": texts, "target": texts}), max_size=1),
    },
)


def outcome(act: Any, *given: Any) -> Any:
    """The result, or None after a refusal that can be sent as an answer."""
    try:
        return act(*given)
    except InvalidSpec as refusal:
        body = json.loads(json.dumps(refusal.as_dict()).encode())
        assert body["problems"]
        assert all(problem["message"].endswith((".", "?")) for problem in body["problems"])
        assert all(set(problem) == {"key", "message"} for problem in body["problems"])
        msgspec.json.encode(refusal.as_dict())
        return None


@settings(max_examples=150)
@given(anything | plausible)
def test_a_spec_is_read_or_refused(raw: dict[Any, Any]) -> None:
    """What was read can be written, is read back the same, and holds no value of a secret."""
    reading = outcome(read_spec, raw)
    if reading is None:
        return
    written = msgspec.json.encode(reading.spec)
    assert msgspec.json.decode(written, type=JobSpec) == reading.spec
    again = read_spec(json.loads(written), known_secrets=reading.spec.secret_env)
    assert again.spec == reading.spec
    assert set(reading.secrets) == set(reading.spec.secret_env)


@settings(max_examples=100)
@given(st.dictionaries(st.sampled_from(sorted(POSTJOB_KEYS)) | texts, values, max_size=6))
def test_a_postjob_body_is_mapped_or_refused(body: dict[str, Any]) -> None:
    mapped = outcome(recognise, {"jobName": "t", **body})
    if mapped is not None:
        outcome(read_spec, mapped.spec)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.sampled_from(["name", "command", "worker_gpu", "envs", "kind", "x"]), texts), max_size=5))
def test_a_params_file_is_mapped_or_refused(lines: list[tuple[str, str]]) -> None:
    mapped = outcome(from_dlc, "\n".join(f"{key}={value}" for key, value in lines))
    if mapped is not None:
        outcome(read_spec, mapped.spec)


@settings(max_examples=100)
@given(anything, st.sampled_from(sorted(PRESETS)))
def test_a_template_is_made_or_refused_and_applies_to_anything(raw: dict[Any, Any], preset: str) -> None:
    outcome(read_spec, apply_template(PRESETS[preset], raw))
    template = outcome(new_template, "mine", raw)
    if template is not None:
        assert "secret_env" not in template.spec
        outcome(read_spec, apply_template(template, {"script": "t.py"}))
