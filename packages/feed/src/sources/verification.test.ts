// Each check of a proof refuses a flipped bit in the bytes that it guards.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SyntheticChain, writeBackup } from '../../testing/synthetic-chain.ts'
import { openSource } from './open-source.js'

const chain = new SyntheticChain({ blocks: 40 })
const SNAPSHOT = chain.records.findLastIndex(({ info }, version) => version < 100 && hasStateRoot(info))
const CHUNK = 'transaction_0-.ab12/0-.chunk'
const PROOF = 'transaction_0-.ab12/0-24.proof'
const RUNS = { numRuns: isSlowRun ? 60 : 15 }

/** Whether an info has a state root: success, and the option after three hashes. */
function hasStateRoot(info: Uint8Array): boolean {
  return info[9] === 0 && info[10 + 96] === 1
}

let folder: string
let root: string
let snapshot: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'verification-'))
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(() => {
  root = mkdtempSync(join(folder, 'root-'))
  snapshot = writeBackup(chain, root, { gzip: false, snapshot: { version: SNAPSHOT, chunk: 20 } })
})

async function readVersions(): Promise<number> {
  const source = await openSource(root, { thread: false })
  let count = 0
  try {
    for await (const _ of source.versions()) count++
  } finally {
    await source.close()
  }
  return count
}

async function readState(): Promise<number> {
  const source = await openSource(snapshot, { thread: false })
  let count = 0
  try {
    for await (const { entries } of source.base!.parts(undefined)) count += entries.length
    source.base!.describe()
  } finally {
    await source.close()
  }
  return count
}

function flip(path: string, bit: number): void {
  const bytes = readFileSync(path)
  bytes[bit >> 3]! ^= 1 << (bit & 7)
  writeFileSync(path, bytes)
}

/** Offsets of the parts of a record in the chunk, whose first version is 0. */
function placesOf(version: number) {
  let at = 0
  for (const { transaction, info, events, writeSet } of chain.records.slice(0, version)) {
    at += 4 + transaction.length + info.length + events.length + writeSet.length
  }
  const { transaction, info, events } = chain.records[version]!
  const transactionAt = at + 4
  const infoAt = transactionAt + transaction.length
  const eventsAt = infoAt + info.length
  return { transactionAt, infoAt, eventsAt, writeSetAt: eventsAt + events.length }
}

/** A version that succeeded and has events and writes. */
const VERSION = chain.records.findIndex(
  ({ info, events, writeSet }, version) => version > 3 && info[9] === 0 && events[0]! > 0 && writeSet[1]! > 0,
)
const { transactionAt, infoAt, eventsAt, writeSetAt } = placesOf(VERSION)
const HASHES_AT = infoAt + 10

describe('a transaction backup', () => {
  it.each([
    ['transaction', transactionAt + 20, /no TransactionInfo has the hash of the transaction/],
    ['transaction hash', HASHES_AT, /no TransactionInfo has the hash of the transaction/],
    ['gas used', infoAt + 1, /the accumulator root of version/],
    ['event root', HASHES_AT + 32, /the event root is .* but the data hashes to /],
    ['state change hash', HASHES_AT + 64, /the state change hash is/],
    ['event data', eventsAt + 1 + 1 + 8 + 32 + 8 + 2 + 4, /the event root is/],
    ['sequence number of an event', eventsAt + 1 + 1 + 8 + 32, /the event root is/],
    ['key of a write', writeSetAt + 2 + 20, /the state change hash is/],
  ])('is refused with one flipped bit in the %s', async (_, byte, message) => {
    flip(join(root, CHUNK), byte * 8)
    const named = message.source.startsWith('the accumulator')
      ? /0-.chunk, versions 0 to 24: /
      : new RegExp(`0-.chunk, record ${VERSION} \\(version ${VERSION}\\): `)
    await expect(readVersions()).rejects.toMatchObject({
      code: 'verification_failed',
      message: expect.stringMatching(named),
    })
    await expect(readVersions()).rejects.toThrow(message)
  })

  it('is refused with one flipped bit in a sibling of the range proof or in the accumulator root of the ledger info', async () => {
    const { left, right } = chain.rangeSiblings(0, 24)
    expect([left.length, right.length > 0]).toEqual([0, true])
    const rootAt = 1 + 1 + right.length * 32 + 1 + 8 + 8 + 32
    for (const byte of [2, 2 + 32 * (right.length - 1), rootAt]) {
      flip(join(root, PROOF), byte * 8)
      await expect(readVersions()).rejects.toMatchObject({
        code: 'verification_failed',
        message: expect.stringMatching(/accumulator root/),
      })
      flip(join(root, PROOF), byte * 8)
    }
    expect(await readVersions()).toBe(chain.records.length)
  })

  it('yields nothing of a chunk with one flipped bit', async () => {
    const path = join(root, 'transaction_0-.ab12/25-.chunk')
    const bits = readFileSync(path).length * 8
    await fc.assert(
      fc.asyncProperty(fc.nat(bits - 1), async (bit) => {
        flip(path, bit)
        const source = await openSource(root, { thread: false })
        let count = 0
        const reading = async () => {
          for await (const _ of source.versions()) count++
        }
        await expect(reading()).rejects.toMatchObject({
          code: expect.stringMatching(/verification_failed|invalid_backup/),
        })
        expect(count).toBe(25)
        await source.close()
        flip(path, bit)
      }),
      RUNS,
    )
  })
})

