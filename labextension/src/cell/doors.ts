import type { Move } from '../api';

/** The ways from a cell to the rest of JupyterLab; made by the cell plugin. */
export interface ICellDoors {
  act(move: Move, id: string): void;
  /** Opens the job's page; `null` where there is no room for one, as in a notebook alone in its window. */
  readonly open: ((id: string) => void) | null;
}
