import { connect } from 'node:net'
import { eventually } from '@ledger-state/testing/eventually'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NodeBed, reaches } from '../../testing/node-bed.ts'
import { kill } from '../../testing/node-process.ts'

const CONNECTIONS = 20

let bed: NodeBed

beforeEach(async () => {
  bed = await NodeBed.open()
})
afterEach(() => bed.close())

describe('connections', () => {
  it('that a reader has not taken when it is killed are answered by the next reader, or closed', async () => {
    const node = await bed.start({ options: bed.following('--readers', '1') })
    await reaches(node, 0)
    const pid = await node.pidOnceUp('reader-0')
    kill(pid!, 'SIGSTOP')
    const { hostname, port } = new URL(node.address)
    let connected = 0
    let over = 0
    for (let at = 0; at < CONNECTIONS; at++) {
      const connection = connect(Number(port), hostname, () => connected++)
      let isOver = false
      const end = (): void => {
        if (!isOver) over++
        isOver = true
        connection.destroy()
      }
      for (const event of ['data', 'error', 'close']) connection.once(event, end)
      connection.write('GET /v1 HTTP/1.1\r\nhost: test\r\n\r\n')
    }
    await eventually(
      () => connected === CONNECTIONS,
      () => `${CONNECTIONS} connections, ${connected} are open`,
    )
    // The supervisor, which answers here, has accepted the connections.
    await node.readiness()
    expect(over).toBe(0)
    kill(pid!)
    await eventually(
      () => over === CONNECTIONS,
      () => `the end of ${CONNECTIONS} connections, ${over} have ended`,
    )
  })
})
