"""Would HCCL take this rank table, on these cards? Every rule is one sentence with the key that has to change."""

from typing import Dict, List, Optional, Sequence

from . import addresses, usual
from .finding import NUMBER, Enough, Finding, Notes, Object, Seat, place, shown
from .reading import Unreadable, doubled, form_of, load, text_of, walk

RING = 4
BOARD = 8
MOST_SERVERS = usual.MOST_SERVERS


def check(
    content: bytes,
    present: Optional[Sequence[int]] = None,
    rank: Optional[str] = None,
    device: Optional[int] = None,
    rings: bool = True,
    roce: bool = False,
) -> List[Finding]:
    """What HCCL would refuse, nothing when all is well.

    `present` are the physical ids of this machine's cards, `rank` a process's RANK_ID, `device` the physical id of the
    card it opened: each is compared where it is given. `rings` is False for boards whose cards all reach each other
    (910B and later), `roce` True where HCCL_INTRA_ROCE_ENABLE makes addresses necessary inside a server too.
    """
    notes = Notes()
    here = present is not None or rank is not None or device is not None
    try:
        if not here and usual.is_sound(text_of(content)):
            return []
        loaded = load(content)
        for spot, key in doubled(loaded):
            notes.add(spot, "is written twice in the same object", f"keep one {shown(key)}", "key-twice")
        document, form = loaded.document, form_of(loaded.document)
        if _is_filled(document, notes):
            seats = walk(document, form, notes)
            _check_seats(seats, document, form, notes, roce, rings)
            _check_here(seats, form, notes, present, rank, device)
    except Unreadable as error:
        return notes.findings + [error.finding]
    except Enough:
        message = f"has more mistakes than the {len(notes.findings)} above"
        return notes.findings + [Finding("", message, "correct these first, then check again", "more")]
    return notes.findings


def check_path(path: str) -> List[Finding]:
    """HCCL takes the end of RANK_TABLE_FILE for the file's type, and looks for it from the left."""
    if not path.endswith(".json"):
        cure = f"rename the file to {path.rsplit('.', 1)[0] if '.' in path.rsplit('/', 1)[-1] else path}.json"
        return [Finding("RANK_TABLE_FILE", f"is {path}, which does not end in .json", cure, "path-not-json")]
    if path.index(".json") != len(path) - len(".json"):
        cure = "move the file to a path with .json at its end only"
        return [Finding("RANK_TABLE_FILE", f"is {path}, which has .json twice", cure, "path-not-json")]
    return []


