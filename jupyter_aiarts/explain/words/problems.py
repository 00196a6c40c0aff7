"""What is wrong with a spec, in Chinese, by the English template that models and engines write (`model.wording`).

A text that is its own template (a form of a value, a fixed sentence) stands here as it is written.
"""

from __future__ import annotations

from jupyter_aiarts.explain.words.events import EVENTS
from jupyter_aiarts.explain.words.notes import NOTES

VALUES = {
    "text": "文本",
    "true or false": "true 或 false",
    "a list": "列表",
    "an object of names and values": "由名称和值组成的对象",
    "an object": "对象",
    "a whole number from {low} to {high}": "{low} 到 {high} 之间的整数",
    "a whole number above {low} and up to {high}": "大于 {low} 且不超过 {high} 的整数",
    "a whole number of at most 64 bits": "不超过 64 位的整数",
    "a number from {low} to {high}": "{low} 到 {high} 之间的数",
    "a number above {low} and up to {high}": "大于 {low} 且不超过 {high} 的数",
    "a number that is finite": "有限的数",
    "{most} or {last}": "{most} 或 {last}",
    "{text} … ({count} characters)": "{text} …（共 {count} 个字符）",
    "an object of 1 key": "有 1 个键的对象",
    "an object of {count} keys": "有 {count} 个键的对象",
    "a list of 1 item": "有 1 项的列表",
    "a list of {count} items": "有 {count} 项的列表",
    "a value of type {type}": "类型为 {type} 的值",
    "a very long number": "很长的数",
    "letters, digits, dots, dashes and underscores, starting with a letter or digit": (
        "由字母、数字、点、短横线和下划线组成、以字母或数字开头的文本"
    ),
    "an image reference without spaces": "不含空格的镜像名称",
    "the name of a Kubernetes secret: small letters, digits, dashes and dots": (
        "Kubernetes Secret 的名称：小写字母、数字、短横线和点"
    ),
    "1 to 63 letters, digits, dots, dashes and underscores, no leading dot": (
        "1 到 63 个字母、数字、点、短横线或下划线，不以点开头"
    ),
    "text, a number, true or false": "文本、数、true 或 false",
    "text, a number, true, false, null, or a list of these": "文本、数、true、false、null 或由它们组成的列表",
    "a path or volume without “..”": "不含“..”的路径或存储卷",
    "an absolute path below / without “..”": "/ 之下不含“..”的绝对路径",
    "image, user, or two numbers uid:gid": "image、user，或形如 uid:gid 的两个数",
    "CPUs": "个 CPU",
    "GB of memory": "GB 内存",
    "cards": "张卡",
    "hours": "小时",
}

FAULTS = {
    "must be {wanted}, and it is {value}": "必须是{wanted}，现在是 {value}",
    "must be text, and it is {value}": "必须是文本，现在是 {value}",
    "must be text": "必须是文本",
    "may have at most {most} characters, and it has {have}": "最多 {most} 个字符，现在有 {have} 个",
    "is empty; leave the key out, or give it a value": "为空；请去掉这个键，或给出值",
    "is null, and no value is kept for it. Give the value": "为 null，而且没有保存过它的值，请给出值",
    "holds a NUL character, which neither an argument nor a variable nor a path can carry": (
        "含有 NUL 字符，参数、变量和路径都不能包含它"
    ),
    "holds half a character (a lone surrogate), which cannot be written as UTF-8": (
        "含有半个字符（孤立的代理项），无法写成 UTF-8"
    ),
    "is {length} bytes long, and Linux starts no process with an argument or a variable of more than "
    "{most} bytes, a variable's name included; put it into a file and pass the file's path": (
        "长 {length} 字节，而 Linux 不会启动参数或变量（含变量名）超过 {most} 字节的进程；请写入文件并传递文件路径"
    ),
}

