// The files are read back with DuckDB.
import { createHash } from 'node:crypto'
import fs, {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { bytesToHex, LedgerStateError } from '@ledger-state/core'
import { createMemoryEngine, type StateEngineReader, type StateWriter } from '@ledger-state/engine'
import { ingestSource } from '@ledger-state/ingest'
import { createLedger, listBalances } from '@ledger-state/ledger'
import { isOwnKey } from '@ledger-state/records'
import { type LmdbEngineReader, openStateEngine, openStateEngineReader } from '@ledger-state/state-engine'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { typeTagToText } from '@ledger-state/type-tag'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openDemoLedger } from '../demo/demo-ledger.js'
import { exportParquet, type ParquetExport } from './export-parquet.js'
import type { Manifest } from './manifest.js'
import { rangeFileName } from './range-file-name.js'
import { TABLE_NAMES, TABLES } from './tables.js'

const folder = mkdtempSync(join(tmpdir(), 'parquet-'))
let engine: LmdbEngineReader
let duck: DuckDBConnection

beforeAll(async () => {
  const writer = openStateEngine({ path: join(folder, 'store') })
  await ingestSource(writer, openDemoLedger())
  await writer.close()
  engine = openStateEngineReader({ path: join(folder, 'store') })
  duck = await (await DuckDBInstance.create(':memory:')).connect()
})
afterAll(async () => {
  duck.closeSync()
  await engine.close()
  rmSync(folder, { recursive: true })
})

/** Options of an export that writes two ranges at the same time. */
const TWO_THREADS = { store: join(folder, 'store'), threads: 2, execArgv: SOURCE_OPTIONS }

const run = (to: string, options: Partial<ParquetExport> = {}): Promise<Manifest> =>
  exportParquet({
    engine,
    folder: join(folder, to),
    signal: new AbortController().signal,
    bytesOfRange: 400_000,
    ...options,
  })

/** The rows of a query, in which `$writes` and so on are the files of a table. */
async function query(to: string, sql: string): Promise<Record<string, unknown>[]> {
  const whole = sql.replaceAll(/\$(\w+)/g, (_, name) => `read_parquet('${join(folder, to, name)}/*.parquet')`)
  return (await duck.runAndReadAll(whole)).getRowObjectsJson()
}

