import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { VersionWrites } from '@ledger-state/core'
import { overriding } from '@ledger-state/testing/overriding'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { expectedTransaction, transactionOf } from '../../testing/expected-transaction.ts'
import { type ExpectedVersion, SYNTHETIC_CHAIN_ID, SyntheticChain, writeBackup } from '../../testing/synthetic-chain.ts'
import { waypointHash } from '../../testing/synthetic-epochs.ts'
import type { BackupStorage } from '../files/backup-storage.js'
import { FolderStorage } from '../files/folder-storage.js'
import { openSource } from './open-source.js'
import type { LedgerSource, LedgerVersion, Reading, SourceOptions } from './source.js'
import { openBackup } from './transaction-backup.js'

const chain = new SyntheticChain({ blocks: 40 })
const LAST = Number(chain.latestVersion)
/** Place of the hash of the writes in a TransactionInfo of a transaction that succeeded. */
const STATE_CHANGE_HASH_AT = 10 + 2 * 32

let folder: string
let root: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'backup-'))
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(() => {
  root = mkdtempSync(join(folder, 'root-'))
})

async function readFrom(source: LedgerSource, from: Reading = {}) {
  const versions: LedgerVersion[] = []
  const marks: (Uint8Array | undefined)[] = []
  try {
    for await (const record of source.versions(from)) {
      versions.push(record)
      marks.push(source.mark)
    }
  } finally {
    await source.close()
  }
  return { versions, marks }
}

async function readAll(options: SourceOptions = {}, from: Reading = {}) {
  return readFrom(await openSource(root, { thread: false, ...options }), from)
}

const plain = (versions: readonly (VersionWrites | ExpectedVersion)[]) =>
  versions.map(({ version, block, writes }) => ({
    version,
    block,
    writes: writes.map(([key, value]) => [
      Buffer.from(key).toString('hex'),
      value && Buffer.from(value).toString('hex'),
    ]),
  }))

/** State values as of a version, as a store would answer them. */
function stateBefore(version: number) {
  return (key: Uint8Array) => {
    for (let at = version - 1; at >= 0; at--) {
      const found = chain.expected[at]!.writes.find(([other]) => Buffer.compare(other, key) === 0)
      if (found) return found[1] ?? undefined
    }
    return undefined
  }
}

describe('a backup with transactions that cannot be decoded', () => {
  const unknown = new SyntheticChain({ blocks: 20, unknownPayloads: true })

  it.each([{ verify: true }, { verify: false }, { thread: true }, { verify: true }])(
    'gives them as others, and says so once (%j)',
    async (options) => {
      writeBackup(unknown, root, { chunk: 10 })
      const notices: string[] = []
      const { versions } = await readAll({ ...options, unsigned: true, onNotice: (text) => notices.push(text) })
      expect(plain(versions)).toEqual(plain(unknown.expected))
      expect(versions.map(transactionOf)).toEqual(unknown.records.map((_, at) => expectedTransaction(unknown, at)))
      expect(notices.filter((notice) => notice.includes('decode'))).toEqual([
        expect.stringMatching(/has transactions that this program cannot decode: variant 9 of a payload;/),
      ])
    },
  )
})

