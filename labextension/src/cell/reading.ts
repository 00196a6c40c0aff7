/**
 * The server's answers as the panels use them. What a newer server leaves out or adds does no harm: a number that is
 * not there is unknown, and unknown is `null`, never 0.
 */
import { PHASES, type Phase } from '../wire';

type Fields = Readonly<Record<string, unknown>>;
type Amount = number | null;

export interface IAction {
  readonly label: string;
  readonly command: string | null;
}

export interface IReason {
  readonly code: string;
  readonly title: string;
  readonly why: string;
  readonly evidence: ReadonlyArray<string>;
  readonly actions: ReadonlyArray<IAction>;
}

export interface IWholeJob {
  readonly id: string;
  readonly name: string;
  readonly phase: Phase;
  readonly run: number;
  readonly cluster: string;
  readonly owner: string;
  readonly created: string;
  readonly started: string | null;
  readonly ended: string | null;
  readonly idleSince: string | null;
  readonly moves: ReadonlyArray<string>;
  readonly machines: ReadonlyArray<string>;
  readonly reason: IReason | null;
  readonly device: string;
  readonly devices: number;
  readonly nodes: number;
}

export interface ICard {
  readonly name: string;
  /** As the server names its series: `npu 3`, `gpu 0 1g.10gb`. */
  readonly key: string;
  readonly busy: Amount;
  readonly used: Amount;
  readonly total: Amount;
  readonly power: Amount;
  readonly heat: Amount;
  readonly health: string | null;
  readonly programs: ReadonlyArray<string> | null;
}

export interface IDisk {
  readonly path: string;
  readonly used: Amount;
  readonly total: Amount;
}

export interface IUsage {
  /** Seconds since 1970. */
  readonly at: number;
  readonly cpu: Amount;
  readonly cpus: Amount;
  readonly used: Amount;
  readonly total: Amount;
  readonly received: Amount;
  readonly sent: Amount;
  readonly own: ReadonlyArray<string>;
  readonly disks: ReadonlyArray<IDisk>;
  readonly cards: ReadonlyArray<ICard>;
  readonly problems: ReadonlyArray<IReason>;
  readonly history: IHistory | null;
}

export interface IHistory {
  readonly times: ReadonlyArray<number>;
  readonly series: ReadonlyMap<string, ReadonlyArray<Amount>>;
}

/** One card of a job, now and over the whole run. */
export interface ICardUse {
  readonly node: number;
  readonly id: number;
  readonly name: string;
  readonly busy: Amount;
  readonly mean: Amount;
  /** Per cent, at its busiest. */
  readonly most: Amount;
  readonly used: Amount;
  /** The most memory it used in the run. */
  readonly mostUsed: Amount;
  readonly total: Amount;
  readonly health: string | null;
}

export interface IHolding {
  readonly owner: string | null;
  readonly job: string | null;
  readonly namespace: string | null;
  readonly cards: number;
  readonly ids: ReadonlyArray<number> | null;
  readonly cpu: Amount;
}

export interface IMachine {
  readonly cluster: string;
  readonly name: string;
  readonly ready: boolean | null;
  readonly device: string | null;
  readonly cards: Amount;
  readonly free: Amount;
  readonly unhealthy: number;
  readonly held: ReadonlyArray<IHolding>;
  readonly problems: ReadonlyArray<string>;
  readonly cpu: Amount;
  readonly freeCpu: Amount;
}

export interface IMachines {
  readonly machines: ReadonlyArray<IMachine>;
  /** By device, how many jobs of so many cards fit now; `null` where nobody here may know. */
  readonly fits: ReadonlyMap<string, ReadonlyArray<readonly [string, number]>> | null;
  readonly stale: ReadonlyArray<readonly [string, string]>;
  readonly unknown: ReadonlyArray<IReason>;
}

export function readJob(value: unknown): IWholeJob {
  const job = fields(value);
  const spec = fields(job.spec);
  return {
    id: text(job.id),
    name: text(job.name),
    phase: PHASES.find(one => one === job.phase) ?? 'queued',
    run: amount(job.run) ?? 1,
    cluster: text(job.cluster),
    owner: text(job.owner),
    created: text(job.created),
    started: textOrNull(job.started),
    ended: textOrNull(job.ended),
    idleSince: textOrNull(job.idle_since),
    moves: list(job.moves).map(text),
    machines: list(job.machines).map(text),
    reason: job.explanation ? readReason(job.explanation) : null,
    device: text(spec.device) || 'cpu',
    devices: amount(spec.devices) ?? 0,
    nodes: amount(spec.nodes) ?? 1
  };
}

