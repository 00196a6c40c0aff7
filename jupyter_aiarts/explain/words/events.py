"""What this machine did for a run, in Chinese, by the English template that its engine writes (`model.wording`)."""

from __future__ import annotations

EVENTS = {
    "Run {run} joined the queue of {host}.": "第 {run} 次运行进入 {host} 的队列。",
    "Given {cpus} CPUs.": "分得 {cpus} 个 CPU。",
    "Given {cpus} CPUs and {device} {cards}.": "分得 {cpus} 个 CPU 和 {device} {cards}。",
    "Node {node} started {count} ranks.": "节点 {node} 启动了 {count} 个 rank。",
    "Node {node}: {sentence}": "节点 {node}：{sentence}",
    "The run ended after {seconds} s: {result}.": "运行在 {seconds} 秒后结束：{result}。",
    "The run ended after {seconds} s: {result}. {sentence}": "运行在 {seconds} 秒后结束：{result}。{sentence}",
    "succeeded": "成功",
    "failed": "失败",
    "stopped": "已停止",
}
