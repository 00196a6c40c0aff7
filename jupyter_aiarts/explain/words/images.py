"""Why a container image does not become a running container."""

from __future__ import annotations

from jupyter_aiarts.explain.words.text import Text, Words

_OTHER = "aiarts edit {job} image=IMAGE"

TEXTS = {
    "image-not-found": Text(
        Words(
            "There is no image {image}",
            "The registry has no such image or tag, or the node has none and may not pull.",
            (("Correct the image's name or tag", _OTHER),),
        ),
        Words(
            "镜像 {image} 不存在",
            "仓库中没有该镜像或标签，或者节点上没有且不允许拉取。",
            (("更正镜像名称或标签", _OTHER),),
        ),
    ),
    "image-no-access": Text(
        Words(
            "The registry does not give out {image}",
            "It asks for a login, or the login does not allow it.",
            (("Name a pull secret that may read it", "aiarts edit {job} image_pull_secret=NAME"),),
        ),
        Words(
            "仓库拒绝提供 {image}",
            "需要登录，或登录没有权限。",
            (("指定有读取权限的拉取密钥", "aiarts edit {job} image_pull_secret=NAME"),),
        ),
    ),
    "image-unreachable": Text(
        Words(
            "The registry of {image} cannot be reached",
            "The node gets no answer from it.",
            (("Check the registry's name, or ask the admin of the cluster", _OTHER),),
        ),
        Words(
            "无法访问 {image} 的仓库",
            "节点得不到它的响应。",
            (("检查仓库地址，或联系集群管理员", _OTHER),),
        ),
    ),
    "image-not-https": Text(
        Words(
            "The registry of {image} speaks plain HTTP",
            "The nodes expect HTTPS of it.",
            (("Ask the admin to allow this registry on the nodes, or use another", _OTHER),),
        ),
        Words(
            "{image} 的仓库使用明文 HTTP",
            "节点要求使用 HTTPS。",
            (("请管理员在节点上允许该仓库，或换用其他仓库", _OTHER),),
        ),
    ),
    "image-wrong-arch": Text(
        Words(
            "{image} is made for other machines",
            "It has nothing that this node's processor can run.",
            (("Use an image for the node's architecture, or another device", _OTHER),),
        ),
        Words(
            "{image} 适用于其他架构",
            "其中没有该节点处理器可运行的内容。",
            (("使用与节点架构一致的镜像，或更换设备类型", _OTHER),),
        ),
    ),
    "image-user-permission": Text(
        Words(
            "The image's user may not start it",
            "The user that {image} runs as has no right to what it starts.",
            (("Run it as yourself", {"run_as": "user"}),),
        ),
        Words(
            "镜像的用户无权启动",
            "{image} 使用的用户没有启动所需的权限。",
            (("以自己的身份运行", {"run_as": "user"}),),
        ),
    ),
    "image-no-python": Text(
        Words(
            "{image} has no python3",
            "The launcher that runs your script needs Python 3.6 or newer in the image.",
            (("Use an image with python3", _OTHER),),
        ),
        Words(
            "{image} 中没有 python3",
            "运行脚本的启动器需要镜像中有 Python 3.6 或更高版本。",
            (("使用带有 python3 的镜像", _OTHER),),
        ),
    ),
}
