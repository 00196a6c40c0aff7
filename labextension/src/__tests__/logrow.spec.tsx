import { nullTranslator } from '@jupyterlab/translation';
import { render, screen } from '@testing-library/react';
import { readFileSync } from 'fs';
import { join } from 'path';
import React from 'react';

import { LogRow } from '../logview/row';
import { logLine } from './fakelog';

const trans = nullTranslator.load('jupyter_aiarts');
const RANKS = Array.from({ length: 9 }, (_, rank) => rank);

function show(showRank: boolean): void {
  const looks = { trans, showTime: false, showRank, literal: null, isFound: false, isTarget: false };
  render(
    <>
      {RANKS.map(rank => (
        <LogRow key={rank} row={{ ...logLine(rank, { rank, node: 1 }), id: rank, first: '', columns: 6 }} {...looks} />
      ))}
    </>
  );
}

test('ranks of a merged log have colours of their own, their number and their node; the ninth begins anew', () => {
  show(true);
  const colours = RANKS.map(rank => {
    const tag = screen.getByTitle(`rank ${rank}, node 1`);
    expect(tag.textContent).toBe(String(rank));
    return /aiarts-rank-\d+/.exec(tag.className)?.[0];
  });
  expect(new Set(colours).size).toBe(8);
  expect(colours[8]).toBe(colours[0]);
  const style = readFileSync(join(__dirname, '../../style/pages.css'), 'utf8');
  colours.forEach(colour => expect(style).toContain(`.${colour} {`));
});

test('the log of one rank has no number before its lines', () => {
  show(false);
  expect(screen.queryByTitle(/^rank/)).toBeNull();
});
