// A client that knows every right answer of the steady ledger, and compares a node's answers with them.
import { Agent, request } from 'node:http'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { parseAnswer, questionToRequest, randomQuestion, type SteadyQuestion, steadyAnswer } from './steady-ledger.ts'

export interface ClientTally {
  requests: number
  right: number
  /** Wrong answers, each with its request; there must be none. */
  readonly wrong: string[]
  /** Errors by status, or by the code of a connection's fault. */
  readonly errors: Map<string, number>
  /** Milliseconds of the right answers. */
  readonly milliseconds: number[]
  /** Newest version in any answer. */
  latest: number
  /** Number of answers with an older latest version than an answer before them. */
  wentBack: number
}

export interface SteadyClient {
  readonly tally: ClientTally
  /** Seed of its questions. */
  readonly seed: number
  stop(): Promise<void>
}

export interface ClientOptions {
  /** Present address of the API. */
  readonly address: () => string
  readonly connections?: number
  /** Pause of each connection between two requests. */
  readonly pauseMs?: number
  readonly seed?: number
  /** Longest time of an answer. */
  readonly timeoutMs?: number
}

export function startSteadyClient({
  address,
  connections = 4,
  pauseMs = 0,
  seed = testSeed(),
  timeoutMs = 15_000,
}: ClientOptions): SteadyClient {
  const random = createRandom(seed)
  const tally: ClientTally = {
    requests: 0,
    right: 0,
    wrong: [],
    errors: new Map(),
    milliseconds: [],
    latest: -1,
    wentBack: 0,
  }
  let oldest = 0
  let isStopped = false
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const count = (kind: string): void => {
    tally.errors.set(kind, (tally.errors.get(kind) ?? 0) + 1)
  }

  async function ask(question: SteadyQuestion): Promise<void> {
    tally.requests++
    const began = performance.now()
    const answered = await get(question).catch((error: NodeJS.ErrnoException) => {
      count(error.code ?? error.message)
    })
    if (!answered) return
    const { status, body, latest, oldestVersion } = answered
    if (latest !== undefined && oldestVersion !== undefined) {
      tally.latest = Math.max(tally.latest, latest)
      oldest = Math.max(oldest, oldestVersion)
    }
    const expected = steadyAnswer(question)
    const found = parseAnswer(question, status, body)
    if (found === 'error') {
      count(String(status))
      // A refusal is right if the version is not kept, or does not exist yet.
      const { version } = question
      const isOutside = oldestVersion === undefined || version < oldestVersion || version > (latest ?? -1)
      if ((status === 410 || status === 404) && !isOutside) tally.wrong.push(describe(question, status, body))
      else if (status < 500 && status !== 410 && status !== 404) tally.wrong.push(describe(question, status, body))
      return
    }
    if (found !== expected) {
      tally.wrong.push(`${describe(question, status, body)}, ${expected} expected`)
      return
    }
    tally.right++
    tally.milliseconds.push(performance.now() - began)
  }

  function get(question: SteadyQuestion) {
    const [url, { method = 'GET', headers = {}, body }] = questionToRequest(address(), question)
    const accept = { accept: question.kind === 'raw_item' ? 'application/x-bcs' : 'application/json' }
    return new Promise<{
      status: number
      body: Buffer
      latest: number | undefined
      oldestVersion: number | undefined
    }>((resolve, reject) => {
      const sent = request(
        url,
        { agent, method, headers: { ...(headers as Record<string, string>), ...accept }, timeout: timeoutMs },
        (response) => {
          const pieces: Buffer[] = []
          response.on('data', (piece) => pieces.push(piece))
          response.on('error', reject)
          response.on('end', () => {
            const header = (name: string) => {
              const text = response.headers[`x-svc-${name}`]
              return text === undefined ? undefined : Number(text)
            }
            resolve({
              status: response.statusCode!,
              body: Buffer.concat(pieces),
              latest: header('ledger-version'),
              oldestVersion: header('ledger-oldest-version'),
            })
          })
        },
      )
      sent.on('timeout', () => sent.destroy(Object.assign(new Error('no answer'), { code: 'timeout' })))
      sent.on('error', reject)
      sent.end(body as string | undefined)
    })
  }

  async function run(): Promise<void> {
    while (!isStopped) {
      const span = Math.max(0, tally.latest - oldest)
      // Most versions are inside of the window, and a few outside.
      const version = Math.max(0, oldest - 3 + random.below(span + 6))
      await ask(randomQuestion(version, random))
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
      // A node that is down is not asked in a tight loop.
      else await new Promise((resolve) => setImmediate(resolve))
    }
  }

  const running = Array.from({ length: connections }, run)
  return {
    tally,
    seed,
    async stop() {
      isStopped = true
      await Promise.all(running)
      agent.destroy()
    },
  }
}

function describe({ kind, index, version }: SteadyQuestion, status: number, body: Buffer): string {
  return `${kind} ${index} at version ${version}: ${status} ${body.toString('latin1').slice(0, 200)}`
}
