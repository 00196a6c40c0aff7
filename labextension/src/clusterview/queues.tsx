import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import type { ShownQueue } from '../api';
import { Bar } from '../bar';

const GB = 1024 ** 3;

/** An amount of a resource as a person reads it: memory is in bytes, everything else in units. */
export function amountText(resource: string, value: number | null, trans: TranslationBundle): string {
  if (value === null) {
    return trans.__('unknown');
  }
  const isMemory = /memory|storage/.test(resource);
  const rounded = Math.round((isMemory ? value / GB : value) * 10) / 10;
  return isMemory ? `${rounded} GB` : String(rounded);
}

/** Queues: what each may give, what is taken, who waits. */
export function Queues({
  queues,
  trans
}: {
  readonly queues: ReadonlyArray<ShownQueue>;
  readonly trans: TranslationBundle;
}): JSX.Element | null {
  if (queues.length === 0) {
    return null;
  }
  return (
    <section className="aiarts-Card" aria-label={trans.__('Queues')}>
      <h3>{trans.__('Queues')}</h3>
      <table className="aiarts-Table">
        <thead>
          <tr>
            <th scope="col">{trans.__('Queue')}</th>
            <th scope="col">{trans.__('Used of its quota')}</th>
            <th scope="col">{trans.__('Waiting')}</th>
            <th scope="col">{trans.__('Your places')}</th>
          </tr>
        </thead>
        <tbody>
          {queues.map(queue => (
            <Queue key={`${queue.cluster} ${queue.namespace ?? ''} ${queue.name}`} queue={queue} trans={trans} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Queue({ queue, trans }: { readonly queue: ShownQueue; readonly trans: TranslationBundle }): JSX.Element {
  const resources = [...new Set([...Object.keys(queue.quota ?? {}), ...Object.keys(queue.used ?? {})])];
  return (
    <tr>
      <th scope="row">
        {queue.name} <span className="aiarts-Small">{queue.cluster}</span>
      </th>
      <td>
        {resources.length === 0 && trans.__('no quota')}
        {resources.map(resource => (
          <Quota key={resource} queue={queue} resource={resource} trans={trans} />
        ))}
        {queue.why && (
          <p className="aiarts-Notice">
            {queue.why.title}. {queue.why.why}
          </p>
        )}
      </td>
      <td>{queue.pending ?? trans.__('unknown')}</td>
      <td>
        {queue.places?.map(place => (
          <p key={place.job}>
            {place.position}. {place.name}
          </p>
        ))}
      </td>
    </tr>
  );
}

function Quota({
  queue,
  resource,
  trans
}: {
  readonly queue: ShownQueue;
  readonly resource: string;
  readonly trans: TranslationBundle;
}): JSX.Element {
  const quota = queue.quota?.[resource] ?? null;
  const used = queue.used?.[resource] ?? null;
  const text = `${amountText(resource, used, trans)} / ${amountText(resource, quota, trans)}`;
  return (
    <div className="aiarts-Quota">
      <span>{resource}</span>
      <span className="aiarts-Level">
        <Bar part={used} whole={quota} label={`${queue.name} ${resource}`} text={text} />
        <span>{text}</span>
      </span>
    </div>
  );
}
