// Clients that send legal but expensive requests as fast as they are answered, or that hold connections and send almost
// nothing.
import { once, setMaxListeners } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomTypeTree } from './hostile-types.ts'
import { createRandom, type Random } from './random.ts'

export interface HostileOptions {
  /** Address of the node at the moment when a connection is opened. */
  readonly address: () => { readonly host: string; readonly port: number }
  readonly seed: number
}

export interface HostileClient {
  readonly tally: HostileTally
  stop(): Promise<void>
}

export interface HostileTally {
  /** Number of requests sent, or connections opened. */
  sent: number
  /**
   * Number of requests by how they ended: by status, or by the code of a connection error; of a crowd, number of
   * requests sent by attack.
   */
  readonly ends: Map<string, number>
}

/** The default body limit of a node. */
const BODY_BYTES = 8 * 2 ** 20
const MEMBERS = 700_000
const BATCH_TYPES = 1_000
const TREE_DEPTH = 7
const LEGAL_BATCH_TYPES = 100
const ACCEPT_COMMAS = 31_000
const ACCEPT_TYPES = 2_000
const SLOW_CONNECTIONS = 2_001
const SLOW_PAUSE_MS = 5_000
const UPLOADS = 150
const UNREAD_BATCHES = 300
const UNREAD_PIPELINES = 750
const PIPELINED = 20
const BATCH_HISTORIES = 1_000
/** Pause after an error, so that a client does not call a node that is down in a tight loop. */
const RETRY_MS = 200

/** Path of an item of a table that need not exist: the expensive work comes before the look-up. */
const ITEM_PATH = '/v1/tables/0x7/item'
const BATCH_PATH = '/v1/tables/items:batch'
/** An account whose balance should change all the time in a store that is attacked, in hex. */
export const BUSY_ACCOUNT = `${'ac'.repeat(24)}${'00'.repeat(8)}`
const HISTORY_PATH = `/v1/accounts/0x${BUSY_ACCOUNT}/balance/0x1::aptos_coin::AptosCoin/history`

/**
 * Module with the functions `DEAR_VIEWS`. A store that is attacked should have it; without it the views fail at once.
 */
const DEAR_MODULE = '0x42::dear'
/** Views without arguments that each use up most of one budget, and end within all of them. */
export const DEAR_VIEWS = ['instructions', 'copies', 'wide'] as const

type Attack = (options: HostileOptions, tally: HostileTally, stop: AbortSignal) => Promise<unknown>

/** The attacks by name, with the requests that each sends. */
export const HOSTILE_ATTACKS = {
  'a key of 8 MiB, vector<vector<u8>>': sendingRequests(1, () => {
    const head = '{"key_type":"vector<vector<u8>>","value_type":"u64","key":['
    const elements = Array.from({ length: Math.floor((BODY_BYTES - head.length - 2) / 5) }, () => '"0x"')
    const request = post(ITEM_PATH, `${head}${elements.join(',')}]}`)
    return () => request
  }),
  '700,000 members in a key': sendingRequests(1, () => {
    const members = Array.from({ length: MEMBERS }, (_, at) => `"${at.toString(36)}":0`)
    const request = post(ITEM_PATH, `{"key_type":"u64","value_type":"u64","key":{${members.join(',')}}}`)
    return () => request
  }),
  'batches of 1,000 distinct types': sendingRequests(1, (random) => () => typedBatch(random, BATCH_TYPES)),
  'batches of 100 distinct types, 700 KB': sendingRequests(1, (random) => () => typedBatch(random, LEGAL_BATCH_TYPES)),
  'items of distinct types of 7 KB': sendingRequests(4, (random) => () => post(ITEM_PATH, `{${typedItem(random)}}`)),
  '31,000 commas in Accept': sendingRequests(3, () => {
    // A reader that looks for quotes after each comma takes quadratic time.
    const accept = `${','.repeat(ACCEPT_COMMAS)}""`
    const request = Buffer.from(`GET /v1 HTTP/1.1\r\nhost: h\r\naccept: ${accept}\r\n\r\n`)
    return () => request
  }),
  'Accept with 2,000 types, another one each time': sendingRequests(1, (random) => () => {
    const types = Array.from({ length: ACCEPT_TYPES }, () => `a/${random.below(2 ** 30).toString(36)};q=0.1`)
    return Buffer.from(`GET /v1 HTTP/1.1\r\nhost: h\r\naccept: ${types.join()}\r\n\r\n`)
  }),
  '2,001 connections that send a byte now and then': holdingConnections(
    SLOW_CONNECTIONS,
    (random) => async (socket, stop) => {
      socket.write(head(ITEM_PATH, 1_000))
      for (;;) {
        await sleep(random.below(2 * SLOW_PAUSE_MS), undefined, { signal: stop })
        socket.write('{')
      }
    },
  ),
  '150 unfinished uploads of 8 MiB': holdingConnections(UPLOADS, () => {
    const upload = Buffer.concat([Buffer.from(head(ITEM_PATH, BODY_BYTES)), Buffer.alloc(BODY_BYTES - 1, ' ')])
    return async (socket) => {
      socket.write(upload)
    }
  }),
  '300 unread batches of 1,000 histories': notReading(UNREAD_BATCHES, () => {
    const element = `{"path":"${HISTORY_PATH}"}`
    const elements = Array.from({ length: BATCH_HISTORIES }, () => element)
    return post('/v1/batch', `{"requests":[${elements.join(',')}]}`)
  }),
  '750 clients with 20 unread histories each': notReading(UNREAD_PIPELINES, () =>
    Buffer.from(`GET ${HISTORY_PATH}?limit=1000 HTTP/1.1\r\nhost: h\r\n\r\n`.repeat(PIPELINED)),
  ),
  '50 clients with the dearest views': sendingRequests(50, (random) => {
    const requests = DEAR_VIEWS.map((name) =>
      post('/v1/view', `{"function":"${DEAR_MODULE}::${name}","type_arguments":[],"arguments":[]}`),
    )
    return () => random.pick(requests)
  }),
} satisfies Record<string, Attack>

