// A client that sends one request after the other, through a balancer with TLS, and keeps cookies as a browser does.
import { Agent, type RequestOptions, request } from 'node:https'
import { PATIENCE_MS } from '@ledger-state/testing/eventually'
import { createRandom } from '@ledger-state/testing/random'
import { parseAnswer, questionToRequest, randomQuestion, steadyAnswer } from './steady-ledger.ts'

export interface SequentialTally {
  answers: number
  /** Requests and answers, for all answers that are not right. */
  readonly failures: string[]
  /** Number of answers with an older ledger version than the previous answer. */
  wentBack: number
  latest: number
}

export interface SequentialClient {
  readonly tally: SequentialTally
  stop(): Promise<void>
}

export interface SequentialClientOptions {
  /** Address such as `https://…`, without `/v1`. */
  readonly address: string
  /** Certificate that it trusts. */
  readonly ca: Buffer
  readonly keepsCookies: boolean
  readonly pauseMs: number
  readonly seed: number
}

interface NodeAnswer {
  readonly status: number
  readonly body: Buffer
  readonly version: number
}

export function startSequentialClient(options: SequentialClientOptions): SequentialClient {
  const { address, ca, keepsCookies, pauseMs, seed } = options
  const random = createRandom(seed)
  // Now and then it opens a new connection, as a new client would.
  const agents = [new Agent({ keepAlive: true, maxSockets: 1, ca }), new Agent({ keepAlive: false, ca })]
  const tally: SequentialTally = { answers: 0, failures: [], wentBack: 0, latest: -1 }
  let cookie: string | undefined
  let isStopped = false

  async function run(): Promise<void> {
    while (!isStopped) {
      await ask()
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  async function ask(): Promise<void> {
    const version = Math.max(0, tally.latest - random.below(50))
    const question = randomQuestion(version, random)
    const [url, { method, headers, body }] = questionToRequest(address, question)
    const accept = question.kind === 'raw_item' ? 'application/x-bcs' : 'application/json'
    const sent = { ...(headers as Record<string, string>), accept, ...(keepsCookies && cookie && { cookie }) }
    // Asks in turn for the newest state and for versions that it has seen, which the other node may not have yet.
    const isPinned = keepsCookies && random.below(2) === 0
    try {
      const options: RequestOptions = { method, headers: sent, agent: random.pick(agents), timeout: PATIENCE_MS }
      const answer = isPinned
        ? await send(url, options, body as string)
        : await send(`${address}/v1`, { ...options, method: 'GET' })
      tally.answers++
      if (answer.version < tally.latest) tally.wentBack++
      tally.latest = Math.max(tally.latest, answer.version)
      const found = isPinned ? parseAnswer(question, answer.status, answer.body) : undefined
      const isRight = isPinned ? found === steadyAnswer(question) : answer.status === 200
      if (!isRight) tally.failures.push(`${url}: ${answer.status} ${answer.body.toString('latin1').slice(0, 200)}`)
    } catch (error) {
      tally.failures.push(`${url}: ${(error as Error).message}`)
    }
  }

  function send(url: string, options: RequestOptions, body?: string): Promise<NodeAnswer> {
    return new Promise((resolve, reject) => {
      const sending = request(url, options, (response) => {
        const pieces: Buffer[] = []
        response.on('data', (piece) => pieces.push(piece))
        response.on('error', reject)
        response.on('end', () => {
          cookie = response.headers['set-cookie']?.[0]?.split(';')[0] ?? cookie
          const version = Number(response.headers['x-svc-ledger-version'] ?? -1)
          resolve({ status: response.statusCode!, body: Buffer.concat(pieces), version })
        })
      })
      sending.on('timeout', () => sending.destroy(new Error('no answer')))
      sending.on('error', reject)
      sending.end(body)
    })
  }

  const running = run()
  return {
    tally,
    async stop() {
      isStopped = true
      await running
      for (const agent of agents) agent.destroy()
    },
  }
}
