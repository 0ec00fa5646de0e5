import { connect, type Socket } from 'node:net'

/** A connection over which a test sends any bytes. */
export interface RawConnection {
  readonly socket: Socket
  /** The first 100,000 characters that came, as Latin-1. */
  received(): string
  /** Statuses of the answers that came, in their order. */
  statuses(): number[]
  readonly closed: Promise<unknown>
}

const KEPT_CHARACTERS = 100_000

export function openRawConnection(port: number, host = '127.0.0.1'): RawConnection {
  const socket = connect(port, host)
  socket.setNoDelay(true)
  let text = ''
  socket.on('data', (chunk) => {
    if (text.length < KEPT_CHARACTERS) text += chunk.toString('latin1')
  })
  // A connection that the other end resets is closed, too.
  socket.on('error', () => {})
  return {
    socket,
    received: () => text,
    statuses: () => Array.from(text.matchAll(/HTTP\/1\.1 (\d{3}) /g), ([, status]) => Number(status)),
    closed: new Promise((resolve) => socket.once('close', resolve)),
  }
}
