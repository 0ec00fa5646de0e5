import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { build } from 'hdr-histogram-js'

/** Returns the bytes of the nth request. */
export type MakeRequest = (at: number) => Buffer

export interface Connection {
  readonly socket: Socket
  /** Called for each whole answer. */
  onAnswer: () => void
}

export function openConnections(port: number, count: number): Promise<Connection[]> {
  return Promise.all(Array.from({ length: count }, () => openConnection(port)))
}

export function closeConnections(connections: readonly Connection[]): void {
  for (const { socket } of connections) socket.destroy()
}

/** Opens a connection that finds the ends of answers by their Content-Length, and reads nothing else of them. */
async function openConnection(port: number): Promise<Connection> {
  const socket = connect(port, '127.0.0.1')
  socket.setNoDelay(true)
  const connection: Connection = { socket, onAnswer: () => {} }
  let pending = Buffer.alloc(0)
  socket.on('data', (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    for (;;) {
      const head = pending.indexOf('\r\n\r\n')
      if (head < 0) return
      const headers = pending.toString('latin1', 0, head)
      if (!headers.startsWith('HTTP/1.1 200')) throw new Error(`unexpected answer: ${pending.toString()}`)
      const end = head + 4 + Number(/content-length: (\d+)/i.exec(headers)![1])
      if (pending.length < end) return
      pending = pending.subarray(end)
      connection.onAnswer()
    }
  })
  await once(socket, 'connect')
  return connection
}

/** Keeps every connection busy for a while. Returns the number of answered requests. */
export async function saturate(
  connections: readonly Connection[],
  makeRequest: MakeRequest,
  milliseconds: number,
): Promise<number> {
  const until = performance.now() + milliseconds
  let sent = 0
  let served = 0
  // The generator never sleeps. A server pays with every write for waking its client, and a slow server most.
  let isSpinning = true
  const spin = (): void => {
    if (isSpinning) setImmediate(spin)
  }
  spin()
  await Promise.all(
    connections.map(
      (connection) =>
        new Promise<void>((resolve) => {
          const next = (): void => {
            if (performance.now() < until) connection.socket.write(makeRequest(sent++))
            else resolve()
          }
          connection.onAnswer = () => {
            served++
            next()
          }
          next()
        }),
    ),
  )
  isSpinning = false
  return served
}

/** Latencies in milliseconds. */
export interface Latencies {
  readonly p50: number
  readonly p99: number
}

/** Time after the last request in which answers may still come. */
const PATIENCE_MS = 10_000

/**
 * Sends at a fixed rate, whether answers come or not. Each latency counts from the moment when its request was due, so
 * that a server that stalls cannot hide it by holding the load back.
 */
export async function offerLoad(
  connections: readonly Connection[],
  makeRequest: MakeRequest,
  requestsPerSecond: number,
  milliseconds: number,
): Promise<Latencies> {
  const histogram = build({ lowestDiscernibleValue: 1, highestTrackableValue: 1e8, numberOfSignificantValueDigits: 3 })
  const due = connections.map((): number[] => [])
  let answered = 0
  for (const [at, connection] of connections.entries()) {
    connection.onAnswer = () => {
      answered++
      histogram.recordValue(Math.max(1, Math.round((performance.now() - due[at]!.shift()!) * 1_000)))
    }
  }
  const began = performance.now()
  const total = Math.floor((requestsPerSecond * milliseconds) / 1_000)
  const dueAt = (request: number): number => began + (request * 1_000) / requestsPerSecond
  let sent = 0
  while (sent < total) {
    for (const now = performance.now(); sent < total && dueAt(sent) <= now; sent++) {
      const connection = sent % connections.length
      due[connection]!.push(dueAt(sent))
      connections[connection]!.socket.write(makeRequest(sent))
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (const until = performance.now() + PATIENCE_MS; answered < total && performance.now() < until; ) {
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  if (answered < total)
    throw new Error(`${total - answered} of ${total} requests got no answer within ${PATIENCE_MS} ms`)
  const percentile = (share: number) => histogram.getValueAtPercentile(share) / 1_000
  return { p50: percentile(50), p99: percentile(99) }
}
