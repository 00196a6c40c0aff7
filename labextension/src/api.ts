/**
 * The shapes of the server's answers and questions. Made by `.ci/write_api.py` from `openapi.json`: not for editing.
 */

/** Anything that JSON can say, and that the schema does not bind further. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json };

/** Something the user can do about a situation: a change of the spec, or a command to run. */
export interface Action {
  readonly id: string;
  readonly label: string;
  readonly patch?: Readonly<Record<string, Json>> | null;
  readonly command?: string | null;
}

/** Somebody who comes before a job; what may not be read of them is null. */
export interface Ahead {
  readonly job?: string | null;
  readonly name?: string | null;
  readonly owner?: string | null;
}

/** A stretch of a run between two pauses: when it joined the queue, when it ran and until when. What is not there did not happen, or nobody knows of it. */
export interface Attempt {
  readonly queued?: string | null;
  readonly started?: string | null;
  readonly ended?: string | null;
}

/** One card, or one chip of a card with two, or one part of a card that is cut in parts (`part`). */
export interface Card {
  readonly kind: 'gpu' | 'npu';
  readonly id: number;
  readonly name?: string;
  readonly part?: string | null;
  readonly utilization?: number | null;
  readonly memory_used_mb?: number | null;
  readonly memory_total_mb?: number | null;
  readonly power_w?: number | null;
  readonly temperature_c?: number | null;
  readonly health?: string | null;
  readonly programs?: ReadonlyArray<Program> | null;
}

/** One card of a job: as its launcher saw it last, and over the whole run (`mean`, `most`). */
export interface CardUse {
  readonly id: number;
  readonly name?: string;
  readonly utilization?: number | null;
  readonly memory_used_mb?: number | null;
  readonly memory_total_mb?: number | null;
  readonly health?: string | null;
  readonly power_w?: number | null;
  readonly temperature_c?: number | null;
  readonly mean?: number | null;
  readonly most?: number | null;
  readonly mean_memory_mb?: number | null;
  readonly most_memory_mb?: number | null;
}

/** An engine, since when its picture is old (null: it is not), and what is wrong with its entry, if anything. `unwell` is there where the server guards the nodes (`webhook_nodes`) and may see them. */
export interface Cluster {
  readonly name: string;
  readonly stale_since: string | null;
  readonly owner?: string | null;
  readonly problem?: string | null;
  readonly unwell?: ReadonlyArray<UnwellNode> | null;
}

/** The answer of `cluster`: all nodes, what fits now on all of them together, and each cluster by itself. */
export interface ClusterPage {
  readonly nodes: ReadonlyArray<Node>;
  readonly fits: Readonly<Record<string, Readonly<Record<string, number>>>> | null;
  readonly clusters: ReadonlyArray<Glimpsed>;
  readonly stuck?: ReadonlyArray<Stuck>;
}

/** One file system, by a path that this server uses on it. */
export interface Disk {
  readonly path: string;
  readonly used: number;
  readonly total: number;
}

/** An OpenAPI 3.1 document. */
export type Document = Readonly<Record<string, Json>>;

/** What would happen to a spec; `fits` is null where free devices cannot be seen. `manifest` is there when it was asked for: what `kubectl apply` makes the same job from, without secret values. */
export interface DryRun {
  readonly spec: JobSpec;
  readonly explanation?: Explanation | null;
  readonly fits?: boolean | null;
  readonly notes?: ReadonlyArray<string>;
  readonly manifest?: string;
}

/** The body of every answer that is not a success. */
export interface Error {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly problems?: ReadonlyArray<Problem>;
}

/** Something the platform did for a job. */
export interface Event {
  readonly t: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly object: string;
}

/** Between which moments a job is expected to start, and a sentence about what that is based on. */
export interface ExpectedStart {
  readonly earliest: string;
  readonly latest: string;
  readonly basis: string;
}

/** Why a job is where it is: the cause, what shows it, what can be done. `expected` is there for one that waits, where its start can be bounded. */
export interface Explanation {
  readonly code: string;
  readonly title: string;
  readonly why: string;
  readonly evidence?: ReadonlyArray<string>;
  readonly actions?: ReadonlyArray<Action>;
  readonly expected?: ExpectedStart;
}

