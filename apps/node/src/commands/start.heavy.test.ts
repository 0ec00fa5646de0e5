// The command start, with options and on folders that are not for the demonstration ledger.
import { existsSync, writeFileSync } from 'node:fs'
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
  const output = await program.outputMatching(/web page of the ledger: /)
  const admin = /probes are on (http:[^"\s]+)/.exec(output)![1]
  const { processes } = (await (await fetch(`${admin}/-/ready`)).json()) as { processes: { name: string }[] }
  await program.stop()
  return { output, processes: processes.map(({ name }) => name) }
}

async function refusal(...words: string[]): Promise<unknown> {
  return await runCommandLine(['start', ...words], { goOn() {} }).catch((error: unknown) => error)
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

  it('is served with options of a source that it no longer needs', async () => {
    await bed.fill('store', 10)
    const { output } = await startAndStop('--data-dir', 'store', '--chain-id', '4', '--unsigned', '--since', '7d')
    expect(output).toContain('serving versions 0 to 9 of chain 4')
  })

  it('is refused if the options name another chain', async () => {
    await bed.fill('store', 10)
    const store = bed.at('store')
    for (const options of [
      ['--network', 'mainnet'],
      ['--network', 'mainnet', '--since', '7d'],
      ['--chain-id', '1'],
    ])
      expect(await refusal(...options, '--data-dir', store)).toMatchObject({
        code: 'usage',
        message: `${store} holds chain 4, but --network or --chain-id names chain 1: name another folder with --data-dir`,
      })
  })

  it('whose first ingest was interrupted is not resumed with the demonstration ledger', async () => {
    await bed.fill('store', 10)
    writeFileSync(bed.at('store/ingest-under-way'), 'a feed')
    const store = bed.at('store')
    expect(await refusal('--data-dir', store)).toMatchObject({
      code: 'usage',
      message: `the first ingest into ${store} was interrupted: start it with its --from again to resume, or name another folder with --data-dir`,
    })
  })
})

describe('an empty folder', () => {
  const anySource = /^start: --[a-z-]+ needs a source to ingest: add --from SOURCE, or --network NAME and --since; /
  it.each([
    [['--network', 'mainnet'], /--network needs .*: add --since to begin with a backup of the network, or --from /],
    [['--since', '7d'], /--since needs .*: add --network NAME or --from SOURCE; .* name it with --data-dir$/],
    [['--follow', 'http://127.0.0.1:1/v1'], /--follow needs .*: add --from SOURCE, .*: ledger-state serve --follow; /],
    [['--network', 'mainnet', '--follow', 'http://127.0.0.1:1/v1'], /--follow needs a source/],
    [['--waypoint', `0:${'ab'.repeat(32)}`], anySource],
    [['--unsigned'], anySource],
    [['--keep-chunks', 'chunks'], anySource],
    [['--chain-id', '4'], anySource],
    [['--assume-empty-base'], anySource],
    [['--hash-salt', 'DIEM::'], anySource],
    [['--replica-of', 'http://127.0.0.1:1', '--since', '7d'], /--since needs/],
  ])('does not begin with the demonstration ledger instead of %j', async (options, message) => {
    const folder = bed.at('empty')
    for (const dataDir of [[], ['--data-dir', folder]])
      expect(await refusal(...options, ...dataDir)).toMatchObject({
        code: 'usage',
        message: expect.stringMatching(message),
      })
    expect(existsSync(folder)).toBe(false)
  })

  it('begins with a snapshot of the node of --replica-of', async () => {
    await bed.fill('store', 10)
    const source = await bed.serve('serve', '--data-dir', 'store', '--serve-feed', '127.0.0.1:0', '--readers', '1')
    const [, feed] = /serving replicas on (http:[^"\s]+)/.exec(await source.program.outputMatching(/serving replicas/))!
    const { output } = await startAndStop('--replica-of', feed!, '--data-dir', 'replica')
    expect(output).toContain('replica has no store: asking')
    expect(output).toContain('serving versions 0 to 9 of chain 4')
    expect(output).not.toContain('requests to try')
  })
})

it('the help of --retain names the window of the demonstration ledger', () => {
  expect(helpText(startCommand, 1_000)).toContain(`start keeps ${DEMO_WINDOW} of the demonstration ledger`)
})
