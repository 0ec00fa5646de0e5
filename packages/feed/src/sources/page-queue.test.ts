import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PageQueue, type PageRequest } from './page-queue.js'
import type { RestItem } from './rest-page.js'

const NEVER = new AbortController().signal
const HASH = Buffer.alloc(32)

function unwanted(): never {
  throw new Error('the queue reads no transaction')
}

function item(version: bigint): RestItem {
  return {
    version,
    block: undefined,
    writes: [],
    transaction: HASH,
    leaf: HASH,
    accumulatorRoot: HASH,
    readWhole: unwanted,
  }
}

function itemsFrom(start: bigint, count: number, latest: bigint): RestItem[] {
  const end = start + BigInt(count) > latest + 1n ? latest + 1n : start + BigInt(count)
  return Array.from({ length: Math.max(0, Number(end - start)) }, (_, at) => item(start + BigInt(at)))
}

/** Requests that wait until the test answers them. */
function openRequests(latest: bigint, maxPage = 1_000) {
  const open: { request: PageRequest; answer: (milliseconds?: number, bytes?: number, held?: bigint) => void }[] = []
  const request = (request: PageRequest) =>
    new Promise<RestItem[]>((resolve) => {
      const answer = (milliseconds = 100, bytes = 1_000, held = latest) => {
        open.splice(open.indexOf(entry), 1)
        request.onAnswer(bytes, milliseconds, held)
        resolve(itemsFrom(request.start, Math.min(request.limit, maxPage), held))
      }
      const entry = { request, answer }
      open.push(entry)
      request.signal.addEventListener('abort', () => {
        open.splice(open.indexOf(entry), 1)
        resolve([])
      })
    })
  return { open, queue: new PageQueue(request, NEVER) }
}

/** Takes the next page, and answers its request if that has not been answered. */
async function takeLate({ open, queue }: ReturnType<typeof openRequests>, start: bigint, latest: bigint, ms?: number) {
  const taken = queue.take(start, latest)
  open.find(({ request }) => request.start === start)!.answer(ms)
  return await taken
}

