"""When a job is expected to start, and on what that is based, as a sentence in the reader's language."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_aiarts.model.expected import Band

BASES: dict[str, tuple[str, str]] = {
    "limits": (
        "{ahead} jobs ahead of it and {running} that run have declared time limits, and may end earlier",
        "前面的 {ahead} 个任务和正在运行的 {running} 个任务都声明了时限，也可能提前结束",
    ),
    "observed": (
        "the middle half of the last {seen} finished jobs took {low} to {high} minutes; {ahead} jobs are ahead of it "
        "and {running} run",
        "最近 {seen} 个已结束任务中，中间一半用时 {low} 到 {high} 分钟；前面有 {ahead} 个任务，正在运行 {running} 个",
    ),
    "limits-observed": (
        "by declared time limits, and by the last {seen} finished jobs, the middle half of which took {low} to {high} "
        "minutes; {ahead} jobs are ahead of it and {running} run",
        "根据声明的时限，以及最近 {seen} 个已结束任务（中间一半用时 {low} 到 {high} 分钟）；前面有 {ahead} 个任务，"
        "正在运行 {running} 个",
    ),
    "rate": (
        "{ahead} jobs are ahead of it; of the last {seen} times that one started after another, the middle half were "
        "{low} to {high} minutes apart",
        "前面有 {ahead} 个任务；最近 {seen} 次相邻启动中，中间一半相隔 {low} 到 {high} 分钟",
    ),
}


def basis_text(band: Band, lang: str) -> str:
    """What the band is based on, as a part of a sentence."""
    values = {name: f"{value:g}" if isinstance(value, float) else value for name, value in band.values.items()}
    return BASES[band.basis][lang == "zh"].format_map(values)


def expected_text(band: Band, lang: str) -> str:
    """The whole sentence, for the evidence of an explanation."""
    first, last = (moment[:16].replace("T", " ") for moment in (band.earliest, band.latest))
    if lang == "zh":
        return f"预计在 {first} 至 {last} UTC 之间启动：{basis_text(band, lang)}。若有更高优先级的任务到来则会更晚。"
    return (
        f"Expected to start between {first} and {last} UTC: {basis_text(band, lang)}. Jobs with a higher priority that "
        "come meanwhile make it later."
    )
