import { Agent, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { bytesToHex, bytesToHexDigits } from '@ledger-state/core'
import { createHttpServer } from '@ledger-state/http'
import { createLedger } from '@ledger-state/ledger'
import { accountKeyPrefix, tableKeyPrefix } from '@ledger-state/type-tag'
import {
  balanceOwner,
  historyItem,
  historyKey,
  ITEM_VALUE_TYPE,
  listedAddress,
  listedItemKey,
  listedResourceKey,
  type PagedSizes,
  type PagedStore,
  writePagedStore,
} from '../http/paged-store.ts'
import type { BenchRun } from '../run/bench-run.ts'
import { measureInRounds } from '../run/rounds.ts'
import type { Suite } from '../run/suite.ts'

const PAGE = 100
const COIN = '0x1::aptos_coin::AptosCoin'

/** One page, read from the engine and over HTTP. The first of its table is the floor: the smallest thing that has such a page. */
interface Page {
  readonly title: string
  readonly subject: string
  /** Undefined where the page is made of more than one read of the engine. */
  readonly readFromEngine?: () => number
  readonly path: string
  readonly body?: object
  /** Entries of the page. */
  readonly count: number
}

export const readsSuite: Suite = {
  name: 'reads',
  summary: 'the first and the last page of long and short listings, and of deep and shallow histories',
  estimate: (scale) =>
    ({
      tiny: { minutes: 0.3, memoryBytes: 0.3e9, diskBytes: 0.1e9 },
      small: { minutes: 2, memoryBytes: 0.5e9, diskBytes: 0.3e9 },
      medium: { minutes: 6, memoryBytes: 1e9, diskBytes: 1.5e9 },
      large: { minutes: 6, memoryBytes: 1e9, diskBytes: 1.5e9 },
    })[scale],
  async run(run) {
    const sizes = run.byScale<PagedSizes>({
      tiny: { listings: [200, 6_000], depths: [10, 100, 1_000] },
      small: { listings: [1_000, 100_000], depths: [10, 100, 10_000, 100_000] },
      medium: { listings: [1_000, 100_000], depths: [10, 100, 10_000, 1_000_000] },
      large: { listings: [1_000, 100_000], depths: [10, 100, 10_000, 1_000_000] },
    })
    run.step('writes the store')
    const store = await writePagedStore(run.folder('reads'), sizes, () => run.throwIfInterrupted())
    const server = createHttpServer({
      ledger: createLedger(store.engine),
      maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const { port } = server.address() as AddressInfo
    try {
      const pages = [...listingPages(store, sizes), ...historyPages(store, sizes), ...changesPages(store, sizes)]
      for (const title of new Set(pages.map((page) => page.title))) {
        run.step(title)
        await measurePages(
          run,
          pages.filter((page) => page.title === title),
          (page) => ask(agent, port, page),
        )
      }
      run.step('finding a block')
      await measureBlocks(run, store)
    } finally {
      agent.destroy()
      server.close()
      await store.close()
    }
  },
}

async function measurePages(
  run: BenchRun,
  pages: readonly Page[],
  read: (page: Page) => Promise<number>,
): Promise<void> {
  const fromEngine = pages.filter((page) => page.readFromEngine)
  for (const page of pages) {
    for (const found of [page.readFromEngine?.(), await read(page)]) {
      if (found !== undefined && found !== page.count) {
        throw new Error(`${page.title}, ${page.subject}: ${found} entries, expected ${page.count}`)
      }
    }
  }
  const options = {
    rounds: run.byScale({ tiny: 2, small: 11, medium: 11, large: 11 }),
    milliseconds: run.byScale({ tiny: 20, small: 300, medium: 300, large: 300 }),
  }
  const contenders = [
    ...fromEngine.map((page) => ({ page, metric: 'engine', run: page.readFromEngine! })),
    ...pages.map((page) => ({ page, metric: 'HTTP, CPU', run: () => read(page) })),
  ]
  const costs = await measureInRounds(
    contenders.map(({ run: once }) => ({ count: 1, run: once })),
    options,
  )
  for (const [at, { page, metric }] of contenders.entries()) {
    const { title, subject } = page
    const role = page === pages[0] ? 'floor' : 'ours'
    // Of a server and its client the CPU time of both: their wall time is mostly that of who else uses the machine.
    const { wall, cpu } = costs[at]!
    const rounds = (metric === 'engine' ? wall : cpu).map((time) => time / 1_000)
    run.record({ title, subject, role, metric, unit: 'µs', rounds })
  }
}

/** Blocks are as many as versions; the time of a version is a thousand times its number. */
async function measureBlocks(run: BenchRun, { engine, lastHistoryVersion }: PagedStore): Promise<void> {
  const ledger = createLedger(engine)
  const versions = Array.from({ length: 1_000 }, (_, at) => (BigInt(at) * lastHistoryVersion) / 1_000n)
  const last = BigInt(versions.length - 1)
  if (ledger.versionAtTime(versions.at(-1)! * 1_000n + last) !== versions.at(-1))
    throw new Error('a time has another version')
  const each = (find: (version: bigint) => unknown) => ({
    count: versions.length,
    run: () => {
      for (const version of versions) find(version)
    },
  })
  const subjects = ['by a version of it', 'by its height', 'by a time'] as const
  const costs = await measureInRounds(
    [
      each((version) => engine.blockAt(version)),
      each((version) => engine.blockByHeight(version)),
      each((version) => ledger.versionAtTime(version * 1_000n + last)),
    ],
    { rounds: 11, milliseconds: run.byScale({ tiny: 20, small: 100, medium: 100, large: 100 }) },
  )
  for (const [at, subject] of subjects.entries()) {
    const title = `one block of ${lastHistoryVersion + 2n}`
    const role = at === 0 ? 'floor' : 'ours'
    run.record({
      title,
      subject,
      role,
      metric: 'engine',
      unit: 'µs',
      rounds: costs[at]!.wall.map((time) => time / 1_000),
    })
  }
}

function* listingPages({ engine }: PagedStore, { listings }: PagedSizes): Generator<Page> {
  const places = listings.flatMap((size, at) => [
    { size, first: 0 },
    ...(at === 0 ? [] : [{ size, first: size - PAGE }]),
  ])
  for (const { size, first } of places) {
    const subject = `the ${first === 0 ? 'first' : 'last'} of ${size}`
    const prefix = accountKeyPrefix(listedAddress(size))
    const start = listedResourceKey(size, first)
    yield {
      title: `a page of ${PAGE} resources`,
      subject,
      readFromEngine: () => count(engine.at().scan(prefix, { start, limit: PAGE })),
      path: `/accounts/${bytesToHex(listedAddress(size))}/resources?limit=${PAGE}&start=${bytesToHexDigits(start)}`,
      count: PAGE,
    }
  }
  for (const { size, first } of places) {
    const prefix = tableKeyPrefix(listedAddress(size))
    const start = listedItemKey(size, first)
    const types = `key_type=u64&value_type=${encodeURIComponent(ITEM_VALUE_TYPE)}`
    yield {
      title: `a page of ${PAGE} table items`,
      subject: `the ${first === 0 ? 'first' : 'last'} of ${size}`,
      readFromEngine: () => count(engine.at().scan(prefix, { start, limit: PAGE })),
      path: `/tables/${bytesToHex(listedAddress(size))}/items?limit=${PAGE}&${types}&start=${bytesToHexDigits(start)}`,
      count: PAGE,
    }
  }
}

/** Pages of ten changes, which the smallest key has, too; and of a hundred. */
function* historyPages({ engine }: PagedStore, { depths }: PagedSizes): Generator<Page> {
  for (const length of [10, PAGE]) {
    for (const order of ['desc', 'asc'] as const) {
      for (const depth of depths.filter((one) => one >= length)) {
        const { handle, key } = historyItem(depth)
        const stateKey = historyKey(depth)
        const options = { order: order === 'desc' ? 'newestFirst' : 'oldestFirst' } as const
        yield {
          title: `${length} changes of a table item, the ${order === 'desc' ? 'newest' : 'oldest'}`,
          subject: `of ${depth}`,
          readFromEngine: () => count(engine.history(stateKey, options), length),
          path: `/tables/${bytesToHex(handle)}/raw_item/history?limit=${length}&order=${order}`,
          body: { key: bytesToHex(key) },
          count: length,
        }
      }
    }
  }
  for (const depth of depths.filter((one) => one >= PAGE)) {
    yield {
      title: `${PAGE} changes of a balance`,
      subject: `of ${depth}`,
      path: `/accounts/${bytesToHex(balanceOwner(depth))}/balance/${COIN}/history?limit=${PAGE}`,
      count: PAGE,
    }
  }
}

function* changesPages({ lastHistoryVersion }: PagedStore, { listings }: PagedSizes): Generator<Page> {
  for (const size of listings) {
    const path = `/accounts/${bytesToHex(listedAddress(size))}/changes?from=${lastHistoryVersion}&limit=${PAGE}`
    yield { title: `a page of ${PAGE} changes of an account`, subject: `with ${size} resources`, path, count: PAGE }
  }
}

function count(items: Iterable<unknown>, most = Number.POSITIVE_INFINITY): number {
  let found = 0
  for (const _ of items) if (++found === most) break
  return found
}

/** Resolves with the number of entries of the page. */
function ask(agent: Agent, port: number, { path, body }: Page): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = body ? { 'content-type': 'application/json' } : {}
    const options = { agent, port, host: '127.0.0.1', path: `/v1${path}`, method: body ? 'POST' : 'GET', headers }
    const request = httpRequest(options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        if (response.statusCode === 200) resolve(entriesOf(JSON.parse(Buffer.concat(chunks).toString())))
        else reject(new Error(`${path}: ${response.statusCode} ${Buffer.concat(chunks)}`))
      })
    })
    request.on('error', reject)
    request.end(body && JSON.stringify(body))
  })
}

function entriesOf(page: readonly unknown[] | { readonly items: readonly unknown[] }): number {
  return 'items' in page ? page.items.length : page.length
}
