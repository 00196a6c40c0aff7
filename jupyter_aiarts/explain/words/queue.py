"""What is not as it should be with a queue, and who took a job's place in one."""

from __future__ import annotations

from jupyter_aiarts.explain.words.text import Text, Words

TEXTS = {
    "queued-unseen": Text(  # queued, in a queue of which Kueue says nothing yet
        Words(
            "Waiting for Kueue",
            "Kueue has not taken it into the queue {queue} yet: it is busy, or away for a moment. Nothing is lost; the "
            "job goes on by itself.",
        ),
        Words("等待 Kueue", "Kueue 尚未将它放入队列 {queue}：可能正忙，或暂时离线。不会丢失，任务会自动继续。"),
    ),
    "queue-gone": Text(
        Words(
            "The queue {queue} is gone",
            "It was deleted while {count} jobs wait in it. They start when it is made again, or in another queue.",
            (("Move a job to another queue", "aiarts edit {job} queue=OTHER"), ("Ask the admin of the cluster", None)),
        ),
        Words(
            "队列 {queue} 已不存在",
            "它被删除时仍有 {count} 个任务在等待。重新创建该队列，或改用其他队列后，任务会启动。",
            (("将任务移到其他队列", "aiarts edit {job} queue=OTHER"), ("联系集群管理员", None)),
        ),
    ),
    "quota-below-use": Text(
        Words(
            "The quota of {whose} was lowered below what is in use",
            "{used} of {resource} are in use and the quota is {quota}. What runs goes on; nothing new starts before "
            "enough of it has ended.",
        ),
        Words(
            "{whose} 的配额被调低到使用量以下",
            "{resource} 已使用 {used}，而配额为 {quota}。运行中的任务不受影响；足够多的任务结束之前，不会启动新任务。",
        ),
    ),
    "kueue-away": Text(
        Words(
            "Kueue does not answer",
            "Queues are shown as they were last seen. Jobs that run go on, those that wait keep their places.",
            (("Ask the admin of the cluster, if it lasts", None),),
        ),
        Words(
            "Kueue 没有响应",
            "显示的是最后一次看到的队列。运行中的任务不受影响，等待中的任务保留排位。",
            (("如持续如此，请联系集群管理员", None),),
        ),
    ),
    "preempted-by": Text(  # preempted, by a job that may be seen
        Words(
            "Its place was taken by {by}",
            "The job {by} ({by_id}) came first for the quota; this one starts again by itself when there is room. That "
            "is not counted as a restart.",
            (("See the other one", "aiarts show {by_id}"),),
        ),
        Words(
            "资源被任务 {by} 抢占",
            "任务 {by}（{by_id}）优先获得了配额；有空闲时本任务会自动重新开始，不计入重启次数。",
            (("查看对方任务", "aiarts show {by_id}"),),
        ),
    ),
    "preempted-on-node": Text(  # preempted by the scheduler, not by Kueue, for a job that may be seen
        Words(
            "Its place on {node} was taken by {by}",
            "The job {by} ({by_id}) has a higher priority and needed the node; this one starts again by itself when "
            "there is room. That is not counted as a restart.",
            (("See the other one", "aiarts show {by_id}"),),
        ),
        Words(
            "在 {node} 上的资源被任务 {by} 抢占",
            "任务 {by}（{by_id}）优先级更高，需要该节点；有空闲时本任务会自动重新开始，不计入重启次数。",
            (("查看对方任务", "aiarts show {by_id}"),),
        ),
    ),
    "preempted-queue": Text(  # preempted, by a job that may not be seen
        Words(
            "Its place was taken",
            "Another job of the cluster queue {by_queue}, which cannot be seen from here, came first for the quota; "
            "this one starts again by itself when there is room. That is not counted as a restart.",
        ),
        Words(
            "资源被抢占",
            "集群队列 {by_queue} 的另一个任务（在这里无法查看）优先获得了配额；有空闲时本任务会自动重新开始，"
            "不计入重启次数。",
        ),
    ),
}
