import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, it } from 'vitest'
import { Dispatcher, type Taker } from './dispatcher.js'

const undo: (() => void)[] = []
afterEach(() => {
  for (const step of undo.splice(0)) step()
})

/** A connection as the acceptor has it. */
async function acceptedConnection(): Promise<Socket> {
  const server = createServer({ pauseOnConnect: true })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection')
  const client = connect((server.address() as { port: number }).port, '127.0.0.1')
  client.on('error', () => {})
  undo.push(
    () => void server.close(),
    () => void client.destroy(),
  )
  const [connection] = (await accepted) as [Socket]
  return connection
}

describe('a dispatcher', () => {
  it('that was paused reads what a reader has replied before it lets an offer expire', async () => {
    // The reply comes from another process: it waits in a pipe while this one is paused.
    const echo = spawn('cat', { stdio: ['pipe', 'pipe', 'inherit'] })
    undo.push(() => void echo.kill())
    const offers: string[] = []
    const reader = (name: string): Taker => ({
      isUp: true,
      offer({ offer }) {
        offers.push(name)
        echo.stdin.write(`${JSON.stringify({ type: 'taken', offer })}\n`)
      },
    })
    const [first, second] = [reader('first'), reader('second')]
    const dispatcher = new Dispatcher([first, second])
    const taken = new Promise<void>((resolve) => {
      createInterface(echo.stdout).on('line', (line) => {
        dispatcher.heed(first, JSON.parse(line))
        resolve()
      })
    })
    dispatcher.dispatch(await acceptedConnection())
    // The write to the pipe is done in this turn; the pause begins in the next one.
    await new Promise((resolve) => setImmediate(resolve))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500)
    await taken
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(offers).toEqual(['first'])
    expect(dispatcher.refused).toBe(0)
  })
})
