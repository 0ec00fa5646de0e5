import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StateReader } from '@ledger-state/core'
import { isLedgerStateError, U64_MAX, type VersionWrites, type Write } from '@ledger-state/core'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { STORE_FILE } from './lmdb-store.js'
import { createMemoryEngine } from './memory-engine.js'
import { openStateEngine, openStateEngineReader, type StateEngine } from './open-state-engine.js'

let path: string
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'state-engine-'))
})
afterEach(() => {
  rmSync(path, { recursive: true, force: true })
})

const CHAIN = { chainId: 7 }
const bytes = (text: string) => Uint8Array.from(Buffer.from(text))
const block = (height: number) => ({
  height: BigInt(height),
  epoch: BigInt(height >> 2),
  timestampUsec: BigInt(height) * 1000n,
})
const record = (version: number | bigint, writes: Write[], height?: number): VersionWrites => ({
  version: BigInt(version),
  block: height === undefined ? undefined : block(height),
  writes,
})

/** The value at a version as text; `null` where there is none, the code where the read is refused. */
function read(engine: StateReader, key: Uint8Array, version: bigint): string | null {
  try {
    const value = engine.at(version).get(key)
    return value === undefined ? null : Buffer.from(value).toString('latin1')
  } catch (error) {
    if (isLedgerStateError(error)) return error.code
    throw error
  }
}

describe('against the model', () => {
  // Awkward on purpose: empty, prefixes of each other, above LMDB's limit with a common beginning.
  const KEYS = [
    new Uint8Array(0),
    bytes('a'),
    bytes('ab'),
    new Uint8Array(1_900).fill(97),
    new Uint8Array(1_901).fill(97),
    new Uint8Array(65_536).fill(97),
    Uint8Array.from({ length: 5_000 }, (_, at) => (at < 4_999 ? 97 : 98)),
  ]
  const key = fc.constantFrom(...KEYS)
  const value = fc.option(fc.uint8Array({ maxLength: 12 }), { freq: 3, nil: null })
  const writes = fc.uniqueArray(fc.tuple(key, value), { selector: ([k]) => KEYS.indexOf(k), maxLength: 4 })
  const commit = fc.record({
    kind: fc.constant('commit' as const),
    versions: fc.array(fc.record({ writes, startsBlock: fc.boolean() }), { minLength: 1, maxLength: 5 }),
  })
  const step = fc.oneof(
    { arbitrary: commit, weight: 5 },
    {
      arbitrary: fc.record({ kind: fc.constant('prune' as const), retain: fc.integer({ min: 1, max: 12 }) }),
      weight: 2,
    },
    { arbitrary: fc.record({ kind: fc.constant('reopen' as const) }), weight: 1 },
  )

  it('answers every read of every kept version alike, through commits, prunes and reopening', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 14 }),
        fc.constantFrom(0n, 5n, U64_MAX - 80n),
        async (steps, base) => {
          const folder = mkdtempSync(join(path, 'run-'))
          const model = createMemoryEngine()
          let engine: StateEngine = openStateEngine({ path: folder })
          let next = base
          let height = 0
          try {
            for (const action of steps) {
              if (action.kind === 'commit') {
                const batch = action.versions.map(({ writes, startsBlock }): VersionWrites => {
                  const version = next++
                  const begins = startsBlock || version === base
                  return { version, block: begins ? block(height++) : undefined, writes }
                })
                await model.commit(batch, CHAIN)
                await engine.commit(batch, CHAIN)
              } else if (action.kind === 'prune' && model.ledger) {
                const expected = await model.prune(BigInt(action.retain))
                expect((await engine.prune(BigInt(action.retain))).oldestVersion).toBe(expected.oldestVersion)
              } else if (action.kind === 'reopen') {
                await engine.close()
                engine = openStateEngine({ path: folder })
              }
              expect(engine.ledger).toEqual(model.ledger)
              for (let version = base === 0n ? 0n : base - 1n; version <= next; version++) {
                for (const candidate of KEYS)
                  expect(read(engine, candidate, version)).toBe(read(model, candidate, version))
              }
            }
          } finally {
            await engine.close()
            rmSync(folder, { recursive: true })
          }
        },
      ),
      { numRuns: process.env.CI ? 150 : 60 },
    )
  })
})

