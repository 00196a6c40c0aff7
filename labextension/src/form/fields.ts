import type { TranslationBundle } from '@jupyterlab/translation';

import type { Node, ShownQueue } from '../api';
import { amountText } from '../clusterview/queues';
import type { TextKey } from './draft';

/** One input of the form. */
export interface IField {
  readonly key: TextKey;
  readonly label: string;
  readonly help: string;
  /** Values to choose from; without them it is written. */
  readonly options?: ReadonlyArray<string>;
  /** Values to choose from that are not all there may be. */
  readonly known?: ReadonlyArray<string>;
  readonly shape?: 'number' | 'lines' | 'truth';
}

/** What everybody needs. `cluster`, `device` and `queue` get their choices from the server. */
export function essential(trans: TranslationBundle): ReadonlyArray<IField> {
  return [
    {
      key: 'script',
      label: trans.__('Start file'),
      help: trans.__('Python, shell, a notebook or any executable; below the folder of the file browser.')
    },
    { key: 'name', label: trans.__('Name'), help: trans.__('Shown as written; it need not be unique.') },
    {
      key: 'environment',
      label: trans.__('Python environment'),
      help: trans.__('The conda environment or venv that it runs in: its folder, its name or its kernel’s.')
    },
    { key: 'cluster', label: trans.__('Cluster'), help: trans.__('Where it runs; local is this machine.') },
    { key: 'device', label: trans.__('Device'), help: trans.__('What kind of card it needs; cpu is none.') },
    { key: 'devices', label: trans.__('Cards per node'), help: '', shape: 'number' },
    { key: 'nodes', label: trans.__('Nodes'), help: trans.__('From two on it is a distributed job.'), shape: 'number' },
    { key: 'image', label: trans.__('Image'), help: trans.__('The container image; this machine needs none.') },
    { key: 'queue', label: trans.__('Queue'), help: trans.__('The queue, virtual cluster or workspace.') }
  ];
}

/** What few need, by what it is about. */
export function advanced(trans: TranslationBundle): ReadonlyArray<readonly [string, ReadonlyArray<IField>]> {
  return [
    [
      trans.__('Start'),
      [
        {
          key: 'args',
          label: trans.__('Arguments'),
          help: trans.__('One in each line, passed as they are. A line in double quotes is read as a JSON text: "" is an empty one.'),
          shape: 'lines'
        },
        {
          key: 'command',
          label: trans.__('Shell line'),
          help: trans.__('Instead of a start file, its arguments and parameters.'),
          shape: 'lines'
        },
        { key: 'workdir', label: trans.__('Working folder'), help: trans.__('The folder that it runs in.') },
        {
          key: 'framework',
          label: trans.__('Framework'),
          help: trans.__('Whose variables are set; guessed from the imports.'),
          options: ['pytorch', 'tensorflow', 'mindspore', 'none']
        },
        {
          key: 'processes',
          label: trans.__('Processes'),
          help: trans.__('Run the start file once per node, or once per card.'),
          options: ['node', 'card']
        }
      ]
    ],
    [
      trans.__('Storage'),
      [
        { key: 'data_path', label: trans.__('Data path'), help: trans.__('The job knows it as DATA_PATH.') },
        { key: 'output_path', label: trans.__('Output path'), help: trans.__('The job knows it as OUTPUT_PATH and SAVE_PATH.') },
        {
          key: 'pass_paths',
          label: trans.__('Pass both as arguments'),
          help: trans.__('As --data_path and --output_path too.'),
          shape: 'truth'
        },
        { key: 'mounts', label: trans.__('Mounts'), help: trans.__('One in each line: source:target, with :ro to read only.'), shape: 'lines' }
      ]
    ],
    [
      trans.__('Room'),
      [
        { key: 'cpu', label: trans.__('CPUs per node'), help: trans.__('The cards’ fair share of a node.'), shape: 'number' },
        { key: 'memory_gb', label: trans.__('Memory per node, GB'), help: trans.__('10 GB for each CPU.'), shape: 'number' },
        { key: 'shm_gb', label: trans.__('/dev/shm, GB'), help: trans.__('Half of the memory.'), shape: 'number' },
        { key: 'priority', label: trans.__('Priority'), help: trans.__('1 is the lowest, 9 the highest.'), shape: 'number' },
        {
          key: 'preemptible',
          label: trans.__('Others may take its place'),
          help: trans.__('More important jobs may start in its place.'),
          shape: 'truth'
        }
      ]
    ],
    [
      trans.__('Limits'),
      [
        { key: 'max_restarts', label: trans.__('Restarts after a failure'), help: trans.__('Of the whole job.'), shape: 'number' },
        { key: 'max_hours', label: trans.__('Hours at most'), help: trans.__('Waiting does not count.'), shape: 'number' },
        { key: 'grace_seconds', label: trans.__('Seconds to end in'), help: trans.__('Between SIGTERM and SIGKILL.'), shape: 'number' }
      ]
    ],
    [
      trans.__('Cluster only'),
      [
        { key: 'image_pull_secret', label: trans.__('Pull secret'), help: trans.__('The name of the secret that lets the cluster pull the image.') },
        {
          key: 'rank_table',
          label: trans.__('Rank table'),
          help: trans.__('Which of the three RANK_TABLE_FILE names.'),
          options: ['v1.0', 'lab', 'cloud']
        },
        { key: 'run_as', label: trans.__('Run as'), help: trans.__('image, user, or uid:gid where the cluster allows it.') }
      ]
    ]
  ];
}

/** What a queue may give and what is taken of it, as a sentence; empty where nothing of it is known. */
export function quotaText(queue: ShownQueue | undefined, trans: TranslationBundle): string {
  const known = Object.entries(queue?.quota ?? {}).flatMap(([resource, most]) => {
    const used = queue?.used?.[resource] ?? null;
    return most === null ? [] : [`${resource} ${amountText(resource, used, trans)} / ${amountText(resource, most, trans)}`];
  });
  const waiting = queue?.pending ? trans.__('Jobs waiting in it: %1.', queue.pending) : '';
  const taken = known.length > 0 ? trans.__('Taken of its quota: %1.', known.join(', ')) : '';
  return [taken, waiting, queue?.active === false ? trans.__('It takes no jobs now.') : ''].filter(Boolean).join(' ');
}

/** The sizes that fit now, as a sentence: how many jobs of 1, 2, 4 and 8 cards could start on the free cards. */
export function fitText(
  counts: Readonly<Record<string, number>> | undefined,
  isKnown: boolean,
  trans: TranslationBundle
): string {
  if (!isKnown) {
    return trans.__('What is free cannot be seen from here.');
  }
  if (counts === undefined) {
    return '';
  }
  const sizes = ['1', '2', '4', '8'].filter(size => (counts[size] ?? 0) > 0);
  const most = sizes[sizes.length - 1];
  return most === undefined
    ? trans.__('No card is free now.')
    : trans.__('Fits now, jobs × cards: %1', sizes.map(size => `${counts[size]} × ${size}`).join(', '));
}

/** On how many nodes a job's part could start now; empty where that cannot be seen, or nobody asked for cards. */
export function nodesText(nodes: ReadonlyArray<Node>, device: string, cards: number, trans: TranslationBundle): string {
  const able = nodes.filter(node => node.device === device);
  if (!(cards > 0) || able.length === 0 || able.some(({ free }) => free === null)) {
    return '';
  }
  const now = able.filter(({ ready, free }) => ready !== false && (free ?? 0) >= cards).length;
  return trans.__('Nodes with %1 free cards now: %2 of %3', cards, now, able.length);
}
