"""Which package brings a module or a library that is missing."""

from __future__ import annotations

PIP = {
    "cv2": "opencv-python-headless",
    "PIL": "pillow",
    "sklearn": "scikit-learn",
    "skimage": "scikit-image",
    "yaml": "pyyaml",
    "bs4": "beautifulsoup4",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "docx": "python-docx",
    "pptx": "python-pptx",
    "Crypto": "pycryptodome",
    "OpenSSL": "pyopenssl",
    "attr": "attrs",
    "fitz": "pymupdf",
    "git": "gitpython",
    "jwt": "pyjwt",
    "magic": "python-magic",
    "serial": "pyserial",
    "zmq": "pyzmq",
    "faiss": "faiss-cpu",
    "hydra": "hydra-core",
    "skopt": "scikit-optimize",
    "umap": "umap-learn",
    "osgeo": "gdal",
    "MySQLdb": "mysqlclient",
    "psycopg2": "psycopg2-binary",
    "pkg_resources": "setuptools<81",
    "distutils": "setuptools",
    "mpl_toolkits": "matplotlib",
    "google.protobuf": "protobuf",
    "tensorboardX": "tensorboardX",
    "Levenshtein": "levenshtein",
    "ruamel": "ruamel.yaml",
    "OpenGL": "pyopengl",
    "Bio": "biopython",
    "lightning_fabric": "lightning",
    "flash_attn": "flash-attn",
    "IPython": "ipython",
}
"""Modules whose package has another name."""

NO_PIP = frozenset({"apex", "clip", "detectron2", "mmcv_ops", "pytorch3d", "tensorrt", "horovod_core"})
"""Modules whose name on PyPI belongs to something else, or that are built by hand: no line is offered."""

CANN = frozenset({"acl", "hccl", "tbe", "te", "topi", "impl", "auto_tune", "schedule_search", "op_gen", "mindx"})
"""Python parts of CANN: they come with its environment, not from PyPI."""

PYTHON = frozenset(
    {"_ctypes", "_lzma", "_bz2", "_sqlite3", "_ssl", "_tkinter", "_curses", "_hashlib", "_uuid", "_posixshmem"}
)
"""Parts of Python itself that are missing where it was built without a system library."""

_OWN = (
    "args common config configs core custom data_utils dataloader dataset engine helper helpers layers lib libs loss "
    "losses misc model models modules net nets network networks opt option options script scripts settings src "
    "tools trainer trainers util utils"
)
LOCAL = frozenset(_OWN.split())
"""Names that people give their own files; packages of these names on PyPI are something else."""

APT = {
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libGLESv2.so.2": "libgles2",
    "libOpenGL.so.0": "libopengl0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libSM.so.6": "libsm6",
    "libICE.so.6": "libice6",
    "libX11.so.6": "libx11-6",
    "libXext.so.6": "libxext6",
    "libXrender.so.1": "libxrender1",
    "libxcb.so.1": "libxcb1",
    "libsndfile.so.1": "libsndfile1",
    "libsndfile.so": "libsndfile1",
    "libportaudio.so.2": "libportaudio2",
    "libsox.so": "libsox-dev",
    "libgomp.so.1": "libgomp1",
    "libgfortran.so.5": "libgfortran5",
    "libopenblas.so.0": "libopenblas0",
    "libnuma.so.1": "libnuma1",
    "libibverbs.so.1": "libibverbs1",
    "librdmacm.so.1": "librdmacm1",
    "libaio.so.1": "libaio1",
    "libjemalloc.so.2": "libjemalloc2",
    "libtcmalloc.so.4": "libgoogle-perftools4",
    "libmpi.so.40": "libopenmpi3",
    "libhdf5_serial.so.103": "libhdf5-103",
    "libgeos_c.so.1": "libgeos-c1v5",
    "libmagic.so.1": "libmagic1",
    "libtk8.6.so": "tk",
    "libpq.so.5": "libpq5",
    "libffi.so.7": "libffi7",
    "libffi.so.8": "libffi8",
    "libatomic.so.1": "libatomic1",
    "libXi.so.6": "libxi6",
    "libXtst.so.6": "libxtst6",
    "libnss3.so": "libnss3",
    "libturbojpeg.so.0": "libturbojpeg",
    "libzbar.so.0": "libzbar0",
    "libpoppler-cpp.so.0": "libpoppler-cpp0v5",
}
"""Debian's and Ubuntu's package of a library."""

GPU_DRIVER = ("libcuda.so", "libnvidia-", "libnvcuvid.so")
CUDA = (
    "libcudart.so",
    "libcublas",
    "libcudnn",
    "libcufft",
    "libcurand",
    "libcusparse",
    "libcusolver",
    "libnvrtc",
    "libnvjitlink",
    "libcupti",
    "libnvtoolsext",
    "libcufile",
    "libnccl.so",
    "libnvinfer",
)
NPU_DRIVER = ("libascend_hal", "libdrvdsmi", "libdcmi", "libc_sec.so", "libmmpa.so", "libdevmmap", "libascend_kms")
CANN_LIBRARIES = (
    "libhccl",
    "libge_",
    "libgraph",
    "libascendcl",
    "libacl_",
    "libregister.so",
    "libruntime.so",
    "libopapi",
    "libplatform.so",
    "libmsprof",
    "libprofapi",
    "libascendalog",
    "libslog.so",
    "libexe_graph",
    "liberror_manager",
    "libnnopbase",
    "libtiling",
    "libgert.so",
    "libhybrid_executor",
    "libatb",
)
"""Beginnings of names, in small letters."""


def library_form(name: str) -> str:
    """Which sentence fits a library that is missing."""
    small = name.lower()
    kinds = (
        ("npu-driver-missing", NPU_DRIVER),
        ("cann-library-missing", CANN_LIBRARIES),
        ("gpu-driver-missing", GPU_DRIVER),
        ("cuda-library-missing", CUDA),
    )
    found = next((form for form, starts in kinds if small.startswith(starts)), None)
    if found is not None:
        return found
    if name.startswith("libGL.so"):
        return "libgl-missing"
    return "library-package" if name in APT else "library-missing"
