"""What is wrong with an environment that should be a kernel, and what to do."""

from __future__ import annotations

from jupyter_aiarts.explain.words.text import Text, Words

_REPAIR = "aiarts kernels repair {name}"

TEXTS = {
    "environment-gone": Text(
        Words(
            "Its environment is gone",
            "The folder {path} is not there any more, so the kernel {spec} cannot start.",
            (("Remove the kernel", "aiarts kernels unregister {spec}"),),
        ),
        Words(
            "环境已不存在",
            "目录 {path} 已不存在，因此内核 {spec} 无法启动。",
            (("移除该内核", "aiarts kernels unregister {spec}"),),
        ),
    ),
    "python-gone": Text(
        Words(
            "It has no Python that can be run",
            "{python} is not there, or is a link that leads nowhere.",
            (("Install Python into the environment again", None),),
        ),
        Words("没有可运行的 Python", "{python} 不存在，或是失效的链接。", (("在该环境中重新安装 Python", None),)),
    ),
    "python-wrong-arch": Text(
        Words(
            "Its Python is made for other machines",
            "This processor cannot run {python}: the environment was copied from a machine of another kind.",
            (("Make the environment anew on this machine", None),),
        ),
        Words(
            "其 Python 适用于其他架构",
            "本机处理器无法运行 {python}：该环境是从其他类型的机器复制来的。",
            (("在本机重新创建该环境", None),),
        ),
    ),
    "python-broken": Text(
        Words("Its Python does not start", "{python} ended with an error; the evidence is what it said."),
        Words("其 Python 无法启动", "{python} 以错误结束；证据是它的原话。"),
    ),
    "python-hangs": Text(
        Words("Its Python does not answer", "{python} was asked and said nothing for {seconds} s."),
        Words("其 Python 没有响应", "已询问 {python}，{seconds} 秒内没有任何输出。"),
    ),
    "ipykernel-missing": Text(
        Words(
            "It has no ipykernel",
            "A kernel needs the package ipykernel in the environment {name}.",
            (("Install it there", "aiarts kernels repair {name}"),),
        ),
        Words(
            "缺少 ipykernel",
            "内核需要环境 {name} 中有 ipykernel 包。",
            (("在该环境中安装", "aiarts kernels repair {name}"),),
        ),
    ),
    "kernel-outdated": Text(
        Words(
            "Registered by another version",
            "The kernel was written by version {version} of jupyter_aiarts. It works, but for what is new since.",
            (("Write it again", _REPAIR),),
        ),
        Words(
            "由其他版本注册",
            "该内核由 jupyter_aiarts {version} 版本写入。可以使用，但缺少此后的新功能。",
            (("重新写入", _REPAIR),),
        ),
    ),
    "kernel-library-missing": Text(  # library-missing, seen by a kernel's doctor
        Words(
            "{module} needs the library {library}",
            "It is installed in {name}, but this machine has no {library}, so it cannot be imported.",
            (("Ask the admin of this machine for the package that has it", None),),
        ),
        Words(
            "{module} 需要库 {library}",
            "{name} 中已安装它，但本机没有 {library}，因此无法导入。",
            (("请本机管理员安装包含该库的软件包", None),),
        ),
    ),
    "module-broken": Text(
        Words("{module} cannot be imported", "It is installed in {name}, and importing it fails."),
        Words("{module} 无法导入", "{name} 中已安装它，但导入失败。"),
    ),
}
