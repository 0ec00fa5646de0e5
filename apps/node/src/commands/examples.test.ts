// Examples in the help of commands, run on the demonstration ledger as `start` ingests it.
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { DEMO_WINDOW } from '../demo/demo-ledger.js'
import { loadAllCommands } from './all-commands.js'

let bed: CommandBed

beforeAll(async () => {
  bed = new CommandBed()
  await bed.fillWithDemo('data/demo', { retain: DEMO_WINDOW })
})
afterAll(async () => {
  await bed.close()
})

const examples = (await loadAllCommands()).flatMap((command) => command.examples)
const ofDemo = examples.filter((line) => / --data-dir data\/demo\b/.test(line) && !/[|>]/.test(line))

describe('the examples of the help that read the demonstration ledger', () => {
  it.each(ofDemo.slice(0, isSlowRun ? undefined : 3))('work: %s', async (line) => {
    // Splits a line into the words of a shell; a quoted text is one word without its quotes.
    const words = Array.from(line.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, plain]) => quoted ?? plain!)
    const { status, stdout, stderr } = await bed.start(...words.slice(1)).outcome()
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).not.toBe('')
  })

  it('are there for all commands that read state', () => {
    expect(new Set(ofDemo.map((line) => line.split(' ')[1]))).toEqual(new Set(['get', 'history', 'view']))
  })
})