describe('openStateEngine', () => {
  it('keeps nothing of what no version of the window sees', async () => {
    const engine = openStateEngine({ path })
    for (let version = 0; version < 200; version++) {
      const writes: Write[] = [
        [bytes('busy'), bytes(`v${version}`)],
        [bytes(`once ${version}`), version % 2 ? null : bytes('x')],
      ]
      if (version === 50) writes.push([bytes('gone'), bytes('soon')])
      if (version === 60) writes.push([bytes('gone'), null])
      await engine.commit([record(version, writes, version)], CHAIN)
    }
    expect(engine.stats.historyEntries).toBe(200)
    const { oldestVersion, droppedEntries } = await engine.prune(10n)
    expect(oldestVersion).toBe(190n)
    expect(droppedEntries).toBe(190 + 2)
    expect(engine.stats).toMatchObject({ keys: 101, historyEntries: 9, blocks: 10 })
    expect(read(engine, bytes('busy'), 190n)).toBe('v190')
    expect(read(engine, bytes('once 0'), 190n)).toBe('x')
    expect(read(engine, bytes('busy'), 189n)).toBe('version_pruned')
    await engine.close()
  })

  it('rounds the window to whole blocks and never moves it back', async () => {
    const engine = openStateEngine({ path })
    for (let version = 0; version < 30; version++) {
      await engine.commit([record(version, [], version % 10 === 0 ? version : undefined)], CHAIN)
    }
    expect((await engine.prune(15n)).oldestVersion).toBe(20n)
    expect((await engine.prune(30n)).oldestVersion).toBe(20n)
    expect((await engine.prune(1n)).oldestVersion).toBe(20n)
    expect(engine.ledger).toMatchObject({ oldestVersion: 20n, oldestBlock: block(20), latestVersion: 29n })
    await expect(engine.prune(0n)).rejects.toMatchObject({ code: 'invalid_argument' })
    await engine.close()
  })

  it('refuses bad batches and stays as it was', async () => {
    const engine = openStateEngine({ path })
    expect(() => engine.at()).toThrow(expect.objectContaining({ code: 'no_ledger' }))
    await expect(engine.prune(1n)).rejects.toMatchObject({ code: 'no_ledger' })
    const good = record(0, [[bytes('k'), bytes('v')]], 0)
    await expect(engine.commit([{ ...good, block: undefined }], CHAIN)).rejects.toMatchObject({ code: 'block_order' })
    await engine.commit([good], CHAIN)
    const next = record(1, [[bytes('k'), bytes('w')]])
    const cases: [string, VersionWrites[], number?][] = [
      ['version_gap', [record(2, [])]],
      ['version_gap', [next, record(3, [])]],
      ['block_order', [{ ...next, block: block(0) }]],
      [
        'duplicate_key',
        [
          next,
          record(2, [
            [bytes('k'), bytes('x')],
            [bytes('k'), null],
          ]),
        ],
      ],
      [
        'duplicate_key',
        [
          next,
          record(2, [
            [bytes('absent'), null],
            [bytes('absent'), null],
          ]),
        ],
      ],
      ['chain_id_mismatch', [next], 8],
      ['invalid_argument', [next], 256],
      ['key_too_long', [next, record(2, [[new Uint8Array(65_537), null]])]],
      ['value_too_long', [next, record(2, [[bytes('k'), new Uint8Array(16_777_217)]])]],
      ['invalid_argument', [next, { version: 2 as unknown as bigint, writes: [] }]],
      ['invalid_argument', [next, record(2, [['k', null] as unknown as Write])]],
    ]
    const before = engine.ledger
    for (const [code, versions, chainId] of cases) {
      await expect(engine.commit(versions, { chainId: chainId ?? 7 })).rejects.toMatchObject({ code })
      expect(engine.ledger).toEqual(before)
      expect(engine.stats).toMatchObject({ keys: 1, historyEntries: 0 })
      expect(read(engine, bytes('k'), 0n)).toBe('v')
    }
    await engine.commit([next], CHAIN)
    expect(read(engine, bytes('k'), 1n)).toBe('w')
    await engine.close()
    expect(() => engine.at()).toThrow(expect.objectContaining({ code: 'store_closed' }))
    await expect(engine.commit([], CHAIN)).rejects.toMatchObject({ code: 'store_closed' })
  })

  it('answers a read that the pruner overtook with version_pruned, and others as before', async () => {
    const engine = openStateEngine({ path })
    for (let version = 0; version < 10; version++) {
      await engine.commit([record(version, [[bytes('k'), bytes(`v${version}`)]], version)], CHAIN)
    }
    const overtaken = engine.at(2n)
    const kept = engine.at(8n)
    await engine.prune(3n)
    expect(() => overtaken.get(bytes('k'))).toThrow(expect.objectContaining({ code: 'version_pruned' }))
    expect(() => overtaken.get(bytes('absent'))).toThrow(expect.objectContaining({ code: 'version_pruned' }))
    expect(Buffer.from(kept.get(bytes('k'))!).toString()).toBe('v8')
    await engine.close()
  })

  it('keeps the largest value and answers with a copy that stays as it is', async () => {
    const engine = openStateEngine({ path })
    const large = new Uint8Array(16_777_216).fill(7)
    await engine.commit(
      [
        record(
          0,
          [
            [bytes('large'), large],
            [bytes('small'), bytes('s')],
          ],
          0,
        ),
      ],
      CHAIN,
    )
    const small = engine.at().get(bytes('small'))!
    expect(Buffer.compare(engine.at().get(bytes('large'))!, large)).toBe(0)
    expect(Buffer.from(small).toString()).toBe('s')
    await engine.close()
  })

  it.skipIf(process.platform === 'win32')(
    'reports a full disk (here a limit on file sizes) and stays as it was',
    () => {
      const write = `
      const { openStateEngine } = await import(${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)})
      const engine = openStateEngine({ path: ${JSON.stringify(path)} })
      const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
      const commit = (version, key, value) =>
        engine.commit([{ version, block: version === 0n ? block : undefined, writes: [[Buffer.from(key), value]] }], { chainId: 7 })
      await commit(0n, 'k', Buffer.from('v'))
      await commit(1n, 'large', new Uint8Array(4_000_000)).catch((error) => console.log(error.code))
      console.log(engine.ledger.latestVersion, engine.at().get(Buffer.from('large')), String(engine.at().get(Buffer.from('k'))))
      await commit(1n, 'k', Buffer.from('w'))
      console.log(engine.ledger.latestVersion, String(engine.at().get(Buffer.from('k'))))
      await engine.close()`
      const limited = `ulimit -f 2000; exec "$0" --input-type=module -e "$1"`
      const { stdout } = spawnSync('bash', ['-c', limited, process.execPath, write], { encoding: 'utf8' })
      expect(stdout.trim().split('\n')).toEqual([expect.stringMatching(/^store_f/), '0n undefined v', '1n w'])
    },
  )

  it('refuses a second writer, here and in another process, until the first is closed', async () => {
    const engine = openStateEngine({ path })
    expect(() => openStateEngine({ path })).toThrow(expect.objectContaining({ code: 'store_locked' }))
    const open = `
      const { openStateEngine } = await import(${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)})
      try { await openStateEngine({ path: ${JSON.stringify(path)} }).close(); console.log('opened') }
      catch (error) { console.log(error.code) }`
    const elsewhere = () =>
      spawnSync(process.execPath, ['--input-type=module', '-e', open], { encoding: 'utf8' }).stdout.trim()
    expect(elsewhere()).toBe('store_locked')
    await engine.close()
    expect(elsewhere()).toBe('opened')
  })

  it('refuses a file that is no store', () => {
    writeFileSync(join(path, STORE_FILE), Buffer.alloc(20_000, 1))
    for (const open of [openStateEngine, openStateEngineReader]) {
      expect(() => open({ path })).toThrow(expect.objectContaining({ code: 'store_format' }))
    }
  })
})