/** What takes the room below a folder: the largest first, `others` is what the rest takes together. `complete` is false where the time was over before all was counted: then it is at least so much. `unread` are folders and files that this server may not see, `elsewhere` other file systems that begin below it. */
export interface Filling {
  readonly path: string;
  readonly bytes: number;
  readonly files: number;
  readonly takers: ReadonlyArray<Taker>;
  readonly others: number;
  readonly unread: number;
  readonly elsewhere: number;
  readonly complete: boolean;
  readonly seconds: number;
  readonly disk: Disk | null;
}

/** An action, what it changes and the job afterwards; `done` is false where nothing was changed here. `first` is the move before the change: a start that cannot succeed is given up by a pause. `command` is left to whoever asked: of kind `look` it is one of ours, of kind `shell` one for a person's own shell. */
export interface Fix {
  readonly action: Action;
  readonly kind: 'edit' | 'look' | 'move' | 'shell' | 'words';
  readonly changes: ReadonlyArray<SpecChange>;
  readonly first: Move | null;
  readonly move: Move | null;
  readonly command: string | null;
  readonly done: boolean;
  readonly job: Job;
}

/** Which action to carry out; `values` fill in what it asks for, or take the place of what it suggests. */
export interface FixRequest {
  readonly fix: string;
  readonly dry_run?: boolean;
  readonly values?: Readonly<Record<string, Json>>;
}

/** One cluster of the answer: when it was seen, since when that may be old, and what of it cannot be seen. */
export interface Glimpsed {
  readonly name: string;
  readonly at: string;
  readonly fits: Readonly<Record<string, Readonly<Record<string, number>>>> | null;
  readonly unknown: ReadonlyArray<Explanation>;
  readonly stale_since?: string | null;
}

/** The state of this installation. */
export interface Health {
  readonly version: string;
  readonly clusters: ReadonlyArray<Cluster>;
  readonly jobs: number;
  readonly active: number;
  readonly versions: Versions;
}

/** Who holds some cards of a node; on this machine also who holds CPUs and no card. `owner` and `job` are null for what is not a job of ours: then the namespace is all that is known. `ids` is null where nobody reported which cards they are. */
export interface Holding {
  readonly owner: string | null;
  readonly job: string | null;
  readonly namespace: string | null;
  readonly pod: string | null;
  readonly cards: number;
  readonly ids?: ReadonlyArray<number> | null;
  readonly cpu?: number | null;
}

/** The machine, or the container where it has limits of its own: `own` names the numbers that are the container's. `cpu` counts whole CPUs that are busy, of `cpus`; memory in bytes, without what the kernel could give back at once. */
export interface Host {
  readonly cpu?: number | null;
  readonly cpus?: number | null;
  readonly memory_used?: number | null;
  readonly memory_total?: number | null;
  readonly disks?: ReadonlyArray<Disk>;
  readonly received?: number | null;
  readonly sent?: number | null;
  readonly own?: ReadonlyArray<'cpu' | 'memory'>;
}

/** A job with its whole spec; the values of `secret_env` are always null here. */
export interface Job {
  readonly id: string;
  readonly name: string;
  readonly cluster: string;
  readonly phase: Phase;
  readonly run: number;
  readonly created: string;
  readonly started?: string | null;
  readonly ended?: string | null;
  readonly owner: string;
  readonly explanation?: Explanation | null;
  readonly ranks?: ReadonlyArray<Rank>;
  readonly notes?: ReadonlyArray<string>;
  readonly machines?: ReadonlyArray<string>;
  readonly moves?: ReadonlyArray<Move>;
  readonly earlier?: ReadonlyArray<Span>;
  readonly attempts?: ReadonlyArray<Attempt>;
  readonly idle_since?: string;
  readonly progress?: Progress;
  readonly spec: JobSpec;
}

