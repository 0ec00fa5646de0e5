import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Bytes under way in one connection, as with TCP windows: with 100 ms, one connection carries 20 MB/s. */
const WINDOW_BYTES = 1024 * 1024

export interface LinkShape {
  /**
   * Time on the link from a request to the beginning of its answer. Opening a connection takes the same time once more.
   */
  readonly roundTripMs: number
  /** Bytes a second that all answers share. */
  readonly bytesPerSecond?: number | undefined
}

export interface ShapedLink {
  readonly port: number
  close(): Promise<void>
}

/** Listens instead of a server on this machine, and passes on both directions as a link of this shape would. */
export async function startShapedLink(target: number, shape: LinkShape): Promise<ShapedLink> {
  const { roundTripMs, bytesPerSecond = Number.POSITIVE_INFINITY } = shape
  const sockets = new Set<Socket>()
  /** Time at which the link will have carried all that it was given. */
  let freeAt = 0
  const carried = (bytes: number): number => {
    freeAt = Math.max(freeAt, performance.now()) + (bytes / bytesPerSecond) * 1_000
    return freeAt
  }
  const listener = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
    const server = connect({ port: target, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {})
      one.on('close', (hadError) => {
        sockets.delete(one)
        if (hadError) other.destroy()
      })
    }
    const openedAt = performance.now() + roundTripMs
    passOn(client, server, () => Math.max(openedAt, performance.now()) + roundTripMs / 2)
    passOn(server, client, (bytes) => carried(bytes) + roundTripMs / 2)
  })
  await once(listener.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}

/**
 * Writes the data that one socket receives to another: each piece, and the end, when it is due. Due times must not
 * decrease.
 */
function passOn(from: Socket, to: Socket, dueAfter: (bytes: number) => number): void {
  /** An undefined piece is the end. */
  const underWay: { readonly piece: Buffer | undefined; readonly due: number }[] = []
  let bytes = 0
  const wait = (): void => {
    setTimeout(deliver, Math.max(0, underWay[0]!.due - performance.now()))
  }
  const deliver = (): void => {
    while (underWay.length > 0 && underWay[0]!.due <= performance.now()) {
      const { piece } = underWay.shift()!
      if (!piece) return void to.end()
      bytes -= piece.length
      to.write(piece)
    }
    if (bytes < WINDOW_BYTES) from.resume()
    if (underWay.length > 0) wait()
  }
  const carry = (piece?: Buffer): void => {
    underWay.push({ piece, due: dueAfter(piece?.length ?? 0) })
    if (underWay.length === 1) wait()
  }
  from.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes >= WINDOW_BYTES) from.pause()
    carry(piece)
  })
  from.on('end', () => carry())
}
