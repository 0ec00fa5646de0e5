import { once } from 'node:events'
import type { StateReader } from '@ledger-state/engine'
import { eventually } from '@ledger-state/testing/eventually'
import { overriding } from '@ledger-state/testing/overriding'
import { openRawConnection, type RawConnection } from '@ledger-state/testing/raw-connection'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  BALANCE_REQUEST,
  createOneItemEngine,
  type RunningServer,
  startServerOver,
  stopServer,
} from '../../testing/one-item-server.ts'
import type { AnswerReport } from '../server/request-listener-options.js'
import { SMALL_REQUEST_BYTES, TURN_BUDGET_MS, TurnQueue } from './turn-queue.js'

let running: RunningServer | undefined
const connections: RawConnection[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const { socket } of connections.splice(0)) socket.destroy()
  if (running) await stopServer(running)
  running = undefined
})

function open(): RawConnection {
  const connection = openRawConnection(running!.port)
  connections.push(connection)
  return connection
}

function post(path: string, body: string): string {
  return `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

/** Number of reads of a batch; together they take many turns. */
const BATCH_READS = 80

const BATCH = post(
  '/v1/tables/items:batch',
  JSON.stringify({ requests: new Array(BATCH_READS).fill({ table_handle: '0x7', raw_key: '0x01' }) }),
)

/** A server over a store whose every look-up takes a few milliseconds, with the order of its answers. */
async function startOverSlowStore(onFirstRead: () => void) {
  const engine = await createOneItemEngine()
  const counts = { reads: 0 }
  const slow = overriding<StateReader>(engine, {
    at(version) {
      const view = engine.at(version)
      return {
        ...view,
        get(key) {
          if (counts.reads++ === 0) onFirstRead()
          const end = performance.now() + TURN_BUDGET_MS / 4
          while (performance.now() < end);
          return view.get(key)
        },
      }
    },
  })
  const answered: AnswerReport[] = []
  running = await startServerOver(slow, {
    onAnswered: (one) => answered.push(one),
  })
  return { answered, counts }
}

async function untilAnswered(answered: readonly AnswerReport[], count: number): Promise<string[]> {
  await eventually(
    () => answered.length >= count,
    () => `${count} answers, have ${answered.length}`,
  )
  return answered.map(({ method, status }) => `${method} ${status}`)
}

it('a TurnQueue runs small work before all that takes turns, however much of that waits, and lets none of that starve', async () => {
  const turns = new TurnQueue()
  let long = 0
  let isFirst = true
  for (let at = 0; at < 50; at++) void turns.nextTurn().then(() => long++)
  // Small work brings more small work, as long as there is any.
  const addSmall = (): void => {
    if (isFirst) expect(long).toBe(0)
    isFirst = false
    if (long < 50) turns.runSmall(addSmall)
  }
  turns.runSmall(addSmall)
  await eventually(
    () => long === 50,
    () => `all work, have ${long}`,
  )
  expect(isFirst).toBe(false)
})

describe('a batch that takes long', () => {
  it('lets small requests that come meanwhile be answered first', async () => {
    const small: RawConnection[] = []
    const { answered } = await startOverSlowStore(() => small[0]!.socket.write(BALANCE_REQUEST))
    small.push(open())
    await once(small[0]!.socket, 'connect')
    open().socket.write(BATCH)
    expect(await untilAnswered(answered, 2)).toEqual(['GET 200', 'POST 200'])
  })

  it('takes its turns with others', async () => {
    const { answered, counts } = await startOverSlowStore(() => {})
    for (let count = 0; count < 3; count++) open().socket.write(BATCH)
    expect(await untilAnswered(answered, 3)).toEqual(new Array(3).fill('POST 200'))
    // One read more, because whether the store keeps a slice is read once.
    expect(counts.reads).toBe(3 * BATCH_READS + 1)
  })

  it('ends when its client has left', async () => {
    const clients: RawConnection[] = []
    const { answered, counts } = await startOverSlowStore(() => clients[0]!.socket.destroy())
    clients.push(open())
    clients[0]!.socket.write(BATCH)
    expect(await untilAnswered(answered, 1)).toEqual(['POST 499'])
    expect(counts.reads).toBeLessThan(BATCH_READS)
  })
})

describe('small requests that take long', () => {
  const DEAR = post('/v1/tables/0x7/raw_item', '{"key":"0x01"}')

  it('are dealt with over several turns, so that others are answered between them', async () => {
    const small: RawConnection[] = []
    const { answered } = await startOverSlowStore(() => small[0]!.socket.write(BALANCE_REQUEST))
    small.push(open())
    await once(small[0]!.socket, 'connect')
    // Sends all in one segment, which is read in one turn.
    open().socket.write(DEAR.repeat(40))
    const order = await untilAnswered(answered, 41)
    expect(order.filter((one) => one === 'POST 200')).toHaveLength(40)
    expect(order.indexOf('GET 200')).toBeLessThan(20)
  })
})

describe('a large body', () => {
  const key = (text: string) => `{"key_type":"vector<vector<u8>>","value_type":"u8","key":${text}}`
  const MEMBERS = Array.from({ length: 700_000 }, (_, at) => `"${at.toString(36)}":0`).join()
  it.each([
    ['8 MiB of byte strings', key(`[${'"0x",'.repeat(1_677_000)}"0x"]`), 413],
    ['700,000 members', key(`{${MEMBERS}}`), 413],
    ['a megabyte of text that is not an object', `"${'x'.repeat(1_000_000)}"`, 413],
    ['more values than a key has', key(`[${'0,'.repeat(20_000)}0]`), 400],
    ['200 KB of text that is not an object', `"${'x'.repeat(200_000)}"`, 400],
    ['8 MiB of spaces around a small key', `${' '.repeat(4_000_000)}${key('["0x"]')}`.padEnd(8 * 1024 * 1024), 404],
  ])('that no key needs is refused with a short answer: %s', async (_name, body, status) => {
    running = await startServerOver(await createOneItemEngine())
    const { socket, statuses, received } = open()
    socket.write(post('/v1/tables/0x7/item', body))
    await eventually(
      () => statuses().length > 0,
      () => 'an answer',
    )
    expect(statuses()).toEqual([status])
    expect(received().length).toBeLessThan(2_000)
  })

  it('of a batch is bounded, too', async () => {
    running = await startServerOver(await createOneItemEngine())
    const element = { table_handle: '0x7', key_type: 'u8', value_type: `0x1::a::${'b'.repeat(7_000)}`, key: 1 }
    const { socket, statuses } = open()
    socket.write(post('/v1/tables/items:batch', JSON.stringify({ requests: new Array(1_000).fill(element) })))
    await eventually(
      () => statuses().length > 0,
      () => 'an answer',
    )
    expect(statuses()).toEqual([413])
  })
})

describe('TurnQueue', () => {
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

  it('has no time left in a turn that was spent, and has in the next one', async () => {
    const turns = new TurnQueue()
    turns.spend(TURN_BUDGET_MS / 2)
    expect(turns.isSpent).toBe(false)
    turns.spend(TURN_BUDGET_MS / 2)
    expect(turns.isSpent).toBe(true)
    await nextTurn()
    expect(turns.isSpent).toBe(false)
  })

  it('deducts the time that was spent before it from a turn, and runs at least one piece of work', async () => {
    const turns = new TurnQueue()
    const done: string[] = []
    turns.spend(TURN_BUDGET_MS)
    for (const name of ['a', 'b']) turns.run(() => done.push(name))
    await nextTurn()
    expect(done).toEqual(['a'])
    await nextTurn()
    expect(done).toEqual(['a', 'b'])
  })

  it('begins a small request at once while the turn has time left, and any other in a later turn, small ones first', async () => {
    // Another process may take the core for longer than a turn, so the clock is one of the test's own.
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const turns = new TurnQueue()
    const done: string[] = []
    const begin = (name: string, bytes: number, takesTurns?: boolean, takesMs = 0) =>
      turns.begin(
        { bytes, takesTurns, readyAt: now },
        (work) => {
          done.push(work)
          now += takesMs
          return work
        },
        name,
      )
    const ofTurns = begin('of turns', 1, true)
    const large = begin('large', SMALL_REQUEST_BYTES + 1)
    expect(begin('small', SMALL_REQUEST_BYTES)).toBe('small')
    expect(begin('small, of a whole turn', 1, false, TURN_BUDGET_MS)).toBe('small, of a whole turn')
    const late = begin('small, late', 1)
    expect(done).toEqual(['small', 'small, of a whole turn'])
    for (const expected of [['small, late', 'of turns'], ['large']]) {
      done.length = 0
      await nextTurn()
      expect(done).toEqual(expected)
    }
    expect(await Promise.all([ofTurns, large, late])).toEqual(['of turns', 'large', 'small, late'])
  })

  it('counts the time of work that fails at once, and rejects where work fails in a later turn', async () => {
    const turns = new TurnQueue()
    const fail = (): never => {
      const end = performance.now() + TURN_BUDGET_MS
      while (performance.now() < end);
      throw new Error('failed')
    }
    expect(() => turns.begin({ bytes: 1, takesTurns: false, readyAt: performance.now() }, fail, undefined)).toThrow(
      'failed',
    )
    expect(turns.isSpent).toBe(true)
    const later = [
      turns.begin({ bytes: 1, takesTurns: false, readyAt: performance.now() }, fail, undefined),
      turns.begin({ bytes: 1, takesTurns: true, readyAt: performance.now() }, fail, undefined),
    ]
    for (const one of later) await expect(one).rejects.toThrow('failed')
  })

  it('gives a separate turn to work that is resumed', async () => {
    const turns = new TurnQueue()
    const done: string[] = []
    turns.run(() => done.push('begun'))
    void turns.nextTurn().then(() => done.push('resumed'))
    turns.run(() => done.push('begun later'))
    for (const expected of [['begun'], ['begun', 'resumed'], ['begun', 'resumed', 'begun later']]) {
      await nextTurn()
      expect(done).toEqual(expected)
    }
  })

  it('gives resumed work the time that small work has left of its turn, at least a quarter', async () => {
    const turns = new TurnQueue()
    const told: number[] = []
    for (const spentMs of [0.5, 2]) {
      turns.spend(spentMs * TURN_BUDGET_MS)
      void turns.nextTurn().then((milliseconds) => told.push(milliseconds))
      await nextTurn()
    }
    expect(told[0]).toBeLessThanOrEqual(TURN_BUDGET_MS / 2)
    expect(told).toEqual([expect.any(Number), TURN_BUDGET_MS / 4])
  })

  it('runs work in its order, and no more in one turn than its budget allows', async () => {
    const turns = new TurnQueue()
    const done: number[] = []
    for (let at = 0; at < 4; at++) {
      turns.run(() => {
        done.push(at)
        const end = performance.now() + TURN_BUDGET_MS
        while (performance.now() < end);
      })
    }
    for (let at = 0; at < 4; at++) {
      expect(done.length).toBe(at)
      await nextTurn()
    }
    expect(done).toEqual([0, 1, 2, 3])
  })
})
