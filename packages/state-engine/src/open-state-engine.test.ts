import { spawn, spawnSync } from 'node:child_process'
import { on, once } from 'node:events'
import { cpSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { VersionWrites, Write } from '@ledger-state/core'
import { eventually } from '@ledger-state/testing/eventually'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { STORE_FILE } from './lmdb/lmdb-store.js'
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
    expect(Buffer.from(engine.at(190n).get(bytes('busy'))!).toString()).toBe('v190')
    expect(Buffer.from(engine.at(190n).get(bytes('once 0'))!).toString()).toBe('x')
    await engine.close()
  })

  it('answers with copies that stay as they are; what is peeked at is good until the next read', async () => {
    const engine = openStateEngine({ path })
    const values = ['first', 'second', 'a third one']
    const writes = values.map((value): Write => [bytes(value), bytes(value)])
    await engine.commit([record(0, writes, 0)], CHAIN)
    const view = engine.at()
    const copies = view.getMany(values.map(bytes))
    expect(copies.map((copy) => Buffer.from(copy!).toString())).toEqual(values)
    for (const value of values) {
      const peeked = view.peek(bytes(value))!
      expect([peeked.length, peeked.byteLength, Buffer.from(peeked).toString()]).toEqual([
        value.length,
        value.length,
        value,
      ])
    }
    await engine.close()
  })

  it.skipIf(process.platform === 'win32')(
    'reports a full disk (here a limit on file sizes) and stays as it was',
    () => {
      const write = `
      const { openStateEngine } = await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)})
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
      const limited = `ulimit -f 2000; exec "$0" ${SOURCE_OPTIONS.join(' ')} --input-type=module -e "$1"`
      const { stdout } = spawnSync('bash', ['-c', limited, process.execPath, write], { encoding: 'utf8' })
      expect(stdout.trim().split('\n')).toEqual([expect.stringMatching(/^store_f/), '0n undefined v', '1n w'])
    },
  )

  it('refuses a second writer, here and in another process, until the first is closed', async () => {
    const engine = openStateEngine({ path })
    expect(() => openStateEngine({ path })).toThrow(expect.objectContaining({ code: 'store_locked' }))
    const open = `
      const { openStateEngine } = await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)})
      try { await openStateEngine({ path: ${JSON.stringify(path)} }).close(); console.log('opened') }
      catch (error) { console.log(error.code) }`
    const elsewhere = () =>
      spawnSync(process.execPath, [...SOURCE_OPTIONS, '--input-type=module', '-e', open], {
        encoding: 'utf8',
      }).stdout.trim()
    expect(elsewhere()).toBe('store_locked')
    await engine.close()
    expect(elsewhere()).toBe('opened')
  })

  it('is of no use once it is closed, and closes once', async () => {
    const engine = openStateEngine({ path })
    await engine.commit([record(0, [[bytes('k'), bytes('v')]], 0)], CHAIN)
    const view = engine.at()
    await engine.close()
    await engine.close()
    const closed = expect.objectContaining({ code: 'store_closed' })
    for (const use of [() => engine.ledger, () => engine.at(), () => view.get(bytes('k')), () => engine.stats]) {
      expect(use).toThrow(closed)
    }
    const works = [engine.commit([], CHAIN), engine.prune(1n), engine.check(), engine.snapshot(path), engine.flush()]
    for (const work of works) await expect(work).rejects.toEqual(closed)
  })

  it.each(['full', 'ordered', 'none'] as const)('keeps what it committed with durability %s', async (durability) => {
    const engine = openStateEngine({ path, durability })
    await engine.commit([record(0, [[bytes('k'), bytes('v')]], 0)], CHAIN)
    await engine.flush()
    await engine.close()
    const again = openStateEngine({ path })
    expect(Buffer.from(again.at().get(bytes('k'))!).toString()).toBe('v')
    await again.close()
  })

  it('tells of commits and prunes, here and in a reader', async () => {
    const engine = openStateEngine({ path })
    await engine.commit([record(0, [], 0)], CHAIN)
    const reader = openStateEngineReader({ path })
    const told: string[] = []
    engine.onCommit(({ latestVersion, oldestVersion }) => told.push(`${oldestVersion}–${latestVersion}`))
    let seen = 0n
    const stop = reader.onCommit(({ latestVersion }) => {
      seen = latestVersion
    })
    await engine.commit([record(1, [], 1)], CHAIN)
    await engine.commit([record(2, [], 2)], CHAIN)
    await engine.prune(1n)
    expect(told).toEqual(['0–1', '0–2', '2–2'])
    while (seen < 2n) await new Promise((resolve) => setTimeout(resolve, 1))
    stop()
    await engine.commit([record(3, [], 3)], CHAIN)
    await new Promise((resolve) => setTimeout(resolve, 60))
    expect(seen).toBe(2n)
    await reader.close()
    await engine.close()
  })

  it.each([false, true])('copies itself while it is written (compact: %s)', async (compact) => {
    const engine = openStateEngine({ path, durability: 'none' })
    const commit = async (from: number) => {
      for (let version = from; version < from + 300; version++) {
        const writes: Write[] = [[bytes(`k${version % 7}`), bytes(`v${version}`.padEnd(3_000))]]
        await engine.commit([record(version, writes, version)], CHAIN)
      }
    }
    await commit(0)
    const copyPath = join(path, 'copy')
    const copying = engine.snapshot(copyPath, { compact })
    await commit(300)
    await copying
    const copy = openStateEngine({ path: copyPath })
    const { latestVersion } = copy.ledger!
    expect(latestVersion).toBeGreaterThanOrEqual(299n)
    expect(latestVersion).toBeLessThanOrEqual(599n)
    expect((await copy.check()).problems).toEqual([])
    expect(
      Buffer.from(copy.at(299n).get(bytes('k5'))!)
        .toString()
        .trim(),
    ).toBe('v299')
    await copy.commit([record(latestVersion + 1n, [], Number(latestVersion) + 1)], CHAIN)
    await copy.close()
    await expect(engine.snapshot(copyPath)).rejects.toMatchObject({ code: 'store_not_empty' })
    await engine.close()
  })

  it('gives the pages of what it pruned back to later commits', async () => {
    const engine = openStateEngine({ path, durability: 'none' })
    let version = 0
    const window = async () => {
      for (const until = version + 400; version < until; version++) {
        const writes = Array.from(
          { length: 5 },
          (_, at): Write => [bytes(`k${(version * 5 + at) % 97}`), new Uint8Array(700)],
        )
        await engine.commit([record(version, writes, version)], CHAIN)
        if (version % 20 === 0) await engine.prune(400n)
      }
      return engine.stats.fileBytes
    }
    await window()
    const first = await window()
    let last = 0
    for (let count = 0; count < 20; count++) last = await window()
    expect(last).toBeLessThan(first * 1.3)
    await engine.close()
  })

  it('prunes a part at a time, whose reads are right between, and goes on behind a commit', async () => {
    const engine = openStateEngine({ path })
    const writes = Array.from(
      { length: 1_000 },
      (_, at) => [bytes(`k${at}`), bytes('value')] as [Uint8Array, Uint8Array],
    )
    for (let version = 0; version < 10; version++) await engine.commit([record(version, writes, version)], CHAIN)
    const first = await engine.prune(1n, { maxEntries: 1 })
    expect(first).toEqual({ oldestVersion: 9n, droppedEntries: 2_000, done: false })
    expect((await engine.check()).problems).toEqual([])
    expect(() => engine.at(8n)).toThrow(/pruned|oldest/)
    await engine.commit([record(10, writes, 10)], CHAIN)
    const rest = await engine.prune(2n, { maxEntries: 100_000 })
    expect(rest).toEqual({ oldestVersion: 9n, droppedEntries: 7_000, done: true })
    expect(engine.stats.historyEntries).toBe(1_000)
    await engine.close()
  })

  it.each(['removed', 'replaced'])('refuses to write once its file was %s, and reads on', async (what) => {
    const engine = openStateEngine({ path })
    await engine.commit([record(0, [[bytes('k'), bytes('v')]], 0)], CHAIN)
    engine.expectInPlace()
    renameSync(join(path, 'state.mdb'), join(path, 'elsewhere'))
    if (what === 'replaced') cpSync(join(path, 'elsewhere'), join(path, 'state.mdb'))
    const refusal = { code: 'store_missing', message: expect.stringContaining(what) }
    await expect(engine.commit([record(1, [], 1)], CHAIN)).rejects.toMatchObject(refusal)
    await expect(engine.prune(1n)).rejects.toMatchObject(refusal)
    expect(engine.at(0n).get(bytes('k'))).toEqual(Buffer.from('v'))
    await engine.close()
  })

  it('counts what it keeps', async () => {
    const engine = openStateEngine({ path })
    await engine.commit([record(0, [[bytes('key'), bytes('value')]], 0)], CHAIN)
    await engine.commit([record(1, [[bytes('key'), new Uint8Array(10_000)]], 1)], CHAIN)
    expect(engine.stats).toMatchObject({ keys: 1, historyEntries: 1, blocks: 2, payloadBytes: 3 + 5 + 10_000 })
    expect(engine.stats.fileBytes).toBeGreaterThan(engine.stats.freeBytes)
    await engine.prune(1n)
    expect(engine.stats).toMatchObject({ keys: 1, historyEntries: 0, blocks: 1, payloadBytes: 3 + 10_000 })
    await engine.close()
  })

  it('reads on without a pause, through one snapshot after another', async () => {
    const engine = openStateEngine({ path })
    await engine.commit([record(0, [[bytes('k'), bytes('v')]], 0)], CHAIN)
    const kept = engine.at()
    const until = performance.now() + 200
    // Nothing here lets the event loop come round, which else ends snapshots.
    for (let count = 0; performance.now() < until; count++) {
      expect(engine.at().get(bytes('k'))?.length).toBe(1)
      expect(kept.peek(bytes('k'))?.length).toBe(1)
      if (count % 7 === 0) expect([...kept.scan(bytes(''))]).toHaveLength(1)
      if (count % 5 === 0) expect([...engine.history(bytes('k'))]).toHaveLength(1)
    }
    await engine.close()
  })

  it.each([
    ['2', /has layout version 2, this program reads version 3: an older program wrote it/],
    ['4', /has layout version 4, this program reads version 3: a newer program wrote it/],
  ])('refuses a store of layout %s, which may have other databases', (layout, message) => {
    const write = `
      import { open } from 'lmdb'
      const root = open({ path: ${JSON.stringify(join(path, STORE_FILE))}, noSubdir: true, encoding: 'binary', keyEncoding: 'binary' })
      root.openDB({ name: 'meta', encoding: 'binary', keyEncoding: 'binary' }).putSync(Buffer.from('layout'), Buffer.from('${layout}'))
      await root.close()`
    // In another process: this one would keep what it learnt of the file.
    const cwd = fileURLToPath(new URL('..', import.meta.url))
    expect(spawnSync(process.execPath, [...SOURCE_OPTIONS, '--input-type=module', '-e', write], { cwd }).status).toBe(0)
    for (const open of [openStateEngineReader, openStateEngine]) {
      expect(() => open({ path })).toThrow(message)
    }
  })

  it('refuses a file that is no store', () => {
    writeFileSync(join(path, STORE_FILE), Buffer.alloc(20_000, 1))
    for (const open of [openStateEngine, openStateEngineReader]) {
      expect(() => open({ path })).toThrow(expect.objectContaining({ code: 'store_format' }))
    }
  })
})

describe('openStateEngineReader', () => {
  it('leaves room for a writer in its process, which may come, go and come again', async () => {
    await openStateEngine({ path }).close()
    const reader = openStateEngineReader({ path })
    for (let version = 0; version < 3; version++) {
      const engine = openStateEngine({ path })
      await engine.commit([record(version, [[bytes('k'), bytes(`v${version}`)]], version)], CHAIN)
      await eventually(
        () => reader.ledger?.latestVersion === BigInt(version),
        () => `the reader to see version ${version}`,
      )
      await engine.close()
      expect(Buffer.from(reader.at().get(bytes('k'))!).toString()).toBe(`v${version}`)
    }
    await reader.close()
    expect((await openAndCheck()).problems).toEqual([])
  })

  it('leaves room for a writer while a worker thread reads', async () => {
    await openStateEngine({ path }).close()
    const read = `
      import { parentPort } from 'node:worker_threads'
      import { openStateEngineReader } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)}
      const reader = openStateEngineReader({ path: ${JSON.stringify(path)} })
      reader.onCommit(({ latestVersion }) => parentPort.postMessage(latestVersion))
      parentPort.on('message', async () => { await reader.close(); parentPort.close() })
      parentPort.postMessage('open')`
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(read)}`), {
      execArgv: [...SOURCE_OPTIONS],
    })
    const messages = on(worker, 'message')
    expect((await messages.next()).value).toEqual(['open'])
    const engine = openStateEngine({ path })
    await engine.commit([record(0, [[bytes('k'), bytes('v')]], 0)], CHAIN)
    expect((await messages.next()).value).toEqual([0n])
    worker.postMessage('close')
    await once(worker, 'exit')
    await engine.commit([record(1, [], 1)], CHAIN)
    await engine.close()
    expect((await openAndCheck()).problems).toEqual([])
  })

  async function openAndCheck() {
    const engine = openStateEngine({ path })
    const report = await engine.check()
    await engine.close()
    return report
  }

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
      const { openStateEngineReader } = await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)})
      const reader = openStateEngineReader({ path: ${JSON.stringify(path)} })
      for (;;) {
        const { latestVersion, oldestVersion } = reader.ledger
        const value = Buffer.from(reader.at().get(Buffer.from('k'))).toString()
        if (value !== 'v' + reader.ledger.latestVersion) { console.log('torn', value); break }
        if (latestVersion === 300n && oldestVersion === 291n) { console.log('done'); break }
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
      await reader.close()`
    const child = spawn(process.execPath, [...SOURCE_OPTIONS, '--input-type=module', '-e', watch])
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