describe('the queue of pages', () => {
  it('gives up requests ahead whose answers are longer than those before, but one', async () => {
    const latest = 100_000n
    const requests = openRequests(latest, 100)
    let start = 0n
    for (let page = 0; page < 12; page++) start = (await takeLate(requests, start, latest)).at(-1)!.version
    const taken = requests.queue.take(start, latest)
    const asked = requests.open.map(({ request }) => request)
    expect(asked.length).toBeGreaterThan(4)
    for (const { onBytes } of asked) onBytes(40 * 1024 * 1024)
    expect(requests.open.map(({ request }) => request)).toEqual(asked.filter((_, at) => at < 2))
    requests.open[0]!.answer()
    const next = (await taken).at(-1)!.version
    expect((await takeLate(requests, next, latest)).at(-1)!.version).toBeGreaterThan(next)
  })

  it('gives every version once, in addition to the first of each page, whatever the node gives', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.bigInt(0n, 3_000n),
        fc.integer({ min: 2, max: 1_500 }),
        fc.infiniteStream(fc.nat(3)),
        async (latest, maxPage, delays) => {
          const queue = new PageQueue(async ({ start, limit, onAnswer }) => {
            for (let turns = delays.next().value; turns > 0; turns--) await null
            onAnswer(1_000, 10, undefined)
            return itemsFrom(start, Math.min(limit, maxPage), latest)
          }, NEVER)
          const versions: bigint[] = []
          for (let start = 0n; versions.length <= latest; ) {
            const page = await queue.take(start, latest)
            expect(page[0]!.version).toBe(start)
            for (const { version } of page) if (version === BigInt(versions.length)) versions.push(version)
            start = page.at(-1)!.version
          }
          expect(versions.length).toBe(Number(latest) + 1)
        },
      ),
    )
  })

  it('requests more pages ahead while the caller waits, and never beyond the last one', async () => {
    const requests = openRequests(2_500n, 100)
    let start = 0n
    for (let pages = 0; pages < 12; pages++) start = (await takeLate(requests, start, 2_500n)).at(-1)!.version
    expect(requests.open.length).toBeGreaterThan(8)
    expect(requests.open.length).toBeLessThanOrEqual(32)
    expect(requests.open.every(({ request }) => request.start < 2_500n)).toBe(true)
  })

  it('requests no more ahead if the caller waits for the prover, which has more to prove', async () => {
    const unproven = new Map<bigint, () => void>()
    let mostAhead = 0
    const queue = new PageQueue(({ start, limit, signal, onAnswer }) => {
      onAnswer(1_000, 2_000, undefined)
      return new Promise((resolve) => {
        unproven.set(start, () => resolve(itemsFrom(start, limit, 100_000n)))
        signal.addEventListener('abort', () => unproven.delete(start))
        mostAhead = Math.max(mostAhead, unproven.size)
      })
    }, NEVER)
    let start = 0n
    for (let pages = 0; pages < 100; pages++) {
      const taken = queue.take(start, 100_000n)
      unproven.get(start)!()
      unproven.delete(start)
      start = (await taken).at(-1)!.version
    }
    expect(mostAhead).toBeGreaterThan(1)
    expect(mostAhead).toBeLessThan(8)
  })

  it('requests less ahead if all that is ahead has been ready for long', async () => {
    const requests = openRequests(100_000n, 100)
    let start = 0n
    for (let pages = 0; pages < 20; pages++) start = (await takeLate(requests, start, 100_000n)).at(-1)!.version
    const before = requests.open.length
    for (let pages = 0; pages < 300; pages++) {
      for (const { answer } of [...requests.open]) answer()
      await null
      start = (await requests.queue.take(start, 100_000n)).at(-1)!.version
    }
    expect(requests.open.length).toBeLessThan(before)
  })

  it('asks for long pages after a short one of a node that is behind others at the same address', async () => {
    const latest = 100_000n
    const requests = openRequests(latest)
    let start = 0n
    for (let page = 0; page < 10; page++) start = (await takeLate(requests, start, latest)).at(-1)!.version
    const { limit } = requests.open.at(-1)!.request
    expect(limit).toBe(1_000)
    const taken = requests.queue.take(start, latest)
    requests.open.find(({ request }) => request.start === start)!.answer(100, 1_000, start + 2n)
    start = (await taken).at(-1)!.version
    await takeLate(requests, start, latest)
    expect(requests.open.at(-1)!.request.limit).toBe(limit)
  })

  it('asks for longer pages while they come quickly, and for shorter ones if they take long', async () => {
    const requests = openRequests(100_000n)
    const limits: number[] = []
    let start = 0n
    for (const milliseconds of [...Array(10).fill(10), ...Array(60).fill(9_000)]) {
      start = (await takeLate(requests, start, 100_000n, milliseconds)).at(-1)!.version
      limits.push(requests.open.at(-1)!.request.limit)
    }
    expect(Math.max(...limits)).toBe(1_000)
    expect(limits.at(-1)).toBeLessThan(100)
  })

  it('holds no more than some pages of a node whose answers are long', async () => {
    const requests = openRequests(100_000n)
    let start = 0n
    for (let pages = 0; pages < 20; pages++) {
      const taken = requests.queue.take(start, 100_000n)
      requests.open.find(({ request }) => request.start === start)!.answer(10, 16 * 1024 * 1024)
      start = (await taken).at(-1)!.version
    }
    expect(requests.open.length).toBeLessThanOrEqual(2)
  })

  it('asks a node that fails for one page at a time, and for less at each failure', async () => {
    const requests = openRequests(100_000n)
    let start = 0n
    for (let pages = 0; pages < 10; pages++) start = (await takeLate(requests, start, 100_000n)).at(-1)!.version
    expect(requests.open.length).toBeGreaterThan(5)
    const { limit, onFailure } = requests.open[0]!.request
    expect(onFailure()).toBe(limit >> 1)
    expect(onFailure()).toBe(limit >> 2)
    expect(requests.open.map(({ request }) => request.start)).toEqual([start])
    await takeLate(requests, start, 100_000n)
    expect(requests.open.length).toBeLessThanOrEqual(2)
  })

  it('gives up its requests ahead if another page is wanted', async () => {
    const requests = openRequests(100_000n)
    const start = (await takeLate(requests, 0n, 100_000n)).at(-1)!.version
    expect(requests.open.map(({ request }) => request.start)).toContain(start)
    await takeLate(requests, 7n, 100_000n)
    expect(requests.open.every(({ request }) => request.start > 7n)).toBe(true)
  })
})
