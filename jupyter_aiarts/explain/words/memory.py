"""Memory and shared memory that a failed program had too little of."""

from __future__ import annotations

from jupyter_aiarts.explain.words.program import AGAIN, LOG, said

TEXTS = {
    "shared-memory-full": said(
        "/dev/shm is full",
        "Shared memory ran out on node {node} (rank {rank}); it had {had_gb} GB. Data loaders pass their batches "
        "through it.",
        "/dev/shm 已满",
        "节点 {node}（进程 {rank}）的共享内存已用完；它有 {had_gb} GB。数据加载进程通过它传递数据。",
        ("Give it twice as much: {shm_gb} GB", "扩大一倍：{shm_gb} GB", {"shm_gb": "{shm_gb}"}),
        ("Or use fewer loader workers", "或减少数据加载进程数", None),
    ),
    "shared-memory-here": said(
        "/dev/shm is full",
        "Shared memory ran out on node {node} (rank {rank}). Data loaders pass their batches through it; its size is "
        "the machine's.",
        "/dev/shm 已满",
        "节点 {node}（进程 {rank}）的共享内存已用完。数据加载进程通过它传递数据；其大小由本机决定。",
        ("See what lies there", "查看占用情况", "df -h /dev/shm"),
        ("Use fewer loader workers", "减少数据加载进程数", None),
    ),
    "memory-here": said(
        "Out of memory",
        "Rank {rank} on node {node}, or a process that it started, wanted more memory than there was.",
        "内存不足",
        "节点 {node} 上的进程 {rank} 或它启动的进程需要的内存超过了可用量。",
        ("See who uses it", "查看占用者", "aiarts usage"),
        ("Use fewer loader workers or a smaller batch", "减少数据加载进程数或批大小", None),
    ),
    "memory-exceeded": said(
        "Out of memory on node {node}",
        "The kernel ended it, or a part of it: it used more memory than it had.",
        "节点 {node} 内存不足",
        "内核终止了它或其中一部分：使用的内存超过了可用量。",
        ("Ask for more memory, or use less", "申请更多内存，或减少使用", None),
        AGAIN,
    ),
    "memory-refused": said(
        "Out of memory",
        "Rank {rank} on node {node} asked for memory and got none; the job has {had_gb} GB per node.",
        "内存不足",
        "节点 {node} 上的进程 {rank} 申请内存被拒绝；任务每个节点有 {had_gb} GB。",
        ("Give it twice as much: {memory_gb} GB", "扩大一倍：{memory_gb} GB", {"memory_gb": "{memory_gb}"}),
        LOG,
    ),
    "memory-of-worker": said(
        "A data loader's worker was killed",
        "A worker of rank {rank} on node {node} was killed while rank {rank} itself lived on, as the kernel does when "
        "memory runs out; the job has {had_gb} GB per node.",
        "数据加载进程被终止",
        "节点 {node} 上进程 {rank} 的一个数据加载进程被终止，而进程 {rank} 本身仍在运行；内存用完时内核会这样做。"
        "任务每个节点有 {had_gb} GB。",
        ("Give it twice as much: {memory_gb} GB", "扩大一倍：{memory_gb} GB", {"memory_gb": "{memory_gb}"}),
        ("Or use fewer loader workers", "或减少数据加载进程数", None),
    ),
    "memory-killed-here": said(
        "Out of memory",
        "Rank {rank} on node {node} was killed, and the kernel counted {oom_kills} processes of this container that it "
        "ended for want of memory.",
        "内存不足",
        "节点 {node} 上的进程 {rank} 被终止，内核记录了该容器中 {oom_kills} 个因内存不足而被结束的进程。",
        ("See who uses it", "查看占用者", "aiarts usage"),
        ("Use fewer loader workers or a smaller batch", "减少数据加载进程数或批大小", None),
    ),
    "memory-killed-machine": said(
        "Out of memory",
        "Rank {rank} on node {node} was killed, and meanwhile the kernel ended {oom_kills} processes on this machine "
        "for want of memory.",
        "内存不足",
        "节点 {node} 上的进程 {rank} 被终止，同时内核因内存不足结束了这台机器上的 {oom_kills} 个进程。",
        ("See who uses it", "查看占用者", "aiarts usage"),
        ("Use fewer loader workers or a smaller batch", "减少数据加载进程数或批大小", None),
    ),
    "memory-killed": said(
        "Out of memory",
        "Rank {rank} on node {node} was killed, and the kernel counted {oom_kills} processes that it ended for want of "
        "memory; the job has {had_gb} GB per node.",
        "内存不足",
        "节点 {node} 上的进程 {rank} 被终止，内核记录了 {oom_kills} 个因内存不足而被结束的进程；任务每个节点有 "
        "{had_gb} GB。",
        ("Give it twice as much: {memory_gb} GB", "扩大一倍：{memory_gb} GB", {"memory_gb": "{memory_gb}"}),
        AGAIN,
    ),
    "out-of-memory": said(
        "Out of memory on node {node}",
        "The kernel ended it, or a part of it: it used more than the {had_gb} GB that it had.",
        "节点 {node} 内存不足",
        "内核终止了它或其中一部分：使用的内存超过了 {had_gb} GB。",
        ("Give it twice as much: {memory_gb} GB", "扩大一倍：{memory_gb} GB", {"memory_gb": "{memory_gb}"}),
        AGAIN,
    ),
}
