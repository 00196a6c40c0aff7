"""The doctors' sentences in Chinese, each by the English one that it says.

The rules are the launcher's, which travels with every job and speaks English; so the other language is here, and a
sentence is known by its form: `{value}` stands for what was put in. What has no form here stays as it is.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Dict, List, Pattern, Tuple

LONGEST = 2000  # characters of a sentence that are looked at

_VALUES: Tuple[Tuple[str, str], ...] = (
    ("an object", "一个对象"),
    ("a list", "一个列表"),
    ("the number {n}", "数字 {n}"),
    ("none", "无"),
    ("servers", "个服务器"),
    ("cards", "张卡"),
    ("groups", "个组"),
    ("instances", "个实例"),
    ("different server_ids", "个不同的 server_id"),
)
_TABLE: Tuple[Tuple[str, str], ...] = (
    # the file
    ("has more than {size} MB, and no rank table is that large", "超过 {size} MB，rank table 不会这么大"),
    ("holds more than any cluster has cards", "内容比任何集群的卡都多"),
    ("name the rank table's own file", "请指定 rank table 文件本身"),
    ("begins with a byte order mark", "以字节顺序标记（BOM）开头"),
    ("save it as UTF-8 without BOM", "保存为不带 BOM 的 UTF-8"),
    ("is not UTF-8 text (byte {at})", "不是 UTF-8 文本（第 {at} 字节）"),
    ("save it as UTF-8", "保存为 UTF-8"),
    ("is empty", "为空"),
    ("make it again with `aiarts ranktable`", "用 `aiarts ranktable` 重新生成"),
    (
        "is no JSON at line {line}, column {column}, where a comment stands",
        "第 {line} 行第 {column} 列是注释，不是 JSON",
    ),
    ("take comments out: JSON has none", "去掉注释：JSON 没有注释"),
    ("is no JSON at line {line}, column {column} ({why})", "第 {line} 行第 {column} 列不是 JSON（{why}）"),
    ("correct it there", "在该处改正"),
    ("holds {word}, which is no JSON", "含有 {word}，不是 JSON"),
    ("is nested too deeply for a rank table", "嵌套过深，不像 rank table"),
    ("lists no card", "没有列出任何卡"),
    ('begin it with { "status": … }', '以 { "status": … } 开头'),
    ("is missing, so HCCL looks for group_list", "缺失，因此 HCCL 会去找 group_list"),
    (
        'is "2.0", the form of Atlas 350, 850 and 950 boards, which is not checked here',
        '是 "2.0"，即 Atlas 350、850、950 的格式，这里不做检查',
    ),
    ("trust the operator that wrote it", "以生成它的 operator 为准"),
    ("is {value}, which HCCL does not know", "是 {value}，HCCL 不认识"),
    (
        'write "version": "1.0" if it has server_list, take the key out if it has group_list',
        '有 server_list 时写 "version": "1.0"，有 group_list 时去掉该键',
    ),
    ("is {path}, which does not end in .json", "是 {path}，不以 .json 结尾"),
    ("rename the file to {name}.json", "将文件改名为 {name}.json"),
    ("is {path}, which has .json twice", "是 {path}，其中 .json 出现了两次"),
    ("move the file to a path with .json at its end only", "将文件移到只在末尾含 .json 的路径"),
    ("has more mistakes than the {count} above", "除以上 {count} 处外还有更多错误"),
    ("correct these first, then check again", "先改正这些，再检查一次"),
    # fields
    ("is {value}, and HCCL reads strings only", "是 {value}，而 HCCL 只读取字符串"),
    ('write "{key}": "{value}"', '写成 "{key}": "{value}"'),
    ("write a text in double quotes", "写成双引号中的文本"),
    ("write the name that it stands for", "写上它所代表的名称"),
    ("has {count} characters, and HCCL takes at most {most}", "有 {count} 个字符，HCCL 最多接受 {most} 个"),
    ("shorten it", "缩短它"),
    ("is {value}, which is no whole number from 0", "是 {value}，不是从 0 开始的整数"),
    ('write digits, for instance "{key}": "0"', '写成数字，例如 "{key}": "0"'),
    ('is "{value}", but the file has {count} {what}', '是 "{value}"，但文件中有 {count} {what}'),
    ("is {value}, which is already the {key} of {other}", "是 {value}，已经是 {other} 的 {key}"),
    ("give every entry its own", "每一项各用一个"),
    ("list the cards of one machine in one entry", "同一台机器的卡列在同一项中"),
    ("is {value}, not a list", "是 {value}，不是列表"),
    ("write [ … ] around its entries", "用 [ … ] 括起各项"),
    ("is an empty list", "是空列表"),
    ("write at least one entry", "至少写一项"),
    ("is {value}, not an object", "是 {value}，不是对象"),
    ('write { "key": "value" … }', '写成 { "key": "value" … }'),
    ("is missing", "缺失"),
    ("rename {near} to {key}", "将 {near} 改名为 {key}"),
    ('add "{key}"', '添加 "{key}"'),
    ('add "{key}": "{value}"', '添加 "{key}": "{value}"'),
    ("is written twice in the same object", "在同一个对象中写了两次"),
    ("keep one {key}", "只保留一个 {key}"),
    # status
    (
        'is "initializing", so HCCL waits up to 30 minutes for it',
        '是 "initializing"，HCCL 最多会等待 30 分钟',
    ),
    (
        "wait until its controller has filled it in, or look why that controller does not run",
        "等待控制器填写，或查看该控制器为何没有运行",
    ),
    ('is {value}, and HCCL waits for "completed"', '是 {value}，而 HCCL 在等待 "completed"'),
    ('write "status": "completed" once the table is whole', '表填写完整后写 "status": "completed"'),
    # ranks
    ('is "{rank}", which {other} has already', '是 "{rank}"，{other} 已经使用'),
    ('is "{rank}", but {count} cards have ranks 0 to {last}', '是 "{rank}"，但 {count} 张卡的 rank 是 0 到 {last}'),
    ('write "rank_id": "{rank}", which is missing', '写成缺少的 "rank_id": "{rank}"'),
    ("count from 0 without gaps", "从 0 开始连续编号"),
    (
        "is {value}, which is no pod_name of this table ({pods})",
        "是 {value}，不是该表中的 pod_name（{pods}）",
    ),
    (
        "set RANK_ID to the pod_name, or use a table with rank_id (version 1.0)",
        "将 RANK_ID 设为 pod_name，或使用带 rank_id 的表（1.0 版）",
    ),
    ("is {value}, and this form of table wants a number", "是 {value}，而这种格式的表要求数字"),
    ("set it to 0 … {last}", "设为 0 … {last}"),
    ("is {value}, but the table has ranks 0 to {last}", "是 {value}，但表中的 rank 是 0 到 {last}"),
    (
        "start as many processes as the table has cards, or make a larger table",
        "启动的进程数应与表中的卡数相同，或生成更大的表",
    ),
    # cards
    ('is "{card}", which {other} of the same server has already', '是 "{card}"，同一服务器的 {other} 已经使用'),
    ("list every card once", "每张卡只列一次"),
    ('is "{card}", which no card has', '是 "{card}"，没有这样的卡'),
    ('is "{card}", which no card has in this form', '是 "{card}"，这种格式中没有这样的卡'),
    ("write the card's physical id, 0 to {last}", "写卡的物理编号，0 到 {last}"),
    ("has {count} cards, and a rank has one", "有 {count} 张卡，而一个 rank 只有一张"),
    ("write an instance with its own rank_id for every card", "每张卡写一个带自己 rank_id 的实例"),
    (
        "lists {cards} cards on {servers} servers, and HCCL wants 1, 2, 4, 8 or 16 on each",
        "在 {servers} 个服务器上列出 {cards} 张卡，而 HCCL 要求每个服务器 1、2、4、8 或 16 张",
    ),
    ("list as many cards of every server", "每个服务器列出同样多的卡"),
    ("names a card twice", "同一张卡写了两次"),
    ("name each card once", "每张卡只写一次"),
    (
        "has {count} cards, and an Ascend 910 server trains on 1, 2, 4 or 8",
        "有 {count} 张卡，而 Ascend 910 服务器用 1、2、4 或 8 张卡训练",
    ),
    ("take {few} or {many} cards", "取 {few} 张或 {many} 张卡"),
    ("mixes cards of both rings of the board, 0-3 and 4-7", "混用了板上两个环（0-3 与 4-7）的卡"),
    ("take all cards from one ring", "所有卡取自同一个环"),
    (
        "has {count} cards, and with several servers each one has all {board}",
        "有 {count} 张卡，而多个服务器时每个都要用全部 {board} 张",
    ),
    ("list the {board} cards of {server}", "列出 {server} 的 {board} 张卡"),
    ("names {count} servers, and HCCL connects at most {most}", "列出 {count} 个服务器，HCCL 最多连接 {most} 个"),
    ("use fewer servers", "减少服务器"),
    ('is "{card}", but the process opened card {opened}', '是 "{card}"，但进程打开的是卡 {opened}'),
    (
        "start this rank on card {card}, or write the card that it opens",
        "在卡 {card} 上启动该 rank，或写上它打开的卡",
    ),
    ('is "{card}", but the cards of this machine are {cards}', '是 "{card}"，但本机的卡是 {cards}'),
    ("list cards that are there", "列出实际存在的卡"),
    # addresses
    ("is missing, and cards of different servers meet over it", "缺失，而不同服务器的卡要靠它互连"),
    (
        "write what `hccn_tool -i {card} -ip -g` says on its host",
        "写上在其主机执行 `hccn_tool -i {card} -ip -g` 的结果",
    ),
    ("is {value}, which is no IP address", "是 {value}，不是 IP 地址"),
    ("write the card's own IP address", "写该卡自己的 IP 地址"),
    (
        "write the card's own IP address, or leave the key out: one server needs none",
        "写该卡自己的 IP 地址，或去掉该键：单个服务器不需要",
    ),
    ("is {ip}, as is {other}'s", "是 {ip}，与 {other} 的相同"),
    ("give every card its own address", "每张卡各用一个地址"),
    ("is IPv6 where {other}'s is IPv4", "是 IPv6，而 {other} 的是 IPv4"),
    ("use one kind of address for all cards", "所有卡使用同一种地址"),
    ("has more addresses than {other}'s", "的地址比 {other} 的多"),
    ("give every card as many", "每张卡的地址数量应相同"),
    (
        "write the host's IP address, or take host_ip out of every server",
        "写主机的 IP 地址，或去掉每个服务器的 host_ip",
    ),
    (
        "is missing, but {other} has one, and HCCL wants it on all servers or on none",
        "缺失，但 {other} 有；HCCL 要求所有服务器都有或都没有",
    ),
    ("take host_ip out of every server", "去掉每个服务器的 host_ip"),
    ("write the backup port's address, or leave it out", "写备用端口的地址，或去掉它"),
    ('is "{port}", which is no port', '是 "{port}"，不是端口'),
    ("write 1 to 65535, or leave it out", "写 1 到 65535，或去掉它"),
    ("is {value}, which HCCL refuses", "是 {value}，HCCL 会拒绝"),
    ('write "para_plane_nic_location": "device"', '写成 "para_plane_nic_location": "device"'),
    # super pods
    ("is {value}, which server_list does not have", "是 {value}，server_list 中没有"),
    ("write a server_id that server_list has", "写 server_list 中有的 server_id"),
    ("is {value}, which {other} has already", "是 {value}，{other} 已经使用"),
    ("leave every server in one super pod only", "每个服务器只放在一个超节点中"),
    ("stands in no super pod", "不在任何超节点中"),
    ("add {server} to the server_list of one super pod", "将 {server} 加入一个超节点的 server_list"),
    ("have {sizes} servers, and HCCL wants as many in each", "分别有 {sizes} 个服务器，而 HCCL 要求数量相同"),
    ("spread the servers evenly", "平均分配服务器"),
    ("is {value}, as in {other} of the same super pod", "是 {value}，与同一超节点的 {other} 相同"),
    ("give every card of a super pod its own", "同一超节点内每张卡各用一个"),
)
_HERE: Tuple[Tuple[str, str], ...] = (
    # this machine and this file
    ("{path} is a link to {target}, which does not exist", "{path} 是指向 {target} 的链接，而后者不存在"),
    ("{path} cannot be entered: permission denied", "无权进入 {path}"),
    ("{folder} has no {name}; it has {near}", "{folder} 中没有 {name}；有 {near}"),
    ("{folder} has no {name}", "{folder} 中没有 {name}"),
    ("{path} is a folder: name the table in it", "{path} 是文件夹：请指定其中的表"),
    ("{path} is no plain file: copy the table into one", "{path} 不是普通文件：请将表复制到普通文件"),
    (
        "you cannot read {path}: change its mode, as every rank reads it",
        "无法读取 {path}：请修改权限，每个 rank 都要读取它",
    ),
    (
        "is set, and HCCL takes a rank table or these variables, not both",
        "已设置，而 HCCL 只能使用 rank table 或这些变量之一",
    ),
    ("unset {names}", "unset {names}"),
    # what is in order
    ("a {form} table: {servers}, {cards}", "{form} 格式的表：{servers}，{cards}"),
    ("version {number}", "{number} 版"),
    ("1 server", "1 个服务器"),
    ("{count} servers", "{count} 个服务器"),
    ("1 card", "1 张卡"),
    ("{count} cards", "{count} 张卡"),
    ("ranks 0 to {last}, each once; RANK_ID {rank} is one of them", "rank 0 到 {last}，各一次；RANK_ID {rank} 在其中"),
    ("ranks 0 to {last}, each once", "rank 0 到 {last}，各一次"),
    ("every card has its address", "每张卡都有地址"),
    ("cards have no address, which one server does without", "卡没有地址，单个服务器不需要"),
    ("its cards are among this machine's: {cards}", "其中的卡都在本机：{cards}"),
    ("its cards were not compared: {why}", "没有与本机的卡比较：{why}"),
    ("no card is seen here", "本机没有看到卡"),
    ("which server is this machine, --rank would say", "不知道本机是哪个服务器，可用 --rank 指明"),
    # a start file
    ("{path} exists (a link to {target})", "{path} 存在（指向 {target} 的链接）"),
    ("{path} exists", "{path} 存在"),
    ("it is a folder you can read", "是可读的文件夹"),
    ("it is a folder you cannot read", "是无法读取的文件夹"),
    ("you can read it", "可以读取"),
    ("you cannot read it", "无法读取"),
    ("{tool} runs it", "由 {tool} 运行"),
    ("there is no {tool} on PATH", "PATH 中没有 {tool}"),
    ("it is not executable: chmod +x {path}", "不可执行：chmod +x {path}"),
    ("it is executable", "可以执行"),
    (
        "its first line ends in a Windows line break, so its interpreter is not found: dos2unix it",
        "第一行以 Windows 换行结尾，因此找不到解释器：请用 dos2unix 转换",
    ),
    ("its interpreter {path} exists", "解释器 {path} 存在"),
    ("its interpreter {path} does not exist", "解释器 {path} 不存在"),
)
_HCCL: Tuple[Tuple[str, str], ...] = (
    # what HCCL said
    ("is larger than the last rank of the table", "大于表中最后一个 rank"),
    ("of this rank is not the card that the process opened", "不是该 rank 的进程所打开的卡"),
    (
        "write the card's physical id, or set DEVICE_ID to the card of this rank",
        "写卡的物理编号，或将 DEVICE_ID 设为该 rank 的卡",
    ),
    ("is no number", "不是数字"),
    ("write digits in double quotes", "写成双引号中的数字"),
    ("does not count from 0 or stands twice", "没有从 0 开始编号，或出现了两次"),
    ("is no number, and a table with rank_id wants one", "不是数字，而带 rank_id 的表要求数字"),
    (
        "set RANK_ID to this process's rank, or use a cloud table for pod names",
        "将 RANK_ID 设为该进程的 rank，或使用以 pod 名称编号的 cloud 表",
    ),
    ('write digits in double quotes: "rank_id": "0"', '写成双引号中的数字："rank_id": "0"'),
    ("is not a rank of the table", "不是表中的 rank"),
    ("is not the number of servers", "不是服务器的数量"),
    ("count server_list", "数一数 server_list"),
    ("list every server with its cards", "列出每个服务器及其卡"),
    ("is missing or empty", "缺失或为空"),
    ("name every super pod", "为每个超节点命名"),
    ("is not in server_list", "不在 server_list 中"),
    ("or a server_id, pod_name or group_name stands twice", "或 server_id、pod_name、group_name 出现了两次"),
    ("give each its own", "各用一个"),
    ("is not what this toolkit takes", "不是该版本工具包接受的形式"),
    ("write the server's IPv4 address", "写服务器的 IPv4 地址"),
    ("is no IP address, or not the one the card has", "不是 IP 地址，或不是该卡的地址"),
    ("write what `hccn_tool -i <device_id> -ip -g` says", "写 `hccn_tool -i <device_id> -ip -g` 的结果"),
    (
        "is missing, and several servers (or HCCL_INTRA_ROCE_ENABLE=1) need it",
        "缺失，而多个服务器（或 HCCL_INTRA_ROCE_ENABLE=1）需要它",
    ),
    ("is no string", "不是字符串"),
    ("write its value in double quotes", "将其值写在双引号中"),
    ("is no JSON", "不是 JSON"),
    ("take comments out and check commas and quotes", "去掉注释，检查逗号和引号"),
    ("names no file that ends in .json", "指向的文件不以 .json 结尾"),
    ("set it to the path of the table, with .json at its end only", "设为表的路径，.json 只出现在末尾"),
    ('did not become "completed" within 30 minutes', '在 30 分钟内没有变为 "completed"'),
    ("look why nobody filled it in", "查看为何没有填写"),
    ("lists a number of cards that no server trains on", "列出的卡数无法用于训练"),
    ("list 1, 2, 4 or 8", "列出 1、2、4 或 8 张"),
    ("is higher than any card's", "大于任何卡的编号"),
    ("write the card's physical id", "写卡的物理编号"),
    ("list 1, 2, 4 or 8 cards on one server, 8 on each of several", "单个服务器列 1、2、4 或 8 张卡，多个时每个 8 张"),
    (
        "write the address that `hccn_tool -i <device_id> -ip -g` says",
        "写 `hccn_tool -i <device_id> -ip -g` 给出的地址",
    ),
    ("is {value}, and HCCL expects {expected}", "是 {value}，而 HCCL 期望 {expected}"),
    ("write {expected}", "写成 {expected}"),
    ("is refused: {reason}", "被拒绝：{reason}"),
    ("is refused, and the line does not say why", "被拒绝，该行没有说明原因"),
    ("check it with this doctor", "用本工具检查它"),
)
SENTENCES = (*_TABLE, *_HERE, *_HCCL)
"""English, Chinese; of two forms that fit a sentence the one with more words of its own is meant."""

_VALUE = re.compile(r"\{(\w+)\}")


def chinese(sentence: str) -> str:
    """What this sentence of a doctor says in Chinese."""
    return _said(sentence, _forms()) if len(sentence) <= LONGEST else sentence


def _said(text: str, forms: List[Tuple[Pattern[str], str]]) -> str:
    for form, words in forms:
        match = form.fullmatch(text)
        if match:
            return _filled(words, {name: _said(value, forms) for name, value in match.groupdict().items()})
    return text


def _filled(words: str, values: Dict[str, str]) -> str:
    return _VALUE.sub(lambda found: values[found[1]], words)


@lru_cache(maxsize=1)
def _forms() -> List[Tuple[Pattern[str], str]]:
    pairs = sorted((*_VALUES, *SENTENCES), key=lambda pair: -len(_VALUE.sub("", pair[0])))
    return [(_form(english), words) for english, words in pairs]


def _form(english: str) -> Pattern[str]:
    parts = _VALUE.split(english)
    pattern = "".join(f"(?P<{part}>.+?)" if place % 2 else re.escape(part) for place, part in enumerate(parts))
    return re.compile(pattern, re.DOTALL)
