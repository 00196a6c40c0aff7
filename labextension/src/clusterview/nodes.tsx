import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import { stretch, tops } from '../window';
import type { Node } from '../api';
import { problemNames } from '../nodeproblems';
import type { ClusterModel } from './model';
import { amountsOf, freeInRings, groups, hasRings, holderColour, holderName, inTenths, inUse, sought, type ICell } from './picture';

/** Every row has this height, so that any number of them can be scrolled. */
const ROW = 34;
const AROUND = 10;

interface IProps {
  readonly nodes: ReadonlyArray<Node>;
  readonly model: ClusterModel;
  readonly trans: TranslationBundle;
}

/** All nodes as rows of cards, and beside them one node in words: the chosen one, or that under the pointer. */
export function Nodes({ nodes, model, trans }: IProps): JSX.Element {
  const [word, setWord] = React.useState('');
  const [onlyFree, setOnlyFree] = React.useState(false);
  const [chosen, setChosen] = React.useState<string | null>(null);
  const [pointed, setPointed] = React.useState<string | null>(null);
  const shown = React.useMemo(() => sought(nodes, word, onlyFree, trans), [nodes, word, onlyFree, trans]);
  const detail = nodes.find(node => keyOf(node) === (pointed ?? chosen)) ?? shown[0];
  return (
    <section className="aiarts-Card" aria-label={trans.__('Nodes of the cluster')}>
      <h3>
        {trans.__('Nodes of the cluster')}{' '}
        <span className="aiarts-Small">
          {shown.length === nodes.length ? nodes.length : `${shown.length} / ${nodes.length}`}
        </span>
      </h3>
      <p className="aiarts-NodeFilters">
        <input
          className="jp-mod-styled"
          type="search"
          aria-label={trans.__('Find nodes, jobs or users')}
          placeholder={trans.__('Find nodes, jobs or users')}
          value={word}
          onChange={event => setWord(event.target.value)}
        />
        <label>
          <input type="checkbox" checked={onlyFree} onChange={event => setOnlyFree(event.target.checked)} />{' '}
          {trans.__('with free cards')}
        </label>
      </p>
      <Legend trans={trans} />
      <div className="aiarts-Nodes">
        <Rows
          nodes={shown}
          chosen={chosen ?? (shown[0] ? keyOf(shown[0]) : null)}
          choose={setChosen}
          point={setPointed}
          trans={trans}
        />
        {detail && <Detail node={detail} model={model} trans={trans} />}
      </div>
    </section>
  );
}

function keyOf(node: Node): string {
  return `${node.cluster} ${node.name} ${node.device ?? ''}`;
}

function Legend({ trans }: { readonly trans: TranslationBundle }): JSX.Element {
  return (
    <p className="aiarts-Small aiarts-Legend" aria-hidden="true">
      <span className="aiarts-CardMark" data-state="free" /> {trans.__('free')}
      <span className="aiarts-CardMark aiarts-holder-0" data-state="held" /> {trans.__('held')}
      <span className="aiarts-CardMark aiarts-holder-0" data-state="held" data-loose="true" />{' '}
      {trans.__('held, nobody said which card')}
      <span className="aiarts-CardMark" data-state="unwell" /> {trans.__('not well')}
      <span className="aiarts-CardMark" data-state="unknown" /> {trans.__('unknown')}
    </p>
  );
}

interface IRowsProps {
  readonly nodes: ReadonlyArray<Node>;
  readonly chosen: string | null;
  readonly choose: (key: string) => void;
  readonly point: (key: string | null) => void;
  readonly trans: TranslationBundle;
}

/** A list of which only what is seen is in the page; the arrows choose, and what is chosen is scrolled to. */
function Rows({ nodes, chosen, choose, point, trans }: IRowsProps): JSX.Element {
  const hole = React.useRef<HTMLDivElement>(null);
  const [top, setTop] = React.useState(0);
  const [height, setHeight] = React.useState(400);
  React.useLayoutEffect(() => setHeight(hole.current?.clientHeight || 400), [nodes.length]);
  const at = Math.max(
    0,
    nodes.findIndex(node => keyOf(node) === chosen)
  );
  const seen = stretch(
    tops(nodes.length, () => ROW),
    top,
    height,
    AROUND
  );
  const onKey = (event: React.KeyboardEvent): void => {
    const page = Math.max(1, Math.floor(height / ROW) - 1);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -nodes.length,
      End: nodes.length
    };
    const step = steps[event.key];
    const next = nodes[Math.min(nodes.length - 1, Math.max(0, at + (step ?? 0)))];
    if (step !== undefined && next) {
      event.preventDefault();
      choose(keyOf(next));
      reveal(hole.current, nodes.indexOf(next));
    }
  };
  return (
    <div
      ref={hole}
      className="aiarts-Nodes-scroll"
      role="listbox"
      tabIndex={0}
      aria-label={trans.__('Nodes of the cluster')}
      aria-activedescendant={at >= seen.start && at < seen.end ? `aiarts-node-${at}` : undefined}
      onKeyDown={onKey}
      onScroll={event => setTop(event.currentTarget.scrollTop)}
      onMouseLeave={() => point(null)}
    >
      <div style={{ height: nodes.length * ROW, position: 'relative' }} role="presentation">
        {nodes.slice(seen.start, seen.end).map((node, index) => (
          <div
            key={keyOf(node)}
            id={`aiarts-node-${seen.start + index}`}
            className="aiarts-Node"
            role="option"
            aria-selected={keyOf(node) === chosen}
            aria-posinset={seen.start + index + 1}
            aria-setsize={nodes.length}
            aria-label={sentence(node, trans)}
            style={{ transform: `translateY(${(seen.start + index) * ROW}px)`, height: ROW }}
            onClick={() => choose(keyOf(node))}
            onMouseEnter={() => point(keyOf(node))}
          >
            <Row node={node} trans={trans} />
          </div>
        ))}
      </div>
    </div>
  );
}

