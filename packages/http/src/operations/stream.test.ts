import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { parseAddress, type VersionWrites, type Write } from '@ledger-state/core'
import { branchOf, createMemoryEngine, engineToAsync, type StateWriter } from '@ledger-state/engine'
import { createAsyncLedger } from '@ledger-state/ledger'
import { HELD, HOLDERS, u64, viewLedger } from '@ledger-state/ledger/testing/view-ledger'
import { eventually } from '@ledger-state/testing/eventually'
import { createRandom, type Random, testSeed } from '@ledger-state/testing/random'
import { resourceKey, tableItemKey } from '@ledger-state/type-tag'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type EventStream, openEventStream, type ServerSentEvent } from '../../testing/event-stream.ts'
import { type RunningServer, startServerOver, stopServer } from '../../testing/one-item-server.ts'
import { createEngineChanges } from '../changes/engine-changes.js'
import type { HttpServerOptions } from '../server/create-http-server.js'

let running: RunningServer | undefined
const streams: EventStream[] = []
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  for (const stream of streams.splice(0)) stream.close()
  if (running?.server.listening) await stopServer(running)
  running = undefined
})

async function serve(engine: StateWriter, options: Partial<HttpServerOptions> = {}): Promise<string> {
  running = await startServerOver(engine, { changes: createEngineChanges(engine), ...options })
  return `http://127.0.0.1:${running.port}/v1/stream`
}

async function open(url: string, lastEventId?: string): Promise<EventStream> {
  const stream = await openEventStream(url, lastEventId)
  streams.push(stream)
  return stream
}

/** The next event with data. */
async function nextOf(stream: EventStream): Promise<ServerSentEvent | undefined> {
  for (;;) {
    const event = await stream.next()
    if (event?.data !== '') return event
  }
}

const TABLE = parseAddress('0x7ab1e')
const OTHER = parseAddress('0x7ab1f')
const blockAt = (version: bigint) => ({ height: version, epoch: 0n, timestampUsec: 1_000n * version })
const item = (key: number, value: number | null, table = TABLE): Write => [
  tableItemKey(table, Uint8Array.of(key)),
  value === null ? null : Uint8Array.of(value),
]
const versionOf = (version: bigint, ...writes: Write[]): VersionWrites => ({ version, block: blockAt(version), writes })

async function smallLedger(): Promise<StateWriter> {
  const engine = createMemoryEngine()
  await engine.commit(
    [versionOf(0n), versionOf(1n, item(1, 7)), versionOf(2n, item(1, 1, OTHER)), versionOf(3n, item(1, null))],
    { chainId: 4n },
  )
  return engine
}