/** A job as a client asks for it. */
export interface JobRequest {
  readonly name?: string;
  readonly cluster?: string;
  readonly kind?: 'distributed' | 'regular';
  readonly device?: string;
  readonly devices?: number;
  readonly nodes?: number;
  readonly image?: string | null;
  readonly image_pull_secret?: string | null | PullSecret;
  readonly script?: string | null;
  readonly args?: ReadonlyArray<string>;
  readonly params?: Readonly<Record<string, boolean | number | string | ReadonlyArray<boolean | number | string> | null>>;
  readonly command?: string | null;
  readonly environment?: string | null;
  readonly env?: Readonly<Record<string, string>>;
  readonly secret_env?: Readonly<Record<string, string | null>>;
  readonly workdir?: string | null;
  readonly data_path?: string | null;
  readonly output_path?: string | null;
  readonly pass_paths?: boolean;
  readonly mounts?: ReadonlyArray<Mount>;
  readonly cpu?: number | null;
  readonly memory_gb?: number | null;
  readonly shm_gb?: number | null;
  readonly framework?: 'mindspore' | 'none' | 'pytorch' | 'tensorflow' | null;
  readonly processes?: 'card' | 'node';
  readonly rank_table?: 'cloud' | 'lab' | 'v1.0';
  readonly run_as?: string;
  readonly queue?: string | null;
  readonly priority?: number;
  readonly preemptible?: boolean;
  readonly max_restarts?: number;
  readonly max_hours?: number | null;
  readonly grace_seconds?: number;
  readonly template?: string | null;
  readonly submission_id?: string | null;
  readonly workspace_id?: string | null;
  readonly vc?: string | null;
}

/** What a user asks for. `reading.read_spec` makes it, with every default filled in. */
export interface JobSpec {
  readonly name?: string;
  readonly cluster?: string;
  readonly kind?: 'distributed' | 'regular';
  readonly device?: string;
  readonly devices?: number;
  readonly nodes?: number;
  readonly image?: string | null;
  readonly image_pull_secret?: string | null;
  readonly script?: string | null;
  readonly args?: ReadonlyArray<string>;
  readonly params?: Readonly<Record<string, boolean | number | string | ReadonlyArray<boolean | number | string> | null>>;
  readonly command?: string | null;
  readonly environment?: string | null;
  readonly env?: Readonly<Record<string, string>>;
  readonly secret_env?: Readonly<Record<string, null>>;
  readonly workdir?: string | null;
  readonly data_path?: string | null;
  readonly output_path?: string | null;
  readonly pass_paths?: boolean;
  readonly mounts?: ReadonlyArray<Mount>;
  readonly cpu?: number | null;
  readonly memory_gb?: number | null;
  readonly shm_gb?: number | null;
  readonly framework?: 'mindspore' | 'none' | 'pytorch' | 'tensorflow' | null;
  readonly processes?: 'card' | 'node';
  readonly rank_table?: 'cloud' | 'lab' | 'v1.0';
  readonly run_as?: string;
  readonly queue?: string | null;
  readonly priority?: number;
  readonly preemptible?: boolean;
  readonly max_restarts?: number;
  readonly max_hours?: number | null;
  readonly grace_seconds?: number;
  readonly template?: string | null;
  readonly submission_id?: string | null;
}

/** What the cards and ranks of a job do, or did, node by node; empty where nobody has looked at them yet. */
export interface JobUsage {
  readonly nodes: ReadonlyArray<NodeUsage>;
}

/** Which environment, by its folder, its name or its kernel's, and for whom. */
export interface KernelRequest {
  readonly which: string;
  readonly scope?: 'global' | 'user';
}

/** How much disk an environment takes. Not `complete`: looking was given up, and it is more than that. Files that are linked into other environments too, as conda does it, count once here and once there. */
export interface KernelSize {
  readonly path: string;
  readonly bytes: number;
  readonly files: number;
  readonly complete: boolean;
}

/** What was seen before: `times` in seconds since 1970, and as many values for each series. */
export interface Lines {
  readonly times: ReadonlyArray<number>;
  readonly series: Readonly<Record<string, ReadonlyArray<number | null>>>;
}

/** A job in a list: the same shape as `Job`, with the short spec. */
export interface ListedJob {
  readonly id: string;
  readonly name: string;
  readonly cluster: string;
  readonly phase: Phase;
  readonly run: number;
  readonly created: string;
  readonly started?: string | null;
  readonly ended?: string | null;
  readonly owner: string;
  readonly explanation?: Explanation | null;
  readonly ranks?: ReadonlyArray<Rank>;
  readonly notes?: ReadonlyArray<string>;
  readonly machines?: ReadonlyArray<string>;
  readonly moves?: ReadonlyArray<Move>;
  readonly earlier?: ReadonlyArray<Span>;
  readonly attempts?: ReadonlyArray<Attempt>;
  readonly idle_since?: string;
  readonly progress?: Progress;
  readonly spec: ListedSpec;
}

