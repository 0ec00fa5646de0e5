import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { afterEach, describe, expect, it } from 'vitest'
import { LedgerStateError } from '../error.js'
import { idlest, JobThread } from './job-thread.js'
import { RequestThread, type ThreadOptions } from './request-thread.js'
import { threadModule } from './thread-module.js'

type Job =
  | { readonly kind: 'add'; readonly a: number; readonly b: number }
  | { readonly kind: 'wait' | 'release' | 'refuse' | 'throw' | 'not cloneable' | 'uncaught' | 'exit' | 'begun' }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array<ArrayBuffer> }

type Serve = 'serveRequests' | 'serveJobs'

/** Module of a thread whose work is chosen by the request. It counts the work that began. */
function moduleOf(serve: Serve): URL {
  return new URL(`data:text/javascript,${encodeURIComponent(codeOf(serve))}`)
}

function codeOf(serve: Serve): string {
  return `
    import { workerData } from 'node:worker_threads'
    import { LedgerStateError } from ${JSON.stringify(new URL('../error.ts', import.meta.url).href)}
    import { ${serve} } from ${JSON.stringify(new URL('../threads.ts', import.meta.url).href)}
    let release, begun = 0
    const work = {
      add: ({ a, b }) => a + b + (workerData ?? 0),
      wait: () => new Promise((resolve) => { release = resolve }),
      release: () => release('released'),
      refuse: () => { throw new LedgerStateError('refused', 'no', { offset: 7n }) },
      throw: () => { throw new RangeError('broken') },
      'not cloneable': () => () => {},
      uncaught: () => new Promise(() => setImmediate(() => { throw new Error('uncaught') })),
      exit: () => new Promise(() => process.exit(3)),
      begun: () => begun,
      bytes: ({ bytes }) => bytes.fill(9),
    }
    ${serve}((job) => { begun++; return work[job.kind](job) }, {
      transferOf: (result) => (result instanceof Uint8Array ? [result.buffer] : []),
    })`
}

const OPTIONS: ThreadOptions = {
  execArgv: SOURCE_OPTIONS,
  toCrash: (thrown) => new Error(`crash: ${String(thrown)}`),
  toEnd: (cause) => new Error(`ended: ${cause instanceof Error ? cause.message : String(cause)}`),
}
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

function start(options: Partial<ThreadOptions> = {}): RequestThread<Job, unknown> {
  const thread = new RequestThread<Job, unknown>(moduleOf('serveRequests'), { ...OPTIONS, ...options })
  closing.push(() => thread.terminate())
  return thread
}

function startJobs(): JobThread<Job, unknown> {
  const thread = new JobThread<Job, unknown>(moduleOf('serveJobs'), OPTIONS)
  closing.push(() => thread.close())
  return thread
}

const add = (a: number, b: number): Job => ({ kind: 'add', a, b })