export type HostileAttack = keyof typeof HOSTILE_ATTACKS

export const HOSTILE_ATTACK_NAMES = Object.keys(HOSTILE_ATTACKS) as HostileAttack[]

export function startHostileClient(attack: HostileAttack, options: HostileOptions): HostileClient {
  const tally: HostileTally = { sent: 0, ends: new Map() }
  const stop = new AbortController()
  // Every connection adds a listener.
  setMaxListeners(0, stop.signal)
  const ended = HOSTILE_ATTACKS[attack](options, tally, stop.signal)
  return {
    tally,
    async stop() {
      stop.abort()
      await ended
    },
  }
}

/** The kinds of attack that the crowd combines: on memory, on the time of one turn, on connections. */
const CROWD: readonly (readonly HostileAttack[])[] = [
  ['items of distinct types of 7 KB', 'batches of 1,000 distinct types'],
  ['a key of 8 MiB, vector<vector<u8>>', '700,000 members in a key', '31,000 commas in Accept'],
  ['2,001 connections that send a byte now and then', '150 unfinished uploads of 8 MiB'],
]
const LEAST_ATTACK_MS = 2_000
const MOST_ATTACK_MS = 8_000
const MOST_PAUSE_MS = 2_000

/** Starts one attack of each kind at a time, chosen at random again every few seconds. The tally counts by attack. */
export function startHostileCrowd(options: HostileOptions): HostileClient {
  const tally: HostileTally = { sent: 0, ends: new Map() }
  const stop = new AbortController()
  const random = createRandom(options.seed)
  const running = CROWD.map(async (kind) => {
    while (!stop.signal.aborted) {
      const attack = random.pick(kind)
      const client = startHostileClient(attack, { ...options, seed: 1 + random.below(2 ** 30) })
      await rest(LEAST_ATTACK_MS + random.below(MOST_ATTACK_MS - LEAST_ATTACK_MS), stop.signal)
      await client.stop()
      tally.sent += client.tally.sent
      tally.ends.set(attack, (tally.ends.get(attack) ?? 0) + client.tally.sent)
      await rest(random.below(MOST_PAUSE_MS), stop.signal)
    }
  })
  return {
    tally,
    async stop() {
      stop.abort()
      await Promise.all(running)
    },
  }
}

/** Attacks that take memory, time or connections, with requests that all differ. */
const MIXTURE: readonly HostileAttack[] = [
  'items of distinct types of 7 KB',
  'batches of 100 distinct types, 700 KB',
  'Accept with 2,000 types, another one each time',
  '2,001 connections that send a byte now and then',
  '150 unfinished uploads of 8 MiB',
]

/** Starts all attacks of the mixture at the same time. The tally counts by attack. */
export function startHostileMixture({ address, seed }: HostileOptions): HostileClient {
  const clients = MIXTURE.map((attack, at) => startHostileClient(attack, { address, seed: seed + at }))
  const tally: HostileTally = { sent: 0, ends: new Map() }
  return {
    tally,
    async stop() {
      await Promise.all(clients.map((client) => client.stop()))
      for (const [at, attack] of MIXTURE.entries()) {
        const { sent } = clients[at]!.tally
        tally.sent += sent
        tally.ends.set(attack, sent)
      }
    },
  }
}

const BUSY_SLICE_MS = 5

