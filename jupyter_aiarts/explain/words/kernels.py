"""What is wrong with an environment that should be a kernel, and what to do."""

from __future__ import annotations

from jupyter_aiarts.explain.words.text import Text, Words

_REPAIR = "aiarts kernels repair {path}"

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
    "environment-hidden": Text(  # environment-gone, as far as this user can see
        Words(
            "Its environment is not for you to see",
            "The folder {path} may not be entered by you, so the kernel {spec} cannot start for you.",
            (("Ask its owner or an admin for the right to read it", None),),
        ),
        Words(
            "您无权查看其环境",
            "您无权进入目录 {path}，因此内核 {spec} 无法为您启动。",
            (("请其所有者或管理员授予读取权限", None),),
        ),
    ),
    "environment-unmarked": Text(  # environment-gone, though its folder is there
        Words(
            "No environment is seen in its folder",
            "The folder {path} is there, but no environment is seen in it: it needs a conda-meta or pyvenv.cfg that "
            "can be read. The kernel {spec} may not start.",
            (("Remove the kernel, if the environment cannot be mended", "aiarts kernels unregister {spec}"),),
        ),
        Words(
            "其文件夹中看不到环境",
            "目录 {path} 存在，但其中看不到环境：需要可读取的 conda-meta 或 pyvenv.cfg。内核 {spec} 可能无法启动。",
            (("如果该环境无法修复，可移除该内核", "aiarts kernels unregister {spec}"),),
        ),
    ),
    "kernel-gone": Text(  # environment-gone, of one kernel that it brought
        Words(
            "Its kernel {kernel} is gone",
            "The kernel {spec} starts {kernel}, which {name} brought and no longer has.",
            (("Remove the kernel, or install what brought it again", "aiarts kernels unregister {spec}"),),
        ),
        Words(
            "其内核 {kernel} 已不存在",
            "内核 {spec} 启动的是 {name} 自带的 {kernel}，而该环境中已没有它。",
            (("移除该内核，或重新安装提供它的包", "aiarts kernels unregister {spec}"),),
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
    "program-gone": Text(  # python-gone, of a kernel of another language
        Words(
            "The program of its kernel {kernel} is not there",
            "The kernel {kernel} starts {program}, which is neither in {name} nor elsewhere on PATH.",
            (("Install it into {name} again", None),),
        ),
        Words(
            "内核 {kernel} 的程序不存在",
            "内核 {kernel} 启动的是 {program}，而它既不在 {name} 中，也不在 PATH 的其他目录中。",
            (("将它重新安装到 {name}", None),),
        ),
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
    "library-wrong-arch": Text(  # python-wrong-arch, of one library
        Words(
            "{module} is made for other machines",
            "{library} in {name} is made for {made_for}, and this machine is {machine}: it was copied or installed "
            "for another kind.",
            (("Install {module} into {name} again, on this machine", None),),
        ),
        Words(
            "{module} 适用于其他架构",
            "{name} 中的 {library} 适用于 {made_for}，而本机为 {machine}：它是为其他类型的机器安装或复制来的。",
            (("在本机上将 {module} 重新安装到 {name}", None),),
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
    "activation-failed": Text(
        Words(
            "It cannot be activated",
            "A script in {path}/etc/conda/activate.d ends the shell that should become the kernel.",
            (("See what they do, and mend or remove the one that fails", "ls {path}/etc/conda/activate.d"),),
        ),
        Words(
            "无法激活该环境",
            "{path}/etc/conda/activate.d 中的某个脚本结束了本应成为内核的 shell。",
            (("查看这些脚本，修复或移除出错的那个", "ls {path}/etc/conda/activate.d"),),
        ),
    ),
    "activation-hangs": Text(
        Words(
            "Activating it does not end",
            "The scripts in {path}/etc/conda/activate.d have not ended after {seconds} s, so no kernel starts.",
            (("See what they do, and mend or remove the one that waits", "ls {path}/etc/conda/activate.d"),),
        ),
        Words(
            "激活该环境一直没有结束",
            "{path}/etc/conda/activate.d 中的脚本在 {seconds} 秒后仍未结束，因此内核无法启动。",
            (("查看这些脚本，修复或移除一直等待的那个", "ls {path}/etc/conda/activate.d"),),
        ),
    ),
    "ipykernel-missing": Text(
        Words(
            "It has no ipykernel",
            "A kernel needs the package ipykernel in the environment {name}.",
            (("Install it there", _REPAIR),),
        ),
        Words(
            "缺少 ipykernel",
            "内核需要环境 {name} 中有 ipykernel 包。",
            (("在该环境中安装", _REPAIR),),
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
    "kernel-library-package": Text(
        Words(
            "{module} needs the library {library}",
            "It is installed in {name}, but this machine has no {library}; Debian and Ubuntu have it in {package}.",
            (("An admin can install it", "sudo apt-get install -y {package}"),),
        ),
        Words(
            "{module} 需要库 {library}",
            "{name} 中已安装它，但本机没有 {library}；Debian 和 Ubuntu 的软件包 {package} 包含它。",
            (("管理员可以安装", "sudo apt-get install -y {package}"),),
        ),
    ),
    "kernel-libgl-missing": Text(
        Words(
            "{module} needs the library {library}",
            "The OpenCV in {name} asks for {library}, which draws windows; a machine without a screen needs only the "
            "headless OpenCV.",
            (
                ("Use the OpenCV without windows", "{python} -m pip install opencv-python-headless"),
                ("Or an admin can install the library", "sudo apt-get install -y libgl1"),
            ),
        ),
        Words(
            "{module} 需要库 {library}",
            "{name} 中的 OpenCV 需要用于显示窗口的 {library}；没有屏幕的机器用 headless 版 OpenCV 即可。",
            (
                ("使用不带窗口的 OpenCV", "{python} -m pip install opencv-python-headless"),
                ("或由管理员安装该系统库", "sudo apt-get install -y libgl1"),
            ),
        ),
    ),
    "module-hangs": Text(
        Words("{module} does not finish importing", "Importing it in {name} has not ended after {seconds} s."),
        Words("{module} 导入一直没有结束", "在 {name} 中导入它，{seconds} 秒后仍未结束。"),
    ),
    "module-broken": Text(
        Words(
            "{module} cannot be imported",
            "It is installed in {name}, and importing it fails; the evidence is what it said.",
        ),
        Words("{module} 无法导入", "{name} 中已安装它，但导入失败；证据是它的原话。"),
    ),
}
