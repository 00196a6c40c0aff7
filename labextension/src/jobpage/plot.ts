/**
 * Draws lines over time with uPlot, in the theme's colours. Loaded with the first chart.
 */
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

import { clock } from '../times';
import type { IPlot } from './history';
import { strokeOf } from './strokes';

/** What a chart shows, and how its values read. */
export interface IChart extends IPlot {
  /** The highest value there can be; without one the lines say it. */
  readonly most: number | null;
  readonly text: (value: number) => string;
}

const HEIGHT = 160;
/** Seconds that are shown at least: the first look alone is no line. */
const SHORTEST = 120;
const DASHES = { solid: [], dashed: [8, 4], dotted: [2, 3] };

/** A drawn chart; `update` takes new values, `dispose` takes it away. */
export class Plot {
  constructor(
    private readonly _box: HTMLElement,
    private _chart: IChart
  ) {
    this._plot = this._draw();
    this._size = new ResizeObserver(() => this._plot.setSize({ width: this._width, height: HEIGHT }));
    this._size.observe(_box);
    // JupyterLab says on the body which theme it has.
    this._theme = new MutationObserver(() => this._redraw());
    this._theme.observe(document.body, { attributeFilter: ['data-jp-theme-name', 'data-jp-theme-light'] });
  }

  update(chart: IChart): void {
    const isOther = chart.lines.map(({ label }) => label).join('\n') !== this._chart.lines.map(({ label }) => label).join('\n');
    this._chart = chart;
    if (isOther) {
      this._redraw();
    } else {
      this._plot.setData(dataOf(chart));
    }
  }

  dispose(): void {
    this._size.disconnect();
    this._theme.disconnect();
    this._plot.destroy();
  }

  private _redraw(): void {
    this._plot.destroy();
    this._plot = this._draw();
  }

  private get _width(): number {
    return Math.max(200, this._box.clientWidth);
  }

  /** Of a single look uPlot would show a whole day. */
  private get _span(): uPlot.Range.MinMax {
    const { times } = this._chart;
    const first = times[0] ?? 0;
    return [first, Math.max(times[times.length - 1] ?? 0, first + SHORTEST)];
  }

  private _draw(): uPlot {
    const style = getComputedStyle(document.body);
    const colour = (name: string): string => style.getPropertyValue(name).trim() || 'gray';
    const axis = { stroke: colour('--jp-ui-font-color2'), ticks: { show: false } };
    const grid = { stroke: colour('--jp-border-color3'), width: 1 };
    const { lines, most, text } = this._chart;
    const options: uPlot.Options = {
      width: this._width,
      height: HEIGHT,
      cursor: { show: false },
      legend: { show: false },
      scales: {
        x: { range: () => this._span },
        y: { range: (_, __, high) => [0, most ?? Math.max(1, high * 1.1)] }
      },
      axes: [
        { ...axis, grid, values: (_, splits) => splits.map(at => clock(new Date(at * 1000))), space: 90, size: 30 },
        { ...axis, grid, values: (_, splits) => splits.map(text), size: 72 }
      ],
      series: [
        {},
        ...lines.map((_, index) => {
          const { colour: name, style: dash } = strokeOf(index);
          return { stroke: colour(name), dash: DASHES[dash], width: 2 };
        })
      ]
    };
    return new uPlot(options, dataOf(this._chart), this._box);
  }

  private _plot: uPlot;
  private readonly _size: ResizeObserver;
  private readonly _theme: MutationObserver;
}

function dataOf({ times, lines }: IPlot): uPlot.AlignedData {
  return [[...times], ...lines.map(({ values }) => [...values])];
}
