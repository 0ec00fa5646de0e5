import { connect, type Socket } from 'node:net'
import { build } from 'hdr-histogram-js'

/** Makes the n-th request as the bytes that go over the wire. */
export type MakeRequest = (at: number) => Buffer

interface Connection {
  readonly socket: Socket
  /** Called with each whole answer. */
  onAnswer: () => void
}

/** A connection that finds the ends of answers by their Content-Length and looks at nothing else of them. */
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
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  return connection
}

/** Keeps every connection busy for a while. Answers how many requests were served. */
export async function saturate(
  port: number,
  makeRequest: MakeRequest,
  connections: number,
  milliseconds: number,
): Promise<number> {
  const open = await Promise.all(Array.from({ length: connections }, () => openConnection(port)))
  const until = performance.now() + milliseconds
  let sent = 0
  let served = 0
  // The generator never sleeps: a server that has to wake its client pays for that with every write, the slower the more.
  let spinning = true
  const spin = (): void => {
    if (spinning) setImmediate(spin)
  }
  spin()
  await Promise.all(
    open.map(
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
  spinning = false
  for (const { socket } of open) socket.destroy()
  return served
}

export interface Latencies {
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  readonly p999: number
}

/** Answers that are not there after so long do not come. */
const LATE_MS = 10_000

/**
 * Sends at a fixed rate whether answers come or not, and measures each latency from when its request was due: a server
 * that stalls cannot hide it by holding the load back.
 */
export async function offerLoad(
  port: number,
  makeRequest: MakeRequest,
  perSecond: number,
  connections: number,
  milliseconds: number,
): Promise<Latencies> {
  const open = await Promise.all(Array.from({ length: connections }, () => openConnection(port)))
  const histogram = build({ lowestDiscernibleValue: 1, highestTrackableValue: 1e8, numberOfSignificantValueDigits: 3 })
  const due = open.map((): number[] => [])
  let answered = 0
  for (const [at, connection] of open.entries()) {
    connection.onAnswer = () => {
      answered++
      histogram.recordValue(Math.max(1, Math.round((performance.now() - due[at]!.shift()!) * 1_000)))
    }
  }
  const began = performance.now()
  const total = Math.floor((perSecond * milliseconds) / 1000)
  let sent = 0
  while (sent < total) {
    const now = performance.now()
    for (
      let at = began + (sent * 1000) / perSecond;
      sent < total && at <= now;
      at = began + (sent * 1000) / perSecond
    ) {
      const connection = sent % connections
      due[connection]!.push(at)
      open[connection]!.socket.write(makeRequest(sent++))
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (const until = performance.now() + LATE_MS; answered < total && performance.now() < until; ) {
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  for (const { socket } of open) socket.destroy()
  if (answered < total) throw new Error(`${total - answered} of ${total} requests were not answered in ${LATE_MS} ms`)
  const percentile = (share: number) => histogram.getValueAtPercentile(share) / 1_000
  return { p50: percentile(50), p99: percentile(99), p999: percentile(99.9) }
}
