import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import { GroupRow, JobRow, type IRowActs } from './rows';
import { useSeconds } from './seconds';
import { selectRange, toggle, type ISelection } from './selection';
import { keyOf, reason, type Row } from './shown';
import { phaseLabel } from './phases';
import type { IDoors, IJobManager } from './tokens';
import { scrollFor, stretch, tops } from './window';
import { PHASES, type IJob, type Phase } from './wire';

/** Heights in pixels; `base.css` has the same. */
const HEIGHTS = {
  comfortable: { group: 28, job: 46, why: 17 },
  compact: { group: 24, job: 26, why: 16 }
} as const;

export type Density = keyof typeof HEIGHTS;

/** More rows than anybody sees at once are never drawn, however tall the page says it is. */
const MOST = 4000;
/** Rows drawn beyond what is seen, for quick hands. */
const AROUND = 4;

interface IListProps {
  readonly rows: ReadonlyArray<Row>;
  readonly manager: IJobManager;
  readonly trans: TranslationBundle;
  readonly doors: IDoors;
  readonly density: Density;
  readonly isShown: boolean;
  readonly selection: ISelection;
  readonly select: (selection: ISelection) => void;
  readonly fold: (phase: Phase) => void;
}

/**
 * The jobs as a tree of two levels in which only rows near the eye are drawn. One stop for the Tab key: arrows move,
 * Space and Shift choose several, Enter opens, the menu key shows what can be done.
 */
export function JobList(props: IListProps): JSX.Element {
  const { rows, manager, trans, doors, density, isShown, selection, select, fold } = props;
  const box = React.useRef<HTMLDivElement>(null);
  const [top, height, onScroll] = useScroll(box);
  const sizes = HEIGHTS[density];
  const why = useReasons(trans);
  const offsets = React.useMemo(
    () =>
      tops(rows.length, index => {
        const row = rows[index]!;
        return row.kind === 'group' ? sizes.group : sizes.job + (why(row.job) ? sizes.why : 0);
      }),
    [rows, sizes, why]
  );
  const { start: first, end: last } = stretch(offsets, top, Math.min(height, MOST), AROUND);
  const visible = rows.slice(first, last);
  const now = useSeconds(
    isShown && visible.some(row => row.kind === 'job' && row.job.started !== null && row.job.ended === null),
    () => manager.now()
  );
  const cursor = React.useMemo(
    () => Math.max(0, rows.findIndex(row => keyOf(row) === selection.cursor)),
    [rows, selection.cursor]
  );
  const at = rows[cursor];

  const reveal = (index: number): void => {
    if (box.current) {
      box.current.scrollTop = scrollFor(offsets, index, box.current.scrollTop, box.current.clientHeight || height);
    }
  };
  const go = (index: number, isRange: boolean): void => {
    const target = Math.min(Math.max(index, 0), rows.length - 1);
    select(selectRange(rows, selection, target, isRange));
    reveal(target);
  };
  const page = Math.max(1, Math.floor(height / (sizes.job + sizes.why)) - 1);
  const keys: Readonly<Record<string, (event: React.KeyboardEvent) => void>> = {
    ArrowDown: event => go(cursor + 1, event.shiftKey),
    ArrowUp: event => go(cursor - 1, event.shiftKey),
    PageDown: event => go(cursor + page, event.shiftKey),
    PageUp: event => go(cursor - page, event.shiftKey),
    Home: event => go(0, event.shiftKey),
    End: event => go(rows.length - 1, event.shiftKey),
    ' ': () => (at?.kind === 'group' ? fold(at.phase) : at && select(toggle(selection, at.job.id))),
    Enter: () => (at?.kind === 'group' ? fold(at.phase) : at && doors.open(at.job)),
    ArrowLeft: () => at?.kind === 'group' && at.isOpen && fold(at.phase),
    ArrowRight: () => at?.kind === 'group' && !at.isOpen && fold(at.phase),
    Escape: () => select({ ...selection, ids: new Set() }),
    Delete: () => doors.act('delete', chosenJobs(at)),
    ContextMenu: () => openMenu(at),
    F10: event => event.shiftKey && openMenu(at),
    a: event => {
      if (event.ctrlKey || event.metaKey) {
        select({ ...selection, ids: new Set(rows.flatMap(row => (row.kind === 'job' ? [row.job.id] : []))) });
      }
    }
  };
  const chosenJobs = (row: Row | undefined): ReadonlyArray<IJob> => {
    const isOther = row?.kind === 'job' && !selection.ids.has(row.job.id);
    const ids = isOther ? new Set([row.job.id]) : selection.ids;
    return [...ids].flatMap(id => manager.job(id) ?? []);
  };
  const openMenu = (row: Row | undefined, x?: number, y?: number): void => {
    const jobs = chosenJobs(row);
    if (row && jobs.length > 0) {
      const rect = document.getElementById(rowId(keyOf(row)))?.getBoundingClientRect();
      doors.menu(jobs, x ?? (rect?.left ?? 0) + 24, y ?? rect?.bottom ?? 0);
    }
  };
  const acts = useSteady({
    click: (event, index) => {
      const row = rows[index];
      if (row?.kind === 'group') {
        fold(row.phase);
      } else if (row && (event.ctrlKey || event.metaKey)) {
        select(toggle(selection, row.job.id));
      } else {
        select(selectRange(rows, selection, index, event.shiftKey));
        if (row && !event.shiftKey) {
          doors.open(row.job);
        }
      }
    },
    menu: (index, x, y) => {
      const row = rows[index];
      if (row?.kind === 'job' && !selection.ids.has(row.job.id)) {
        select({ cursor: row.job.id, anchor: row.job.id, ids: new Set([row.job.id]) });
      }
      openMenu(row, x, y);
    }
  });

  return (
    <div
      ref={box}
      className="aiarts-JobList"
      data-density={density}
      role="treegrid"
      aria-label={trans.__('Jobs')}
      aria-multiselectable="true"
      aria-rowcount={rows.length}
      aria-activedescendant={at && cursor >= first && cursor < last ? rowId(keyOf(at)) : undefined}
      tabIndex={0}
      onScroll={onScroll}
      onKeyDown={event => {
        const act = keys[event.key];
        if (act && event.target === event.currentTarget) {
          act(event);
          if (event.key !== 'a' || event.ctrlKey || event.metaKey) {
            event.preventDefault();
            event.stopPropagation();
          }
        }
      }}
    >
      <div className="aiarts-JobList-all" role="presentation" style={{ height: offsets[rows.length] }}>
        {visible.map((row, index) => {
          const place = {
            id: rowId(keyOf(row)),
            index: first + index,
            top: offsets[first + index]!,
            isCursor: first + index === cursor,
            acts
          };
          return row.kind === 'group' ? (
            <GroupRow key={keyOf(row)} {...place} row={row} trans={trans} />
          ) : (
            <JobRow
              key={keyOf(row)}
              {...place}
              job={row.job}
              why={why(row.job)}
              now={row.job.ended === null ? now : 0}
              isMine={manager.isMine(row.job)}
              isSelected={selection.ids.has(row.job.id)}
              trans={trans}
              doors={doors}
            />
          );
        })}
      </div>
    </div>
  );
}

