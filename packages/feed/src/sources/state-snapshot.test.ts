import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SYNTHETIC_CHAIN_ID, SyntheticChain, writeBackup } from '../../testing/synthetic-chain.ts'
import { openSource } from './open-source.js'
import type { StatePart } from './source.js'

const chain = new SyntheticChain({ blocks: 40 })
const VERSION = chain.records.findLastIndex(({ info }, version) => version < 120 && info[9] === 0 && info[106] === 1)

let folder: string
let snapshot: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'snapshot-'))
  snapshot = writeBackup(chain, folder, { gzip: true, snapshot: { version: VERSION, chunk: 15 } })
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

const plain = (parts: readonly StatePart[]) =>
  parts.flatMap(({ entries }) =>
    entries.map(({ key, value }) => [Buffer.from(key).toString('hex'), Buffer.from(value).toString('hex')]),
  )

/** The state that the writes lead to, in the order of key hashes. */
function expectedState() {
  const state = new Map<string, string>()
  for (const { writes } of chain.expected.slice(0, VERSION + 1)) {
    for (const [key, value] of writes) {
      if (value) state.set(Buffer.from(key).toString('hex'), Buffer.from(value).toString('hex'))
      else state.delete(Buffer.from(key).toString('hex'))
    }
  }
  return chain.stateLeaves(VERSION).map(({ key }) => {
    const text = Buffer.from(key).toString('hex')
    return [text, state.get(text)]
  })
}

async function read(after?: Uint8Array, thread = false) {
  const source = await openSource(snapshot, { thread })
  const parts: StatePart[] = []
  for await (const part of source.base!.parts(after)) parts.push(part)
  const description = source.base!.describe()
  await source.close()
  return { parts, description, source }
}

describe('a state snapshot', () => {
  it('gives the whole state at its version, with the block and the mark of that version', async () => {
    const { parts, description, source } = await read(undefined, true)
    expect(source.base!.version).toBe(BigInt(VERSION))
    expect(plain(parts)).toEqual(expectedState())
    const block = chain.expected.slice(0, VERSION + 1).findLast((one) => one.block)!.block
    expect(description).toMatchObject({ chainId: SYNTHETIC_CHAIN_ID, block })
    const frontier = Buffer.from(description.mark!)
    expect(frontier.readBigUInt64LE(0)).toBe(BigInt(VERSION + 1))
    expect(source.progress).toEqual({ done: expectedState().length, total: expectedState().length, unit: 'entries' })
  })

  it('resumes after every part, with the same outcome', async () => {
    const { parts, description } = await read()
    expect(parts.length).toBeGreaterThan(3)
    for (let taken = 1; taken < parts.length; taken++) {
      const rest = await read(parts[taken - 1]!.mark)
      expect(plain(rest.parts)).toEqual(plain(parts.slice(taken)))
      expect(rest.description).toEqual(description)
    }
  })

  it('has a mark from which the following transactions are proven', async () => {
    const { description } = await read()
    const source = await openSource(folder)
    const from = { version: BigInt(VERSION), mark: description.mark }
    let count = 0
    for await (const _ of source.versions(from)) count++
    expect(count).toBe(Number(chain.latestVersion) - VERSION + 1)
    await source.close()
  })

  it('refuses a state without its chain and block', async () => {
    const other = mkdtempSync(join(folder, 'other-'))
    const path = writeBackup(chain, other, { gzip: false, snapshot: { version: VERSION, chunk: 1_000 } })
    const chunk = readFileSync(join(path, '0-.chunk'))
    const at = chunk.indexOf('ChainId')
    chunk.write('ChainIx', at)
    writeFileSync(join(path, '0-.chunk'), chunk)
    const source = await openSource(path, { verify: false })
    for await (const _ of source.base!.parts(undefined));
    expect(() => source.base!.describe()).toThrow(/is missing 0x1::chain_id::ChainId/)
    await source.close()
  })
})
