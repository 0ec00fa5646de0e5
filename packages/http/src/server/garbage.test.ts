import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { openRawConnection } from '@ledger-state/testing/raw-connection'
import { expect, it } from 'vitest'
import { createOneItemEngine, startServerOver, stopServer } from '../../testing/one-item-server.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void

it('the memory of connections with large headers is freed by collections of the young generation', async () => {
  const running = await startServerOver(await createOneItemEngine())
  const request = `GET /v1 HTTP/1.1\r\nhost: x\r\naccept: ${'a'.repeat(30_000)}\r\n\r\n`
  const connect = async (count: number) => {
    for (let at = 0; at < count; at++) {
      const { socket, closed, statuses } = openRawConnection(running.port)
      socket.end(request)
      await closed
      expect(statuses()).toEqual([200])
      if (at % 20 === 0) collect({ type: 'minor' })
    }
  }
  try {
    // Compiles and warms up the code.
    await connect(100)
    collect()
    const before = process.memoryUsage().heapUsed
    await connect(600)
    for (let time = 0; time < 3; time++) collect({ type: 'minor' })
    // The bytes that were sent take 18 MB.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(6e6)
  } finally {
    await stopServer(running)
  }
})
