import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import { phaseLabel } from './phases';
import { distinct, GROUPS, type IFilter } from './shown';
import type { IJob } from './wire';

interface IFiltersProps {
  readonly jobs: ReadonlyArray<IJob>;
  readonly hasOthers: boolean;
  readonly filter: IFilter;
  readonly narrow: (filter: IFilter) => void;
  readonly trans: TranslationBundle;
}

/** A search field, and choices for what there is more than one of. */
export function Filters({ jobs, hasOthers, filter, narrow, trans }: IFiltersProps): JSX.Element {
  const clusters = React.useMemo(() => distinct(jobs, job => job.cluster), [jobs]);
  const queues = React.useMemo(() => distinct(jobs, job => job.spec.queue), [jobs]);
  const present = React.useMemo(() => distinct(jobs, job => job.phase), [jobs]);
  const phases = GROUPS.filter(phase => present.includes(phase) || phase === filter.phase);
  const all = trans.__('All');
  return (
    <div className="aiarts-Filters" role="search">
      <input
        type="search"
        className="jp-mod-styled"
        value={filter.text}
        placeholder={trans.__('Name, id, file or owner')}
        aria-label={trans.__('Search jobs')}
        onChange={event => narrow({ ...filter, text: event.target.value })}
        onKeyDown={event => event.key === 'Escape' && narrow({ ...filter, text: '' })}
      />
      <div className="aiarts-Filters-choices">
        {(phases.length > 1 || filter.phase) && (
          <Choice
            name={trans.__('Phase')}
            value={filter.phase}
            options={phases.map(phase => [phase, phaseLabel(phase, trans)] as const)}
            all={all}
            choose={value => narrow({ ...filter, phase: GROUPS.find(phase => phase === value) ?? '' })}
          />
        )}
        {(clusters.length > 1 || filter.cluster) && (
          <Choice
            name={trans.__('Cluster')}
            value={filter.cluster}
            options={clusters.map(one => [one, one] as const)}
            all={all}
            choose={cluster => narrow({ ...filter, cluster })}
          />
        )}
        {(queues.length > 0 || filter.queue) && (
          <Choice
            name={trans.__('Queue')}
            value={filter.queue}
            options={queues.map(one => [one, one] as const)}
            all={all}
            choose={queue => narrow({ ...filter, queue })}
          />
        )}
        {(hasOthers || filter.mine) && (
          <label className="aiarts-Filters-mine">
            <input
              type="checkbox"
              checked={filter.mine}
              onChange={event => narrow({ ...filter, mine: event.target.checked })}
            />
            {trans.__('Only mine')}
          </label>
        )}
      </div>
    </div>
  );
}

interface IChoiceProps {
  readonly name: string;
  readonly value: string;
  readonly options: ReadonlyArray<readonly [string, string]>;
  readonly all: string;
  readonly choose: (value: string) => void;
}

/** What is chosen is offered also where nothing is like it any more: it still narrows the list. */
function Choice({ name, value, options, all, choose }: IChoiceProps): JSX.Element {
  const isThere = value === '' || options.some(([one]) => one === value);
  return (
    <label className="aiarts-Choice">
      <span>{name}</span>
      <select className="jp-mod-styled" value={value} onChange={event => choose(event.target.value)}>
        <option value="">{all}</option>
        {[...options, ...(isThere ? [] : [[value, value] as const])].map(([one, label]) => (
          <option key={one} value={one}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}