export function readReason(value: unknown): IReason {
  const reason = fields(value);
  return {
    code: text(reason.code),
    title: text(reason.title),
    why: text(reason.why),
    evidence: list(reason.evidence).map(text),
    actions: list(reason.actions).map(one => ({ label: text(fields(one).label), command: textOrNull(fields(one).command) }))
  };
}

export function readUsage(value: unknown): IUsage {
  const page = fields(value);
  const host = fields(page.host);
  return {
    at: Date.parse(text(page.t)) / 1000,
    cpu: amount(host.cpu),
    cpus: amount(host.cpus),
    used: amount(host.memory_used),
    total: amount(host.memory_total),
    received: amount(host.received),
    sent: amount(host.sent),
    own: list(host.own).map(text),
    disks: list(host.disks).map(one => {
      const disk = fields(one);
      return { path: text(disk.path), used: amount(disk.used), total: amount(disk.total) };
    }),
    cards: list(page.devices).map(readCard),
    problems: list(page.problems).map(readReason),
    history: page.history ? readHistory(page.history) : null
  };
}

function readCard(value: unknown): ICard {
  const card = fields(value);
  return {
    name: text(card.name),
    key: cardKey(text(card.kind), amount(card.id), textOrNull(card.part)),
    busy: amount(card.utilization),
    used: amount(card.memory_used_mb),
    total: amount(card.memory_total_mb),
    power: amount(card.power_w),
    heat: amount(card.temperature_c),
    health: textOrNull(card.health),
    programs: Array.isArray(card.programs)
      ? card.programs.map(one => `${amount(fields(one).pid) ?? '?'} ${text(fields(one).name)}`.trim())
      : null
  };
}

/** What the server calls a card in its series. */
export function cardKey(kind: string, id: Amount, part: string | null | undefined): string {
  return `${kind} ${id ?? '?'}${part ? ` ${part}` : ''}`;
}

function readHistory(value: unknown): IHistory {
  const { times, series } = fields(value);
  return {
    times: list(times).map(one => amount(one) ?? 0),
    series: new Map(Object.entries(fields(series)).map(([name, values]) => [name, list(values).map(amount)]))
  };
}

/** The cards of a job, node by node. */
export function readJobUsage(value: unknown): ReadonlyArray<ICardUse> {
  return list(fields(value).nodes).flatMap(one => {
    const node = fields(one);
    return list(node.cards).map(each => {
      const card = fields(each);
      return {
        node: amount(node.node) ?? 0,
        id: amount(card.id) ?? 0,
        name: text(card.name),
        busy: amount(card.utilization),
        mean: amount(card.mean),
        most: amount(card.most),
        used: amount(card.memory_used_mb),
        mostUsed: amount(card.most_memory_mb),
        total: amount(card.memory_total_mb),
        health: textOrNull(card.health)
      };
    });
  });
}

export function readMachines(value: unknown): IMachines {
  const page = fields(value);
  const clusters = list(page.clusters).map(fields);
  return {
    machines: list(page.nodes).map(readMachine),
    fits: page.fits ? new Map(Object.entries(fields(page.fits)).map(([device, counts]) => [device, sizes(counts)])) : null,
    stale: clusters.flatMap(one => (one.stale_since ? [[text(one.name), text(one.stale_since)] as const] : [])),
    unknown: clusters.flatMap(one => list(one.unknown).map(readReason))
  };
}

function sizes(counts: unknown): ReadonlyArray<readonly [string, number]> {
  return Object.entries(fields(counts)).flatMap(([size, count]) =>
    /^\d+$/.test(size) ? [[size, amount(count) ?? 0] as const] : []
  );
}

function readMachine(value: unknown): IMachine {
  const node = fields(value);
  return {
    cluster: text(node.cluster),
    name: text(node.name),
    ready: typeof node.ready === 'boolean' ? node.ready : null,
    device: textOrNull(node.device),
    cards: amount(node.cards),
    free: amount(node.free),
    unhealthy: amount(node.unhealthy) ?? 0,
    held: list(node.held_by).map(readHolding),
    problems: list(node.problems).map(text),
    cpu: amount(node.cpu),
    freeCpu: amount(node.free_cpu)
  };
}

function readHolding(value: unknown): IHolding {
  const held = fields(value);
  return {
    owner: textOrNull(held.owner),
    job: textOrNull(held.job),
    namespace: textOrNull(held.namespace),
    cards: amount(held.cards) ?? 0,
    ids: Array.isArray(held.ids) ? held.ids.flatMap(id => amount(id) ?? []) : null,
    cpu: amount(held.cpu)
  };
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function list(value: unknown): ReadonlyArray<unknown> {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function amount(value: unknown): Amount {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}
