// Imports of a state that fail in the middle, or go on with another source.
import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openSource } from '@ledger-state/feed'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { ingestSource } from '@ledger-state/ingest'
import { openStateEngine } from '@ledger-state/state-engine'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'

const chain = new SyntheticChain({ blocks: 40 })
const VERSION = chain.records.findLastIndex(({ info }, version) => version < 120 && info[9] === 0 && info[106] === 1)

let bed: CommandBed
let snapshot: string
beforeEach(() => {
  bed = new CommandBed()
  snapshot = writeBackup(chain, bed.at('backup'), { snapshot: { version: VERSION, chunk: 15 } })
})
afterEach(() => bed.close())

/** Names of the chunks of the snapshot in the order of their entries. */
function chunkNames(): readonly string[] {
  const names = readdirSync(snapshot).filter((name) => name.includes('-.chunk'))
  return names.toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
}

/** Imports the first part of the snapshot. */
async function importPart(store: string): Promise<void> {
  const stop = new AbortController()
  const observer = { onCommit: () => {}, onPrune: () => {}, onSourceProgress: () => stop.abort() }
  const engine = openStateEngine({ path: bed.at(store) })
  const source = await openSource(snapshot, { thread: false })
  await ingestSource(engine, source, { signal: stop.signal, observer })
  await source.close()
  await engine.close()
}

it('a state that cannot be read to its end is resumed by the same command, however often it fails', () => {
  const names = chunkNames()
  const fail = () => {
    const { status, stderr } = bed.ingest(snapshot, 'store')
    expect(status).toBe(1)
    return stderr
  }
  cpSync(snapshot, bed.at('whole'), { recursive: true })
  for (const name of names.slice(1)) rmSync(join(snapshot, name))
  expect(fail()).not.toContain('resuming')
  for (const at of [1, 2]) {
    cpSync(bed.at(join('whole', names[at]!)), join(snapshot, names[at]!))
    expect(fail()).toContain(`resuming after entry ${15 * at + 1} of the state`)
    expect(bed.run('check', '--data-dir', 'store')).toMatchObject({ status: 0 })
  }
  cpSync(bed.at('whole'), snapshot, { recursive: true })
  expect(bed.ingest(snapshot, 'store')).toMatchObject({ status: 0, stderr: expect.stringContaining('resuming after') })
  expect(bed.run('check', '--state-root', '--data-dir', 'store')).toMatchObject({ status: 0 })
})

it('a store with a part of a state becomes neither the demonstration ledger nor a replica', async () => {
  await importPart('store')
  const why = /^ledger-state: the first ingest into store was interrupted: start it with its --from again to resume/
  const replica = ['--replica-of', 'http://127.0.0.1:1']
  for (const command of [['start'], ['start', ...replica], ['serve', ...replica]]) {
    const begun = bed.run(...command, '--data-dir', 'store')
    expect(begun).toMatchObject({ status: 2, stderr: expect.stringMatching(why) })
  }
  expect(bed.ingest(snapshot, 'store')).toMatchObject({ status: 0, stderr: expect.stringContaining('resuming after') })
})

it('a source without the state drops the part that is there, and says so', async () => {
  await importPart('store')
  const dropped = `the import of the state at version ${VERSION} that was cut short is dropped: the source begins with version 0`
  expect(bed.ingest('backup', 'store')).toMatchObject({ status: 0, stderr: expect.stringContaining(dropped) })
  expect(bed.run('check', '--data-dir', 'store')).toMatchObject({ status: 0 })
})

it('an import goes on only with a source of its kind; another one would leave out entries', async () => {
  expect(bed.ingest(snapshot, 'whole')).toMatchObject({ status: 0 })
  expect(bed.run('export', 'state.ndjson', '--data-dir', 'whole')).toMatchObject({ status: 0 })
  await importPart('store')
  const refusal = /state\.ndjson does not continue the interrupted import: resume it from the source/
  expect(bed.ingest('state.ndjson', 'store')).toMatchObject({ status: 1, stderr: expect.stringMatching(refusal) })
  expect(bed.ingest(snapshot, 'store')).toMatchObject({ status: 0, stderr: expect.stringContaining('resuming after') })
  expect(bed.run('check', '--state-root', '--data-dir', 'store')).toMatchObject({ status: 0 })
})