describe('openStateEngineReader', () => {
  it('says that there is no store, and cannot write', async () => {
    expect(() => openStateEngineReader({ path })).toThrow(expect.objectContaining({ code: 'store_missing' }))
    await openStateEngine({ path }).close()
    const reader = openStateEngineReader({ path }) as StateEngine
    expect(reader.ledger).toBeUndefined()
    await expect(reader.commit([], CHAIN)).rejects.toMatchObject({ code: 'store_read_only' })
    await expect(reader.prune(1n)).rejects.toMatchObject({ code: 'store_read_only' })
    await reader.close()
  })

  it('sees in another process what the writer committed and pruned', async () => {
    const engine = openStateEngine({ path })
    await engine.commit([record(0, [[bytes('k'), bytes('v0')]], 0)], CHAIN)
    const watch = `
      const { openStateEngineReader } = await import(${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)})
      const reader = openStateEngineReader({ path: ${JSON.stringify(path)} })
      for (;;) {
        const { latestVersion, oldestVersion } = reader.ledger
        const value = Buffer.from(reader.at().get(Buffer.from('k'))).toString()
        if (value !== 'v' + reader.ledger.latestVersion) { console.log('torn', value); break }
        if (latestVersion === 300n && oldestVersion === 291n) { console.log('done'); break }
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
      await reader.close()`
    const { spawn } = await import('node:child_process')
    const child = spawn(process.execPath, ['--input-type=module', '-e', watch])
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
    })
    const ended = new Promise((resolve) => child.on('close', resolve))
    for (let version = 1; version <= 300; version++) {
      await engine.commit([record(version, [[bytes('k'), bytes(`v${version}`)]], version)], CHAIN)
      if (version % 50 === 0) await engine.prune(10n)
    }
    await ended
    expect(output.trim()).toBe('done')
    await engine.close()
  })
})

