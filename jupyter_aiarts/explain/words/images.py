"""Why a container image does not become a running container."""

from __future__ import annotations

from jupyter_aiarts.explain.words.text import Text, Words

_OTHER = "aiarts edit {job} image=IMAGE"
_PULL = "aiarts edit {job} image_pull_secret=NAME"
_SECRET = (("Name a pull secret that may read it", _PULL), ("指定有读取权限的拉取密钥", _PULL))

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
    "image-login-refused": Text(
        Words(
            "The registry wants a login for {image}",
            "It answered 401: no pull secret was given, or it does not know the user or password in it.",
            (_SECRET[0],),
        ),
        Words("拉取 {image} 需要登录", "仓库返回 401：没有给出拉取密钥，或其中的用户或密码不正确。", (_SECRET[1],)),
    ),
    "image-no-right": Text(
        Words(
            "The login may not read {image}",
            "The registry knows who asks, and answered 403: this account has no right to it.",
            (_SECRET[0], ("Or ask the owner of the image for access", None)),
        ),
        Words(
            "登录账号无权读取 {image}",
            "仓库已识别请求者，但返回 403：该账号没有权限。",
            (_SECRET[1], ("或向镜像所有者申请权限", None)),
        ),
    ),
    "image-denied-or-missing": Text(
        Words(
            "{image} does not exist, or needs a login",
            "The registry answers both with the same words.",
            (("Check the name", _OTHER), _SECRET[0]),
        ),
        Words(
            "{image} 不存在，或需要登录",
            "仓库对这两种情况的回答相同。",
            (("检查名称", _OTHER), _SECRET[1]),
        ),
    ),
    "image-rate-limit": Text(
        Words(
            "The registry gives out nothing more for now",
            "Too many pulls came from here: {image} is tried again by itself, and with a login more is allowed.",
            (_SECRET[0],),
        ),
        Words("仓库暂时限制拉取", "来自这里的拉取过多：会自动重试 {image}，登录后限额更高。", (_SECRET[1],)),
    ),
    "image-no-tag": Text(
        Words(
            "{image} has no such tag",
            "The registry knows the image, but not the tag.",
            (("Correct the tag", _OTHER),),
        ),
        Words("{image} 没有该标签", "仓库中有该镜像，但没有这个标签。", (("更正标签", _OTHER),)),
    ),
    "image-no-name": Text(
        Words(
            "The registry has no image of the name {image}",
            "Not only the tag: nothing of this name is there.",
            (("Correct the name", _OTHER),),
        ),
        Words("仓库中没有名为 {image} 的镜像", "不只是标签：没有任何同名镜像。", (("更正名称", _OTHER),)),
    ),
    "image-not-on-node": Text(
        Words(
            "{image} is not on the node {node}",
            "The node may not pull it, and does not have it, though other nodes may.",
            (("Use an image that a registry has", _OTHER), ("Or ask the admin to load it on all nodes", None)),
        ),
        Words(
            "节点 {node} 上没有 {image}",
            "该节点不允许拉取，而它又没有该镜像；其他节点可能有。",
            (("使用仓库中的镜像", _OTHER), ("或请管理员在所有节点上加载", None)),
        ),
    ),
    "image-bad-name": Text(
        Words(
            "{image} is no name of an image",
            "Names have small letters, digits, and a tag behind a colon.",
            (("Correct it", _OTHER),),
        ),
        Words("{image} 不是合法的镜像名", "名称由小写字母和数字组成，标签写在冒号之后。", (("更正名称", _OTHER),)),
    ),
    "image-untrusted": Text(
        Words(
            "The nodes do not trust the registry {host}",
            "Its certificate is signed by somebody they do not know, or is for another name or time.",
            (("Ask the admin to install its certificate on the nodes", None), ("Or use another registry", _OTHER)),
        ),
        Words(
            "节点不信任仓库 {host}",
            "其证书由不受信任的机构签发，或名称、有效期不符。",
            (("请管理员在节点上安装其证书", None), ("或换用其他仓库", _OTHER)),
        ),
    ),
    "image-host-unknown": Text(
        Words(
            "Nobody knows the registry {host}",
            "The node's name service has no such name.",
            (("Check the spelling", _OTHER), ("Else ask the admin of the cluster", None)),
        ),
        Words(
            "找不到仓库 {host}",
            "节点的域名服务中没有这个名称。",
            (("检查拼写", _OTHER), ("否则请联系集群管理员", None)),
        ),
    ),
    "image-dns-silent": Text(
        Words(
            "The node cannot look up the registry {host}",
            "Its name service does not answer; whether the name is right is not known.",
            (("Tell the admin of the cluster", None), ("Or check the name", _OTHER)),
        ),
        Words(
            "节点无法解析仓库 {host}",
            "其域名服务没有响应；名称是否正确尚不可知。",
            (("告知集群管理员", None), ("或检查名称", _OTHER)),
        ),
    ),
    "image-refused": Text(
        Words(
            "Nothing answers at the registry {host}",
            "The machine is there and refuses the connection: the registry does not run, or the port is wrong.",
            (("Check the address", _OTHER), ("Else tell whoever runs the registry", None)),
        ),
        Words(
            "仓库 {host} 没有服务",
            "机器可达但拒绝连接：仓库没有运行，或端口不对。",
            (("检查地址", _OTHER), ("否则告知仓库的管理者", None)),
        ),
    ),
    "image-timeout": Text(
        Words(
            "The registry {host} does not answer in time",
            "The node's packets get no answer: a firewall, a proxy, or a registry that is too slow.",
            (("Ask the admin of the cluster", None), ("Or use a registry that is nearer", _OTHER)),
        ),
        Words(
            "仓库 {host} 响应超时",
            "节点得不到响应：可能是防火墙、代理，或仓库过慢。",
            (("联系集群管理员", None), ("或使用更近的仓库", _OTHER)),
        ),
    ),
    "image-broken-off": Text(
        Words(
            "The transfer of {image} broke off",
            "The registry answered, and the connection ended in the middle. The node tries again by itself.",
            (("Tell the admin of the cluster, if it lasts", None),),
        ),
        Words(
            "{image} 的传输中断",
            "仓库有响应，但连接中途断开。节点会自动重试。",
            (("如持续如此，请告知集群管理员", None),),
        ),
    ),
    "image-pulling": Text(
        Words(
            "The image is being fetched",
            "{pulling} fetches {image} since {since}, or is unpacking it. A large image takes minutes on a node that "
            "has not had it before.",
            (("See the nodes", "aiarts cluster"),),
        ),
        Words(
            "正在获取镜像",
            "{pulling} 自 {since} 起在获取或解压 {image}。首次在某节点上使用大镜像需要几分钟。",
            (("查看节点", "aiarts cluster"),),
        ),
    ),
    "image-pulling-some": Text(
        Words(
            "The image is being fetched on some of its nodes",
            "{pulling} fetches {image} since {since}, or is unpacking it; {having} has it already.",
            (("See the nodes", "aiarts cluster"),),
        ),
        Words(
            "部分节点正在获取镜像",
            "{pulling} 自 {since} 起在获取或解压 {image}；{having} 上已有。",
            (("查看节点", "aiarts cluster"),),
        ),
    ),
    "node-disk-full": Text(
        Words(
            "The disk of the node {node} is full",
            "It has no room to unpack {image}.",
            (("Tell the admin of the cluster", None), ("Or use a smaller image", _OTHER)),
        ),
        Words(
            "节点 {node} 的磁盘已满",
            "没有空间解压 {image}。",
            (("告知集群管理员", None), ("或使用更小的镜像", _OTHER)),
        ),
    ),
}