describe('a state snapshot', () => {
  it('is accepted without a flipped bit', async () => {
    expect(await readState()).toBe(chain.stateLeaves(SNAPSHOT).length)
  })

  it.each([
    ['0-.chunk', 4 + 20, /entries 0 to 19: the state root|key hash is not above/],
    ['20-.chunk', 4 + 20, /entries 20 to 39: the state root|key hash is not above/],
    ['0-19.proof', 8, /entries 0 to 19: the state root/],
    ['state.proof', 8, /the accumulator root of version/],
  ])('is refused with one flipped bit in %s', async (name, byte, message) => {
    flip(join(snapshot, name), byte * 8)
    await expect(readState()).rejects.toThrow(message)
  })

  it('is refused with one flipped bit in a value', async () => {
    const leaves = chain.stateLeaves(SNAPSHOT)
    const entry = leaves[0]!
    flip(join(snapshot, '0-.chunk'), (4 + entry.bcsKey.length + 2) * 8)
    await expect(readState()).rejects.toMatchObject({ code: 'verification_failed' })
  })

  it('is refused with one flipped bit in the state root that its proof proves', async () => {
    const proof = join(snapshot, 'state.proof')
    const at = readFileSync(proof).indexOf(chain.stateRoot(SNAPSHOT))
    flip(proof, at * 8)
    await expect(readState()).rejects.toThrow(/the accumulator root of version/)
  })

  it('is refused with another root in its manifest, or without its last chunks', async () => {
    const path = join(snapshot, 'state.manifest')
    const text = readFileSync(path, 'utf8')
    const manifest = JSON.parse(text)
    writeFileSync(path, JSON.stringify({ ...manifest, root_hash: chain.stateRoot(0).toString('hex') }))
    await expect(readState()).rejects.toThrow(/names the state root .* but its proof is for/)
    writeFileSync(path, JSON.stringify({ ...manifest, chunks: manifest.chunks.slice(0, -1) }))
    await expect(readState()).rejects.toThrow(/the state root of all entries that the manifest lists/)
    writeFileSync(path, JSON.stringify({ ...manifest, chunks: manifest.chunks.slice(1) }))
    await expect(readState()).rejects.toThrow(/holds entries 20 to 39; expected entries starting at 0/)
  })

  it('is refused with one flipped bit anywhere in a chunk', async () => {
    const path = join(snapshot, '20-.chunk')
    const bits = readFileSync(path).length * 8
    await fc.assert(
      fc.asyncProperty(fc.nat(bits - 1), async (bit) => {
        flip(path, bit)
        await expect(readState()).rejects.toMatchObject({
          code: expect.stringMatching(/verification_failed|invalid_backup/),
        })
        flip(path, bit)
      }),
      RUNS,
    )
  })
})
