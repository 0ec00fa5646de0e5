import { beforeAll, expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../testing/small-records.ts'
import { folderForAll } from '../testing/temporary-folder.ts'
import { type LmdbEngineReader, openStateEngine, openStateEngineReader } from './open-state-engine.js'

const folder = folderForAll()

beforeAll(async () => {
  const engine = openStateEngine({ path: storePath(), durability: 'none' })
  for (let version = 0; version < 20; version++) {
    const writes = Array.from({ length: 100 }, (_, at) => [bytes(`key ${at}`), new Uint8Array(3_000)] as const)
    await engine.commit([record(version, writes, version)], CHAIN)
  }
  await engine.merge()
  await engine.close()
})

function storePath(): string {
  return `${folder.path}/store`
}

const TASKS: Readonly<Record<string, (engine: LmdbEngineReader, path: string) => Promise<unknown>>> = {
  check: (engine) => engine.check(),
  'a snapshot': (engine, path) => engine.snapshot(`${path}-copy`),
  'a compact snapshot': (engine, path) => engine.snapshot(`${path}-compact`, { compact: true }),
}

it.for(['reader', 'writer'].flatMap((who) => Object.keys(TASKS).map((task) => [who, task] as const)))(
  'the end of a %s waits for %s, which ends early',
  async ([who, task]) => {
    const path = storePath()
    const open = () => (who === 'reader' ? openStateEngineReader({ path }) : openStateEngine({ path }))
    const engine = open()
    const outcomes: string[] = []
    const note = (promise: Promise<unknown>) =>
      promise.then(
        () => outcomes.push('done'),
        (error: { readonly code: string }) => outcomes.push(error.code),
      )
    const running = [note(TASKS[task]!(engine, `${path}-${who}`)), note(TASKS[task]!(engine, `${path}-${who}-second`))]
    // Each call waits, not just the first one.
    await Promise.all([engine.close(), engine.close().then(() => outcomes.push('closed'))])
    await Promise.all(running)
    expect(outcomes.at(-1)).toBe('closed')
    for (const outcome of outcomes.slice(0, -1)) expect(['done', 'store_closed']).toContain(outcome)
    const again = open()
    expect((await again.check()).problems).toEqual([])
    await again.close()
  },
)

it('the end of a writer waits for its prunes, flushes and imports', async () => {
  const engine = openStateEngine({ path: storePath() })
  const tasks = Promise.allSettled([engine.prune(2n), engine.flush(), engine.merge(), engine.flush()])
  await engine.close()
  for (const task of await tasks)
    if (task.status === 'rejected') expect(task.reason).toMatchObject({ code: 'store_closed' })
  const empty = openStateEngine({ path: `${folder.path}/empty`, durability: 'none' })
  const importing = await empty.beginImport(5n)
  const part = Array.from({ length: 2_000 }, (_, at) => ({ key: bytes(`${at}`), version: 5n, value: bytes('v') }))
  const added = Promise.allSettled([importing.add(part)])
  await empty.close()
  for (const task of await added)
    if (task.status === 'rejected') expect(task.reason).toMatchObject({ code: 'store_closed' })
})