describe('a RequestThread', () => {
  it('gives each request its own reply, whichever is answered first', async () => {
    const thread = start({ workerData: 100 })
    const waiting = thread.ask({ kind: 'wait' })
    const sums = await Promise.all(Array.from({ length: 20 }, (_, at) => thread.ask(add(at, 1))))
    expect(sums).toEqual(Array.from({ length: 20 }, (_, at) => at + 101))
    expect(thread.load).toBe(1)
    await thread.ask({ kind: 'release' })
    expect([await waiting, thread.load]).toEqual(['released', 0])
  })

  it('starts a file in a program that is run as text, under --input-type', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'threads-'))
    closing.push(async () => rmSync(folder, { recursive: true }))
    const startFile = (name: string, code: string) => {
      const file = join(folder, name)
      writeFileSync(file, code)
      const execArgv = [...SOURCE_OPTIONS, '--input-type=module']
      const thread = new RequestThread<Job, unknown>(pathToFileURL(file), { ...OPTIONS, execArgv, workerData: 100 })
      closing.push(() => thread.terminate())
      return thread
    }
    expect(await startFile('works.mjs', codeOf('serveRequests')).ask(add(1, 2))).toBe(103)
    const broken = startFile('broken.mjs', 'throw new Error("no start")')
    await expect(broken.ask(add(1, 2))).rejects.toThrow('ended: no start')
  })

  it('gives errors of the work: a LedgerStateError as such, others by toCrash; and continues', async () => {
    const thread = start()
    for (let round = 0; round < 2; round++) {
      const refused = await thread.ask({ kind: 'refuse' }).catch((error: unknown) => error)
      expect(refused).toBeInstanceOf(LedgerStateError)
      expect(refused).toMatchObject({ code: 'refused', message: 'no', fields: { offset: 7n } })
      await expect(thread.ask({ kind: 'throw' })).rejects.toThrow('crash: RangeError: broken')
      await expect(thread.ask({ kind: 'not cloneable' })).rejects.toThrow(/^crash: .*could not be cloned/)
      expect(await thread.ask(add(1, 2))).toBe(3)
    }
  })

  it('transfers buffers of requests and of results', async () => {
    const thread = start()
    const bytes = new Uint8Array(3)
    const result = await thread.ask({ kind: 'bytes', bytes }, [bytes.buffer])
    expect([bytes.length, result]).toEqual([0, Uint8Array.of(9, 9, 9)])
  })

  it('rejects a request that cannot be sent, and continues', async () => {
    const thread = start()
    await expect(thread.ask((() => {}) as unknown as Job)).rejects.toThrow('could not be cloned')
    expect([await thread.ask(add(1, 2)), thread.load]).toEqual([3, 0])
  })

  it.each([
    ['uncaught', 'ended: uncaught'],
    ['exit', 'ended: undefined'],
  ] as const)('fails all requests under way when the thread dies in the middle: %s', async (kind, message) => {
    const thread = start()
    const others = [thread.ask({ kind: 'wait' }), thread.ask({ kind: 'wait' })]
    const outcomes = await Promise.allSettled([...others, thread.ask({ kind })])
    expect(outcomes.map((one) => one.status === 'rejected' && (one.reason as Error).message)).toEqual(
      Array(3).fill(message),
    )
    expect([thread.isRunning, thread.load]).toEqual([false, 0])
    for (let round = 0; round < 2; round++) await expect(thread.ask(add(1, 2))).rejects.toThrow('ended: undefined')
  })

  it('answers the requests before close, and refuses those after it', async () => {
    const thread = start()
    const before = thread.ask(add(1, 2))
    const closed = thread.close()
    await expect(thread.ask(add(1, 2))).rejects.toThrow('ended: undefined')
    expect(await before).toBe(3)
    await closed
    await thread.close()
    expect(thread.isRunning).toBe(false)
  })
})

describe('a JobThread', () => {
  it('runs its jobs one after the other, and continues after one that failed', async () => {
    const thread = startJobs()
    const first = thread.run({ kind: 'refuse' })
    const counts = [thread.run({ kind: 'begun' }), thread.run({ kind: 'begun' })]
    expect(thread.load).toBe(3)
    await expect(first).rejects.toMatchObject({ code: 'refused' })
    expect(await Promise.all(counts)).toEqual([2, 3])
  })

  it.each(['uncaught', 'exit'] as const)('starts again with the next job after it died: %s', async (kind) => {
    const thread = startJobs()
    for (let round = 0; round < 2; round++) {
      const [died, behind] = await Promise.allSettled([thread.run({ kind }), thread.run(add(1, 2))])
      expect([died!.status, behind!.status]).toEqual(['rejected', 'rejected'])
      expect([await thread.run(add(1, 2)), thread.load]).toEqual([3, 0])
    }
  })

  it('refuses jobs once it is closed, and fails those that it had', async () => {
    const thread = startJobs()
    const left = thread.run({ kind: 'wait' })
    const failed = expect(left).rejects.toThrow('ended: undefined')
    await thread.close()
    await failed
    await expect(thread.run(add(1, 2))).rejects.toThrow('ended: undefined')
  })

  it('is chosen by its load', async () => {
    const threads = [startJobs(), startJobs()]
    expect(idlest(threads)).toBe(threads[0])
    const running = threads[0]!.run(add(1, 2))
    expect(idlest(threads)).toBe(threads[1])
    await running
    expect(idlest(threads)).toBe(threads[0])
  })
})

it('threadModule finds a file next to its importer, with the ending of the importer', () => {
  expect(threadModule('protocol', import.meta.url)?.href).toBe(new URL('./protocol.ts', import.meta.url).href)
  expect(threadModule('protocol', new URL('./x.js', import.meta.url).href)).toBeUndefined()
  expect(threadModule('protocol', undefined)).toBeUndefined()
  expect(threadModule('protocol', 'https://x.example/a.ts')).toBeUndefined()
})
