"""Storage that is not there or does not let a job in, and containers that a node could not start."""

from __future__ import annotations

from jupyter_aiarts.explain.words.text import Doing, Text, Words

_SHOW: tuple[Doing, Doing] = (("See its mounts", "aiarts show {job}"), ("查看挂载", "aiarts show {job}"))
_ADMIN: tuple[Doing, Doing] = (("Ask the admin of the cluster", None), ("联系集群管理员", None))


def _text(en: tuple[str, str], zh: tuple[str, str], *doings: tuple[Doing, Doing]) -> Text:
    return Text(Words(*en, tuple(one for one, _ in doings)), Words(*zh, tuple(one for _, one in doings)))


TEXTS = {
    "object-missing": _text(
        ("There is no {kind} {object}", "It is to be mounted or read, and its namespace has none of this name."),
        ("没有 {kind} {object}", "它需要被挂载或读取，而命名空间中没有这个名称。"),
        (("Make it, or correct the name", "kubectl get {kind}"), ("创建它，或更正名称", "kubectl get {kind}")),
        _SHOW,
    ),
    "key-missing": _text(
        ("The {kind} {object} has no key {key}", "It is there, but without this key."),
        ("{kind} {object} 中没有键 {key}", "对象存在，但没有这个键。"),
        (
            ("See its keys", "kubectl describe {kind} {object}"),
            ("查看其中的键", "kubectl describe {kind} {object}"),
        ),
    ),
    "reference-missing": _text(
        ("A mounted object has no key {key}", "A volume is to show this key as a file, and the object lacks it."),
        ("挂载的对象中没有键 {key}", "卷要将该键显示为文件，而对象中没有。"),
        _SHOW,
    ),
    "host-path-missing": _text(
        (
            "The node has no folder {path}",
            "What is there {lack}; so this may be another kind of node than the job expects, or a driver is missing.",
        ),
        ("节点上没有目录 {path}", "检查结果：{lack}；该节点可能不是任务所需的类型，或缺少驱动。"),
        (("See the nodes and their devices", "aiarts cluster"), ("查看节点及其设备", "aiarts cluster")),
        _ADMIN,
    ),
    "claim-gone": _text(
        ("There is no volume claim {claim}", "It is to be mounted, and its namespace has none of this name."),
        ("没有存储声明 {claim}", "它需要被挂载，而命名空间中没有这个名称。"),
        (
            ("Make it, or correct the mount", "kubectl get persistentvolumeclaims"),
            ("创建它，或更正挂载", "kubectl get persistentvolumeclaims"),
        ),
        _SHOW,
    ),
    "claim-unbound": _text(
        (
            "A volume claim has no volume yet",
            "Nobody has provided one: its class, its size or whoever makes volumes is the reason, and its own events "
            "say which.",
        ),
        ("存储声明还没有卷", "尚无人提供：原因在于其存储类、大小或供应者，它自己的事件会说明。"),
        (
            ("See the claim's events", "kubectl describe persistentvolumeclaims"),
            ("查看该声明的事件", "kubectl describe persistentvolumeclaims"),
        ),
    ),
    "claim-lost": _text(
        ("The volume of the claim {claim} is gone", "The claim is still there, its volume was deleted."),
        ("存储声明 {claim} 的卷已丢失", "声明仍在，但卷已被删除。"),
        _ADMIN,
    ),
    "nfs-unreachable": _text(
        ("The NFS server {server} does not answer", "The node gets no answer when it mounts {path} from there."),
        ("NFS 服务器 {server} 没有响应", "节点从那里挂载 {path} 时得不到响应。"),
        _ADMIN,
        _SHOW,
    ),
    "nfs-denied": _text(
        ("The NFS server {server} does not let the node in", "It refused to give out {path} to this node."),
        ("NFS 服务器 {server} 拒绝该节点", "它拒绝将 {path} 提供给该节点。"),
        (("Ask whoever owns the storage to allow the nodes", None), ("请存储的所有者允许这些节点", None)),
    ),
    "nfs-no-export": _text(
        ("{server} has no folder {path}", "The NFS server answers, and does not have what is to be mounted."),
        ("{server} 上没有目录 {path}", "NFS 服务器有响应，但没有要挂载的内容。"),
        (("Correct the source of the mount", "aiarts show {job}"), ("更正挂载来源", "aiarts show {job}")),
    ),
    "nfs-no-client": _text(
        (
            "The node cannot mount NFS",
            "It lacks the program or the kernel's part for that; {server}:{path} was asked for.",
        ),
        ("节点无法挂载 NFS", "它缺少所需的程序或内核模块；要挂载的是 {server}:{path}。"),
        (("Ask the admin to install the NFS client on the nodes", None), ("请管理员在节点上安装 NFS 客户端", None)),
    ),
    "subfolder-refused": _text(
        (
            "The folder in its storage cannot be opened",
            "The volume is there, but the node may not make or open the folder in it that is to be mounted.",
        ),
        ("无法打开存储中的目录", "卷已存在，但节点无权创建或打开其中要挂载的目录。"),
        (
            ("Make the folder yourself, or ask whoever owns the storage", None),
            ("自行创建该目录，或联系存储的所有者", None),
        ),
        _SHOW,
    ),
    "volume-in-use": _text(
        ("Its volume is in use on another node", "It can be attached to one node at a time."),
        ("卷正在其他节点上使用", "该卷同一时间只能挂到一个节点。"),
        (("Stop what uses it, or use a volume for several nodes", None), ("停止占用者，或改用可多节点挂载的卷", None)),
    ),
    "volume-in-use-by": _text(
        ("Its volume is in use on another node", "It can be attached to one node at a time, and {pods} has it."),
        ("卷正在其他节点上使用", "该卷同一时间只能挂到一个节点，而 {pods} 正在使用。"),
        (("Stop what uses it, or use a volume for several nodes", None), ("停止占用者，或改用可多节点挂载的卷", None)),
    ),
    "storage-driver-missing": _text(
        ("The node lacks the storage driver {driver}", "The volume needs it, and it does not run on this node."),
        ("节点缺少存储驱动 {driver}", "该卷需要它，但它没有在该节点上运行。"),
        _ADMIN,
    ),
    "mount-late": _text(
        (
            "Storage is not mounted in time",
            "The kubelet still waits for: {volumes}. Why is not said here; another of its events may say it.",
        ),
        ("存储未能及时挂载", "kubelet 仍在等待：{volumes}。这里没有说明原因，其他事件中可能有。"),
        (
            ("See its events", "kubectl get events --sort-by=.lastTimestamp"),
            ("查看事件", "kubectl get events --sort-by=.lastTimestamp"),
        ),
        _SHOW,
    ),
    "mount-over-file": _text(
        ("{path} is a file in the image", "A folder is to be mounted there, or below it."),
        ("{path} 在镜像中是文件", "那里或其下要挂载一个目录。"),
        (("Choose another target for the mount", "aiarts show {job}"), ("为挂载选择其他目标路径", "aiarts show {job}")),
    ),
    "command-not-in-image": _text(
        ("The image has no {what}", "That is what the container is to start, and it is not in its PATH."),
        ("镜像中没有 {what}", "容器要启动它，但它不在 PATH 中。"),
        (
            ("Use an image that has it", "aiarts edit {job} image=IMAGE"),
            ("使用带有它的镜像", "aiarts edit {job} image=IMAGE"),
        ),
    ),
    "command-is-folder": _text(
        ("{what} is a folder", "A container can only start a file."),
        ("{what} 是目录", "容器只能启动文件。"),
        (("Correct what it starts", "aiarts show {job}"), ("更正启动内容", "aiarts show {job}")),
    ),
    "start-denied": _text(
        (
            "The image's user may not start {what}",
            "The user that the image runs as has no right to it, or the file may not be executed.",
        ),
        ("镜像的用户无权启动 {what}", "镜像使用的用户没有相应权限，或文件不可执行。"),
        (("Run it as yourself", {"run_as": "user"}), ("以自己的身份运行", {"run_as": "user"})),
    ),
}
