import type { Contents } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';

import { errorText } from './errors';
import type { IRoom } from './moving';
import { Commands } from './tokens';

const FILE = 'aiarts_example.py';

/** Small enough to be read at a glance, and with all that a job has: parameters, output, a place for results. */
const EXAMPLE = `"""A small training run: gradient descent on (x - 3)^2."""
import argparse
import os
import time

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=20)
parser.add_argument("--lr", type=float, default=0.1)
args = parser.parse_args()

x = 0.0
for step in range(1, args.steps + 1):
    x -= args.lr * 2 * (x - 3)
    print(f"step {step}/{args.steps}  x={x:.4f}  loss={(x - 3) ** 2:.6f}", flush=True)
    time.sleep(0.5)

with open(os.path.join(os.environ.get("OUTPUT_PATH", "."), "example_result.txt"), "w") as file:
    file.write(f"{x}\\n")
print("done: the minimum is near", round(x, 3))
`;

/** A first job that a person makes themselves: the script is written, the form filled in, the steps stand above it. */
export function addGuide(
  commands: CommandRegistry,
  contents: Contents.IManager,
  room: IRoom,
  trans: TranslationBundle
): void {
  commands.addCommand(Commands.guide, {
    label: trans.__('Guided example'),
    execute: async () => {
      try {
        // What is there under this name may have been changed by its owner since.
        await contents.get(FILE, { content: false }).catch(() =>
          contents.save(FILE, { type: 'file', format: 'text', content: EXAMPLE })
        );
        const spec = { script: FILE, name: 'example', params: { steps: '20', lr: '0.1' } };
        await commands.execute(Commands.newJob, { spec, isGuided: true });
      } catch (error) {
        room.tell(errorText(error, trans), 'error');
      }
    }
  });
}
