import { spawn, spawnSync } from 'node:child_process'
import { on, once } from 'node:events'
import { cpSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { Worker } from 'node:worker_threads'
import type { Write } from '@ledger-state/core'
import { eventually } from '@ledger-state/testing/eventually'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { describe, expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../testing/small-records.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { STORE_FILE } from './lmdb/lmdb-store.js'
import { openStateEngine, openStateEngineReader, type StateEngine } from './open-state-engine.js'

const folder = temporaryFolder()

async function openAndCheck() {
  const engine = openStateEngine({ path: folder.path })
  const report = await engine.check()
  await engine.close()
  return report
}

describe('openStateEngine', () => {
  it('answers with copies; bytes that were peeked at are valid until the next read', async () => {
    const engine = openStateEngine({ path: folder.path })
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

  it.runIf(isSlowRun && process.platform !== 'win32')(
    'reports a full disk (here a limit on file sizes) and is unchanged',
    () => {
      const write = `
      const { openStateEngine } = await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)})
      const engine = openStateEngine({ path: ${JSON.stringify(folder.path)} })
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
    const engine = openStateEngine({ path: folder.path })
    expect(() => openStateEngine({ path: join(folder.path, '..', basename(folder.path)) })).toThrow(
      expect.objectContaining({
        code: 'store_locked',
        message: expect.stringContaining('this program already has the store open for writing'),
        fields: { holder: 'self' },
      }),
    )
    const open = `
      const { openStateEngine } = await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)})
      const attempt = async () => {
        try { await openStateEngine({ path: ${JSON.stringify(folder.path)} }).close(); console.log('opened') }
        catch (error) { console.log(error.code, error.fields.holder) }
      }
      await attempt()
      process.stdin.once('end', attempt).resume()`
    const elsewhere = spawn(process.execPath, [...SOURCE_OPTIONS, '--input-type=module', '-e', open])
    const attempts = on(createInterface(elsewhere.stdout), 'line')
    expect((await attempts.next()).value).toEqual(['store_locked another'])
    await engine.close()
    elsewhere.stdin.end()
    expect((await attempts.next()).value).toEqual(['opened'])
    await once(elsewhere, 'close')
  })

  it('names the faults of its options, and of a folder for a snapshot', async () => {
    const wrong = (message: RegExp) =>
      expect.objectContaining({ code: 'invalid_argument', message: expect.stringMatching(message) })
    const { path } = folder
    for (const open of [openStateEngine, openStateEngineReader] as ((options?: unknown) => unknown)[]) {
      expect(() => open()).toThrow(wrong(/options of the store is undefined/))
      expect(() => open({})).toThrow(wrong(/path of the store is undefined/))
      expect(() => open({ path: 5 })).toThrow(wrong(/path of the store is the number 5/))
      expect(() => open({ path, verifyRead: true })).toThrow(
        wrong(/no member "verifyRead"; did you mean "verifyReads"/),
      )
    }
    expect(() => openStateEngine({ path, durability: 'FULL' as never })).toThrow(
      wrong(/"FULL", expected one of full, ordered, none/),
    )
    for (const memtableBytes of [-1, 0.5, 2 ** 31 + 1, Number.NaN, '5', null]) {
      expect(() => openStateEngine({ path, memtableBytes: memtableBytes as never })).toThrow(
        wrong(/memtableBytes is .*, expected a whole number from 0 to 2147483648/),
      )
    }
    for (const mapBytes of [0, 1_000, 2 ** 30 + 0.5, Number.POSITIVE_INFINITY, 2 ** 50, '1073741824']) {
      for (const open of [openStateEngine, openStateEngineReader]) {
        expect(() => open({ path, mapBytes: mapBytes as never })).toThrow(
          wrong(/mapBytes is .*, expected a whole number from 1048576 to 70368744177664/),
        )
      }
    }
    // The failed opening did not take the writer lock.
    const engine = openStateEngine({ path })
    await expect(engine.snapshot(5 as never)).rejects.toEqual(wrong(/path of the snapshot is the number 5/))
    await engine.close()
  })

  it('maps as much of the address space as its options say', async () => {
    const { path } = folder
    const mapBytes = 2 ** 22
    const engine = openStateEngine({ path, mapBytes, memtableBytes: 0, durability: 'none' })
    expect(engine.stats.mapBytes).toBe(mapBytes)
    await engine.commit([record(0, [[bytes('k'), bytes('v')]], 0)], CHAIN)
    // Values are in segment files, so the catalog needs no larger map.
    await engine.commit([record(1, [[bytes('large'), new Uint8Array(8_000_000)]])], CHAIN)
    expect(engine.stats.mapBytes).toBe(mapBytes)
    expect(engine.at().get(bytes('large'))?.length).toBe(8_000_000)
    await engine.close()
    const reader = openStateEngineReader({ path, mapBytes: 2 ** 30 })
    expect(reader.stats.mapBytes).toBeGreaterThanOrEqual(2 ** 30)
    expect(Buffer.from(reader.at().get(bytes('k'))!).toString()).toBe('v')
    await reader.close()
  })

  it('cannot be used after it was closed', async () => {
    const engine = openStateEngine({ path: folder.path })
    await engine.commit([record(0, [[bytes('k'), bytes('v')]], 0)], CHAIN)
    const view = engine.at()
    await engine.close()
    await engine.close()
    const closed = expect.objectContaining({ code: 'store_closed' })
    for (const use of [() => engine.ledger, () => engine.at(), () => view.get(bytes('k')), () => engine.stats]) {
      expect(use).toThrow(closed)
    }
    const works = [
      engine.commit([], CHAIN),
      engine.prune(1n),
      engine.check(),
      engine.snapshot(folder.path),
      engine.flush(),
      engine.merge(),
    ]
    for (const work of works) await expect(work).rejects.toEqual(closed)
  })

  it.each(['full', 'ordered', 'none'] as const)('keeps its commits with durability %s', async (durability) => {
    const engine = openStateEngine({ path: folder.path, durability })
    await engine.commit([record(0, [[bytes('k'), bytes('v')]], 0)], CHAIN)
    await engine.flush()
    await engine.close()
    const again = openStateEngine({ path: folder.path })
    expect(Buffer.from(again.at().get(bytes('k'))!).toString()).toBe('v')
    await again.close()
  })

  it('merges all that was committed when it is asked to, while commits continue', async () => {
    const engine = openStateEngine({ path: folder.path, durability: 'none' })
    await engine.merge()
    const versionOf = (version: number) =>
      record(version, [[bytes(`key ${version}`), bytes(`value ${version}`)]], version)
    for (let version = 0; version < 20; version++) await engine.commit([versionOf(version)], CHAIN)
    expect(engine.stats).toMatchObject({ keys: 1, memtableEntries: 19 })
    await Promise.all([engine.merge(), engine.commit([versionOf(20)], CHAIN), engine.merge()])
    expect(engine.stats).toMatchObject({ keys: 21, memtableEntries: 0 })
    await engine.merge()
    await engine.commit([versionOf(21)], CHAIN)
    expect((await engine.check()).problems).toEqual([])
    await engine.close()
    const again = openStateEngineReader({ path: folder.path })
    for (let version = 0; version < 22; version++) {
      expect(Buffer.from(again.at().get(bytes(`key ${version}`))!).toString()).toBe(`value ${version}`)
    }
    await again.close()
  })

  it('notifies a reader of commits and prunes, until the reader stops listening', async () => {
    const engine = openStateEngine({ path: folder.path })
    await engine.commit([record(0, [], 0)], CHAIN)
    const reader = openStateEngineReader({ path: folder.path })
    const [seen, seenByOther] = [[] as bigint[], [] as bigint[]]
    const stop = reader.onCommit(({ latestVersion }) => seen.push(latestVersion))
    reader.onCommit(({ latestVersion, oldestVersion }) => seenByOther.push(latestVersion, oldestVersion))
    const expectSeen = (by: bigint[], versions: bigint[]) =>
      eventually(
        () => versions.every((version) => by.includes(version)),
        () => `a listener to be called with ${versions}`,
      )
    await engine.commit([record(1, [], 1)], CHAIN)
    await engine.commit([record(2, [], 2)], CHAIN)
    await engine.prune(1n)
    await expectSeen(seen, [2n])
    stop()
    await engine.commit([record(3, [], 3)], CHAIN)
    // Listeners are called in their order: the first would have been called before the second.
    await expectSeen(seenByOther, [3n, 2n])
    expect(seen).not.toContain(3n)
    await reader.close()
    await engine.close()
  })

  it.each(['removed', 'replaced'])('can read its file after it was %s, but not write to it', async (what) => {
    const engine = openStateEngine({ path: folder.path })
    await engine.commit([record(0, [[bytes('k'), bytes('v')]], 0)], CHAIN)
    engine.expectInPlace()
    renameSync(join(folder.path, STORE_FILE), join(folder.path, 'elsewhere'))
    if (what === 'replaced') cpSync(join(folder.path, 'elsewhere'), join(folder.path, STORE_FILE))
    const refusal = { code: 'store_missing', message: expect.stringContaining(what) }
    await expect(engine.commit([record(1, [], 1)], CHAIN)).rejects.toMatchObject(refusal)
    await expect(engine.prune(1n)).rejects.toMatchObject(refusal)
    expect(engine.at(0n).get(bytes('k'))).toEqual(Buffer.from('v'))
    await engine.close()
  })

  it('commits nothing once the file that commits are appended to was removed', async () => {
    const { path } = folder
    const engine = openStateEngine({ path })
    await engine.commit([record(0, [[bytes('k'), bytes('v')]], 0)], CHAIN)
    renameSync(join(path, 'write-ahead-1'), join(path, 'elsewhere'))
    const refusal = { code: 'store_missing', message: expect.stringMatching(/write-ahead-1 was removed/) }
    await expect(engine.commit([record(1, [], 1)], CHAIN)).rejects.toMatchObject(refusal)
    renameSync(join(path, 'elsewhere'), join(path, 'write-ahead-1'))
    await engine.commit([record(1, [], 1)], CHAIN)
    await engine.close()
    expect((await openAndCheck()).problems).toEqual([])
  })

  it('renews its snapshot while no turn of the event loop ends', async () => {
    const engine = openStateEngine({ path: folder.path })
    await engine.commit([record(0, [[bytes('k'), bytes('v')]], 0)], CHAIN)
    const kept = engine.at()
    const until = performance.now() + 200
    // The timers that release snapshots do not fire meanwhile.
    for (let count = 0; performance.now() < until; count++) {
      expect(engine.at().get(bytes('k'))?.length).toBe(1)
      expect(kept.peek(bytes('k'))?.length).toBe(1)
      if (count % 7 === 0) expect([...kept.scan(bytes(''))]).toHaveLength(1)
      if (count % 5 === 0) expect([...engine.history(bytes('k'))]).toHaveLength(1)
    }
    await engine.close()
  })
})

describe('openStateEngineReader', () => {
  it('lets a writer open the store in its process, several times', async () => {
    await openStateEngine({ path: folder.path }).close()
    const reader = openStateEngineReader({ path: folder.path })
    for (let version = 0; version < 3; version++) {
      const engine = openStateEngine({ path: folder.path })
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

  it('lets a writer open the store while a worker thread reads', async () => {
    await openStateEngine({ path: folder.path }).close()
    const read = `
      import { parentPort } from 'node:worker_threads'
      import { openStateEngineReader } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)}
      const reader = openStateEngineReader({ path: ${JSON.stringify(folder.path)} })
      reader.onCommit(({ latestVersion }) => parentPort.postMessage(latestVersion))
      parentPort.on('message', async () => { await reader.close(); parentPort.close() })
      parentPort.postMessage('open')`
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(read)}`), {
      execArgv: [...SOURCE_OPTIONS],
    })
    const messages = on(worker, 'message')
    expect((await messages.next()).value).toEqual(['open'])
    const engine = openStateEngine({ path: folder.path })
    await engine.commit([record(0, [[bytes('k'), bytes('v')]], 0)], CHAIN)
    expect((await messages.next()).value).toEqual([0n])
    worker.postMessage('close')
    await once(worker, 'exit')
    await engine.commit([record(1, [], 1)], CHAIN)
    await engine.close()
    expect((await openAndCheck()).problems).toEqual([])
  })

  it('refuses a folder without a store, and cannot write', async () => {
    expect(() => openStateEngineReader({ path: folder.path })).toThrow(
      expect.objectContaining({ code: 'store_missing' }),
    )
    await openStateEngine({ path: folder.path }).close()
    const reader = openStateEngineReader({ path: folder.path }) as StateEngine
    expect(reader.ledger).toBeUndefined()
    await expect(reader.commit([], CHAIN)).rejects.toMatchObject({ code: 'store_read_only' })
    await expect(reader.prune(1n)).rejects.toMatchObject({ code: 'store_read_only' })
    await reader.close()
  })

  it.runIf(isSlowRun)('sees in another process the commits and prunes of the writer', async () => {
    const engine = openStateEngine({ path: folder.path })
    await engine.commit([record(0, [[bytes('k'), bytes('v0')]], 0)], CHAIN)
    const watch = `
      const { openStateEngineReader } = await import(${JSON.stringify(new URL('./index.ts', import.meta.url).href)})
      const reader = openStateEngineReader({ path: ${JSON.stringify(folder.path)} })
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
