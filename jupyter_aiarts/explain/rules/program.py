"""What a program says about itself and its machine: what it lacks, what is full, what it may not do."""

from __future__ import annotations

from jupyter_aiarts.explain.rules import looks
from jupyter_aiarts.explain.rules.signs import sign

_LIB = r"(?P<lib>(?:/[\w./+-]{1,300}/)?\blib[\w.+-]{1,80}\.so(?:\.\d{1,4}){0,4})"

SIGNS = (
    # -- the start file
    sign("start-file-bad-interpreter", ("\\r", "^m", "\r"), r"(?:\\r|\^M|\r)['’:]", "script-crlf"),
    sign(
        "start-file-bad-interpreter",
        ("bad interpreter", "解释器错误", "坏的解释器", "defekter interpreter"),
        r"(?P<name>/[^\s:：]{1,200})[:：] ?(?:bad interpreter|解释器错误|坏的解释器|Defekter Interpreter)",
        values=looks.interpreter,
    ),
    sign(
        "start-file-bad-interpreter",
        "no such file or directory",
        r"^exec (?P<path>/\S{1,300}): no such file or directory",
        "interpreter-hidden",
    ),
    sign(
        "start-file-missing",
        "can't open file",
        r"can't open file ['\"](?P<path>[^'\"]{1,400})['\"]",
        "script-missing",
    ),
    sign(
        "start-file-not-executable",
        (
            "exec format error",
            "cannot execute binary file",
            "无法执行二进制文件",
            "格式错误",
            "format der programmdatei",
        ),
        r"Exec format error|cannot execute binary file|无法执行二进制文件|可执行文件格式错误|Format der Programmdatei",
        "wrong-binary",
    ),
    # -- modules and libraries
    sign(
        "module-missing",
        "no module named",
        r"No module named ['\"]?(?P<name>[\w.]{1,120})['\"]?(?P<shadow>; ['\"]\w{1,80}['\"] is not a package)?",
        values=looks.module,
    ),
    sign("library-missing", "glibc", r"version [`'‘](?P<name>GLIBC(?:XX)?_[\d.]{1,12})['’] not found", "libc-too-old"),
    sign("library-missing", "cxxabi_", r"version [`'‘](?P<name>CXXABI_[\d.]{1,12})['’] not found", "libc-too-old"),
    sign("library-missing", "undefined symbol", r"undefined symbol: (?P<name>\S{1,200})", "library-mismatch"),
    sign(
        "library-missing",
        ".so",
        _LIB + r"[:：] ?(?:cannot open shared object|无法打开共享|kann die shared-object|\D{0,40}共享)",
        values=looks.library,
    ),
    sign("library-missing", ".so", r"(?:ImportError|OSError): " + _LIB + r": ", values=looks.library),
    # -- what is full
    sign("watch-limit", "inotify", r"inotify (?:watch|instance)|inotify.*(?:Errno (?:28|24)|limit|no space)"),
    sign(
        "shared-memory-full",
        ("shared memory", "(shm)"),
        r"insufficient shared memory|out of shared memory|(?:not enough|low) shared memory",
        values=lambda match, line, end, spec: looks.shm(spec),
    ),
    sign(
        "shared-memory-full",
        ("no space left", "errno 28", "(28)", "设备上没有空间", "kein speicherplatz", "posix_fallocate"),
        r".",
        values=looks.full_shm,
    ),
    sign(
        "shared-memory-full",
        ("creating shared memory segment", "allocate shared memory", "shared memory(shm)"),
        r"(?:Error while creating|failed to (?:create|allocate)|unable to allocate) shared memory",
        values=looks.full_shm,
    ),
    sign(
        "shared-memory-full", ("bus error", "sigbus", "总线错误"), r"bus error|SIGBUS|总线错误", values=looks.bus_error
    ),
    sign("too-many-open-files", ("too many open files", "errno 24", "打开的文件过多", "offene dateien"), r"."),
    sign("too-many-open-files", "ancdata", r"received \d+ items of ancdata"),
    sign("out-of-memory", "killed by signal", r"worker .{0,60}killed by signal: Killed", values=looks.worker_killed),
    sign(
        "out-of-memory",
        ("memoryerror", "unable to allocate"),
        r"^(?:[\w.]{1,80}\.)?_?(?:Array)?MemoryError\b",
        values=looks.no_memory,
    ),
    sign(
        "out-of-memory",
        ("cannot allocate memory", "errno 12]", "无法分配内存", "genügend hauptspeicher"),
        r".",
        values=looks.no_memory,
    ),
    sign("out-of-memory", "bad_alloc", r"std::bad_alloc", values=looks.no_memory),
    sign(
        "out-of-memory",
        "defaultcpuallocator",
        r"DefaultCPUAllocator: (?:can't allocate|not enough) memory",
        values=looks.no_memory,
    ),
    sign(
        "disk-full",
        (
            "no space left",
            "errno 28",
            "errno = 28",
            "quota",
            "errno 122",
            "设备上没有空间",
            "磁盘限额",
            "speicherplatz",
        ),
        r".",
        values=looks.full_place,
    ),
    sign("disk-full", "disk is full", r"database or disk is full", "disk-full-somewhere"),
    sign(
        "port-taken",
        ("address already in use", "eaddrinuse", "errno 98", "地址已在使用"),
        r".",
        values=looks.taken_port,
    ),
    sign("port-taken", "bereits verwendet", r"Adresse wird bereits verwendet", values=looks.taken_port),
    sign("port-taken", "ej0003", r"\bEJ0003\b", values=looks.taken_port),
    sign(
        "stale-file-handle",
        ("stale", "errno 116", "失效文件句柄"),
        r"stale (?:nfs )?file handle|Errno 116|失效文件句柄",
    ),
    sign(
        "permission-denied",
        ("permission", "errno 13", "errno 1]", "errno 30", "权限", "berechtigung", "read-only", "只读", "nur lesbar"),
        r".",
        values=looks.denied,
    ),
    # -- how it was called; what it did not find
    sign(
        "exit-code",
        ("command not found", "not found", "未找到命令", "找不到命令", "nicht gefunden"),
        r"(?:^|[:：] ?)(?P<name>[^\s:：]{1,100})[:：] ?(?:command not found|未找到命令|找不到命令|(?:Kommando"
        r"|Befehl) nicht gefunden)"
        r"|command not found: (?P<name_zsh>\S{1,100})"
        r"|^\S{1,200}: (?:line )?\d{1,6}: (?:exec: )?(?P<name_sh>\S{1,100}): not found$",
        values=looks.missing_command,
    ),
    sign(
        "exit-code",
        "no such file or directory",
        r"^(?:/usr/bin/)?env: [‘'`](?P<name>[^’'`]{1,100})[’'`]: No such file",
        values=looks.missing_command,
    ),
    sign(
        "exit-code",
        "unrecognized arguments",
        r"unrecognized arguments: (?P<said>.{1,300})",
        "wrong-arguments",
        values=looks.arguments,
    ),
    sign(
        "exit-code",
        "arguments are required",
        r"following arguments are required: (?P<said>.{1,300})",
        "arguments-missing",
        values=looks.arguments,
    ),
    sign(
        "exit-code",
        "no such option",
        r"No such option:? (?P<said>\S{1,200})",
        "wrong-arguments",
        values=looks.arguments,
    ),
    sign(
        "exit-code",
        "unknown command line flag",
        r"Unknown command line flag ['\"](?P<said>[^'\"]{1,200})",
        "wrong-arguments",
        values=looks.arguments,
    ),
    sign(
        "exit-code",
        ("error: argument ",),
        r": error: argument (?P<said>.{1,300})",
        "arguments-unfit",
        values=looks.arguments,
    ),
    sign(
        "exit-code",
        ("no such file", "errno 2]", "没有那个文件", "nicht gefunden"),
        r".",
        "file-missing",
        values=looks.missing_file,
    ),
    sign(
        "exit-code",
        ("name resolution", "name or service not known", "max retries exceeded", "couldn't connect to 'https"),
        r"Temporary failure in name resolution|Name or service not known|Max retries exceeded with url"
        r"|couldn't connect to 'https",
        "no-network",
    ),
    sign(
        "exit-code",
        ("can't start new thread", "pthread_create failed", "fork: retry", "resource temporarily unavailable"),
        r"can't start new thread|pthread_create failed|fork: (?:retry: )?Resource temporarily unavailable",
        "too-many-processes",
    ),
)
