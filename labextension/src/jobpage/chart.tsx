import React from 'react';

import type { IChart, Plot } from './plot';
import { strokeOf } from './strokes';

interface IProps {
  readonly title: string;
  readonly chart: IChart;
}

/** The last value of each line in words, for whoever does not see them. */
export function inWords({ lines, text }: IChart): string {
  const last = (values: ReadonlyArray<number | null>): string => {
    const value = values[values.length - 1] ?? null;
    return value === null ? '?' : text(value);
  };
  return lines.map(({ label, values }) => `${label}: ${last(values)}`).join(', ');
}

/** Lines over time. The drawing is loaded when the first is seen; the table below it says the same in numbers. */
export function Chart({ title, chart }: IProps): JSX.Element {
  const box = React.useRef<HTMLDivElement>(null);
  const plot = React.useRef<Plot | null>(null);
  const newest = React.useRef(chart);
  newest.current = chart;
  React.useEffect(() => {
    let isGone = false;
    import('./plot')
      .then(({ Plot: Made }) => {
        if (box.current && !isGone) {
          plot.current = new Made(box.current, newest.current);
        }
      })
      .catch((error: unknown) => console.warn('jupyter-aiarts: a chart could not be drawn', error));
    return () => {
      isGone = true;
      plot.current?.dispose();
      plot.current = null;
    };
  }, []);
  React.useEffect(() => plot.current?.update(chart), [chart]);
  return (
    <figure className="aiarts-Figure" role="img" aria-label={`${title}. ${inWords(chart)}`}>
      <figcaption aria-hidden="true">{title}</figcaption>
      <div ref={box} className="aiarts-Plot" aria-hidden="true" />
      <div className="aiarts-Strokes" aria-hidden="true">
        {chart.lines.map(({ label }, index) => {
          const { colour, style } = strokeOf(index);
          return (
            <span key={label}>
              <i style={{ borderTop: `3px ${style} var(${colour})` }} /> {label}
            </span>
          );
        })}
      </div>
    </figure>
  );
}
