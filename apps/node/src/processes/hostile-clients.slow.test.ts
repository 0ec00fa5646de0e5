// A node with clients that send legal but expensive requests, hold connections, or break the protocol; the real
// program.
import { readFileSync } from 'node:fs'
import { eventually } from '@ledger-state/testing/eventually'
import { HOSTILE_ATTACK_NAMES, type HostileAttack, startHostileClient } from '@ledger-state/testing/hostile-clients'
import { testSeed } from '@ledger-state/testing/random'
import { openRawConnection } from '@ledger-state/testing/raw-connection'
import { sampleCases } from '@ledger-state/testing/sample-cases'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { NodeBed, reaches } from '../../testing/node-bed.ts'
import type { NodeProcess } from '../../testing/node-process.ts'

let bed: NodeBed
let node: NodeProcess
beforeEach(async () => {
  bed = await NodeBed.open()
  bed.source.latest = 500
  node = await bed.start({ options: bed.following('--readers', '1') })
  await reaches(node, 500)
  // The supervisor learns it from the reader's next report.
  await eventually(
    async () => (await node.readiness()).ready,
    () => node.output,
  )
})
afterEach(async () => {
  await bed.close()
})

function addressOf({ address }: NodeProcess) {
  const { hostname, port } = new URL(address)
  return { host: hostname, port: Number(port) }
}

const SMALL_READ = '/v1/accounts/0x1/balance/0xa'
/** Rounds of three requests. Each may take a second on a busy machine. */
const ROUNDS = 40
const HEALTH = '/v1/-/healthy'
const seed = testSeed()

async function answerOf(path: string) {
  // A separate connection, as a new client opens it.
  return await fetch(`${node.address}${path}`, { headers: { connection: 'close' } }).then(
    async (response) => [path, response.status, await response.text()],
    (error: Error) => [path, error.cause, node.output.slice(-1_000)],
  )
}

/**
 * Answer after refusals. A busy machine may refuse for a while, because the event loop comes round late; health is
 * never refused.
 */
async function lastingAnswerOf(path: string) {
  let answer: unknown[] = []
  await eventually(
    async () => {
      answer = await answerOf(path)
      return answer[1] !== 503
    },
    () => `another answer than ${answer}`,
  )
  return answer
}

describe(`a node with a hostile client (TEST_SEED=${seed})`, () => {
  it.each(sampleCases(HOSTILE_ATTACK_NAMES, 5))(
    'answers small reads and health during this attack: %s',
    async (attack: HostileAttack) => {
      const pid = await node.pidOf('reader-0')
      const hostile = startHostileClient(attack, { address: () => addressOf(node), seed })
      await eventually(
        () => hostile.tally.sent > (attack.includes('2,001') ? 2_000 : 0),
        () => `the attack to begin, which sent ${hostile.tally.sent}`,
      )
      try {
        for (let round = 0; round < ROUNDS; round++) {
          expect(await answerOf(HEALTH)).toEqual([HEALTH, 200, expect.any(String)])
          expect(await lastingAnswerOf(SMALL_READ)).toEqual([SMALL_READ, 200, expect.any(String)])
          expect((await node.readiness()).ready).toBe(true)
        }
      } finally {
        await hostile.stop()
      }
      expect(await node.pidOf('reader-0')).toBe(pid)
    },
  )

  it.skipIf(process.platform !== 'linux')('keeps its memory bounded under 1.2 GB of unfinished uploads', async () => {
    const pid = await node.pidOf('reader-0')
    const peakBytes = () =>
      Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))![1]) * 1_024
    const before = peakBytes()
    const hostile = startHostileClient('150 unfinished uploads of 8 MiB', { address: () => addressOf(node), seed })
    try {
      await eventually(
        () => [...hostile.tally.ends.values()].reduce((sum, count) => sum + count, 0) >= 300,
        () => `uploads to be ended, of ${hostile.tally.sent}: ${JSON.stringify([...hostile.tally.ends])}`,
      )
    } finally {
      await hostile.stop()
    }
    expect(peakBytes() - before).toBeLessThan(400e6)
  })

  it.skipIf(process.platform !== 'linux').each([
    ['300 unread batches of 1,000 histories', '/v1/batch', 50],
    ['750 clients with 20 unread histories each', '/v1/accounts/{address}/balance/{asset_type}/history', 750],
  ] as const)('keeps its memory bounded when nobody reads its answers: %s', async (attack, route, count) => {
    const pid = await node.pidOf('reader-0')
    const hostile = startHostileClient(attack, { address: () => addressOf(node), seed })
    const answered = async (): Promise<number> => {
      const lines = (await node.metrics())
        .split('\n')
        .filter((line) => line.includes(`duration_seconds_count{route="${route}"`))
      return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
    }
    try {
      await eventually(
        async () => (await answered()) >= count,
        () => `answers, of ${hostile.tally.sent} requests: ${JSON.stringify([...hostile.tally.ends])}`,
      )
      expect(await answerOf(SMALL_READ)).toEqual([SMALL_READ, 200, expect.any(String)])
    } finally {
      await hostile.stop()
    }
    expect(Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))![1]) * 1_024).toBeLessThan(
      400e6,
    )
    expect(await node.pidOf('reader-0')).toBe(pid)
  })
})

describe('broken requests', () => {
  const get = 'GET /v1 HTTP/1.1\r\nhost: x\r\n\r\n'
  const body = '{"key":"0x01"}'
  const head = (framing: string) =>
    `POST /v1/tables/0x7/raw_item HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n${framing}\r\n\r\n`

  it('are answered after the good ones before them', async () => {
    const { host, port } = addressOf(node)
    for (const [broken, status] of [
      ['noise\r\n\r\n', 400],
      [`GET /v1 HTTP/1.1\r\nhost: x\r\na: ${'a'.repeat(40_000)}\r\n\r\n`, 431],
    ] as const) {
      const { socket, statuses, closed } = openRawConnection(port, host)
      socket.write(`${head('content-length: 14')}${body}${get}${broken}`)
      await closed
      expect(statuses()).toEqual([404, 200, status])
    }
  })

  it('count as 499, and are not logged as errors, when the client leaves in the middle of its body', async () => {
    const { host, port } = addressOf(node)
    const framings = ['content-length: 14', 'origin: https://a.example\r\ncontent-length: 14']
    for (const framing of framings) {
      const { socket } = openRawConnection(port, host)
      socket.write(head(framing) + body.slice(0, 5))
      socket.end()
    }
    const chunked = openRawConnection(port, host)
    chunked.socket.write(`${head('transfer-encoding: chunked')}e\r\n${body.slice(0, 5)}`)
    chunked.socket.end()
    const left = /^ledger_state_http_request_duration_seconds_count\{.*status="499".*\} 3$/m
    await eventually(
      async () => left.test(await node.metrics()),
      () => 'three requests to be counted as 499',
    )
    expect(await node.metrics()).not.toMatch(
      /^ledger_state_http_request_duration_seconds_count\{.*raw_item.*status="5/m,
    )
    expect(node.output).not.toContain('"level":50')
    expect(node.output).not.toContain('"status":499')
  })

  it('are logged at level debug when the client leaves', async () => {
    const debugging = await bed.start({ dataDir: bed.at('other'), options: bed.following('--log-level', 'debug') })
    const { host, port } = addressOf(debugging)
    const { socket } = openRawConnection(port, host)
    socket.end(head('content-length: 14') + body.slice(0, 5))
    const line = await debugging.outputMatching(/^.*"status":499.*$/m)
    expect(/^.*"status":499.*$/m.exec(line)![0]).toContain('"level":20')
  })
})
