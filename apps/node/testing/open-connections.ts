import { connect, type Socket } from 'node:net'

/** Opens `count` connections, a few at a time. Some may be closed again when it resolves. */
export async function openConnections(address: string, count: number): Promise<Socket[]> {
  const { hostname, port } = new URL(address)
  const sockets: Socket[] = []
  while (sockets.length < count) {
    const some = Array.from({ length: Math.min(250, count - sockets.length) }, () => connect(Number(port), hostname))
    sockets.push(...some)
    await Promise.all(
      some.map(
        (socket) =>
          new Promise<void>((resolve) => {
            socket.once('connect', resolve)
            socket.once('close', () => resolve())
            socket.on('error', () => {})
          }),
      ),
    )
  }
  return sockets
}
