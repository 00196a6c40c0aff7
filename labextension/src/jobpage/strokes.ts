/**
 * How the lines of a chart are told apart: by the theme's colours, and after those by dashes too.
 */

export interface IStroke {
  /** A CSS variable of JupyterLab's themes. */
  readonly colour: string;
  readonly style: 'solid' | 'dashed' | 'dotted';
}

const COLOURS = ['brand', 'warn', 'success', 'error', 'accent', 'info'].map(name => `--jp-${name}-color1`);
const STYLES: ReadonlyArray<IStroke['style']> = ['solid', 'dashed', 'dotted'];

export function strokeOf(line: number): IStroke {
  return {
    colour: COLOURS[line % COLOURS.length]!,
    style: STYLES[Math.floor(line / COLOURS.length) % STYLES.length]!
  };
}
