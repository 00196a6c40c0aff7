import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import { lastState, spans, type ISpan } from './ansi';
import { clockTime, SHOWN, type IRow } from './line';

interface IRowProps {
  readonly row: IRow;
  readonly trans: TranslationBundle;
  readonly showTime: boolean;
  readonly showRank: boolean;
  /** What to mark in it; `null` marks nothing. */
  readonly literal: string | null;
  readonly isFound: boolean;
  readonly isTarget: boolean;
}

/** Colours for ranks that are told apart by more than their number; the number is always there too. */
const RANK_COLOURS = 8;

/** One line of the log, as text; drawn again only when something of it changed. */
export const LogRow = React.memo(function LogRow(props: IRowProps): JSX.Element {
  const { row, trans, showTime, showRank } = props;
  const marks = [props.isFound ? 'aiarts-mod-found' : '', props.isTarget ? 'aiarts-mod-target' : ''];
  return (
    <div className={`aiarts-LogRow ${marks.join(' ')}`} data-stream={row.stream} data-harmless={row.harmless !== ''}>
      {showTime && (
        <span className="aiarts-LogRow-time" title={row.t}>
          {clockTime(row.t)}
        </span>
      )}
      {showRank && (
        <span
          className={`aiarts-LogRow-rank aiarts-rank-${row.rank % RANK_COLOURS}`}
          title={trans.__('rank %1, node %2', row.rank, row.node)}
        >
          {row.rank}
        </span>
      )}
      <span className="aiarts-LogRow-text">
        <Text text={lastState(row.text)} literal={props.literal} trans={trans} />
        {row.folded > 0 && <Folded row={row} trans={trans} />}
      </span>
    </div>
  );
});

function Folded({ row, trans }: { readonly row: IRow; readonly trans: TranslationBundle }): JSX.Element {
  const why = row.harmless
    ? trans.__('%1 more like it; they can be ignored: %2', row.folded, row.harmless)
    : trans.__('%1 more like it', row.folded);
  return <span className="aiarts-LogRow-folded">{why}</span>;
}

interface ITextProps {
  readonly text: string;
  readonly literal: string | null;
  readonly trans: TranslationBundle;
}

/** A very long line is cut until somebody asks for all of it. */
function Text({ text, literal, trans }: ITextProps): JSX.Element {
  const [whole, setWhole] = React.useState(false);
  const shown = whole || text.length <= SHOWN ? text : text.slice(0, SHOWN);
  return (
    <>
      <Coloured text={shown} literal={literal} />
      {shown.length < text.length && (
        <button className="aiarts-LogRow-more" onClick={() => setWhole(true)}>
          {trans.__('%1 more characters', text.length - shown.length)}
        </button>
      )}
    </>
  );
}

/** Text with its escape codes as colours; also for what is quoted from a log elsewhere. */
export function Coloured({
  text,
  literal = null
}: {
  readonly text: string;
  readonly literal?: string | null;
}): JSX.Element {
  return (
    <>
      {spans(text).map((span, index) => (
        <Span key={index} span={span} literal={literal} />
      ))}
    </>
  );
}

function Span({ span, literal }: { readonly span: ISpan; readonly literal: string | null }): JSX.Element {
  const marked = <Marked text={span.text} literal={literal} />;
  if (span.link === undefined) {
    return span.look ? <span className={span.look}>{marked}</span> : marked;
  }
  return (
    <a className={span.look} href={span.link} title={span.link} target="_blank" rel="noopener noreferrer">
      {marked}
    </a>
  );
}

function Marked({ text, literal }: { readonly text: string; readonly literal: string | null }): JSX.Element {
  if (literal === null || !text.includes(literal)) {
    return <>{text}</>;
  }
  const parts = text.split(literal);
  return (
    <>
      {parts.map((part, index) => (
        <React.Fragment key={index}>
          {part}
          {index < parts.length - 1 && <mark>{literal}</mark>}
        </React.Fragment>
      ))}
    </>
  );
}
