import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import { stretch, tops } from '../window';
import type { IRow } from './line';
import type { LogModel } from './model';
import { LogRow } from './row';

export interface ILooks {
  readonly wrap: boolean;
  readonly times: boolean;
}

interface IScrollProps extends ILooks {
  readonly model: LogModel;
  readonly trans: TranslationBundle;
  readonly merged: boolean;
}

/** Rows drawn beyond the edges, so that a quick scroll meets rows and no white. */
const AROUND = 12;
/** This near to an edge, more is asked for. */
const NEAR = 40;

interface IMetrics {
  readonly row: number;
  readonly column: number;
}

interface IView {
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

const GUESS: IMetrics = { row: 18, column: 8 };

/** The scrolled part: at most some dozens of rows are in the page, whatever the log's length. */
export function LogScroll(props: IScrollProps): JSX.Element {
  const { model, trans, merged, wrap, times } = props;
  const hole = React.useRef<HTMLDivElement>(null);
  const probe = React.useRef<HTMLSpanElement>(null);
  const [metrics, setMetrics] = React.useState(GUESS);
  const [view, setView] = React.useState<IView>({ top: 0, width: 0, height: 400 });
  const perRow = wrap
    ? Math.max(20, Math.floor((view.width - gutter(times, merged) * metrics.column) / metrics.column))
    : Infinity;
  const { rows } = model;
  const places = usePlaces(rows, metrics.row, perRow);
  const whole = places[rows.length] ?? 0;
  // Where a follower is, is known before the page has been laid out: one drawing for each frame, not two.
  const seen = stretch(places, model.following ? Math.max(0, whole - view.height) : view.top, view.height, AROUND);

  useMeasure(hole, probe, setMetrics, setView);
  useAnchor(hole, model, places, setView);

  const onScroll = (): void => {
    const node = hole.current;
    if (!node) {
      return;
    }
    const { scrollTop, clientHeight, scrollHeight } = node;
    if (model.following && clientHeight !== view.height) {
      return; // the hole changed, not the reader's mind: it is measured next, and the end is shown again
    }
    model.scrolled(scrollTop + clientHeight > scrollHeight - 2);
    if (!model.following) {
      setView(scrolledTo(scrollTop));
    }
    const now = stretch(places, scrollTop, clientHeight, 0);
    if (now.start < NEAR) {
      void model.older();
    }
    if (now.end > rows.length - NEAR) {
      void model.newer();
    }
  };

  return (
    <div
      ref={hole}
      className={`aiarts-Log-scroll ${wrap ? 'aiarts-mod-wrap' : ''}`}
      role="log"
      aria-live="off"
      aria-busy={model.loading}
      aria-label={trans.__('Log lines')}
      tabIndex={0}
      onScroll={onScroll}
      onWheel={event => event.deltaY < 0 && model.follow(false)}
    >
      <span ref={probe} className="aiarts-Log-probe" aria-hidden="true">
        0000000000
      </span>
      <div className="aiarts-Log-all" style={{ height: whole }}>
        <div className="aiarts-Log-seen" style={{ transform: `translateY(${seen.top}px)` }}>
          {rows.slice(seen.start, seen.end).map(row => (
            <LogRow
              key={row.id}
              row={row}
              trans={trans}
              showTime={times}
              showRank={merged}
              literal={model.search.literal}
              isFound={model.search.isFound(row.seq)}
              isTarget={row.id === model.target?.id}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

/** The same view where nothing moved, so that nothing is drawn again. */
function scrolledTo(top: number): (view: IView) => IView {
  return view => (view.top === top ? view : { ...view, top });
}

/** Columns that the time and the rank take before the text. */
function gutter(times: boolean, merged: boolean): number {
  return (times ? 14 : 0) + (merged ? 5 : 0) + 3;
}

/** Where each row begins. Unwrapped ones are all alike, so that is found again only when their number changes. */
function usePlaces(rows: ReadonlyArray<IRow>, row: number, perRow: number): Float64Array {
  const even = React.useMemo(() => tops(rows.length, () => row), [rows.length, row]);
  return perRow === Infinity
    ? even
    : tops(rows.length, index => row * Math.max(1, Math.ceil((rows[index]?.columns ?? 1) / perRow)));
}

/** Learn the size of a character and of the hole, now and when either changes. */
function useMeasure(
  hole: React.RefObject<HTMLDivElement>,
  probe: React.RefObject<HTMLSpanElement>,
  setMetrics: (metrics: IMetrics) => void,
  setView: React.Dispatch<React.SetStateAction<IView>>
): void {
  React.useLayoutEffect(() => {
    const node = hole.current;
    if (!node || typeof ResizeObserver === 'undefined') {
      return;
    }
    const observer = new ResizeObserver(() => {
      const box = probe.current?.getBoundingClientRect();
      const { clientWidth: width, clientHeight: height } = node; // now: when it is drawn, it may be hidden
      if (box && box.width > 0 && height > 0) {
        setMetrics({ row: box.height, column: box.width / 10 });
        setView(before => ({ ...before, width, height }));
      }
    });
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
}

/** Keep what is read where it is: at the end while following, at the jump's row, or where rows came and went above. */
function useAnchor(
  hole: React.RefObject<HTMLDivElement>,
  model: LogModel,
  places: Float64Array,
  setView: React.Dispatch<React.SetStateAction<IView>>
): void {
  const anchor = React.useRef<{ readonly id: number; readonly place: number } | null>(null);
  const jumped = React.useRef(model.target);
  const followed = React.useRef(model.following);
  React.useLayoutEffect(() => {
    const node = hole.current;
    if (!node) {
      return;
    }
    const before = node.scrollTop;
    const moved =
      anchor.current && (places[model.indexOf(anchor.current.id)] ?? anchor.current.place) - anchor.current.place;
    if (model.following) {
      node.scrollTop = node.scrollHeight;
    } else if (model.target !== null && jumped.current !== model.target) {
      node.scrollTop = (places[model.indexOf(model.target.id)] ?? 0) - node.clientHeight / 3;
    } else if (moved) {
      // By how far the row moved, not to where it was: the reader may have scrolled since.
      node.scrollTop = before + moved;
    }
    jumped.current = model.target;
    const { scrollTop } = node;
    if (!model.following && (scrollTop !== before || followed.current)) {
      setView(scrolledTo(scrollTop)); // while following, nobody told the view where it is
    }
    followed.current = model.following;
    const first = stretch(places, scrollTop, 0, 0).start;
    const row = model.rows[first];
    anchor.current = row ? { id: row.id, place: places[first] ?? 0 } : null;
  });
}
