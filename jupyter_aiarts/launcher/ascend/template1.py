"""The fields of versions 1.0 and 1.2: servers with their cards, and for 1.2 the super pods that servers stand in."""

from typing import Dict, List, Optional, Set, Tuple

from . import addresses
from .finding import Notes, Object, Seat, length, place, shown

_HIGHEST_CARD = 15
_USUAL = 3  # device_id, device_ip, rank_id: nearly every card has just these
_PORTS = ("device_port", "backup_device_port", "host_port")


def walk(document: Object, form: str, notes: Notes) -> List[Seat]:
    """Every card of the table; what HCCL would refuse is noted."""
    servers = notes.objects("", document, "server_list")
    if "server_count" in document:  # HCCL counts for itself where it is absent
        notes.count("", document, "server_count", length(document.get("server_list")), "servers")
    first_of: Dict[str, str] = {}
    seats: List[Seat] = []
    for at, server in servers:
        server_id = notes.name(at, server, "server_id")
        notes.once(at, "server_id", server_id, first_of, "list the cards of one machine in one entry")
        for spot, device in notes.objects(at, server, "device"):
            seats.append(_seat(spot, device, server_id, form, notes))
    _check_host_ips(servers, notes)
    if form == "v1.2":
        _check_super_pods(document, servers, notes)
    return seats


def _seat(at: str, device: Object, server_id: Optional[str], form: str, notes: Notes) -> Seat:
    card, rank = notes.number(at, device, "device_id"), notes.number(at, device, "rank_id")
    ip = notes.text(at, device, "device_ip") if "device_ip" in device else ""
    if card is not None and card > _HIGHEST_CARD:
        cure = f"write the card's physical id, 0 to {_HIGHEST_CARD}"
        notes.add(place(at, "device_id"), f'is "{card}", which no card has', cure, "device-too-high")
    if form == "v1.2":
        notes.number(at, device, "super_device_id")
        _check_backup(at, device, notes)
    if len(device) > _USUAL:
        for key in (key for key in _PORTS if key in device):
            _check_port(at, device, key, notes)
    return Seat(at, at, server_id, card, ip or "", rank)


def _check_host_ips(servers: List[Tuple[str, Object]], notes: Notes) -> None:
    """`host_ip` makes HCCL use the hosts' network cards, on all servers or on none."""
    having = [(at, server) for at, server in servers if "host_ip" in server]
    for at, server in having:
        ip = notes.text(at, server, "host_ip")
        if ip is not None and addresses.packed(ip) is None:
            cure = "write the host's IP address, or take host_ip out of every server"
            notes.add(place(at, "host_ip"), f"is {shown(ip)}, which is no IP address", cure, "not-an-ip")
    lacking = [at for at, server in servers if "host_ip" not in server]
    if having and lacking:
        message = f"is missing, but {having[0][0]} has one, and HCCL wants it on all servers or on none"
        notes.add(place(lacking[0], "host_ip"), message, "take host_ip out of every server", "host-ip-partial")


def _check_backup(at: str, device: Object, notes: Notes) -> None:
    ips = notes.text(at, device, "backup_device_ip") if "backup_device_ip" in device else None
    if ips and not all(addresses.packed(one) for one in ips.split(",")):
        message = f"is {shown(ips)}, which is no IP address"
        notes.add(
            place(at, "backup_device_ip"), message, "write the backup port's address, or leave it out", "not-an-ip"
        )


def _check_port(at: str, device: Object, key: str, notes: Notes) -> None:
    port = notes.number(at, device, key)
    if port is not None and not 1 <= port <= 65535:
        notes.add(place(at, key), f'is "{port}", which is no port', "write 1 to 65535, or leave it out", "not-a-port")


def _check_super_pods(document: Object, servers: List[Tuple[str, Object]], notes: Notes) -> None:
    """Every server in exactly one super pod, as many in each, no card number twice in one."""
    home: Dict[str, str] = {}
    first_of: Dict[str, str] = {}
    sizes: Dict[str, int] = {}
    known = {str(server["server_id"]): at for at, server in servers if isinstance(server.get("server_id"), str)}
    for at, pod in notes.objects("", document, "super_pod_list"):
        notes.once(at, "super_pod_id", notes.name(at, pod, "super_pod_id"), first_of)
        members = notes.objects(at, pod, "server_list")
        sizes[at] = len(members)
        for spot, member in members:
            _settle(spot, at, notes.name(spot, member, "server_id"), set(known), home, notes)
    for server_id, at in known.items():
        if home and server_id not in home:
            cure = f"add {shown(server_id)} to the server_list of one super pod"
            notes.add(place(at, "server_id"), "stands in no super pod", cure, "not-in-a-super-pod")
    if len(set(sizes.values())) > 1:
        message = f"have {', '.join(str(size) for size in sizes.values())} servers, and HCCL wants as many in each"
        notes.add("super_pod_list", message, "spread the servers evenly", "super-pods-uneven")
    _check_super_devices(servers, home, notes)


def _settle(at: str, pod: str, server_id: Optional[str], known: Set[str], home: Dict[str, str], notes: Notes) -> None:
    if server_id is None:
        return
    key = place(at, "server_id")
    if server_id not in known:
        cure = "write a server_id that server_list has"
        notes.add(key, f"is {shown(server_id)}, which server_list does not have", cure, "unknown-server")
    elif server_id in home:
        cure = "leave every server in one super pod only"
        notes.add(key, f"is {shown(server_id)}, which {home[server_id]} has already", cure, "repeated")
    home.setdefault(server_id, pod)


def _check_super_devices(servers: List[Tuple[str, Object]], home: Dict[str, str], notes: Notes) -> None:
    first_of: Dict[Tuple[str, str], str] = {}
    for at, server in servers:
        devices = server.get("device")
        for number, device in enumerate(devices if isinstance(devices, list) else ()):
            value = device.get("super_device_id") if isinstance(device, dict) else None
            if not isinstance(value, str):
                continue
            spot = f"{at}.device[{number}]"
            first = first_of.setdefault((home.get(str(server.get("server_id")), ""), value.lstrip("0")), spot)
            if first != spot:
                message = f"is {shown(value)}, as in {first} of the same super pod"
                cure = "give every card of a super pod its own"
                notes.add(place(spot, "super_device_id"), message, cure, "repeated")