function reveal(node: HTMLElement | null, index: number): void {
  if (node) {
    const before = index * ROW;
    node.scrollTop = Math.min(before, Math.max(node.scrollTop, before + ROW - node.clientHeight));
  }
}

/** The whole row in words, for whoever does not see the picture. */
export function sentence(node: Node, trans: TranslationBundle): string {
  const free =
    node.cards === null ? trans.__('unknown') : trans.__('%1 of %2 cards free', node.free ?? '?', node.cards);
  return [node.name, node.device ?? '', free, ...problemNames(node.problems ?? [], trans)].filter(Boolean).join(', ');
}

interface IRowProps {
  readonly node: Node;
  readonly trans: TranslationBundle;
}

/** A node and its cards; drawn again only when the node is another one, not with every step of a scroll. */
const Row = React.memo(function Row({ node, trans }: IRowProps): JSX.Element {
  const isWell = (node.problems ?? []).length === 0 && node.ready !== false;
  return (
    <>
      <span className="aiarts-Node-name" data-well={isWell} title={node.name}>
        {isWell ? '' : '⚠ '}
        {node.name} <span className="aiarts-Small">{node.device}</span>
      </span>
      <span className="aiarts-Node-cards">
        {groups(node).map((ring, index) => (
          <span key={index} className="aiarts-Ring" data-ring={hasRings(node)}>
            {ring.map((cell, place) => (
              <Cell key={place} cell={cell} node={node} trans={trans} />
            ))}
          </span>
        ))}
      </span>
      <span className="aiarts-Node-free">{node.cards ? `${node.free ?? '?'} / ${node.cards}` : ''}</span>
      <span className="aiarts-Node-problems">{problemNames(node.problems ?? [], trans).join(', ')}</span>
    </>
  );
});

function Cell({
  cell,
  node,
  trans
}: {
  readonly cell: ICell;
  readonly node: Node;
  readonly trans: TranslationBundle;
}): JSX.Element {
  const holding = cell.holder === null ? undefined : node.held_by?.[cell.holder];
  const words: Readonly<Partial<Record<ICell['state'], string>>> = {
    free: trans.__('free'),
    unwell: trans.__('A card that is not well')
  };
  const who = holding ? holderName(holding) : (words[cell.state] ?? trans.__('unknown'));
  return (
    <span
      className={`aiarts-CardMark ${holding ? `aiarts-holder-${holderColour(holding)}` : ''}`}
      data-state={cell.state}
      data-loose={cell.state === 'held' && cell.id === null}
      title={cell.id === null ? who : `${cell.id}: ${who}`}
    />
  );
}

/** One node in words: what it has, who holds it, what is wrong with it. */
function Detail({
  node,
  model,
  trans
}: {
  readonly node: Node;
  readonly model: ClusterModel;
  readonly trans: TranslationBundle;
}): JSX.Element {
  const rings = freeInRings(node);
  const amount = (value: number | null | undefined): string => inTenths(value, trans);
  return (
    <aside className="aiarts-Node-detail" aria-label={trans.__('Node %1', node.name)} aria-live="polite">
      <h4>{node.name}</h4>
      <p>
        {node.cluster} {node.device && `· ${node.device}`}
      </p>
      {node.cards ? <p>{trans.__('%1 of %2 cards free', node.free ?? '?', node.cards)}</p> : null}
      {rings && <p>{trans.__('Free in each ring: %1', rings.join(' + '))}</p>}
      {node.unhealthy ? <p>{trans.__('%1 unhealthy cards', node.unhealthy)}</p> : null}
      {node.missing ? <p>{trans.__('%1 held cards have gone', node.missing)}</p> : null}
      <p>{trans.__('CPUs free: %1 of %2', amount(node.free_cpu), amount(node.cpu))}</p>
      <p>{trans.__('Memory free: %1 of %2 GB', amount(node.free_memory_gb), amount(node.memory_gb))}</p>
      {node.cluster !== 'local' && <p>{inUse(node, trans)}</p>}
      {(node.problems ?? []).length > 0 && <p className="aiarts-Notice">{problemNames(node.problems ?? [], trans).join(', ')}</p>}
      <ul aria-label={trans.__('Who holds it')}>
        {node.held_by?.map((one, index) => (
          <li key={index}>
            <span className={`aiarts-CardMark aiarts-holder-${holderColour(one)}`} data-state="held" aria-hidden="true" />{' '}
            <Holder job={one.job} model={model} /> {holderName(one)}: {amountsOf(one, trans).join(', ')}
          </li>
        ))}
      </ul>
      {(node.held_by ?? []).length === 0 && <p>{trans.__('Nobody is seen to hold anything of it.')}</p>}
    </aside>
  );
}

/** The job's name, as a way to its page, where this user's picture has it. */
function Holder({ job, model }: { readonly job: string | null; readonly model: ClusterModel }): JSX.Element | null {
  const name = model.jobName(job);
  return name === null || job === null ? null : (
    <button type="button" className="aiarts-Link" onClick={() => model.open(job)}>
      {name}
    </button>
  );
}
