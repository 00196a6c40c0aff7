"""The fields of the old template: `lab` has an instance per card with its rank, `cloud` an instance per pod."""

from typing import Dict, List

from .finding import Notes, Object, Seat, length, place, shown

_PER_SERVER = (1, 2, 4, 8, 16)
_HIGHEST_CARD = {"lab": 15, "cloud": 7}


def walk(document: Object, form: str, notes: Notes) -> List[Seat]:
    """Every card of the table; what HCCL would refuse is noted."""
    if form == "lab":
        _check_lab(document, notes)
    groups = notes.objects("", document, "group_list")
    notes.count("", document, "group_count", length(document.get("group_list")), "groups")
    names: Dict[str, str] = {}
    pods: Dict[str, str] = {}
    seats: List[Seat] = []
    for at, group in groups:
        notes.once(at, "group_name", notes.text(at, group, "group_name"), names)
        seats += _group(at, group, form, pods, notes)
    return seats


def ranked(seats: List[Seat]) -> List[Seat]:
    """A cloud table's cards with the ranks that HCCL gives them: by server_id as text, then by card."""
    order = sorted(seats, key=lambda seat: (str(seat.server_id).encode("utf-8", "replace"), seat.device or 0))
    ranks = {seat.key: rank for rank, seat in enumerate(order)}
    return [seat._replace(rank=ranks[seat.key]) for seat in seats]


def _check_lab(document: Object, notes: Notes) -> None:
    notes.text("", document, "deploy_mode")
    location = notes.text("", document, "para_plane_nic_location")
    if location is not None and location != "device":
        cure = 'write "para_plane_nic_location": "device"'
        notes.add("para_plane_nic_location", f"is {shown(location)}, which HCCL refuses", cure, "wrong-value")


def _group(at: str, group: Object, form: str, pods: Dict[str, str], notes: Notes) -> List[Seat]:
    instances = notes.objects(at, group, "instance_list")
    seats: List[Seat] = []
    for spot, instance in instances:
        pod = notes.name(spot, instance, "pod_name") if form == "cloud" else ""
        notes.once(spot, "pod_name", pod or None, pods)
        server_id = notes.name(spot, instance, "server_id")
        rank = notes.number(spot, instance, "rank_id") if form == "lab" else None
        empty = Seat("", spot, server_id, None, "", rank, pod or "")
        seats += _cards(spot, instance, empty, form, form == "lab" or len(instances) > 1, notes)
    notes.count(at, group, "instance_count", length(group.get("instance_list")), "instances")
    notes.count(at, group, "device_count" if form == "cloud" else "device_num", len(seats), "cards")
    if form == "lab":
        _check_servers(at, group, seats, notes)
    return seats


def _cards(at: str, instance: Object, empty: Seat, form: str, reads_ips: bool, notes: Notes) -> List[Seat]:
    """The cards of an instance, each a copy of `empty`; HCCL does not read the addresses of a single pod."""
    devices = notes.objects(at, instance, "devices")
    if form == "lab" and len(devices) > 1:
        cure = "write an instance with its own rank_id for every card"
        notes.add(place(at, "devices"), f"has {len(devices)} cards, and a rank has one", cure, "several-cards")
    seats = []
    for spot, device in devices:
        card = notes.number(spot, device, "device_id")
        if card is not None and card > _HIGHEST_CARD[form]:
            cure = f"write the card's physical id, 0 to {_HIGHEST_CARD[form]}"
            notes.add(place(spot, "device_id"), f'is "{card}", which no card has in this form', cure, "device-too-high")
        ip = notes.text(spot, device, "device_ip") if reads_ips else device.get("device_ip")
        seats.append(empty._replace(key=spot, device=card, ip=ip if isinstance(ip, str) else ""))
    return seats


def _check_servers(at: str, group: Object, seats: List[Seat], notes: Notes) -> None:
    servers = {seat.server_id for seat in seats if seat.server_id is not None}
    if not servers:
        return
    notes.count(at, group, "server_num", len(servers), "different server_ids")
    if len(seats) % len(servers) or len(seats) // len(servers) not in _PER_SERVER:
        message = f"lists {len(seats)} cards on {len(servers)} servers, and HCCL wants 1, 2, 4, 8 or 16 on each"
        notes.add(place(at, "instance_list"), message, "list as many cards of every server", "card-count")
