import { connect, type Socket } from 'node:net'

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

/**
 * Sends at a fixed rate whether answers come or not, and measures each latency from when its request was due: a server
 * that stalls cannot hide it by holding the load back. Milliseconds, sorted.
 */
export async function offerLoad(
  port: number,
  makeRequest: MakeRequest,
  perSecond: number,
  connections: number,
  milliseconds: number,
): Promise<number[]> {
  const open = await Promise.all(Array.from({ length: connections }, () => openConnection(port)))
  const latencies: number[] = []
  const due = open.map((): number[] => [])
  for (const [at, connection] of open.entries()) {
    connection.onAnswer = () => latencies.push(performance.now() - due[at]!.shift()!)
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
  while (latencies.length < total) await new Promise((resolve) => setTimeout(resolve, 1))
  for (const { socket } of open) socket.destroy()
  return latencies.sort((a, b) => a - b)
}