/** The part of a spec that lists and stream messages carry. */
export interface ListedSpec {
  readonly kind: 'distributed' | 'regular';
  readonly device: string;
  readonly devices: number;
  readonly nodes: number;
  readonly image?: string | null;
  readonly queue?: string | null;
  readonly priority: number;
  readonly script?: string | null;
}

/** One line of a rank's output. `seq` is an opaque cursor for `before=` and `after=`. */
export interface LogLine {
  readonly seq: string;
  readonly t: string;
  readonly node: number;
  readonly rank: number;
  readonly stream: string;
  readonly text: string;
  readonly more?: boolean;
  readonly folded?: number;
  readonly harmless?: string;
}

/** What a code says, with … for what is filled in; `form` tells several sentences of one code apart. */
export interface Meaning {
  readonly code: string;
  readonly form: string;
  readonly family: string;
  readonly title: string;
  readonly why: string;
  readonly actions: ReadonlyArray<Action>;
}

/** Storage that a job sees at `target`. */
export interface Mount {
  readonly source: string;
  readonly target: string;
  readonly read_only?: boolean;
}

/** What a user can ask of a job. */
export type Move = 'clone' | 'delete' | 'edit' | 'pause' | 'release' | 'rerun' | 'resume' | 'stop';

/** A template as it is saved. */
export interface NewTemplate {
  readonly spec: Readonly<Record<string, Json>>;
  readonly description?: string;
}

/** One machine with the cards of one device; a machine with two kinds of cards is told twice. `free` + what is held = `cards` + `missing`, always, where `free` is known: `missing` are cards that somebody holds and the node does not offer any more. Null is unknown: what the user's rights do not show is never guessed. Free CPUs and memory are those that nobody asked for; what is used, whoever asked for it, a metrics server tells. */
export interface Node {
  readonly cluster: string;
  readonly name: string;
  readonly ready: boolean | null;
  readonly device: string | null;
  readonly cards: number | null;
  readonly free: number | null;
  readonly held_by?: ReadonlyArray<Holding>;
  readonly problems?: ReadonlyArray<string>;
  readonly unhealthy?: number;
  readonly missing?: number;
  readonly cpu?: number | null;
  readonly free_cpu?: number | null;
  readonly memory_gb?: number | null;
  readonly free_memory_gb?: number | null;
  readonly used_cpu?: number | null;
  readonly used_memory_gb?: number | null;
}

/** Cards and ranks of one node of a job; `t` is when they were looked at, every half minute while it runs. `received` and `sent` are bytes a second of a pod with a network of its own; elsewhere nobody knows whose they are. */
export interface NodeUsage {
  readonly node?: number;
  readonly t?: string;
  readonly idle_since?: string | null;
  readonly cards?: ReadonlyArray<CardUse>;
  readonly ranks?: ReadonlyArray<RankUse>;
  readonly received?: number | null;
  readonly sent?: number | null;
  readonly mean_received?: number | null;
  readonly mean_sent?: number | null;
  readonly history?: RunHistory | null;
}

/** A JSON merge patch (RFC 7396) of the job's spec. */
export type Patch = Readonly<Record<string, Json>>;

/** Every known place, and where one path is among them; `report` is null where no path was asked about. */
export interface PathMap {
  readonly places: ReadonlyArray<PlacesPlace>;
  readonly report?: PathReport | null;
}

/** Where a path is visible: `visible` is about the cluster or job that was asked about, else about this server. */
export interface PathReport {
  readonly asked: string;
  readonly path: string;
  readonly visible: boolean | null;
  readonly write?: string | null;
  readonly views?: ReadonlyArray<ShownView>;
  readonly reasons?: ReadonlyArray<ShownReason>;
}

/** Where a job stands. Legal order: queued, starting, running, then one of the four ends. `paused` leads back to `queued`; a rerun leads from any end back to `queued` with the next run number. */
export type Phase = 'failed' | 'lost' | 'paused' | 'queued' | 'running' | 'starting' | 'stopped' | 'succeeded';

/** One fault of a spec. */
export interface Problem {
  readonly key: string;
  readonly message: string;
}

/** One program that holds memory of a card, under the pid that this process would see. */
export interface Program {
  readonly pid: number;
  readonly name?: string;
  readonly memory_mb?: number | null;
}