/** The sentence under each job, kept with it: of ten thousand jobs one changes, and the others stay what they were. */
function useReasons(trans: TranslationBundle): (job: IJob) => string {
  return React.useMemo(() => {
    const labels = new Map(PHASES.map(phase => [phase, phaseLabel(phase, trans)]));
    const known = new WeakMap<IJob, string>();
    return job => {
      const found = known.get(job) ?? reason(job, labels.get(job.phase) ?? job.phase);
      known.set(job, found);
      return found;
    };
  }, [trans]);
}

/** The same acts from one drawing to the next, so that a row which did not change is not drawn again. */
function useSteady(acts: IRowActs): IRowActs {
  const latest = React.useRef(acts);
  latest.current = acts;
  return React.useMemo(
    () => ({
      click: (event, index) => latest.current.click(event, index),
      menu: (index, x, y) => latest.current.menu(index, x, y)
    }),
    []
  );
}

function rowId(key: string): string {
  return `aiarts-row-${key}`;
}

/** Where the box is scrolled to and how high it is; both are read, never set by drawing. */
function useScroll(box: React.RefObject<HTMLDivElement>): readonly [number, number, () => void] {
  const [view, setView] = React.useState({ top: 0, height: 600 });
  const read = React.useCallback(() => {
    const element = box.current;
    if (element) {
      setView({ top: element.scrollTop, height: element.clientHeight || 600 });
    }
  }, [box]);
  React.useLayoutEffect(() => {
    read();
    if (typeof ResizeObserver === 'undefined' || !box.current) {
      return;
    }
    const observer = new ResizeObserver(read);
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [box, read]);
  return [view.top, view.height, read];
}
