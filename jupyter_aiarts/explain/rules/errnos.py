"""What the kernel answered, whoever reports it and in whatever language: by its number, else by its words."""

from __future__ import annotations

import re

ENOENT, ENOMEM, EACCES, EPERM, EMFILE, ENOSPC, EROFS = 2, 12, 13, 1, 24, 28, 30
EADDRINUSE, EDQUOT, ESTALE, EAGAIN, ENOEXEC = 98, 122, 116, 11, 8

_NUMBER = re.compile(r"\[Errno (\d{1,3})\]|\berrno ?[=:] ?(\d{1,3})\b|\(errno:? (\d{1,3})|\berror code: -?(\d{1,3})\b")

_WORDS: tuple[tuple[int, tuple[str, ...]], ...] = (
    (ENOSPC, ("no space left on device", "设备上没有空间", "裝置上已無多餘空間", "kein speicherplatz mehr verfügbar")),
    (EDQUOT, ("disk quota exceeded", "超出磁盘限额", "der zugewiesene plattenplatz", "edquot")),
    (ENOMEM, ("cannot allocate memory", "无法分配内存", "nicht genügend hauptspeicher", "kann keinen speicher allok")),
    (EMFILE, ("too many open files", "打开的文件过多", "zu viele offene dateien")),
    (EADDRINUSE, ("address already in use", "eaddrinuse", "地址已在使用", "adresse wird bereits verwendet")),
    (ESTALE, ("stale file handle", "stale nfs file handle", "失效文件句柄", "veraltete dateizugriffsnummer")),
    (EROFS, ("read-only file system", "只读文件系统", "dateisystem ist nur lesbar", "nur lesbares dateisystem")),
    (EACCES, ("permission denied", "权限不够", "权限被拒绝", "keine berechtigung")),
    (EPERM, ("operation not permitted", "不允许的操作", "die operation ist nicht erlaubt", "vorgang nicht zulässig")),
    (ENOENT, ("no such file or directory", "没有那个文件或目录", "datei oder verzeichnis nicht gefunden")),
    (ENOEXEC, ("exec format error", "可执行文件格式错误", "fehler im format der programmdatei")),
    (EAGAIN, ("resource temporarily unavailable", "资源暂时不可用", "ressource ist zur zeit nicht verfügbar")),
)


def errno_of(text: str) -> int | None:
    """The number of the kernel's answer that a line reports; None where it reports none that is known here."""
    found = _NUMBER.search(text)
    if found is not None:
        return int(next(group for group in found.groups() if group))
    small = text.lower()
    return next((number for number, words in _WORDS if any(word in small for word in words)), None)
