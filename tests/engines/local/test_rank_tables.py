"""A local job on Ascend cards: its rank table is in the run's folder, and what is missing is said."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

from jupyter_aiarts.engines.base import Engine
from jupyter_aiarts.model.phase import Phase
from tests.engines.conftest import Submit, Until

SHOW = """
import json, os
names = ("RANK_ID", "RANK_SIZE", "DEVICE_ID", "ASCEND_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES")
print(json.dumps([[os.environ[name] for name in names], json.load(open(os.environ["RANK_TABLE_FILE"]))]))
"""


async def test_two_cards_have_a_table_and_a_warning(
    engine: Engine, submit: Submit, until: Until, text_of: Callable[..., Awaitable[list[str]]]
) -> None:
    job = await submit(SHOW, device="huawei_npu_arm64", devices=2, processes="card", rank_table="lab")
    assert (await until(job.id)).phase is Phase.SUCCEEDED
    said = sorted(json.loads(text) for text in await text_of(job.id))
    assert [one[0] for one in said] == [["0", "2", "0", "0,1", "0,1"], ["1", "2", "1", "0,1", "0,1"]]
    table = said[0][1]
    assert said[1][1] == table and table["deploy_mode"] == "lab"
    listed = table["group_list"][0]["instance_list"]
    assert [(one["rank_id"], one["devices"][0]["device_id"]) for one in listed] == [("0", "0"), ("1", "1")]
    assert str((await engine.environment(job.id, None, 0))["RANK_TABLE_FILE"]).endswith("/hccl_ms.json")
    warnings = [event.message for event in await engine.events(job.id, None) if event.type == "Warning"]
    assert any("no IP address is known for card 0, 1" in text and "hccn_tool -i 0" in text for text in warnings)