describe('a transaction backup', () => {
  it.each([
    [{ format: 'V0', gzip: true }],
    [{ format: 'V1', gzip: false }],
    [{ format: 'V1', gzip: true, chunk: isSlowRun ? 1 : 12, folder: 1 }],
    [{ chunk: 1_000 }],
  ] as const)('gives versions, blocks and writes as they were, laid out as %j', async (layout) => {
    writeBackup(chain, root, layout)
    const source = await openSource(root)
    expect(source.description).toBe(`transaction backup (versions 0 to ${LAST})`)
    const { versions, marks } = await readFrom(source)
    expect(plain(versions)).toEqual(plain(chain.expected))
    expect(versions.map(transactionOf)).toEqual(chain.records.map((_, version) => expectedTransaction(chain, version)))
    expect(source.chainId).toBe(SYNTHETIC_CHAIN_ID)
    expect(source.progress).toMatchObject({ done: LAST + 1, total: LAST + 1 })
    expect(Buffer.from(marks.at(-1)!).readBigUInt64LE(0)).toBe(BigInt(LAST + 1))
    const unproven = (await readAll({ verify: false })).versions
    expect(plain(unproven)).toEqual(plain(chain.expected))
    expect(unproven.map(transactionOf)).toEqual(versions.map(transactionOf))
  })

  it('can be one of its folders, and then takes the chain id from a signed transaction', async () => {
    writeBackup(chain, root, { chunk: 10, folder: 3 })
    const source = await openSource(join(root, 'transaction_30-.ab12'))
    const { versions } = await readFrom(source, { read: stateBefore(30) })
    expect(plain(versions)).toEqual(plain(chain.expected.slice(30, 60)))
    expect(source.chainId).toBe(SYNTHETIC_CHAIN_ID)
  })

  it('resumes from any version, and proves that it is the same ledger', async () => {
    writeBackup(chain, root, { chunk: 9, folder: 2 })
    const { marks } = await readAll()
    for (let next = 1; next <= LAST; next += isSlowRun ? 7 : 28) {
      const from = { version: BigInt(next), read: stateBefore(next), mark: marks[next - 1] }
      const { versions, marks: later } = await readAll({}, from)
      expect(plain(versions)).toEqual(plain(chain.expected.slice(next)))
      expect(later.at(-1)).toEqual(marks.at(-1))
    }
  })

  it('refuses to continue another ledger', async () => {
    writeBackup(chain, root, { chunk: 9 })
    const other = new SyntheticChain({ blocks: 40, seed: 2 })
    writeBackup(other, join(root, 'other'), { chunk: 9 })
    const { marks } = await readFrom(await openSource(join(root, 'other')))
    for (const next of [9, 13, 20]) {
      const from = { version: BigInt(next), read: stateBefore(next), mark: marks[next - 1] }
      await expect(readAll({}, from)).rejects.toMatchObject({ code: 'ledger_fork' })
    }
  })

  it('refuses chunks of different ledgers that are each sound by itself', async () => {
    writeBackup(chain, root, { chunk: 9, folder: 1 })
    writeBackup(new SyntheticChain({ blocks: 40, seed: 2 }), join(root, 'other'), { chunk: 9, folder: 1 })
    cpSync(join(root, 'other/transaction_18-.ab12'), join(root, 'transaction_18-.ab12'), { recursive: true })
    const source = await openSource(root)
    let count = 0
    const reading = async () => {
      for await (const _ of source.versions()) count++
    }
    await expect(reading()).rejects.toMatchObject({ code: 'ledger_fork', message: expect.stringMatching(/18-.chunk/) })
    expect(count).toBe(18)
    await source.close()
  })

  it('chooses among stretches that overlap, and names versions missing between two', async () => {
    writeBackup(chain, root, { chunk: 10, folder: 2 })
    writeBackup(chain, root, { chunk: 7, folder: 9, first: 5 })
    expect(plain((await readAll()).versions)).toEqual(plain(chain.expected))
    rmSync(join(root, 'metadata'), { recursive: true })
    const entry = (first: number, last: number) =>
      `{"TransactionBackup":{"first_version":${first},"last_version":${last},"manifest":"transaction_${first}-.ab12/transaction.manifest"}}\n`
    writeFileSync(join(root, 'a.meta'), entry(0, 19) + entry(40, 59))
    await expect(readAll()).rejects.toMatchObject({
      code: 'invalid_backup',
      message: expect.stringMatching(/is missing versions 20 to 39/),
    })
  })

  it.each([
    ['transaction_0-.ab12/transaction.manifest.gz', /transaction_0-.ab12\/transaction.manifest \(also/, 0],
    ['transaction_0-.ab12/25-.chunk.gz', /25-.chunk \(also/, 25],
    ['transaction_0-.ab12/25-49.proof.gz', /25-49.proof \(also/, 25],
    ['transaction_50-.ab12/transaction.manifest.gz', /transaction_50-.ab12\/transaction.manifest \(also/, 50],
  ])('names the missing file %s, after it has yielded the versions before it', async (name, message, before) => {
    writeBackup(chain, root)
    rmSync(join(root, name))
    const source = await openSource(root)
    let count = 0
    let mark: Uint8Array | undefined
    const reading = async () => {
      for await (const _ of source.versions()) {
        count++
        mark = source.mark
      }
    }
    await expect(reading()).rejects.toMatchObject({ code: 'invalid_backup', message: expect.stringMatching(message) })
    expect(count).toBe(before)
    expect(source.mark).toEqual(mark)
    await source.close()
  })

  it('has the mark of the last version that it yielded when it fails, in stretches that overlap, too', async () => {
    writeBackup(chain, root, { chunk: 10, folder: 2 })
    const { marks } = await readAll()
    writeBackup(chain, root, { chunk: 7, folder: 9, first: 5 })
    const places = new Set<number>()
    for (let failing = 0, hasFailed = true; hasFailed; failing++) {
      let chunks = 0
      const storage = overriding<BackupStorage>(new FolderStorage(root), {
        keepTransactions: async () => {
          if (chunks++ === failing) throw new Error('disk full')
        },
      })
      const source = await openBackup(storage, { thread: false })
      let last = -1
      hasFailed = await (async () => {
        for await (const { version } of source.versions()) last = Number(version)
      })().then(
        () => false,
        () => true,
      )
      expect(source.mark, `after version ${last}`).toEqual(marks[last])
      places.add(last)
      await source.close()
    }
    expect(places.size).toBeGreaterThan(LAST / 10)
  })

  it('names the record at which a chunk is cut short, or too long', async () => {
    writeBackup(chain, root, { gzip: false })
    const chunk = join(root, 'transaction_0-.ab12/0-.chunk')
    const whole = readFileSync(chunk)
    writeFileSync(chunk, whole.subarray(0, whole.length - 3))
    await expect(readAll()).rejects.toMatchObject({
      code: 'invalid_backup',
      message: expect.stringMatching(/0-.chunk.*record 24/),
    })
    await expect(readAll({ verify: false })).rejects.toMatchObject({ code: 'invalid_backup' })
    writeFileSync(chunk, Buffer.concat([whole, whole.subarray(0, 4 + whole.readUInt32BE(0))]))
    for (const verify of [true, false]) await expect(readAll({ verify })).rejects.toThrow(/more than the 25 records/)
    writeFileSync(chunk, Buffer.concat([Buffer.alloc(4, 255), whole]))
    await expect(readAll()).rejects.toThrow(/record 0: expected a length of at most \d+ bytes, found 4294967295/)
  })

  it('refuses file names that lead out of the backup', async () => {
    const entry = { first_version: 0, last_version: 9, manifest: '../../etc/passwd' }
    writeFileSync(join(root, 'a.meta'), JSON.stringify({ TransactionBackup: entry }))
    await expect(readAll()).rejects.toThrow(/is outside the backup/)
  })

  it.each([
    [
      '{"TransactionBackup":{"first_version":"0","last_version":9,"manifest":"m"}}',
      /line 1, "TransactionBackup" has "0"/,
    ],
    ['{"TransactionBackup":{"first_version":0,"last_version":9}}', /has undefined for "manifest"/],
    [
      '{"TransactionBackup":{"first_version":0,"last_version":9,"manifest":"m\\u001b[31m"}}',
      /has "m\\u001b\[31m" for "manifest"; expected the name of a file/,
    ],
    [
      `{"TransactionBackup":{"first_version":0,"last_version":9,"manifest":"${'x'.repeat(2_000_000)}"}}`,
      /^.{0,400}\(2000000 characters\)" for "manifest".{0,100}$/,
    ],
    [
      `{"TransactionBackup":{"first_version":"${'x'.repeat(2_000_000)}"}}`,
      /^.{0,400}\(2000002 characters\) for "first_version".{0,100}$/,
    ],
    ['\n{"TransactionBackup":', /a.meta, line 2 is not JSON/],
    ['{"Identity":{"id":"x"}}', /lists no transactions/],
  ])('names the metadata line %s', async (text, message) => {
    writeFileSync(join(root, 'a.meta'), text)
    await expect(readAll()).rejects.toMatchObject({ code: 'invalid_backup', message: expect.stringMatching(message) })
  })

  it('refuses chunks that are not in the order of their versions', async () => {
    writeBackup(chain, root, { chunk: 10, folder: 3, gzip: false })
    const path = join(root, 'transaction_0-.ab12/transaction.manifest')
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as { chunks: unknown[] }
    writeFileSync(path, JSON.stringify({ ...manifest, chunks: manifest.chunks.toReversed() }))
    await expect(readAll()).rejects.toMatchObject({
      code: 'invalid_backup',
      message: expect.stringMatching(/"chunks"\[1\] begins at version 10, before the previous chunk, .* at 20$/),
    })
  })

  it('checks the signatures of a chunk before it reads the writes, once it knows a waypoint', async () => {
    const others = [{ secret: 5n, power: 1n }]
    const forged = new SyntheticChain({
      blocks: 40,
      signers: others,
      validatorsOf: (epoch) => (epoch === 0 ? [] : others),
    })
    const honest = new SyntheticChain({ blocks: 40, signers: true })
    const [ending] = honest.endings()
    const waypoint = `${ending!.version}:${waypointHash(ending!)}`
    // Writes that strangers chose, and committed to: nothing can read them.
    const writeSet = Uint8Array.of(9)
    const info = Uint8Array.from(forged.records[0]!.info)
    info.set(forged.hash('WriteSet', writeSet), STATE_CHANGE_HASH_AT)
    forged.records[0] = { ...forged.records[0]!, info, writeSet }
    writeBackup(forged, root)
    await expect(readAll({ waypoints: [waypoint] })).rejects.toMatchObject({ code: 'untrusted' })
    await expect(readAll({ unsigned: true })).rejects.toMatchObject({ code: 'invalid_backup' })
  })

  it('names its state snapshot if it has no transactions', async () => {
    writeBackup(chain, root, { snapshot: { version: 0, chunk: 10 } })
    for (let first = 0; first <= LAST; first += 50)
      rmSync(join(root, `metadata/transaction_${first}-${Math.min(LAST, first + 49)}.meta.gz`))
    await expect(readAll()).rejects.toThrow(/its state at version 0 is in .*state_epoch_0_ver_0.cd34/)
  })
})

describe('a hostile manifest', () => {
  it('cannot make a chunk of more versions than a file can hold', async () => {
    const manifest = (last: number) =>
      JSON.stringify({
        first_version: 0,
        last_version: last,
        chunks: [{ first_version: 0, last_version: last, transactions: 'x/0-.chunk', proof: 'x/0.proof' }],
      })
    mkdirSync(join(root, 'x'))
    for (const name of ['0-.chunk', '0.proof']) writeFileSync(join(root, 'x', name), '')
    for (const last of [2 ** 22, 2 ** 40, Number.MAX_SAFE_INTEGER]) {
      writeFileSync(join(root, 'x/transaction.manifest'), manifest(last))
      const source = await openSource(join(root, 'x'), { thread: false })
      await expect(readFrom(source)).rejects.toMatchObject({
        code: 'invalid_backup',
        message: expect.stringMatching(/0-.chunk: versions 0 to \d+ cannot be one chunk/),
      })
    }
  })
})

describe('hostile records', () => {
  it('are refused before they cost more than their size allows', async () => {
    writeBackup(chain, root, { gzip: false, chunk: 1_000 })
    // A record in which an info could begin at any byte.
    const record = Buffer.alloc(2_000_000)
    for (let at = 0; at < record.length; at += 40) record.fill(0x01, at + 13, at + 30)
    const length = Buffer.alloc(4)
    length.writeUInt32BE(record.length)
    writeFileSync(join(root, 'transaction_0-.ab12/0-.chunk'), Buffer.concat([length, record]))
    await expect(readAll()).rejects.toMatchObject({ code: 'verification_failed' })
  })
})

describe.skipIf(!hasSharedData)('a backup of a real chain', () => {
  const path = sharedPath('data/backup')

  it('is proven whole, with the blocks that its block metadata name', async () => {
    const { versions } = await readFrom(await openSource(path, { hashSalt: 'DIEM::' }))
    expect(versions.length).toBe(20_000)
    const bytes = gunzipSync(readFileSync(join(path, 'transaction_1-.90bf/1-.chunk.gz')))
    let blocks = 0
    for (let at = 0, version = 1n; at < bytes.length; version++) {
      const record = bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at))
      at += 4 + record.length
      const { block } = versions[Number(version) - 1]!
      expect(block !== undefined).toBe(record[0] === 2)
      if (!block) continue
      blocks++
      const votesAt = 1 + 32 + 8 + 8 + 32
      const failedAt = votesAt + 1 + record[votesAt]!
      const timestampUsec = record.readBigUInt64LE(failedAt + 1 + record[failedAt]! * 4)
      expect(block).toEqual({ height: BigInt(blocks), epoch: record.readBigUInt64LE(33), timestampUsec })
    }
    expect(blocks).toBe(9_408)
  })

  it('is not proven with another salt; its chain id is taken from a signed transaction', async () => {
    await expect(readFrom(await openSource(path))).rejects.toMatchObject({
      code: 'verification_failed',
      message: expect.stringMatching(/record 0 \(version 1\).*a hash salt other than APTOS::/),
    })
    const source = await openSource(path, { hashSalt: 'DIEM::', verify: false })
    expect((await readFrom(source)).versions.length).toBe(20_000)
    expect(source.chainId).toBe(4)
  })

  it('has a state that is proven before its chunks, which are absent, are read', async () => {
    const source = await openSource(join(path, 'state_epoch_1000_ver_638021.36d1'), { hashSalt: 'DIEM::' })
    await expect(source.base!.parts(undefined)[Symbol.asyncIterator]().next()).rejects.toThrow(
      /0-.chunk \(also looked for/,
    )
    await source.close()
    cpSync(path, root, { recursive: true })
    const proof = join(root, 'state_epoch_1000_ver_638021.36d1/state.proof.gz')
    const bytes = gunzipSync(readFileSync(proof))
    bytes[40]! ^= 1
    rmSync(proof, { force: true })
    writeFileSync(proof, bytes)
    await expect(
      openSource(join(root, 'state_epoch_1000_ver_638021.36d1'), { hashSalt: 'DIEM::' }),
    ).rejects.toMatchObject({ code: 'verification_failed' })
  })
})
