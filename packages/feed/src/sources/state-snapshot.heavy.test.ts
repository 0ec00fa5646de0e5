import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { ByteWriter } from '@ledger-state/core'
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

async function read(after?: Uint8Array, thread = false, location = snapshot) {
  const source = await openSource(location, { thread })
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

  it('resumes from another backup of the ledger, whose chunks are cut elsewhere', async () => {
    const { parts, description } = await read()
    const whole = plain(parts)
    for (const chunk of [7, 15, 40, 1_000]) {
      const other = writeBackup(chain, join(folder, `in ${chunk}`), { snapshot: { version: VERSION, chunk } })
      for (const taken of [1, 2, parts.length - 1, parts.length]) {
        const rest = await read(parts[taken - 1]!.mark, false, other)
        expect(plain(rest.parts)).toEqual(whole.slice(plain(parts.slice(0, taken)).length))
        expect(rest.description).toEqual(description)
        expect(rest.source.progress.done).toBe(taken === parts.length ? 0 : whole.length)
      }
    }
  })

  it('does not resume with the state of another ledger', async () => {
    const { parts } = await read()
    const fork = new SyntheticChain({ blocks: 40, seed: 3 })
    const version = fork.records.findLastIndex(({ info }, at) => at < 120 && info[9] === 0 && info[106] === 1)
    const other = writeBackup(fork, join(folder, 'fork'), { snapshot: { version, chunk: 15 } })
    await expect(read(parts[0]!.mark, false, other)).rejects.toMatchObject({
      code: 'verification_failed',
      message: expect.stringMatching(/has the state root .*, but the interrupted import began with .*: resume it/),
    })
  })

  it('does not resume an import that began with a source of another kind, or without proofs', async () => {
    const source = await openSource(snapshot, { verify: false })
    const parts: StatePart[] = []
    for await (const part of source.base!.parts(undefined)) parts.push(part)
    await source.close()
    const failure = (message: RegExp) => ({
      code: 'verification_failed',
      message: expect.stringMatching(message),
    })
    await expect(read(parts[0]!.mark)).rejects.toMatchObject(
      failure(/entries that were not proven: resume it with --no-v/),
    )
    const ofFeed = new ByteWriter().bytes(Buffer.from('LSFEED\0\x01', 'latin1')).u64(3n).bytes(new Uint8Array(32))
    const ofStore = new ByteWriter().bytes(Buffer.from('LSSTORE\0', 'latin1')).bytes(parts[0]!.entries.at(-1)!.key)
    for (const mark of [Uint8Array.of(1, 2), ofFeed.toBytes(), ofStore.toBytes()])
      await expect(read(mark)).rejects.toMatchObject(failure(/does not continue the interrupted import/))
    // Without proofs it resumes either.
    const { parts: proven } = await read()
    for (const [first] of [parts, proven]) {
      const again = await openSource(snapshot, { verify: false })
      const rest: StatePart[] = []
      for await (const part of again.base!.parts(first!.mark)) rest.push(part)
      await again.close()
      expect(plain(rest)).toEqual(plain(parts.slice(1)))
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

/** A snapshot of one chunk with values of these lengths, which cannot be verified. */
function unverifiedSnapshot(lengths: readonly number[], { rootHash = '0'.repeat(64), ends = [lengths.length] } = {}) {
  const root = mkdtempSync(join(folder, 'made-'))
  const records = lengths.map((length, at) => {
    const item = new ByteWriter().u8(1).bytes(Buffer.alloc(32, 7)).byteString(Uint8Array.of(at))
    const record = item.u8(0).byteString(Buffer.alloc(length, at)).toBytes()
    return Buffer.concat([u32(record.length), record])
  })
  writeFileSync(join(root, '0-.chunk'), Buffer.concat(records))
  const chunks = ends.map((end, at) => {
    const first = ends[at - 1] ?? 0
    const name = `${basename(root)}/${first}-`
    return { first_idx: first, last_idx: end - 1, blobs: `${name}.chunk`, proof: `${name}.proof` }
  })
  const manifest = { version: 9, epoch: 1, root_hash: rootHash, chunks, proof: 'state.proof' }
  writeFileSync(join(root, 'state.manifest'), JSON.stringify(manifest))
  return root
}

function u32(number: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(number)
  return bytes
}

async function readUnverified(root: string, after?: Uint8Array): Promise<StatePart[]> {
  const source = await openSource(root, { verify: false })
  const parts: StatePart[] = []
  try {
    for await (const part of source.base!.parts(after)) parts.push(part)
    return parts
  } catch (cause) {
    throw Object.assign(cause as Error, { parts })
  } finally {
    await source.close()
  }
}

describe('a state snapshot of a stranger', () => {
  const MIB = 1024 * 1024

  it('is read in parts of some MiB, however large its values are, and resumes after each', async () => {
    const root = unverifiedSnapshot(Array<number>(12).fill(3 * MIB))
    const parts = await readUnverified(root)
    expect(parts.map(({ entries }) => entries.length)).toEqual([3, 3, 3, 3, 0])
    for (const [at, { mark }] of parts.entries())
      expect(plain(await readUnverified(root, mark))).toEqual(plain(parts.slice(at + 1)))
  })

  it('is refused if a chunk has more entries than its manifest lists', async () => {
    await expect(readUnverified(unverifiedSnapshot([1, 1, 1], { ends: [2] }))).rejects.toMatchObject({
      code: 'invalid_backup',
      message: expect.stringMatching(/0-.chunk holds more than the 2 records that its manifest lists/),
    })
  })

  it('is read up to a chunk that is missing', async () => {
    await expect(readUnverified(unverifiedSnapshot([1], { ends: [1, 2] }))).rejects.toMatchObject({
      code: 'invalid_backup',
      message: expect.stringMatching(/the backup is missing .*1-.chunk/),
      parts: [{ entries: [{ version: 9n }] }],
    })
  })

  it.each(['', 'zz', `0X${'0'.repeat(64)}`, '0'.repeat(63), `${'0'.repeat(64)}\n`, '1'.repeat(1_000_000)])(
    'is refused if the state root is no hash (%#)',
    async (rootHash) => {
      const root = unverifiedSnapshot([1], { rootHash })
      const refusal = await openSource(root, { verify: false }).catch((error: Error) => error)
      expect(refusal).toMatchObject({
        code: 'invalid_backup',
        message: expect.stringMatching(/state.manifest has .* for "root_hash"; expected the 64 hexadecimal digits/),
      })
      expect((refusal as Error).message).not.toMatch(/\n/)
      expect((refusal as Error).message.length).toBeLessThan(1_000)
    },
  )
})