describe('a writer killed with SIGKILL', () => {
  it('loses nothing that was acknowledged and leaves no batch torn', async () => {
    const write = `
      const { openStateEngine } = await import(${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)})
      const engine = openStateEngine({ path: ${JSON.stringify(path)} })
      let version = engine.ledger ? engine.ledger.latestVersion + 1n : 0n
      for (;;) {
        const versions = []
        for (let i = 0; i < 5; i++, version++) {
          const value = Buffer.from('v' + version)
          const block = { height: version, epoch: 0n, timestampUsec: 0n }
          versions.push({ version, block, writes: [[Buffer.from('a'), value], [Buffer.from('k' + version % 7n), value]] })
        }
        await engine.commit(versions, { chainId: 7 })
        process.stdout.write(String(version - 1n) + '\\n')
        if (version % 50n === 0n) await engine.prune(40n)
      }`
    const { spawn } = await import('node:child_process')
    for (let round = 0; round < 6; round++) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', write])
      let output = ''
      child.stdout.on('data', (chunk) => {
        output += chunk
      })
      const ended = new Promise((resolve) => child.on('close', resolve))
      while (output === '') await new Promise((resolve) => setTimeout(resolve, 5))
      await new Promise((resolve) => setTimeout(resolve, 20 + round * 17))
      child.kill('SIGKILL')
      await ended
      const acknowledged = BigInt(output.trim().split('\n').at(-1)!)
      const engine = openStateEngine({ path })
      const { latestVersion, oldestVersion } = engine.ledger!
      expect(latestVersion).toBeGreaterThanOrEqual(acknowledged)
      expect((latestVersion + 1n) % 5n).toBe(0n)
      for (let version = oldestVersion; version <= latestVersion; version++) {
        expect(read(engine, bytes('a'), version)).toBe(`v${version}`)
        expect(read(engine, bytes(`k${version % 7n}`), version)).toBe(`v${version}`)
      }
      await engine.prune(40n)
      expect(engine.stats.historyEntries).toBeLessThan(2 * 40)
      await engine.close()
    }
  })
})
