import { connect, createServer, type Socket } from 'node:net'

/** Moment of a cut, after a client has sent a text. */
export type Cut =
  /** The server does not get the text. */
  | 'before'
  /** The server gets the text, and the client does not get the answer. */
  | 'after'

/** A proxy between a client and a server that can cut connections. */
export interface TcpProxy {
  readonly port: number
  /** Bytes that the server has sent so far. */
  readonly answeredBytes: number
  /** Cuts the connection that sends this text next, once. Resolves when it is cut. */
  cutOn(text: string, cut: Cut): Promise<void>
  /** Replaces this text where a client sends it next, once, with one of the same length. */
  replaceOnce(text: string, by: string): void
  /** Holds back the bytes of either side, until `flow`. */
  hold(): void
  flow(): void
  /** Refuses new connections and cuts those that are open. */
  refuse(): void
  accept(): void
  close(): Promise<void>
}

interface PlannedCut {
  readonly text: string
  readonly cut: Cut
  done(): void
}

export async function startTcpProxy(target: number, host = '127.0.0.1'): Promise<TcpProxy> {
  let planned: PlannedCut | undefined
  let replaced: { readonly text: string; readonly by: string } | undefined
  let answeredBytes = 0
  let isRefusing = false
  let isHolding = false
  const sockets = new Set<Socket>()

  function cutPair(client: Socket, server: Socket): void {
    client.destroy()
    server.destroy()
  }

  function onRequest(chunk: Buffer, client: Socket, server: Socket): void {
    if (replaced && chunk.includes(replaced.text)) {
      chunk.write(replaced.by, chunk.indexOf(replaced.text))
      replaced = undefined
    }
    if (!planned || !chunk.includes(planned.text)) {
      server.write(chunk)
      return
    }
    const { cut, done } = planned
    planned = undefined
    if (cut === 'before') {
      cutPair(client, server)
      done()
      return
    }
    // The server executes the request, and nobody gets its answer.
    client.removeAllListeners('data')
    server.removeAllListeners('data')
    server.once('data', () => {
      cutPair(client, server)
      done()
    })
    server.write(chunk)
  }

  const proxy = createServer((client) => {
    if (isRefusing) {
      client.destroy()
      return
    }
    const server = connect(target, host)
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(one)
      one.setNoDelay(true)
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
    client.on('data', (chunk) => onRequest(chunk, client, server))
    server.on('data', (chunk) => {
      answeredBytes += chunk.length
      client.write(chunk)
    })
    if (isHolding) for (const one of [client, server]) one.pause()
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as { readonly port: number }
  const cutAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port,
    get answeredBytes() {
      return answeredBytes
    },
    cutOn: (text, cut) =>
      new Promise((resolve) => {
        planned = { text, cut, done: resolve }
      }),
    replaceOnce(text, by) {
      replaced = { text, by }
    },
    hold() {
      isHolding = true
      for (const socket of sockets) socket.pause()
    },
    flow() {
      isHolding = false
      for (const socket of sockets) socket.resume()
    },
    refuse() {
      isRefusing = true
      cutAll()
    },
    accept() {
      isRefusing = false
    },
    async close() {
      cutAll()
      await new Promise((resolve) => proxy.close(resolve))
    },
  }
}
