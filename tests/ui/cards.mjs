/**
 * Stands for Huawei's tool, from a recorded form: two cards, of which one works.
 */
import { chmod, readFile } from 'node:fs/promises';

export const NPU = 'huawei_npu_arm64';

const FORM = new URL('../launcher/usage/npu_smi/10_910B4_26.0_wide_five_columns.txt', import.meta.url);

/** For `prepare`: the tool is on the server's path when it starts. */
export async function addCards(lab) {
  const said = await lab.write('tools/said', await readFile(FORM, 'utf8'));
  await chmod(await lab.write('tools/npu-smi', `#!/bin/sh\ncat '${said}'\n`), 0o755);
}