/**
 * Starts a client that sends nothing, and takes as much of the processor as it gets. It shows which part of a delay
 * comes only from a busy machine.
 */
export function startBusyClient(): HostileClient {
  let isStopped = false
  const burn = (): void => {
    const end = performance.now() + BUSY_SLICE_MS
    while (performance.now() < end);
    if (!isStopped) setImmediate(burn)
  }
  burn()
  return {
    tally: { sent: 0, ends: new Map() },
    async stop() {
      isStopped = true
    },
  }
}

/** Waits for `milliseconds`, or until it is stopped. */
async function rest(milliseconds: number, stop: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal: stop }).catch(() => {})
}

function typedItem(random: Random): string {
  const type = randomTypeTree(random, TREE_DEPTH)
  return `"key_type":"${type}","value_type":"u64","key":{"data":[]}`
}

function typedBatch(random: Random, count: number): Buffer {
  const elements = Array.from({ length: count }, () => `{"table_handle":"0x7",${typedItem(random)}}`)
  return post(BATCH_PATH, `{"requests":[${elements.join(',')}]}`)
}

function head(path: string, length: number): string {
  return `POST ${path} HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`
}

function post(path: string, body: string): Buffer {
  return Buffer.from(head(path, body.length) + body)
}

/** Makes an attack of `parallel` connections. Each sends its next request when the last one is answered. */
function sendingRequests(parallel: number, prepare: (random: Random) => () => Buffer): Attack {
  return ({ address, seed }, tally, stop) => {
    const next = prepare(createRandom(seed))
    return Promise.all(
      Array.from({ length: parallel }, async () => {
        while (!stop.aborted) {
          tally.sent++
          await withConnection(address(), tally, stop, async (socket) => {
            socket.write(next())
            const [answer] = (await once(socket, 'data', { signal: stop })) as [Buffer]
            // The rest of the answer is not read: the connection is closed, as by a client that wants no answer.
            return answer.toString('latin1', 9, 12)
          })
        }
      }),
    )
  }
}

type Hold = (socket: Socket, stop: AbortSignal) => Promise<void>

/** Makes an attack that keeps `count` connections open, and opens another for each that the node closes or answers. */
function holdingConnections(count: number, prepare: (random: Random) => Hold): Attack {
  return ({ address, seed }, tally, stop) => {
    const hold = prepare(createRandom(seed))
    return Promise.all(
      Array.from({ length: count }, async () => {
        while (!stop.aborted) {
          tally.sent++
          await withConnection(address(), tally, stop, async (socket) => {
            const isOver = new AbortController()
            const answered = once(socket, 'data', { signal: stop })
            const closed = once(socket, 'close', { signal: stop })
            // The losers of the race below reject later, and nobody waits for them.
            for (const loser of [answered, closed, hold(socket, isOver.signal)]) loser.catch(() => {})
            try {
              const [answer] = (await Promise.race([answered, closed])) as [unknown]
              return answer instanceof Buffer ? answer.toString('latin1', 9, 12) : 'closed'
            } finally {
              isOver.abort()
            }
          })
        }
      }),
    )
  }
}

/** Makes an attack that keeps `count` connections open, sends one request or several on each, and reads no answer. */
function notReading(count: number, prepare: () => Buffer): Attack {
  return ({ address }, tally, stop) => {
    const request = prepare()
    return Promise.all(
      Array.from({ length: count }, async () => {
        while (!stop.aborted) {
          tally.sent++
          await withConnection(address(), tally, stop, async (socket) => {
            socket.pause()
            socket.write(request)
            await once(socket, 'close', { signal: stop })
            return 'closed'
          })
        }
      }),
    )
  }
}

/**
 * Address from which hostile clients connect: different from the address of the measured client. Systems other than
 * Linux have one loopback address.
 */
const OTHER_ADDRESS = process.platform === 'linux' ? { localAddress: '127.0.0.2' } : {}

async function withConnection(
  { host, port }: ReturnType<HostileOptions['address']>,
  { ends }: HostileTally,
  stop: AbortSignal,
  use: (socket: Socket) => Promise<string>,
): Promise<void> {
  const socket = connect({ host, port, noDelay: true, ...(host === '127.0.0.1' && OTHER_ADDRESS) })
  // Errors also come after the promise that waits for them has been settled.
  socket.on('error', () => {})
  let end: string
  try {
    await once(socket, 'connect', { signal: stop })
    end = await use(socket)
  } catch (error) {
    if (stop.aborted) return
    end = (error as NodeJS.ErrnoException).code ?? String(error)
    await sleep(RETRY_MS)
  } finally {
    socket.destroy()
  }
  ends.set(end, (ends.get(end) ?? 0) + 1)
}
