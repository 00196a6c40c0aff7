/** "You asked for 8 cards and used 2": said of the whole job, on its page and in a cell, once it is over. */
import { nullTranslator } from '@jupyterlab/translation';
import { act, cleanup, render, screen } from '@testing-library/react';
import React from 'react';

import { cardsUsed } from '../cell/cardsused';
import { JobView } from '../cell/job';
import { JobLive } from '../cell/joblive';
import { readJob, readJobUsage } from '../cell/reading';
import { JobModel } from '../jobpage/model';
import { UsageTab } from '../jobpage/usage';
import { JobManager } from '../manager';
import { FakeServer, job as listed } from './fakes';

const trans = nullTranslator.load('jupyter_aiarts');
const ID = 'abcdefghij';
const OVER = { phase: 'succeeded' as const, started: '2026-11-16T01:00:00Z', ended: '2026-11-16T03:00:00Z', nodes: 1 };

/** Nodes with their cards, each by the most it was busy. */
const nodes = (...busy: ReadonlyArray<ReadonlyArray<number | null>>): { nodes: ReadonlyArray<object> } => ({
  nodes: busy.map((cards, node) => ({ node, cards: cards.map((most, id) => ({ id, name: '910B', most })), ranks: [] }))
});
const said = (job: Partial<typeof OVER> | object, ...busy: ReadonlyArray<ReadonlyArray<number | null>>): string | null =>
  cardsUsed({ ...OVER, nodes: busy.length, ...job }, readJobUsage(nodes(...busy)), trans);

test('cards that were never used are counted over all nodes of the job', () => {
  expect(said({}, [90, 0, 0, 4.9])).toBe('1 of its 4 cards have been used: 0.');
  expect(said({}, [90], [0], [0, 5])).toBe('2 of its 4 cards have been used: 0:0, 2:1.');
  expect(said({}, [0, 0], [0, 0])).toBe('None of its 4 cards has been used.');
  expect(said({}, [0])).toBe('None of its 1 cards has been used.');
});

test('nothing is said where all were used, where one or a node is not known, or where too little was seen', () => {
  expect(said({}, [90, 80])).toBeNull();
  expect(said({}, [90, null])).toBeNull();
  expect(said({}, [90, 0], [])).toBeNull();
  expect(said({ nodes: 3 }, [90, 0], [0, 0])).toBeNull();
  expect(said({})).toBeNull();
  expect(said({ ended: '2026-11-16T01:04:59Z' }, [0, 0])).toBeNull();
  expect(said({ started: 'no time' }, [0, 0])).toBeNull();
  expect(said({ started: null }, [0, 0])).toBeNull();
  expect(said({ phase: 'running', ended: null }, [0, 0])).toBeNull();
});

let server: FakeServer;
let manager: JobManager;

beforeEach(() => {
  server = new FakeServer();
  manager = new JobManager(server);
});

afterEach(() => {
  cleanup();
  manager.dispose();
});

const COUNTED = '1 of its 3 cards have been used: 0:0.';

test.each([
  ['running', null, false],
  ['succeeded', OVER.ended, true]
])("the page of a job that is %s says it once it is over", async (phase, ended, isSaid) => {
  const job = { ...listed(ID), ...OVER, phase, ended, spec: { devices: 2, nodes: 2 } };
  server.answers = path => (path.endsWith('/usage') ? nodes([90, 0], [0]) : path === `jobs/${ID}` ? job : []);
  const model = new JobModel(ID, manager);
  await act(async () => {
    await model.job.load();
    await model.usage.load();
  });
  render(<UsageTab model={model} trans={trans} />);
  expect(screen.getAllByRole('region', { name: /^Node/ })).toHaveLength(2);
  expect(screen.queryByText(COUNTED) !== null).toBe(isSaid);
  model.dispose();
});

test.each([
  ['running', null, false],
  ['failed', OVER.ended, true]
])('the cell of a job that is %s says it once it is over', (phase, ended, isSaid) => {
  const live = new JobLive(ID, manager);
  live.job = readJob({ ...OVER, id: ID, name: 'net', phase, ended, spec: { device: 'npu', devices: 2, nodes: 2 } });
  live.cards = readJobUsage(nodes([90, 0], [0]));
  render(<JobView live={live} doors={{ act: () => undefined, open: null }} trans={trans} isSeen={false} />);
  expect(screen.queryByText(COUNTED) !== null).toBe(isSaid);
});