/** How far a job says it is, in the words of its own output, and as a share from 0 to 1. */
export interface Progress {
  readonly text: string;
  readonly share: number;
}

/** How to log in to an image registry. An engine makes a pull secret from it and forgets it. */
export interface PullSecret {
  readonly registry: string;
  readonly username: string;
  readonly password: string;
}

/** One process of a job. `node` is the index of its node; `devices` is null where nobody reported ids. */
export interface Rank {
  readonly rank: number;
  readonly node: number;
  readonly phase: Phase;
  readonly exit_code?: number | null;
  readonly devices?: ReadonlyArray<number> | null;
}

/** The table that RANK_TABLE_FILE names in a run; `cards` is empty where the text is no table that can be read. */
export interface RankTable {
  readonly text: string;
  readonly cards: ReadonlyArray<TableCard>;
  readonly ok: boolean;
  readonly checks: ReadonlyArray<TableCheck>;
  readonly findings?: ReadonlyArray<TableFinding>;
}

/** One rank of a job with all processes it started, last and over the whole run; `cpu` counts whole CPUs. Memory is what is resident; pages that several of its processes share count in each of them. `read` and `written` are bytes a second from and to disks, those of the network included. */
export interface RankUse {
  readonly rank: number;
  readonly cpu?: number | null;
  readonly memory_mb?: number | null;
  readonly mean_cpu?: number | null;
  readonly most_cpu?: number | null;
  readonly mean_memory_mb?: number | null;
  readonly most_memory_mb?: number | null;
  readonly read?: number | null;
  readonly written?: number | null;
  readonly mean_read?: number | null;
  readonly mean_written?: number | null;
}

/** A kernelspec of ours. */
export interface Registered {
  readonly spec: string;
  readonly display_name: string;
  readonly folder: string;
  readonly prefix: string;
  readonly scope: 'global' | 'user';
  readonly version?: string;
  readonly kernel?: string;
}

/** The past of a run on one node, from its beginning, the farther apart the longer it runs. Series are named `0 utilization` and `0 memory` (MB) by card, `0 cpu`, `0 memory`, `0 read` and `0 written` by rank. */
export interface RunHistory {
  readonly cards: Lines;
  readonly ranks: Lines;
  readonly network?: Lines | null;
}

/** An environment as every door shows it, with the kernel that stands for it, if any, and what is wrong with it. */
export interface ShownKernel {
  readonly name: string;
  readonly path: string;
  readonly kind: string;
  readonly owner: string;
  readonly python: string | null;
  readonly registered: 'global' | 'user' | null;
  readonly spec?: string | null;
  readonly display_name?: string | null;
  readonly specs?: ReadonlyArray<string>;
  readonly kernels?: ReadonlyArray<string>;
  readonly frameworks?: Readonly<Record<string, string>>;
  readonly problems?: ReadonlyArray<Explanation>;
}

/** One whom a start passed; `name` is null where that job is gone or may not be seen, `why` is a sentence. */
export interface ShownPassed {
  readonly job: string;
  readonly name: string | null;
  readonly reason: 'higher-priority' | 'inactive' | 'other-queue' | 'preemptible' | 'quota' | 'smaller' | 'smaller-delays-nobody' | 'unknown';
  readonly about: string;
  readonly why: string;
}

/** A queue; `why` says what is not as it should be: it takes no jobs, its quota was lowered, it cannot be seen. */
export interface ShownQueue {
  readonly name: string;
  readonly cluster: string;
  readonly kind: 'kueue' | 'local' | 'quota' | 'unknown';
  readonly namespace?: string | null;
  readonly lends_from?: string | null;
  readonly quota?: Readonly<Record<string, number | null>>;
  readonly used?: Readonly<Record<string, number | null>>;
  readonly own?: Readonly<Record<string, number | null>>;
  readonly borrowed?: Readonly<Record<string, number | null>>;
  readonly pending?: number | null;
  readonly active?: boolean | null;
  readonly places?: ReadonlyArray<QueuePlace>;
  readonly source?: 'local' | 'visibility' | 'workloads' | null;
  readonly why?: Explanation | null;
}

/** Why a path does not exist where it is looked for; `write` is what to write instead, where that is known. */
export interface ShownReason {
  readonly code: string;
  readonly message: string;
  readonly write?: string | null;
}

