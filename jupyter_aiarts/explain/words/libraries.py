"""Modules and libraries that a failed program did not find, or that do not fit each other."""

from __future__ import annotations

from jupyter_aiarts.explain.words.program import AGAIN, LOG, said

_IMAGE = "or build it into the image"
_IMAGE_ZH = "或将其加入镜像"

TEXTS = {
    "module-missing": said(
        "The module {name} is missing",
        "Python on node {node} (rank {rank}) has no module {name}.",
        "缺少模块 {name}",
        "节点 {node}（进程 {rank}）上的 Python 没有模块 {name}。",
        (f"Install it where the job runs, {_IMAGE}", f"在任务的环境中安装，{_IMAGE_ZH}", "pip install {package}"),
        AGAIN,
    ),
    "module-package": said(
        "The module {name} is missing",
        "Python on node {node} (rank {rank}) has no module {name}; the package that has it is called {package}.",
        "缺少模块 {name}",
        "节点 {node}（进程 {rank}）上的 Python 没有模块 {name}；提供它的软件包名为 {package}。",
        (f"Install it where the job runs, {_IMAGE}", f"在任务的环境中安装，{_IMAGE_ZH}", "pip install {package}"),
        AGAIN,
    ),
    "module-built": said(
        "The module {name} is missing",
        "Python on node {node} (rank {rank}) has no module {name}. The package of that name on PyPI is another one or "
        "has to be built: follow its project's own instructions.",
        "缺少模块 {name}",
        "节点 {node}（进程 {rank}）上的 Python 没有模块 {name}。PyPI 上的同名软件包并不是它，或需要自行编译："
        "请按其项目说明安装。",
        ("Choose an image that has it", "选择包含它的镜像", None),
    ),
    "module-local": said(
        "{name}.py does not lie where Python looks",
        "Rank {rank} imports {name}, which looks like a file of your own: Python looks for {name}.py or a folder "
        "{name} beside the start file and in PYTHONPATH, and found neither on node {node}.",
        "Python 找不到 {name}.py",
        "进程 {rank} 导入了 {name}，它像是您自己的文件：Python 会在启动文件所在目录和 PYTHONPATH 中查找 {name}.py "
        "或目录 {name}，但在节点 {node} 上都没有找到。",
        (
            "Put it beside the start file, or name its folder in PYTHONPATH",
            "放到启动文件旁，或将其目录写入 PYTHONPATH",
            None,
        ),
        LOG,
    ),
    "module-part-missing": said(
        "{top} has no part {name}",
        "Python on node {node} (rank {rank}) found {top} but not {name}: another version of it, or a file of your own "
        "named {top} that stands before it.",
        "{top} 中没有 {name}",
        "节点 {node}（进程 {rank}）上的 Python 找到了 {top}，但没有 {name}：版本不同，或您自己的名为 {top} "
        "的文件挡在了它前面。",
        ("See which one is installed", "查看已安装的版本", "pip show {top}"),
        LOG,
    ),
    "module-shadowed": said(
        "A file named {top}.py hides the package {top}",
        "Rank {rank} asked for {name} and Python found a single file {top}.py where the package should be.",
        "文件 {top}.py 挡住了软件包 {top}",
        "进程 {rank} 需要 {name}，而 Python 先找到了单个文件 {top}.py。",
        ("Give that file another name", "将该文件改名", None),
    ),
    "module-of-cann": said(
        "CANN's module {name} is not on Python's path",
        "{name} comes with CANN, not from PyPI: its environment was not set up for rank {rank}.",
        "Python 找不到 CANN 的模块 {name}",
        "{name} 随 CANN 安装，不在 PyPI 上：进程 {rank} 没有加载 CANN 环境变量。",
        (
            "Set it up before the start file runs",
            "在启动文件之前加载环境",
            "source /usr/local/Ascend/ascend-toolkit/set_env.sh",
        ),
    ),
    "module-of-python": said(
        "This Python lacks its own part {name}",
        "{name} belongs to Python itself: the Python that rank {rank} ran was built without it, or PYTHONHOME points "
        "to another one.",
        "该 Python 缺少自身的 {name}",
        "{name} 是 Python 自带的部分：进程 {rank} 使用的 Python 编译时没有包含它，或 PYTHONHOME 指向了别处。",
        (
            "Use another Python or image, and leave PYTHONHOME unset",
            "换用其他 Python 或镜像，不要设置 PYTHONHOME",
            None,
        ),
    ),
    "library-missing": said(
        "The library {name} is missing",
        "The system of node {node} has no {name}, which rank {rank} needs.",
        "缺少系统库 {name}",
        "节点 {node} 的系统中没有进程 {rank} 需要的 {name}。",
        (
            "Install the package that has it, or choose an image that does",
            "安装包含它的软件包，或换用包含它的镜像",
            None,
        ),
        LOG,
    ),
    "library-package": said(
        "The library {name} is missing",
        "The system of node {node} has no {name}, which rank {rank} needs; Debian and Ubuntu have it in {package}.",
        "缺少系统库 {name}",
        "节点 {node} 的系统中没有进程 {rank} 需要的 {name}；Debian 和 Ubuntu 的软件包 {package} 包含它。",
        (f"Install it there, {_IMAGE}", f"在任务的环境中安装，{_IMAGE_ZH}", "apt-get install -y {package}"),
    ),
    "libgl-missing": said(
        "The library {name} is missing",
        "OpenCV asks for {name}, which draws windows; a machine without a screen needs only the headless OpenCV.",
        "缺少系统库 {name}",
        "OpenCV 需要用于显示窗口的 {name}；没有屏幕的机器用 headless 版 OpenCV 即可。",
        ("Use the OpenCV without windows", "使用不带窗口的 OpenCV", "pip install opencv-python-headless"),
        ("Or install the library", "或安装该系统库", "apt-get install -y libgl1"),
    ),
    "cuda-library-missing": said(
        "The CUDA library {name} is missing",
        "A package of rank {rank} was built for the CUDA that brings {name} (version {version}); what is installed is "
        "another version or none.",
        "缺少 CUDA 库 {name}",
        "进程 {rank} 的某个软件包是按包含 {name}（版本 {version}）的 CUDA 构建的；环境中是其他版本或没有 CUDA。",
        (
            "Install the build of the package that matches the image's CUDA, or another image",
            "安装与镜像 CUDA 匹配的版本，或换用其他镜像",
            None,
        ),
        LOG,
    ),
    "gpu-driver-missing": said(
        "The GPU driver's library {name} is not there",
        "{name} belongs to the driver and comes from the node: rank {rank} ran where no GPU driver reaches it.",
        "没有 GPU 驱动的库 {name}",
        "{name} 属于驱动，由节点提供：进程 {rank} 运行的地方没有 GPU 驱动。",
        ("Ask for a GPU, so that the node passes its driver in", "申请 GPU，节点才会提供驱动", None),
    ),
    "npu-driver-missing": said(
        "The NPU driver's library {name} is not there",
        "{name} belongs to the Ascend driver and comes from the node: rank {rank} ran where /usr/local/Ascend/driver "
        "is not mounted or not on LD_LIBRARY_PATH.",
        "没有 NPU 驱动的库 {name}",
        "{name} 属于昇腾驱动，由节点提供：进程 {rank} 运行的地方没有挂载 /usr/local/Ascend/driver，或它不在 "
        "LD_LIBRARY_PATH 中。",
        ("Ask for an NPU; else the admin must mount the driver", "申请 NPU；否则请管理员挂载驱动", None),
        ("See whether it is there", "查看是否存在", "ls /usr/local/Ascend/driver/lib64"),
    ),
    "cann-library-missing": said(
        "CANN's library {name} was not found",
        "{name} comes with CANN: it is not in this image, or its environment was not set up for rank {rank}.",
        "找不到 CANN 的库 {name}",
        "{name} 随 CANN 安装：该镜像中没有 CANN，或进程 {rank} 没有加载其环境变量。",
        (
            "Set it up before the start file runs",
            "在启动文件之前加载环境",
            "source /usr/local/Ascend/ascend-toolkit/set_env.sh",
        ),
    ),
    "libc-too-old": said(
        "The system's C library is too old",
        "Something that rank {rank} loads needs {name}, which the system of node {node} does not have: it was built on "
        "a newer one.",
        "系统的 C 库版本过旧",
        "进程 {rank} 加载的某个库需要 {name}，而节点 {node} 的系统没有：它是在更新的系统上构建的。",
        ("Use a newer image, or a build made for this one", "换用更新的镜像，或适合该系统的版本", None),
        LOG,
    ),
    "library-mismatch": said(
        "Two libraries do not fit each other",
        "A library that rank {rank} loads looks for {name} in another one and does not find it: they come from "
        "different versions.",
        "两个库的版本不匹配",
        "进程 {rank} 加载的库在另一个库中找不到 {name}：它们来自不同的版本。",
        ("Reinstall the packages together, so that they match", "一起重新安装这些软件包，使版本匹配", None),
        LOG,
    ),
}