/** Every file of an export by its path, without the manifest. */
function filesOf(to: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const name of readdirSync(join(folder, to), { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.parquet')) continue
    found.set(
      name,
      createHash('sha256')
        .update(readFileSync(join(folder, to, name)))
        .digest('hex'),
    )
  }
  return found
}

it('has a row for every entry of the first state and every later write, in files that the manifest describes', async () => {
  const manifest = await run('all')
  const { oldestVersion, latestVersion } = engine.ledger!
  expect(manifest.ranges.length).toBeGreaterThan(3)
  expect(manifest).toMatchObject({ is_slice: false, tables: TABLE_NAMES })
  let next = oldestVersion
  for (const { first, last, isState } of manifest.ranges) {
    expect(first).toBe(String(isState ? oldestVersion : next))
    next = BigInt(last) + 1n
  }
  expect(next).toBe(latestVersion + 1n)
  const described = manifest.ranges.flatMap(({ files }) => Object.values(files))
  expect(new Map(described.map(({ path, sha256 }) => [path, sha256]))).toEqual(filesOf('all'))

  const expected: string[] = []
  const add = (version: bigint, key: Uint8Array, value: Uint8Array | null) => {
    if (!isOwnKey(key)) expected.push(`${version} ${bytesToHex(key)} ${value ? bytesToHex(value) : 'deleted'}`)
  }
  for (const { key, value } of engine.at(oldestVersion).scan(new Uint8Array(0))) add(oldestVersion, key, value)
  for (const { version, writes } of engine.versions(oldestVersion + 1n, latestVersion)) {
    for (const [key, value] of writes) add(version, key, value)
  }
  const rows = await query(
    'all',
    `SELECT version || ' 0x' || lower(hex(state_key)) || ' ' || CASE WHEN deleted THEN 'deleted' ELSE '0x' || lower(hex(value)) END AS text FROM $writes`,
  )
  expect(rows.map(({ text }) => text).sort()).toEqual(expected.sort())
  const [counts] = await query('all', 'SELECT count(*) AS n FROM $writes')
  const described0 = manifest.ranges.reduce((sum, { files }) => sum + (files.writes?.rows ?? 0), 0)
  expect(counts).toEqual({ n: String(described0) })
})

it('has changes of balances whose sums are the balances at the end', async () => {
  await run('all')
  const sums = await query(
    'all',
    `SELECT owner, asset, storage, sum(after::HUGEINT - before::HUGEINT)::VARCHAR AS held FROM $balances
     GROUP BY ALL HAVING sum(after::HUGEINT - before::HUGEINT) <> 0`,
  )
  const found = sums.map(({ owner, asset, storage, held }) => `${owner} ${asset} ${storage} ${held}`).sort()
  const state = createLedger(engine).at()
  const expected: string[] = []
  for (const owner of new Set(sums.map((one) => String(one.owner)))) {
    for (const one of listBalances(state, Buffer.from(owner.slice(2), 'hex'))) {
      if (!one || one.amount === 0n) continue
      const asset = one.asset.standard === 'v1' ? typeTagToText(one.asset.coin) : bytesToHex(one.asset.metadata)
      expected.push(`${owner} ${asset} ${bytesToHex(one.storage)} ${one.amount}`)
    }
  }
  expect(expected.length).toBeGreaterThan(10)
  expect(found).toEqual(expected.sort())
})

it('has an empty file of each table that has no rows in its first range, with the columns of the others', async () => {
  const manifest = await run('all')
  const [first, ...later] = manifest.ranges
  expect(Object.keys(first!.files)).toEqual(TABLE_NAMES)
  expect(later.flatMap(({ files }) => Object.values(files)).every(({ rows }) => rows > 0)).toBe(true)
  // The ledger has no events.
  expect(await query('all', 'SELECT count(*) AS n FROM $events')).toEqual([{ n: '0' }])
  const columns = await query('all', 'DESCRIBE FROM $events')
  expect(columns.map(({ column_name }) => column_name)).toEqual(TABLES.events.columns.map(({ name }) => name))
  const [empty, filled] = [first!, later.at(-1)!].map(({ files }) => files.blocks!)
  expect(empty!.rows).toBe(0)
  expect(empty!.bytes).toBeLessThan(1_000)
  const columnsOf = (path: string) => query('all', `DESCRIBE FROM '${join(folder, 'all', path)}'`)
  expect(await columnsOf(empty!.path)).toEqual(await columnsOf(filled!.path))
})

it('has the blocks that have ended', async () => {
  await run('all')
  const blocks = await query('all', 'SELECT height, first_version, last_version FROM $blocks ORDER BY height')
  expect(blocks.length).toBeGreaterThan(100)
  for (const { height, first_version, last_version } of blocks) {
    const { block, firstVersion, lastVersion } = engine.blockAt(BigInt(String(first_version)))
    expect([height, first_version, last_version].map(String)).toEqual(
      [block.height, firstVersion, lastVersion].map(String),
    )
  }
  const [last] = blocks.slice(-1)
  expect(BigInt(String(last!.last_version)) + 1n).toBe(engine.blockAt(engine.ledger!.latestVersion).firstVersion)
})

it('can be skipped by its row groups: they are sorted, and know their addresses', async () => {
  await run('all')
  const groups = await query(
    'all',
    `SELECT file_name, stats_min_value AS least, stats_max_value AS most FROM parquet_metadata('${join(folder, 'all/writes')}/*.parquet')
     WHERE path_in_schema = 'address' ORDER BY file_name, row_group_id`,
  )
  for (const { least, most } of groups) expect(String(least) <= String(most)).toBe(true)
  expect(String(groups[0]!.least)).toMatch(/^0x[0-9a-f]{64}$/)
})

it('has the rows of a file in its order, and a part of its rows in each group', async () => {
  await run('all')
  for (const name of TABLE_NAMES) {
    const order = TABLES[name].order.map((column) => `coalesce(${column}::VARCHAR, '')`)
    const sorted = order.map((one, at) => (/version|height|index/.test(one) ? TABLES[name].order[at] : one)).join()
    const inOrder = await query(
      'all',
      `SELECT filename, count(*) AS n FROM (
         SELECT filename, file_row_number AS found, row_number() OVER (PARTITION BY filename ORDER BY ${sorted}, file_row_number) - 1 AS due
         FROM read_parquet('${join(folder, 'all', name)}/*.parquet', filename = true, file_row_number = true)
       ) WHERE found <> due GROUP BY ALL`,
    )
    expect([name, inOrder]).toEqual([name, []])
  }
})

it(`is completed after an end at any file, with the same files (TEST_SEED=${testSeed()})`, async () => {
  await run('all')
  const whole = filesOf('all')
  const random = createRandom(testSeed())
  for (let round = 0; round < 4; round++) {
    const threads = round % 2 === 0 ? {} : TWO_THREADS
    rmSync(join(folder, 'cut'), { recursive: true, force: true })
    const stop = new AbortController()
    let left = 1 + random.below(4)
    class Killed extends Error {}
    const onRange = () => {
      if (--left === 0) throw new Killed()
    }
    await expect(run('cut', { onRange, signal: stop.signal, ...threads })).rejects.toThrow(Killed)
    // As after a kill between the files of a range, and within one.
    const [some] = filesOf('cut').keys()
    const table = some!.split('/')[0]!
    const draft = join(folder, 'cut', table, `${rangeFileName({ first: '9', last: '10' }, 0)}.parquet.unfinished`)
    const orphan = `${rangeFileName({ first: '9', last: '9', isState: true }, 77_777)}.parquet`
    cpSync(join(folder, 'cut', some!), join(folder, 'cut', table, orphan))
    writeFileSync(draft, 'half')
    await run('cut', threads)
    expect(filesOf('cut')).toEqual(whole)
    expect(existsSync(draft)).toBe(false)
  }
})

it('has the same files if threads write them', async () => {
  const alone = await run('all')
  expect(await run('threads', TWO_THREADS)).toEqual(alone)
  expect(filesOf('threads')).toEqual(filesOf('all'))
  // The store of the threads is another one, without versions.
  const path = join(folder, 'empty')
  await openStateEngine({ path }).close()
  await expect(run('other', { ...TWO_THREADS, store: path })).rejects.toThrow(LedgerStateError)
  expect(filesOf('other').size).toBe(0)
})

it('has a bounded number of bytes in memory, however large a value or a block is', async () => {
  const path = join(folder, 'large')
  const writer = openStateEngine({ path })
  const random = createRandom(testSeed())
  const key = (number: number) => Buffer.from(`01${'7a'.repeat(32)}${number.toString(16).padStart(8, '0')}`, 'hex')
  const small = (at: number) => Array.from({ length: 500 }, (_, n) => [key(500 * at + n), Buffer.of(n % 7)] as const)
  const versions = Array.from({ length: 60 }, (_, at) => ({
    version: BigInt(at),
    // Ten blocks of a large value each, then one block of 25,000 small ones.
    block: at <= 10 ? { height: BigInt(at), epoch: 0n, timestampUsec: BigInt(at) } : undefined,
    writes: at < 10 ? [[key(at), Buffer.from(random.bytes(200_000))] as const] : small(at),
  }))
  await writer.commit(versions, { chainId: 1 })
  await writer.close()
  const large = openStateEngineReader({ path })
  const bytesOfRange = 300_000
  for (const threads of [0, 2]) {
    const buffered: number[] = []
    const onBuffered = (bytes: number) => buffered.push(bytes)
    const to = `large-${threads}`
    const manifest = await run(to, { ...TWO_THREADS, engine: large, store: path, threads, bytesOfRange, onBuffered })
    const mostOfRange = bytesOfRange + 200_100
    expect(Math.max(...buffered)).toBeLessThanOrEqual(Math.max(1, threads) * mostOfRange)
    expect(manifest.ranges.length).toBeGreaterThan(12)
    const sizes = await query(
      to,
      `SELECT sum(octet_length(state_key) + coalesce(octet_length(value), 0))::INTEGER AS bytes FROM $writes GROUP BY filename`.replace(
        '$writes',
        `read_parquet('${join(folder, to, 'writes')}/*.parquet', filename = true)`,
      ),
    )
    for (const { bytes } of sizes) expect(Number(bytes)).toBeLessThanOrEqual(mostOfRange)
  }
  expect(filesOf('large-2').size).toBe(filesOf('large-0').size)
  await large.close()
})

it('has the tables and versions that are asked for, and refuses another export in its folder', async () => {
  const manifest = await run('some', { only: ['blocks', 'balances'], from: 1_000n, to: 1_500n })
  expect([manifest.ranges[0]!.first, manifest.ranges.at(-1)!.last]).toEqual(['1000', '1500'])
  expect(readdirSync(join(folder, 'some')).sort()).toEqual(['balances', 'blocks', 'export.lock', 'manifest.json'])
  await expect(run('some')).rejects.toThrow(/other tables/)
  await expect(run('some', { only: ['blocks', 'balances'], from: 999n })).rejects.toThrow(/begins at version 1000/)
  const more = await run('some', { only: ['blocks', 'balances'], to: 1_600n })
  expect(more.ranges.at(-1)).toMatchObject({ first: '1501', last: '1600' })
})

/** An engine with the demonstration ledger, whose truncations and prunes take effect at once. */
async function demoInMemory(): Promise<StateWriter> {
  const memory = createMemoryEngine()
  await ingestSource(memory, openDemoLedger(), { to: 500n })
  return memory
}

/** Number of keys of a state. */
const keysAt = (from: StateEngineReader, version: bigint): number =>
  [...from.at(version).scan(new Uint8Array(0))].filter(({ key }) => !isOwnKey(key)).length

it.each([0, 1, 2])('has the whole state if later versions are cut off after %i of its ranges', async (kept) => {
  const memory = await demoInMemory()
  const { latestVersion } = memory.ledger!
  const [to, from, last] = [`cut-after-${kept}`, latestVersion - 60n, latestVersion - 30n]
  let ranges = 0
  const truncate = () => void memory.truncateTo(last)
  const manifest = await run(to, {
    engine: memory,
    from,
    bytesOfRange: 5_000,
    onBuffered: () => kept === 0 && memory.ledger!.latestVersion > last && truncate(),
    onRange: () => ++ranges === kept && truncate(),
  })
  expect(manifest.state_after).toBe(undefined)
  expect(manifest.ranges.at(-1)!.last).toBe(String(last))
  const states = manifest.ranges.filter(({ isState }) => isState)
  expect(states.length).toBeGreaterThan(3)
  expect(new Set(states.map(({ branch }) => branch))).toEqual(new Set(kept === 0 ? [1] : [0, 1]))
  const [rows] = await query(
    to,
    `SELECT count(*) AS n, count(DISTINCT state_key) AS keys FROM $writes WHERE version = ${from}`,
  )
  const keys = String(keysAt(memory, from))
  expect(rows).toEqual({ n: keys, keys })
  await memory.close()
})

it('says what to do if its first state is cut off, or pruned', async () => {
  const memory = await demoInMemory()
  const { latestVersion } = memory.ledger!
  const options = { engine: memory, from: latestVersion - 20n, bytesOfRange: 5_000 }
  const truncate = () => void memory.truncateTo(latestVersion - 30n)
  await expect(run('base-cut', { ...options, onRange: truncate })).rejects.toMatchObject({
    code: 'export_failed',
    message: expect.stringContaining('the ledger was truncated below the state with which'),
  })
  const prune = () => void memory.prune(10n)
  const from = latestVersion - 60n
  const pruned = {
    code: 'export_failed',
    message: `Ledger version(${from}) has been pruned, but the export in ${join(folder, 'pruned')} still needs it: remove the folder and begin with a later --from, or export a snapshot, which is not pruned (ledger-state snapshot)`,
  }
  await expect(run('pruned', { ...options, from, onRange: prune })).rejects.toMatchObject(pruned)
  await expect(run('pruned', { ...options, from })).rejects.toMatchObject(pruned)
  await memory.close()
})

it('refuses a folder while another export writes into it, and changes nothing there', async () => {
  const stop = new AbortController()
  const { promise: begun, resolve: begin } = Promise.withResolvers<unknown>()
  const following = run('shared', { followMs: 5, to: 100_000n, signal: stop.signal, onRange: begin })
  await begun
  await expect(run('shared')).rejects.toThrow(/another export writes into .*shared: wait until it ends/)
  stop.abort()
  const { ranges } = await following
  expect((await run('shared')).ranges.slice(0, ranges.length)).toEqual(ranges)
})

it('follows a store, and removes versions that a truncation cut off', async () => {
  const path = join(folder, 'growing')
  cpSync(join(folder, 'store'), path, { recursive: true })
  const reader = openStateEngineReader({ path })
  await run('grown', { engine: reader })
  const before = reader.ledger!.latestVersion
  const writer = openStateEngine({ path })
  await writer.truncateTo(before - 100n)
  const { block } = writer.blockAt(before - 100n)
  const next = { height: block.height + 1n, epoch: block.epoch, timestampUsec: block.timestampUsec + 1n }
  await writer.commit([{ version: before - 99n, block: next, writes: [[Uint8Array.of(2, 1, 7), Uint8Array.of(1)]] }], {
    chainId: writer.ledger!.chainId,
  })
  // A reader shares a snapshot among the reads of some milliseconds.
  await expect.poll(() => reader.ledger!.latestVersion).toBe(before - 99n)
  const manifest = await run('grown', { engine: reader })
  expect(manifest.ranges.at(-1)!.last).toBe(String(before - 99n))
  const rows = await query(
    'grown',
    `SELECT max(version) AS last, count(*) AS n FROM $writes WHERE version > ${before - 100n}`,
  )
  expect(rows).toEqual([{ last: String(before - 99n), n: '1' }])
  const stop = new AbortController()
  const ranges: string[] = []
  const following = run('grown', {
    engine: reader,
    followMs: 5,
    signal: stop.signal,
    onRange: ({ last }) => {
      ranges.push(last)
      if (ranges.length === 2) stop.abort()
    },
  })
  for (let at = 98n; at > 96n; at--) {
    const seen = ranges.length
    await writer.commit([{ version: before - at, writes: [[Uint8Array.of(2, 1, 7), Uint8Array.of(Number(at))]] }], {
      chainId: writer.ledger!.chainId,
    })
    await expect.poll(() => ranges.length).toBeGreaterThan(seen)
  }
  await following
  expect(ranges).toEqual([String(before - 98n), String(before - 97n)])
  await writer.close()
  await reader.close()
})

it.each([
  ['the disk is full', Object.assign(new Error('no space left'), { code: 'ENOSPC' })],
  ['the store cannot be read', new LedgerStateError('store_failed', 'input/output error')],
])('goes on after %s for a moment if it follows, and ends without', async (_, fault) => {
  const failing = (times: number) => {
    let left = times
    return new Proxy(engine, {
      get(target, name) {
        if (name === 'versions' && left-- > 0) throw fault
        const member: unknown = Reflect.get(target, name)
        return typeof member === 'function' ? member.bind(target) : member
      },
    })
  }
  const name = `faulty-${fault.code}`
  await expect(run(name, { engine: failing(1) })).rejects.toBe(fault)
  const to = engine.ledger!.latestVersion
  const faults: Error[] = []
  await run(name, { engine: failing(3), followMs: 1, to, onFault: (error) => faults.push(error) })
  expect(faults).toEqual([fault, fault, fault])
  await run('sound')
  expect(filesOf(name)).toEqual(filesOf('sound'))
})

it.skipIf(!existsSync('/dev/full'))('saves the manifest again that it could not save, before it ends', async () => {
  const draft = join(folder, 'unsaved', 'manifest.json.part')
  let isFull = false
  const filling = new Proxy(engine, {
    get(target, name) {
      if (name === 'versions' && !isFull) {
        isFull = true
        symlinkSync('/dev/full', draft)
      }
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  const to = engine.ledger!.oldestVersion + 1n
  const codes: unknown[] = []
  const onFault = (error: NodeJS.ErrnoException): void => {
    codes.push(error.code)
    rmSync(draft)
  }
  const manifest = await run('unsaved', { engine: filling, followMs: 1, to, onFault })
  expect(codes).toEqual(['ENOSPC'])
  expect(manifest.ranges.at(-1)!.last).toBe(String(to))
  expect(JSON.parse(readFileSync(join(folder, 'unsaved', 'manifest.json'), 'utf8'))).toEqual(manifest)
})

const FULL = Object.assign(new Error('no space left'), { code: 'ENOSPC', syscall: 'write' })

/** The engine with a disk that is full once while the files of a range of versions are written. */
function engineWithFullDisk(isTime = () => true, unseen = 0n): StateEngineReader {
  let isRange = false
  let isFull = false
  return new Proxy(engine, {
    get(target, name) {
      if (name === 'versions') isRange = true
      // A read of a value for the rows of a table.
      if (name === 'at' && isRange && !isFull && isTime()) {
        isFull = true
        throw FULL
      }
      const member: unknown = Reflect.get(target, name)
      if (name === 'ledger' && !isFull) {
        const ledger = target.ledger!
        return { ...ledger, latestVersion: ledger.latestVersion - unseen }
      }
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

it('goes on after the disk is full for a moment while the files of a range are written', async () => {
  const to = engine.ledger!.latestVersion
  const faults: string[] = []
  const onFault = ({ message }: Error): void => void faults.push(message)
  await run('full', { engine: engineWithFullDisk(), followMs: 1, to, onFault })
  expect(faults).toEqual([`${join(folder, 'full')} cannot be written: the disk is full`])
  await run('not-full')
  expect(filesOf('full')).toEqual(filesOf('not-full'))
})

it('keeps no file of a range that failed, and that ends at a later version when it is written again', async () => {
  const to = engine.ledger!.latestVersion
  const hasWrites = (): boolean => [...filesOf('longer').keys()].some((path) => /^writes\/\d+-\d+\.parquet$/.test(path))
  const options = { followMs: 1, to, bytesOfRange: 2 ** 30 }
  const { ranges } = await run('longer', { engine: engineWithFullDisk(hasWrites, 10n), ...options })
  const named = ranges.flatMap(({ files }) => Object.values(files).map(({ path }) => path))
  expect([...filesOf('longer').keys()].toSorted()).toEqual(named.toSorted())
})

it('goes on after a file of a range that failed could not be removed for a moment', async () => {
  const to = engine.ledger!.latestVersion
  const inFolder = join(folder, 'stuck')
  const faults: string[] = []
  const remove = fs.rmSync
  vi.spyOn(fs, 'rmSync').mockImplementation((path, options) => {
    if (faults.length === 1 && String(path).startsWith(inFolder) && String(path).endsWith('.parquet'))
      throw Object.assign(new Error('EIO: i/o error, rm'), { code: 'EIO', syscall: 'rm' })
    remove(path, options)
  })
  syncBuiltinESMExports()
  try {
    const onFault = ({ message }: Error): void => void faults.push(message)
    await run('stuck', { engine: engineWithFullDisk(), followMs: 1, to, onFault })
  } finally {
    vi.restoreAllMocks()
    syncBuiltinESMExports()
  }
  expect(faults).toEqual([`${inFolder} cannot be written: the disk is full`, 'EIO: i/o error, rm'])
  await run('not-stuck')
  expect(filesOf('stuck')).toEqual(filesOf('not-stuck'))
})