/** One start before others who had come earlier; `more` is how many further ones are not named. */
export interface ShownTurn {
  readonly at: string;
  readonly cluster: string;
  readonly job: string;
  readonly name: string;
  readonly queue: string | null;
  readonly passed: ReadonlyArray<ShownPassed>;
  readonly more?: number;
}

/** How a path is seen from one side; `path` is its name there, `visible` is null where nobody here can say. */
export interface ShownView {
  readonly where: 'node' | 'pod' | 'server';
  readonly cluster?: string | null;
  readonly path?: string | null;
  readonly visible?: boolean | null;
  readonly place?: string | null;
  readonly message?: string;
}

/** From when until when an earlier run ran. */
export interface Span {
  readonly started: string;
  readonly ended: string;
}

/** One key of the spec, or of a map in it (`env.LR`), as it is and as it will be; a secret's value is null. */
export interface SpecChange {
  readonly key: string;
  readonly before?: Json;
  readonly after?: Json;
}

/** Something that holds cards, or a name, and that nobody uses any more. `pod-stuck`: told to go, and its node does not say that it went; `keeps-cards`: the same of a job that has ended; `half-deleted`: the same of a job that was deleted; `unfinished`: what a submission left that crashed half way, which is removed by itself. */
export interface Stuck {
  readonly cluster: string;
  readonly kind: 'half-deleted' | 'keeps-cards' | 'pod-stuck' | 'unfinished';
  readonly job: string;
  readonly name: string;
  readonly owner: string;
  readonly namespace: string;
  readonly pod: string | null;
  readonly node: string | null;
  readonly device: string;
  readonly cards: number;
  readonly since: string;
}

/** One card of a rank table; `pod` is empty in forms that do not name one. */
export interface TableCard {
  readonly rank: number;
  readonly server: string;
  readonly device: number;
  readonly ip: string;
  readonly pod?: string;
}

/** One thing that the doctor looked at, in a sentence. */
export interface TableCheck {
  readonly ok: boolean;
  readonly message: string;
}

/** What HCCL would refuse: the key that has to change, what is wrong with it, and what to do. */
export interface TableFinding {
  readonly key: string;
  readonly message: string;
  readonly cure: string;
  readonly code: string;
}

/** Something in a folder, and what it takes of the disk with all that is below it. */
export interface Taker {
  readonly name: string;
  readonly bytes: number;
  readonly files: number;
  readonly folder: boolean;
}

/** A part of a spec that a job can start from. A preset ships with the package and cannot be changed. */
export interface Template {
  readonly name: string;
  readonly spec: Readonly<Record<string, Json>>;
  readonly preset?: boolean;
  readonly description?: string;
}

/** A node that is not well, and in what: not-ready, disk-pressure, unhealthy-cards … */
export interface UnwellNode {
  readonly node: string;
  readonly problems: ReadonlyArray<string>;
}

/** One look as it travels: with what does not answer put into words, and with what was seen before if asked for. */
export interface UsagePage {
  readonly t: string;
  readonly host: Host;
  readonly devices: ReadonlyArray<Card>;
  readonly problems: ReadonlyArray<Explanation>;
  readonly history?: Lines | null;
}

/** A rank's variables; the values of secret ones are null. */
export type Variables = Readonly<Record<string, string | null>>;

/** What is installed; `labextension` is null where the sidebar was not built. */
export interface Versions {
  readonly server: string;
  readonly labextension: string | null;
  readonly jupyter_server: string;
}

/** One folder of storage. `here` is null where this server does not surely see it. `node` is its path on every node of the cluster, `source` what it is made from: a claim, an NFS export, a host path. */
export interface PlacesPlace {
  readonly name: string;
  readonly cluster: string;
  readonly kind: 'claim' | 'host' | 'machine' | 'nfs' | 'pod';
  readonly pod: string;
  readonly here?: string | null;
  readonly node?: string | null;
  readonly source?: string;
  readonly read_only?: boolean;
}

/** Where one of the reader's jobs stands: its position among those who are seen, from 1. `ahead` is null where others may be before it who cannot be seen; `before` names those right before it, as far as they may be read. */
export interface QueuePlace {
  readonly job: string;
  readonly name: string;
  readonly owner: string | null;
  readonly position: number;
  readonly ahead: number | null;
  readonly before?: ReadonlyArray<Ahead>;
}
