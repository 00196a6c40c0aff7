import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import { devices, megabytes, number, UNKNOWN } from '../amounts';
import type { Move } from '../api';
import { Bar } from '../bar';
import type { ILogLine } from '../logview/line';
import { moveLabel } from '../moving';
import { PhaseBadge } from '../phasebadge';
import { isFinished } from '../phases';
import { useSeconds } from '../seconds';
import { ran, when } from '../times';

import { cardsUsed } from './cardsused';
import type { ICellDoors } from './doors';
import type { JobLive } from './joblive';
import { logText } from './logtext';
import { Illness, isIll, JobName, Reason, saysMore, Warning } from './parts';
import type { ICardUse, IWholeJob } from './reading';

interface IProps {
  readonly live: JobLive;
  readonly doors: ICellDoors;
  readonly trans: TranslationBundle;
  readonly isSeen: boolean;
}

/** One job: where it is and why, what its cards do, the end of its log, and what can be done with it. */
export function JobView({ live, doors, trans, isSeen }: IProps): JSX.Element {
  const { job } = live;
  if (job === null) {
    return <p className="aiarts-Cell-text">{trans.__('Asking the server for the job…')}</p>;
  }
  const used = cardsUsed(job, live.cards, trans);
  const many = job.nodes > 1 || new Set(live.lines.map(({ rank }) => rank)).size > 1;
  return (
    <>
      <Head {...{ live, doors, job, trans, isSeen }} />
      {job.idleSince !== null && (
        <Warning>{trans.__('None of its cards has done anything since %1.', when(job.idleSince))}</Warning>
      )}
      {job.reason !== null && (job.reason.actions.length > 0 || saysMore(job.reason.title, job.phase, trans)) && (
        <Reason reason={job.reason} trans={trans} />
      )}
      {live.cards.length > 0 && <CardBars cards={live.cards} isOver={live.isOver} nodes={job.nodes} trans={trans} />}
      {used !== null && <p className="aiarts-Cell-text">{used}</p>}
      <LogTail lines={live.lines} silence={live.silence} isTagged={many} trans={trans} />
    </>
  );
}

interface IHeadProps extends IProps {
  readonly job: IWholeJob;
}

function Head({ live, doors, job, trans, isSeen }: IHeadProps): JSX.Element {
  const now = useSeconds(isSeen && job.started !== null && !isFinished(job.phase), live.clock);
  return (
    <div className="aiarts-Cell-head">
      <PhaseBadge phase={job.phase} trans={trans} />
      <strong className="aiarts-Cell-name">
        <JobName job={job} doors={doors} />
      </strong>
      <code>{job.id}</code>
      <span className="aiarts-Cell-facts">
        {[devices(job), ...(job.run > 1 ? [trans.__('run %1', job.run)] : []), ran(job, now)]
          .filter(Boolean)
          .join(' · ')}
      </span>
      <Buttons doors={doors} job={job} trans={trans} />
    </div>
  );
}

/** Asked first where something ends, by the name that the server knows: anybody may have written the notebook. */
function Buttons({ doors, job, trans }: Pick<IHeadProps, 'doors' | 'job' | 'trans'>): JSX.Element {
  const moves: ReadonlyArray<Move> = ['stop', 'rerun'];
  return (
    <span className="aiarts-Cell-buttons">
      {moves
        .filter(move => job.moves.includes(move))
        .map(move => (
          <button
            key={move}
            type="button"
            className="jp-mod-styled aiarts-Cell-button"
            onClick={() => doors.act(move, job.id)}
          >
            {moveLabel(move, trans)}
          </button>
        ))}
    </span>
  );
}

interface ICardBarsProps {
  readonly cards: ReadonlyArray<ICardUse>;
  readonly isOver: boolean;
  readonly nodes: number;
  readonly trans: TranslationBundle;
}

/** While it runs, what the cards do now; after that, what they did on average, and the most memory they used. */
function CardBars({ cards, isOver, nodes, trans }: ICardBarsProps): JSX.Element {
  return (
    <ul className="aiarts-Cell-cards" aria-label={trans.__('Cards')}>
      {cards.map(card => {
        const name = nodes > 1 ? `${card.node}:${card.id}` : String(card.id);
        const busy = isOver ? card.mean : card.busy;
        const text = isOver
          ? trans.__('%1 on average', number(busy, 0, ' %'))
          : number(busy, 0, ' %');
        return (
          <li key={`${card.node} ${card.id}`} title={card.name || UNKNOWN}>
            <span>{name}</span>
            <Bar label={trans.__('Card %1 busy', name)} part={busy} whole={100} text={text} />
            <span className="aiarts-Cell-number">{text}</span>
            <span className="aiarts-Cell-number">{megabytes(isOver ? card.mostUsed : card.used, card.total)}</span>
            {isIll(card.health) && <Illness health={card.health} trans={trans} />}
          </li>
        );
      })}
    </ul>
  );
}

interface ILogProps {
  readonly lines: ReadonlyArray<ILogLine>;
  readonly silence: string | null;
  readonly isTagged: boolean;
  readonly trans: TranslationBundle;
}

/** The end of the log, as text; the keyboard can scroll it. It stays at its end unless somebody scrolled up. */
function LogTail({ lines, silence, isTagged, trans }: ILogProps): JSX.Element {
  const box = React.useRef<HTMLPreElement>(null);
  const isAtEnd = React.useRef(true);
  React.useLayoutEffect(() => {
    if (box.current && isAtEnd.current) {
      box.current.scrollTop = box.current.scrollHeight;
    }
  }, [lines]);
  if (lines.length === 0) {
    return <p className="aiarts-Cell-text">{silence ?? trans.__('Nothing was printed yet.')}</p>;
  }
  return (
    <>
      <pre
        ref={box}
        className="aiarts-Cell-log"
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={trans.__('End of the log')}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) =>
          (isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 4)
        }
      >
        {lines.map((line, place) => (
          <div key={line.seq || place} data-stream={line.stream}>
            {isTagged ? `[${line.rank}] ` : ''}
            {logText(line.text)}
          </div>
        ))}
      </pre>
      {silence !== null && <p className="aiarts-Cell-text">{silence}</p>}
    </>
  );
}