describe('GET /v1/stream', () => {
  it('sends the changes of each version, then those of each commit, with ids and the time of the block', async () => {
    const engine = await smallLedger()
    const stream = await open(`${await serve(engine)}?from=1&table=0x7ab1e`)
    expect([stream.status, stream.headers.get('content-type'), stream.headers.get('x-svc-ledger-version')]).toEqual([
      200,
      'text/event-stream',
      '3',
    ])
    const place = { handle: `0x${'0'.repeat(59)}7ab1e`, key: '0x01', data: null }
    expect(await nextOf(stream)).toEqual({
      id: '1.0',
      event: 'message',
      data: JSON.stringify({
        version: '1',
        timestamp: '1000',
        changes: [{ handle: place.handle, key: '0x01', value: '0x07', data: null, type: 'write_table_item' }],
      }),
    })
    expect(JSON.parse((await nextOf(stream))!.data)).toEqual({
      version: '3',
      timestamp: '3000',
      changes: [{ ...place, type: 'delete_table_item' }],
    })
    await engine.commit([versionOf(4n, item(2, 9))], { chainId: 4n })
    expect(await nextOf(stream)).toMatchObject({ id: '4.0' })
  })

  it('waits for a place that its client has seen at a reader ahead of this one', async () => {
    const engine = await smallLedger()
    const url = await serve(engine)
    const ofVersion = openEventStream(url, '4.0')
    const { server } = running!
    await eventually(
      () => new Promise<boolean>((resolve) => server.getConnections((_, count) => resolve(count > 0))),
      () => 'a connection',
    )
    await engine.commit([versionOf(4n, item(2, 9))], { chainId: 4n })
    streams.push(await ofVersion)
    expect(streams[0]!.status).toBe(200)
    expect([await streams[0]!.next(), await streams[0]!.next()]).toMatchObject([{}, { id: '4.0', data: '' }])
    const ofBranch = openEventStream(url, '2.1')
    await engine.truncateTo(2n)
    streams.push(await ofBranch)
    expect(streams[1]!.status).toBe(200)
    expect([await streams[1]!.next(), await streams[1]!.next()]).toMatchObject([{}, { id: '2.1', data: '' }])
  })

  it('asks a client to reconnect once an older copy of the store, without the truncation, has replaced it', async () => {
    let store = await smallLedger()
    const copy = await smallLedger()
    await store.truncateTo(2n)
    const current = new Proxy(store, {
      get(_, name) {
        const member: unknown = Reflect.get(store, name, store)
        return typeof member === 'function' ? member.bind(store) : member
      },
    })
    const stream = await open(await serve(current))
    expect([await stream.next(), await stream.next()]).toMatchObject([{}, { id: '2.1', data: '' }])
    const replaced = store
    store = copy
    await replaced.commit([versionOf(3n, item(2, 9))], { chainId: 4n })
    expect(await nextOf(stream)).toMatchObject({ id: '2.1', event: 'reconnect' })
  })

  it('decodes the items of a table whose types are given', async () => {
    const url = await serve(await smallLedger())
    const stream = await open(`${url}?from=1&table=0x7ab1e&key_type=u8&value_type=bool`)
    // 7 is no boolean.
    expect(JSON.parse((await nextOf(stream))!.data).changes[0].data).toBeNull()
    const typed = await open(`${url}?from=1&table=0x7ab1e&key_type=u8&value_type=u8`)
    expect(JSON.parse((await nextOf(typed))!.data).changes[0].data).toEqual({ key: 1, value: 7 })
    expect(JSON.parse((await nextOf(typed))!.data).changes[0].data).toEqual({ key: 1 })
  })

  it('begins after the latest version, and continues after the id of the header, which replaces `from`', async () => {
    const engine = await smallLedger()
    const url = await serve(engine)
    const live = await open(url)
    const resumed = await open(`${url}?from=1`, '2.0')
    expect(await live.next()).toMatchObject({ data: '' })
    await engine.commit([versionOf(4n, item(2, 9))], { chainId: 4n })
    expect(await nextOf(live)).toMatchObject({ id: '4.0' })
    expect([await nextOf(resumed), await nextOf(resumed)]).toMatchObject([{ id: '3.0' }, { id: '4.0' }])
  })

  it('tells of a truncation, while it follows and when it resumes', async () => {
    const engine = await smallLedger()
    const url = await serve(engine)
    const stream = await open(`${url}?from=3`)
    expect(await nextOf(stream)).toMatchObject({ id: '3.0' })
    await engine.truncateTo(1n)
    await engine.commit([versionOf(2n, item(5, 5))], { chainId: 4n })
    const truncated = { id: '1.1', event: 'truncated', data: '{"version":"1"}' }
    expect([await nextOf(stream), await nextOf(stream)]).toMatchObject([truncated, { id: '2.1', event: 'message' }])
    const resumed = await open(url, '3.0')
    expect([await nextOf(resumed), await nextOf(resumed)]).toMatchObject([truncated, { id: '2.1' }])
    // A branch that the store does not have, as after it was replaced by an older copy.
    expect((await open(url, '2.2')).status).toBe(404)
    // The versions of this client were not cut off.
    const early = await open(url, '1.0')
    expect(await nextOf(early)).toMatchObject({ id: '2.1', event: 'message' })
  })

  it('answers 410 below the window and 404 above it, and 400 for unreadable requests', async () => {
    const engine = await smallLedger()
    const url = await serve(engine)
    await engine.prune(2n)
    const statusOf = async (query: string, id?: string) => {
      const { status, text } = await open(`${url}${query}`, id)
      return [status, (JSON.parse(await text()) as { error_code: string }).error_code]
    }
    expect(await statusOf('?from=2')).toEqual([410, 'version_pruned'])
    expect(await statusOf('', '1.0')).toEqual([410, 'version_pruned'])
    expect(await statusOf('?from=5')).toEqual([404, 'version_not_found'])
    expect(await statusOf('', '4.0')).toEqual([404, 'version_not_found'])
    expect(await statusOf('', 'x')).toEqual([400, 'web_framework_error'])
    expect(await statusOf('?table=0x1&account=0x1')).toEqual([400, 'invalid_input'])
    expect(await statusOf('?key_type=u8')).toEqual([400, 'invalid_input'])
    const { text: refusal } = await open(`${url}?resource_type=vector%3Cu8%3E`)
    expect(JSON.parse(await refusal())).toEqual({
      message: 'failed to parse parameter `resource_type`: "vector<u8>" is not a struct tag 0x…::module::Name',
      error_code: 'web_framework_error',
    })
    expect(await statusOf('?view=%7B%7D')).toEqual([400, 'web_framework_error'])
    expect(await statusOf('?tabel=0x1')).toEqual([400, 'invalid_input'])
    expect(await statusOf('?event_type=0x1::a::B')).toEqual([403, 'api_disabled'])
  })

  it('is 403 without a source of changes, over a state on other machines, and in a batch', async () => {
    const engine = await smallLedger()
    const url = await serve(engine, { changes: undefined })
    expect((await open(url)).status).toBe(403)
    const batch = await fetch(url.replace('stream', 'batch'), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"requests":[{"path":"/v1/stream"}]}',
    })
    expect(await batch.json()).toMatchObject([{ status: 403 }])
    await stopServer(running!)
    const elsewhere = await serve(engine, { ledger: createAsyncLedger(engineToAsync(engine)) })
    for (const query of ['', '?from=0', '?from=99999', '?from=2099-01-01'])
      expect((await open(elsewhere + query)).status, query).toBe(403)
  })

  it('ends when its next version is pruned, and says so', async () => {
    const engine = await smallLedger()
    const source = createEngineChanges(engine)
    const pruned = Promise.withResolvers<void>()
    const changes = {
      open() {
        const cursor = source.open()
        return {
          ...cursor,
          close: () => cursor.close(),
          read: (first: bigint, last: bigint) => pruned.promise.then(() => cursor.read(first, last)),
        }
      },
    }
    const stream = await open(`${await serve(engine, { changes })}?from=1`)
    await stream.next()
    await stream.next()
    await engine.prune(1n)
    pruned.resolve()
    expect(await nextOf(stream)).toMatchObject({ event: 'pruned', data: expect.stringContaining('version_pruned') })
    expect(await nextOf(stream)).toBeUndefined()
  })

  it('frees its cursor if its client leaves while an entry is made', async () => {
    const engine = await smallLedger()
    const source = createEngineChanges(engine)
    const { promise: hasLeft, resolve: leave } = Promise.withResolvers<void>()
    let cursors = 0
    const changes = {
      open() {
        const cursor = source.open()
        cursors++
        return {
          read: (first: bigint, last: bigint) => hasLeft.then(() => cursor.read(first, last)),
          close() {
            cursors--
            cursor.close()
          },
        }
      },
    }
    const stream = await open(`${await serve(engine, { changes })}?from=1`)
    await stream.next()
    await stream.next()
    const { server } = running!
    await eventually(
      () => cursors === 1,
      () => 'a read',
    )
    stream.close()
    await eventually(
      () => new Promise((resolve) => server.getConnections((_, count) => resolve(count === 0))),
      () => 'the end of the connection',
    )
    leave()
    await eventually(
      () => cursors === 0,
      () => 'the end of the stream',
    )
  })

  it('has a limit for each address and for all, and takes a place only while it is open', async () => {
    const url = await serve(await smallLedger(), { maxStreamsPerAddress: 2 })
    const first = await open(url)
    expect([first.status, (await open(url)).status, (await open(url)).status]).toEqual([200, 200, 503])
    expect((await fetch(url, { method: 'HEAD' })).status).toBe(503)
    first.close()
    await eventually(
      async () => (await open(url)).status === 200,
      () => 'a free place',
    )
  })

  it('ends when the server closes, and tells its client to reconnect', async () => {
    const stream = await open(await serve(await smallLedger(), { drainTimeoutMs: 2 ** 31 - 1 }))
    await stream.next()
    running!.server.close()
    expect(await nextOf(stream)).toMatchObject({ event: 'reconnect', id: '3.0' })
    expect(await nextOf(stream)).toBeUndefined()
    const closed = once(running!.server, 'close')
    running!.server.closeAllConnections()
    await closed
  })

  it('sends a large entry in pieces as one event, and none of it counts as an event if there is no memory for it', async () => {
    const engine = await smallLedger()
    const count = 300
    const writes = Array.from(
      { length: count },
      (_, at): Write => [tableItemKey(TABLE, u64(at)), new Uint8Array(1_000)],
    )
    await engine.commit([versionOf(4n, ...writes), versionOf(5n, item(1, 1))], { chainId: 4n })
    const stream = await open(`${await serve(engine)}?from=4`)
    const large = (await nextOf(stream))!
    expect([large.id, JSON.parse(large.data).changes.length]).toEqual(['4.0', count])
    expect(await nextOf(stream)).toMatchObject({ id: '5.0' })
    await stopServer(running!)
    const small = await open(`${await serve(engine, { maxAnswerBytes: 150_000 })}?from=4`)
    expect(await nextOf(small)).toMatchObject({ id: '3.0', event: 'reconnect' })
    expect(await nextOf(small)).toBeUndefined()
  })

  it('keeps little for a client that does not read', async () => {
    const engine = await smallLedger()
    const large = new Uint8Array(50_000)
    const versions = Array.from({ length: 400 }, (_, at) =>
      versionOf(4n + BigInt(at), [tableItemKey(TABLE, u64(at)), large]),
    )
    await engine.commit(versions, { chainId: 4n })
    const url = await serve(engine)
    const accepting = once(running!.server, 'connection')
    const socket = connect(running!.port, '127.0.0.1').pause()
    sockets.push(socket)
    const [accepted] = (await accepting) as [Socket]
    socket.write(`GET ${new URL(url).pathname}?from=1 HTTP/1.1\r\nhost: x\r\n\r\n`)
    await eventually(
      () => accepted.writableLength > 0,
      () => 'bytes that the client does not read',
    )
    expect(accepted.writableLength).toBeLessThan(1_000_000)
  })
})

