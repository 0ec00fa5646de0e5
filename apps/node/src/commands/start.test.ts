// The command start, on folders that hold a store of another ledger.
import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { helpText } from '../config/help-text.js'
import { DEMO_WINDOW } from '../demo/demo-ledger.js'
import { runCommandLine } from './run-command-line.js'
import { startCommand } from './start.js'

let bed: CommandBed
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(async () => {
  await bed.close()
})

/** Starts a node, and stops it. Returns its output and the names of its processes. */
async function startAndStop(...words: string[]): Promise<{ output: string; processes: string[] }> {
  const { program } = await bed.serve('start', ...words, '--readers', '1', '--admin-listen', '127.0.0.1:0')
  const output = await program.outputMatching(/the ledger to look at: /)
  const admin = /probes are on (http:[^"\s]+)/.exec(output)![1]
  const { processes } = (await (await fetch(`${admin}/-/ready`)).json()) as { processes: { name: string }[] }
  await program.stop()
  return { output, processes: processes.map(({ name }) => name) }
}

describe('a store of another ledger', () => {
  it('keeps all its versions, because the default window is for the demonstration ledger', async () => {
    await bed.fill('store', Number(DEMO_WINDOW) + 100)
    const { output, processes } = await startAndStop('--data-dir', 'store')
    expect(output).not.toContain('requests to try')
    // A writer would prune.
    expect(processes).toEqual(['reader-0'])
    expect(await bed.info('store')).toMatchObject({ oldest_ledger_version: '0' })
  })

  it('whose first ingest was interrupted is not resumed with the demonstration ledger', async () => {
    await bed.fill('store', 10)
    writeFileSync(bed.at('store/ingest-under-way'), 'a feed')
    const store = bed.at('store')
    await expect(runCommandLine(['start', '--data-dir', store], { goOn() {} })).rejects.toMatchObject({
      code: 'usage',
      message: `the first ingest into ${store} was interrupted: start it with its --from again to resume, or name another folder with --data-dir`,
    })
  })
})

it('the help of --retain names the window of the demonstration ledger', () => {
  expect(helpText(startCommand, 1_000)).toContain(`start keeps ${DEMO_WINDOW} of the demonstration ledger`)
})