SENTENCES = {
    "{key} must be {wanted}, and it is {value}.": "{key} 必须是{wanted}，现在是 {value}。",
    "{sentence} {cure}": "{sentence}{cure}",
    "Write it without quotes.": "请去掉引号。",
    "{key} {fault}.": "{key} {fault}。",
    "A name in {key} {fault}.": "{key} 中有一个名称{fault}。",
    "{key} has no key {name}. Did you mean {near}?": "{key} 没有键 {name}。是否指 {near}？",
    "{key} has no key {name}; it has {names}.": "{key} 没有键 {name}；它有 {names}。",
    "{key} is missing.": "缺少 {key}。",
    "{key} may have at most {most} entries, and it has {have}.": "{key} 最多 {most} 项，现在有 {have} 项。",
    "There are {count} more problems like these.": "还有 {count} 处类似的问题。",
    "A job spec is an object of keys and values, and this is {value}.": (
        "任务规格是由键和值组成的对象，而这里是 {value}。"
    ),
    "A job spec's keys are words, and {value} is not one.": "任务规格的键是单词，而 {value} 不是。",
    "There is no key {key} in a job spec. Did you mean {near}?": "任务规格没有键 {key}。是否指 {near}？",
    "There is no key {key} in a job spec. The keys are {keys}.": "任务规格没有键 {key}。可用的键：{keys}。",
    "{key} is another name of {proper}, which is given with another value.": (
        "{key} 是 {proper} 的别名，而后者给出了不同的值。"
    ),
    "endpoints (Jupyter, SSH, TensorBoard) cannot be opened in a job yet. Remove the key; "
    "logs and usage are shown without it.": (
        "目前还不能在任务中打开 endpoints（Jupyter、SSH、TensorBoard）。请去掉这个键；没有它也会显示日志和用量。"
    ),
    "{cluster} has no device {device}. Did you mean {near}?": "{cluster} 没有设备 {device}。是否指 {near}？",
    "{cluster} has no device {device}. It offers {offers}.": "{cluster} 没有设备 {device}。可用的有 {offers}。",
    "name holds only spaces. Give the job a name, or leave the key out.": "name 只有空格。请给任务起名，或去掉这个键。",
    "name must not hold control characters or line breaks, and it is {value}.": (
        "name 不能含有控制字符或换行，现在是 {value}。"
    ),
    "There is nothing to run: give script a start file, or command a shell line.": (
        "没有可运行的内容：请用 script 指定启动文件，或用 command 给出命令行。"
    ),
    "script and command are both given, and a job has one start. Remove one of them.": (
        "同时给出了 script 和 command，而任务只有一个启动方式。请去掉其中一个。"
    ),
    "{key} belongs to script and cannot be passed to command. Write it into the command line.": (
        "{key} 属于 script，不能传给 command。请直接写进命令行。"
    ),
    "A distributed job runs on two or more nodes. Set nodes to 2 or more, or kind to regular.": (
        "分布式任务需要两个或更多节点。请将 nodes 设为 2 或更多，或将 kind 设为 regular。"
    ),
    "A regular job has one node, and nodes is {nodes}. Set kind to distributed, or nodes to 1.": (
        "普通任务只有一个节点，而 nodes 是 {nodes}。请将 kind 设为 distributed，或将 nodes 设为 1。"
    ),
    "devices asks for {cards} cards per node, and cpu has none. "
    "Set device to the kind of card you want, or leave devices out.": (
        "devices 要求每个节点 {cards} 张卡，而 cpu 没有卡。请将 device 设为所需的卡类型，或去掉 devices。"
    ),
    "A distributed job on {device} takes 8 cards per node, and devices is {cards}.": (
        "{device} 上的分布式任务每个节点使用 8 张卡，而 devices 是 {cards}。"
    ),
    "A job on {device} takes 0, 1, 2, 4 or 8 cards, because a board has two rings of four, and devices is {cards}.": (
        "{device} 上的任务使用 0、1、2、4 或 8 张卡，因为一块板有两个四卡环，而 devices 是 {cards}。"
    ),
    "{name} cannot be a variable's name: use letters, digits and underscores, not starting with a digit.": (
        "{name} 不能作为变量名：请使用字母、数字和下划线，且不以数字开头。"
    ),
    "{name} is in env and in secret_env. Keep it in one of them.": "{name} 同时在 env 和 secret_env 中，请只保留一处。",
    "{name} is reserved: the launcher gives every rank its own value. Remove it.": (
        "{name} 是保留变量：启动器会给每个 rank 设置各自的值。请去掉它。"
    ),
    "{name} is reserved: it decides which cards a job sees. Remove it; `devices` is how to ask for cards.": (
        "{name} 是保留变量：它决定任务能看到哪些卡。请去掉它，用 `devices` 申请卡。"
    ),
    "{first} and {second} have the same target, {target}.": "{first} 和 {second} 的目标相同：{target}。",
    "{key} must be a volume claim, an NFS export (server:/export) or a whole path, and it is {value}.": (
        "{key} 必须是存储卷声明、NFS 导出（server:/export）或完整路径，现在是 {value}。"
    ),
    "{key} must not hold control characters, and it is {value}.": "{key} 不能含有控制字符，现在是 {value}。",
    "queue must be the name of a queue or namespace (small letters, digits, dashes), and it is {value}.": (
        "queue 必须是队列或命名空间的名称（小写字母、数字、短横线），现在是 {value}。"
    ),
    "Jobs on this machine run as the user of the server. Leave run_as out.": (
        "本机上的任务以服务器的用户运行。请去掉 run_as。"
    ),
    "run_as must name ids below 4,294,967,295, and it is {value}.": (
        "run_as 中的 id 必须小于 4,294,967,295，现在是 {value}。"
    ),
    "Arguments and variables are {total} bytes together, and at most {most} are allowed: "
    "Linux starts no process with many more. Put them into a file and pass the file's path.": (
        "参数和变量共 {total} 字节，最多允许 {most} 字节：再多 Linux 就无法启动进程。请写入文件并传递文件路径。"
    ),
    "secret_env must be an object of names and values.": "secret_env 必须是由名称和值组成的对象。",
    "image_pull_secret must be a name, or an object of {names}.": (
        "image_pull_secret 必须是名称，或由 {names} 组成的对象。"
    ),
    "{key} must be text of 1 to 4,096 characters.": "{key} 必须是 1 到 4,096 个字符的文本。",
    "The working folder {folder} is not a folder.": "工作目录 {folder} 不是目录。",
    "The working folder {folder} cannot be used: {why}.": "工作目录 {folder} 无法使用：{why}。",
    "{path} does not exist on this machine.": "本机上没有 {path}。",
    "Jobs on {cluster} run in a container. Set image to one that has python3.": (
        "{cluster} 上的任务在容器中运行。请将 image 设为带有 python3 的镜像。"
    ),
    "queue may have at most {most} characters here, and it has {have}.": (
        "这里的 queue 最多 {most} 个字符，现在有 {have} 个。"
    ),
    "A job on {cluster} may have {limit} {what}, and this asks for {have}.": (
        "{cluster} 上一个任务最多可用 {limit} {what}，而这里申请 {have}。"
    ),
    "run_as is user, and this server runs as root: an admin can say which uid and gid are yours "
    "under users in the configuration of {cluster}.": (
        "run_as 是 user，而此服务器以 root 运行：管理员可在 {cluster} 配置的 users 中写明您的 uid 和 gid。"
    ),
    "run_as is {value}, and {cluster} allows {allowed}.": "run_as 是 {value}，而 {cluster} 允许 {allowed}。",
    "The job's description and code are {size}, and at most {most} can be kept in the cluster. "
    "Put long arguments, variables or code into files on a mount.": (
        "任务的描述和代码共 {size}，集群中最多保存 {most}。请把较长的参数、变量或代码放进挂载目录的文件里。"
    ),
    "The secret variables are {size}, and at most {most} can be kept.": "机密变量共 {size}，最多可保存 {most}。",
    "{cluster} has no queue {queue}: it is neither a LocalQueue nor one of {known}.": (
        "{cluster} 没有队列 {queue}：它既不是 LocalQueue，也不是 {known} 之一。"
    ),
    "The environment {path} is not there. aiarts kernels lists those that are.": (
        "环境 {path} 不存在。aiarts kernels 会列出现有的环境。"
    ),
    "{path} is neither a conda environment nor a venv: it has no conda-meta and no pyvenv.cfg.": (
        "{path} 既不是 conda 环境，也不是 venv：其中没有 conda-meta，也没有 pyvenv.cfg。"
    ),
    "The environment {path} has no Python that can be run, and {script} needs one.": (
        "环境 {path} 中没有可运行的 Python，而 {script} 需要它。"
    ),
    "The environment {path} is on this server, and no mount of the job has it. {cure}": (
        "环境 {path} 在此服务器上，但任务的挂载中没有它。{cure}"
    ),
    "The environment {path} is made for {made_for}, and nodes with {device} are {machine}.": (
        "环境 {path} 适用于 {made_for}，而带有 {device} 的节点是 {machine}。"
    ),
    "Put it below {folders}, which the job mounts.": "请把它放到任务挂载的 {folders} 之下。",
    "Put it on storage that both this server and the job have: name it in mounts, "
    "or ask the admin for one in default_mounts.": (
        "请把它放到此服务器和任务都能访问的存储上：在 mounts 中写明，或请管理员加入 default_mounts。"
    ),
    "The job spec was refused.": "任务规格未被接受。",
    "The job spec has {count} problems. The first: {first}": "任务规格有 {count} 处问题。第一处：{first}",
    "Change the named keys and submit again.": "请修改指出的键后重新提交。",
    "Change the named keys and save again.": "请修改指出的键后重新保存。",
}