describe('a stream that its client reads too slowly', () => {
  afterEach(() => vi.restoreAllMocks())

  it('ends with a `reconnect` instead of being buffered, and continues after its id without gaps or duplicates', async () => {
    const real = performance.now.bind(performance)
    let passed = 0
    vi.spyOn(performance, 'now').mockImplementation(() => real() + passed)
    const engine = await smallLedger()
    const large = new Uint8Array(50_000)
    const count = 400
    const versions = Array.from({ length: count }, (_, at) =>
      versionOf(4n + BigInt(at), [tableItemKey(TABLE, u64(at)), large]),
    )
    await engine.commit(versions, { chainId: 4n })
    const url = await serve(engine, { maxEventLoopDelayMs: Number.POSITIVE_INFINITY })
    const accepting = once(running!.server, 'connection')
    const socket = connect(running!.port, '127.0.0.1').pause()
    sockets.push(socket)
    const [accepted] = (await accepting) as [Socket]
    socket.write(`GET ${new URL(url).pathname}?from=4 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
    await eventually(
      () => accepted.writableLength > 0,
      () => 'bytes that the client does not read',
    )
    passed = 5_001
    let received = ''
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text
    })
    socket.resume()
    await once(socket, 'end')
    const ids = (text: string) =>
      Array.from(text.matchAll(/^id: (\d+)\.0\r?\ndata: \{"version/gm), ([, id]) => Number(id))
    const end = /event: reconnect\r?\nid: (\d+)\.0\r?\ndata: (.*)/.exec(received)!
    expect(JSON.parse(end[2]!)).toEqual({ message: 'the client reads too slowly' })
    const before = ids(received)
    expect(before.length).toBeLessThan(count)
    expect(before.at(-1)).toBe(Number(end[1]))

    const again = await open(url, `${end[1]}.0`)
    const after: number[] = []
    while (before.length + after.length < count) {
      const event = (await nextOf(again))!
      expect(event.event).toBe('message')
      after.push(Number.parseInt(event.id!, 10))
    }
    expect([...before, ...after]).toEqual(Array.from({ length: count }, (_, at) => 4 + at))
  })
})

it('a stream goes through the load shedder like other requests', async () => {
  const engine = await smallLedger()
  await engine.commit([versionOf(4n, [tableItemKey(TABLE, u64(4)), new Uint8Array(8_000_000)])], { chainId: 4n })
  const url = await serve(engine, { maxRequestsInFlight: 1 })
  const socket = connect(running!.port, '127.0.0.1').pause()
  sockets.push(socket)
  // An answer that is not read is under way.
  socket.write(`GET /v1/tables/0x7ab1e/items HTTP/1.1\r\nhost: x\r\n\r\n`)
  let shed: Response | undefined
  await eventually(
    async () => {
      shed = await fetch(url, { method: 'HEAD' })
      return shed.status === 503
    },
    () => 'a stream that is shed',
  )
  expect(shed!.headers.get('retry-after')).toBe('5')
  socket.resume()
  await eventually(
    async () => (await open(url)).status === 200,
    () => 'a stream after the load',
  )
})

describe('a stream of a view', () => {
  it('has an entry whenever the answer changes, and runs only after writes to keys that the view read', async () => {
    const key = resourceKey(HOLDERS[0]!, HELD)
    const values = [u64(5), u64(5), u64(6), null, u64(7)]
    const engine = await viewLedger(
      0n,
      values.map((value): Write[] => [[key, value]]),
    )
    let runs = 0
    const url = await serve(engine, { onView: () => runs++ })
    const call = JSON.stringify({ function: '0x42::main::value', type_arguments: [], arguments: ['0xa1'] })
    const stream = await open(`${url}?from=2&view=${encodeURIComponent(call)}`)
    const entries = [await nextOf(stream), await nextOf(stream), await nextOf(stream)]
    expect(entries.map((entry) => [entry!.id, JSON.parse(entry!.data)])).toMatchObject([
      ['3.0', { version: '3', values: ['6'] }],
      ['4.0', { version: '4', error: { error_code: 'invalid_input' } }],
      ['5.0', { version: '5', values: ['7'] }],
    ])
    const before = runs
    const commit = (version: bigint, ...writes: Write[]) =>
      engine.commit([{ version, block: { height: version, epoch: 0n, timestampUsec: 10n ** 9n }, writes }], {
        chainId: 4n,
      })
    for (let version = 6n; version < 20n; version++) await commit(version, item(1, 1))
    const idle = await open(`${url}?from=19`)
    expect(await nextOf(idle)).toMatchObject({ id: '19.0' })
    expect(runs).toBe(before)
    await commit(20n, [key, u64(8)])
    expect(JSON.parse((await nextOf(stream))!.data)).toMatchObject({ version: '20', values: ['8'] })
  })

  it('decodes its call once, as its texts may have a % of their own', async () => {
    const engine = await viewLedger(0n, [[[resourceKey(HOLDERS[0]!, HELD), u64(5)]]])
    const url = await serve(engine)
    const call = JSON.stringify({ function: '0x42::main::value', type_arguments: [], arguments: ['50%'] })
    const stream = await open(`${url}?from=1&view=${encodeURIComponent(call)}`)
    expect(stream.status).toBe(200)
    stream.close()
  })
})

/** A client that keeps the entries of a stream, and forgets those that were cut off. */
class Mirror {
  readonly entries = new Map<bigint, string>()
  /** The client knows everything since this version. */
  since: bigint
  id: string | undefined

  constructor(since: bigint) {
    this.since = since
  }

  take({ id, event, data }: ServerSentEvent): void {
    if (id !== undefined) this.id = id
    if (event === 'truncated') {
      const { version } = JSON.parse(data) as { version: string }
      for (const known of this.entries.keys()) if (known > BigInt(version)) this.entries.delete(known)
    } else if (event === 'message' && data !== '') {
      const version = BigInt((JSON.parse(data) as { version: string }).version)
      for (const known of this.entries.keys()) expect(known, `order of ${id}`).toBeLessThan(version)
      this.entries.set(version, data)
    }
  }
}

async function randomSteps(random: Random, engine: StateWriter, url: string): Promise<void> {
  const mirror = new Mirror(engine.ledger!.oldestVersion + 1n)
  let stream: EventStream | undefined
  const read = async (): Promise<void> => {
    if (!stream) {
      stream = await open(mirror.id === undefined ? `${url}&from=${mirror.since}` : url, mirror.id)
      if (stream.status === 410) {
        const [known, branch] = mirror.id?.split('.') ?? [mirror.since - 1n, '1000000']
        const cuts = (engine.ledger!.truncations ?? []).filter((one) => one.number > Number(branch))
        const left = [BigInt(known!), ...cuts.map((one) => one.version)].reduce((a, b) => (a < b ? a : b))
        expect(left).toBeLessThan(engine.ledger!.oldestVersion)
        restart()
        return
      }
      expect(stream.status).toBe(200)
    }
    const event = await stream.next()
    if (!event || event.event === 'pruned') {
      if (event) restart()
      stream = undefined
      return
    }
    mirror.take(event)
  }
  const restart = () => {
    mirror.entries.clear()
    mirror.since = engine.ledger!.oldestVersion + 1n
    mirror.id = undefined
    stream?.close()
    stream = undefined
  }
  for (let step = 0; step < 40; step++) {
    const { latestVersion, oldestVersion } = engine.ledger!
    const chance = random.below(10)
    if (chance < 4) {
      const count = 1 + random.below(6)
      const versions = Array.from({ length: count }, (_, at) =>
        versionOf(
          latestVersion + 1n + BigInt(at),
          ...(random.below(2) ? [item(random.below(4), random.below(250))] : []),
          ...(random.below(2) ? [item(1, random.below(250), OTHER)] : []),
        ),
      )
      await engine.commit(versions, { chainId: 4n })
    } else if (chance === 4) {
      await engine.truncateTo(oldestVersion + BigInt(random.below(Number(latestVersion - oldestVersion) + 1)))
    } else if (chance === 5) await engine.prune(BigInt(3 + random.below(20)))
    else if (chance === 6) {
      stream?.close()
      stream = undefined
    } else {
      // There is something to read.
      await engine.commit([versionOf(latestVersion + 1n, item(9, 1))], { chainId: 4n })
      await read()
    }
  }
  // The mirror reads up to this last version.
  const last = engine.ledger!.latestVersion + 1n
  await engine.commit([versionOf(last, item(9, 9))], { chainId: 4n })
  // Before a truncation another version may have had its number.
  const end = `${last}.${branchOf(engine.ledger!)}`
  while (mirror.id !== end) await read()
  stream?.close()
  const expected = new Map<bigint, number>()
  const first = mirror.since > engine.ledger!.oldestVersion ? mirror.since : engine.ledger!.oldestVersion + 1n
  for (const { version, writes } of engine.versions(first, last)) {
    const count = writes.filter(([key]) => Buffer.from(key).subarray(1, 33).equals(TABLE)).length
    if (count > 0) expected.set(version, count)
  }
  const found = [...mirror.entries].filter(([version]) => version >= first)
  expect(found.map(([version, data]) => [version, JSON.parse(data).changes.length])).toEqual([...expected])
}

it('a client that is cut off anywhere has each entry once, through truncations and prunes', async () => {
  const random = createRandom(testSeed())
  for (let round = 0; round < 8; round++) {
    const engine = await smallLedger()
    const url = `${await serve(engine, { maxStreamsPerAddress: 200 })}?table=0x7ab1e`
    await randomSteps(random, engine, url)
    await stopServer(running!)
  }
})
