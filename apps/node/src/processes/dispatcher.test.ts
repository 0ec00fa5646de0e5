import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, it } from 'vitest'
import { Dispatcher, type Taker } from './dispatcher.js'

const undo: (() => void)[] = []
afterEach(() => {
  for (const step of undo.splice(0)) step()
})

/** A connection as the acceptor accepts it. */
async function acceptedConnection(localAddress = '127.0.0.1'): Promise<Socket> {
  const server = createServer({ pauseOnConnect: true })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const accepted = once(server, 'connection')
  const client = connect({ port: (server.address() as { port: number }).port, host: '127.0.0.1', localAddress })
  client.on('error', () => {})
  undo.push(
    () => void server.close(),
    () => void client.destroy(),
  )
  const [connection] = (await accepted) as [Socket]
  return connection
}

describe('a dispatcher', () => {
  it('that was paused reads the replies of a reader before it lets an offer expire', async () => {
    // Another process replies, so its reply waits in a pipe while this process is paused. It writes the same to the
    // file as to the pipe.
    const folder = mkdtempSync(join(tmpdir(), 'dispatcher-'))
    const copy = join(folder, 'replies')
    const echo = spawn('tee', [copy], { stdio: ['pipe', 'pipe', 'inherit'] })
    undo.push(() => {
      echo.kill()
      rmSync(folder, { recursive: true, force: true })
    })
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
    // The other process writes to the pipe in this turn. The pause begins in the next turn, and lasts longer than an
    // offer and than the reply takes; no turn reads the reply meanwhile.
    await new Promise((resolve) => setImmediate(resolve))
    const pause = (milliseconds: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
    pause(1_500)
    while (!statSync(copy, { throwIfNoEntry: false })?.size) pause(10)
    await taken
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(offers).toEqual(['first'])
    expect(dispatcher.refused).toBe(0)
  })
  // Systems other than Linux have one loopback address.
  it.runIf(process.platform === 'linux')('gives a client its turn before the many connections of another', async () => {
    const offers: { readonly id: number; readonly address: string | undefined }[] = []
    const reader: Taker = {
      isUp: true,
      offer: ({ offer }, { remoteAddress }) => void offers.push({ id: offer, address: remoteAddress }),
    }
    const dispatcher = new Dispatcher([reader])
    undo.push(() => dispatcher.close())
    const many: Socket[] = []
    for (let count = 0; count < 20; count++) many.push(await acceptedConnection('127.0.0.2'))
    const other = await acceptedConnection()
    // All are dispatched in one turn, in which no offer expires.
    for (const connection of many) dispatcher.dispatch(connection)
    const offeredBefore = offers.length
    expect(offeredBefore).toBeLessThan(20)
    dispatcher.dispatch(other)
    for (const { id } of offers.splice(0, 2)) dispatcher.heed(reader, { type: 'taken', offer: id })
    expect(offers.slice(-2).map(({ address }) => address)).toEqual(['127.0.0.2', '127.0.0.1'])
  })
})