HEARD = {
    **NOTES,
    "The start file is not there: {path} – did you mean {near}?": "启动文件不存在：{path}。是否指 {near}？",
    "The start file is not there: {path} – the last part of that path that exists is {folder}": (
        "启动文件不存在：{path}。该路径中存在的部分到 {folder} 为止"
    ),
    "The start file is not there: {path} – {folder} holds: {names}": ("启动文件不存在：{path}。{folder} 中有：{names}"),
    "The start file is not there: {path} – {folder} is empty": "启动文件不存在：{path}。{folder} 是空的",
    "The start file is a directory: {path} – name the file in it that is to run": (
        "启动文件是目录：{path}。请写明其中要运行的文件"
    ),
    "The start file cannot be read: {path} – make it readable for the user the job runs as": (
        "启动文件无法读取：{path}。请让运行任务的用户可以读取它"
    ),
    "The start file is not executable: {path} – {cure}": "启动文件不可执行：{path}。{cure}",
    "The start file is a symbolic link to something that is not there: {path} – "
    "put the target back, or name the real file": "启动文件是失效的符号链接：{path}。请恢复目标，或写明真实文件",
    "The first line of {path} names an interpreter that is not there: {program} – "
    "correct the #! line, or install that interpreter": (
        "{path} 首行指定的解释器不存在：{program}。请修正 #! 行，或安装该解释器"
    ),
    "Unknown variable {name} in the arguments; did you mean {near}? ($${{ writes a literal ${{).": (
        "参数中有未知变量 {name}；是否指 {near}？（$${{ 表示字面的 ${{）"
    ),
    "Unknown variable {name} in the arguments ($${{ writes a literal ${{).": (
        "参数中有未知变量 {name}（$${{ 表示字面的 ${{）"
    ),
    "No device was named, so the job takes {device}, the only kind of card there is.": (
        "没有指定设备，任务将使用唯一的卡类型 {device}。"
    ),
    "{name} looks secret and was moved from env to secret_env: the ranks get it, and nobody is shown its value.": (
        "{name} 看起来是机密，已从 env 移到 secret_env：各 rank 会得到它，但不向任何人显示它的值。"
    ),
    "The parameter {key} is passed as {flag}, because two dashes are added to every key.": (
        "参数 {key} 会以 {flag} 传递，因为每个键前都会加两个短横线。"
    ),
    "pass_paths has no effect with command: use $DATA_PATH and $OUTPUT_PATH in the line.": (
        "使用 command 时 pass_paths 不起作用：请在命令行中使用 $DATA_PATH 和 $OUTPUT_PATH。"
    ),
    "The image {image} is ignored: jobs on this machine run without a container.": (
        "镜像 {image} 被忽略：本机上的任务不在容器中运行。"
    ),
    "image_pull_secret is ignored: jobs on this machine pull no image.": (
        "image_pull_secret 被忽略：本机上的任务不拉取镜像。"
    ),
    "No environment or kernel is called {name}. See: aiarts kernels A folder is written with a slash: {folder}": (
        "没有叫 {name} 的环境或内核。查看全部：aiarts kernels 文件夹要带斜杠写：{folder}"
    ),
    "{name} names {count} environments: {paths}. Give the folder of one of them. "
    "A folder is written with a slash: {folder}": (
        "有 {count} 个环境都叫 {name}：{paths}。请给出其中一个的文件夹，要带斜杠写：{folder}"
    ),
    "The environment {path} is not on this server; the job looks for it in its image and mounts.": (
        "环境 {path} 不在此服务器上；任务会在其镜像和挂载中查找它。"
    ),
    "The environment {path} is {place} in the pod: programs that keep the name of their own folder, such as torchrun "
    "and pip, may not start there. Run them with python -m.": (
        "环境 {path} 在 pod 中是 {place}：torchrun、pip 等记住自身目录的程序在那里可能无法启动。"
        "请用 python -m 运行它们。"
    ),
    "The Python of the environment {path} is {python}, which no mount of the job has: the image must have it.": (
        "环境 {path} 的 Python 是 {python}，任务的挂载中没有它：镜像中必须有。"
    ),
    "preemptible has no effect on this machine: no job takes another one's place here.": (
        "preemptible 在本机不起作用：这里没有任务会取代另一个任务。"
    ),
}
"""Sentences that come as plain text: the launcher's, which knows no other language, and notes, which are kept."""

CHINESE = {**VALUES, **FAULTS, **SENTENCES, **EVENTS}