def check_cards(cards: Sequence[int], rings: bool = True) -> Optional[Finding]:
    """Whether one server may train on these cards; the finding names cards that would do."""
    if len(set(cards)) != len(cards):
        return Finding("device_id", "names a card twice", "name each card once", "repeated")
    if not rings or not cards or max(cards) >= BOARD:
        return None
    if len(cards) not in (1, 2, RING, BOARD):
        fewer = max(count for count in (1, 2, RING) if count < len(cards))
        message = f"has {len(cards)} cards, and an Ascend 910 server trains on 1, 2, 4 or 8"
        return Finding("device_id", message, f"take {fewer} or {2 * fewer} cards", "card-count")
    if len(cards) < BOARD and len({card // RING for card in cards}) > 1:
        message = "mixes cards of both rings of the board, 0-3 and 4-7"
        return Finding("device_id", message, "take all cards from one ring", "ring-crossed")
    return None


def _is_filled(document: Object, notes: Notes) -> bool:
    """Whether the table is there; HCCL looks at an unfinished one again every second, for half an hour."""
    status = notes.text("", document, "status")
    if "version" in document:
        notes.text("", document, "version")
    if status is None or status == "completed":
        return True
    if status == "initializing":
        cure = "wait until its controller has filled it in, or look why that controller does not run"
        notes.add("status", 'is "initializing", so HCCL waits up to 30 minutes for it', cure, "not-completed")
        return "server_list" in document or "group_list" in document
    cure = 'write "status": "completed" once the table is whole'
    notes.add("status", f'is {shown(status)}, and HCCL waits for "completed"', cure, "not-completed")
    return True


def _check_seats(seats: Sequence[Seat], document: Object, form: str, notes: Notes, roce: bool, rings: bool) -> None:
    servers = _by_server(seats)
    if form != "cloud":
        _check_ranks(seats, notes)
    _check_devices(servers, notes)
    needed = _ips_needed(document, form, len(servers), roce)
    # HCCL does not look at the addresses of a cloud table with one pod, nor where hosts' network cards are used.
    if not (form == "cloud" and len({seat.pod for seat in seats}) <= 1) and not _uses_hosts(document):
        _check_ips(seats, form, needed, notes)
    if rings and form != "v1.2":
        _check_shape(servers, form, notes)


def _by_server(seats: Sequence[Seat]) -> Dict[str, List[Seat]]:
    servers: Dict[str, List[Seat]] = {}
    for seat in seats:
        if seat.server_id is not None:
            servers.setdefault(seat.server_id, []).append(seat)
    return servers


def _check_ranks(seats: Sequence[Seat], notes: Notes) -> None:
    """Ranks count from 0 without gaps, each once."""
    taken = {seat.rank for seat in seats}
    free = iter([rank for rank in range(len(seats)) if rank not in taken])
    first_of: Dict[int, str] = {}
    for seat in seats:
        if seat.rank is None:
            continue
        first = first_of.setdefault(seat.rank, seat.rank_key)
        if first == seat.rank_key and seat.rank < len(seats):
            continue
        key = place(seat.rank_key, "rank_id")
        better = next(free, None)
        cure = f'write "rank_id": "{better}", which is missing' if better is not None else "count from 0 without gaps"
        if first != seat.rank_key:
            notes.add(key, f'is "{seat.rank}", which {first} has already', cure, "rank-repeated")
        else:
            last = len(seats) - 1
            notes.add(key, f'is "{seat.rank}", but {len(seats)} cards have ranks 0 to {last}', cure, "rank-gap")


def _check_devices(servers: Dict[str, List[Seat]], notes: Notes) -> None:
    for seats in servers.values():
        first_of: Dict[int, str] = {}
        for seat in seats:
            if seat.device is None:
                continue
            first = first_of.setdefault(seat.device, seat.key)
            if first != seat.key:
                message = f'is "{seat.device}", which {first} of the same server has already'
                notes.add(place(seat.key, "device_id"), message, "list every card once", "device-repeated")


def _ips_needed(document: Object, form: str, servers: int, roce: bool) -> bool:
    if form == "v1.2":
        pods = document.get("super_pod_list")
        return isinstance(pods, list) and len(pods) > 1
    return servers > 1 or (roce and form == "v1")


def _uses_hosts(document: Object) -> bool:
    servers = document.get("server_list")
    return isinstance(servers, list) and all(isinstance(one, dict) and "host_ip" in one for one in servers)


def _check_ips(seats: Sequence[Seat], form: str, needed: bool, notes: Notes) -> None:
    """Addresses are addresses, nobody's twice, as many and of one kind for every card."""
    first_of: Dict[bytes, Seat] = {}
    kinds: Dict[int, Seat] = {}
    counts: Dict[int, Seat] = {}
    for seat in seats:
        if not seat.ip:
            if needed:
                _note_no_ip(seat, notes)
            continue
        ips = seat.ip.split(",") if form in ("v1", "v1.2") else [seat.ip]
        counts.setdefault(len(ips), seat)
        for ip in ips:
            number = addresses.packed(ip)
            if number is None:
                _note_bad_ip(seat, ip, needed or form == "lab", notes)
                continue
            first = first_of.setdefault(number, seat)
            if first is not seat or ips.count(ip) > 1:
                key = place(seat.key, "device_ip")
                notes.add(key, f"is {ip}, as is {first.key}'s", "give every card its own address", "ip-repeated")
            kinds.setdefault(len(number), seat)
    _check_even(kinds, "is IPv6 where {other}'s is IPv4", "use one kind of address for all cards", "ip-kinds", notes)
    _check_even(counts, "has more addresses than {other}'s", "give every card as many", "ip-counts", notes)


def _note_no_ip(seat: Seat, notes: Notes) -> None:
    cure = f"write what `hccn_tool -i {'N' if seat.device is None else seat.device} -ip -g` says on its host"
    message = "is missing, and cards of different servers meet over it"
    notes.add(place(seat.key, "device_ip"), message, cure, "ip-missing")


def _note_bad_ip(seat: Seat, ip: str, needed: bool, notes: Notes) -> None:
    cure = "write the card's own IP address" + ("" if needed else ", or leave the key out: one server needs none")
    notes.add(place(seat.key, "device_ip"), f"is {shown(ip)}, which is no IP address", cure, "not-an-ip")


def _check_even(found: Dict[int, Seat], message: str, cure: str, code: str, notes: Notes) -> None:
    if len(found) > 1:
        low, high = found[min(found)], found[max(found)]
        notes.add(place(high.key, "device_ip"), message.format(other=low.key), cure, code)


def _check_shape(servers: Dict[str, List[Seat]], form: str, notes: Notes) -> None:
    """An Ascend 910 server has two rings of four: 1, 2, 4 or 8 cards alone, 8 on each of several servers."""
    cards = {name: [seat.device for seat in seats if seat.device is not None] for name, seats in servers.items()}
    if any(card >= BOARD for ids in cards.values() for card in ids):
        return  # another kind of machine
    if len(servers) > MOST_SERVERS:
        message = f"names {len(servers)} servers, and HCCL connects at most {MOST_SERVERS}"
        notes.add(_LISTS[form], message, "use fewer servers", "too-many-servers")
    for name, ids in cards.items():
        key = servers[name][0].key.rpartition("[")[0]
        if len(servers) > 1:
            if len(ids) != BOARD:
                message = f"has {len(ids)} cards, and with several servers each one has all {BOARD}"
                notes.add(key, message, f"list the {BOARD} cards of {shown(name)}", "card-count")
            continue
        found = check_cards(sorted(set(ids)))
        if found is not None:
            notes.add(key, found.message, found.cure, found.code)


_LISTS = {"v1": "server_list", "lab": "group_list[0].instance_list", "cloud": "group_list[0].instance_list"}


def _check_here(
    seats: Sequence[Seat],
    form: str,
    notes: Notes,
    present: Optional[Sequence[int]],
    rank: Optional[str],
    device: Optional[int],
) -> None:
    """The table against this process and this machine."""
    mine = _mine(seats, form, rank, notes) if rank is not None else []
    if device is not None and mine and device not in [seat.device for seat in mine]:
        cure = f"start this rank on card {mine[0].device}, or write the card that it opens"
        message = f'is "{mine[0].device}", but the process opened card {device}'
        notes.add(place(mine[0].key, "device_id"), message, cure, "device-differs")
    homes = {seat.server_id for seat in (mine or seats)}
    if present is None or len(homes) != 1:
        return  # which of several servers this machine is, nobody said
    for seat in seats:
        if seat.server_id in homes and seat.device is not None and seat.device not in present:
            have = ", ".join(map(str, sorted(present))) or "none"
            message = f'is "{seat.device}", but the cards of this machine are {have}'
            notes.add(place(seat.key, "device_id"), message, "list cards that are there", "device-absent")


def _mine(seats: Sequence[Seat], form: str, rank: str, notes: Notes) -> List[Seat]:
    """The cards that belong to RANK_ID."""
    if form == "cloud":
        mine = [seat for seat in seats if seat.pod == rank]
        if not mine:
            pods = ", ".join(dict.fromkeys(seat.pod for seat in seats[:MOST_SERVERS])) or "none"
            message = f"is {shown(rank)}, which is no pod_name of this table ({pods[:200]})"
            cure = "set RANK_ID to the pod_name, or use a table with rank_id (version 1.0)"
            notes.add("RANK_ID", message, cure, "rank-unknown")
        return mine
    if not NUMBER.match(rank):
        message = f"is {shown(rank)}, and this form of table wants a number"
        notes.add("RANK_ID", message, f"set it to 0 … {len(seats) - 1}", "rank-not-digits")
        return []
    if int(rank) >= len(seats):
        message = f"is {shown(rank)}, but the table has ranks 0 to {len(seats) - 1}"
        cure = "start as many processes as the table has cards, or make a larger table"
        notes.add("RANK_ID", message, cure, "rank-too-high")
    return [seat for seat in seats if seat.rank == int(rank)]
