// A client that knows every right answer of the steady ledger, and holds a node to it.
import { Agent, request } from 'node:http'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { parseAnswer, questionToRequest, randomQuestion, type SteadyQuestion, steadyAnswer } from './steady-ledger.ts'

export interface ClientTally {
  requests: number
  right: number
  /** Each with what was asked and answered: there must be none. */
  readonly wrong: string[]
  /** Errors by status, or by the code of a connection's fault. */
  readonly errors: Map<string, number>
  /** Milliseconds of right answers. */
  readonly milliseconds: number[]
  /** Newest version named in any answer. */
  latest: number
  /** Answers that named an older latest version than an answer before them. */
  wentBack: number
}

export interface SteadyClient {
  readonly tally: ClientTally
  /** Seed of its questions. */
  readonly seed: number
  stop(): Promise<void>
}

export interface ClientOptions {
  /** Address of the API at that moment. */
  readonly address: () => string
  readonly connections?: number
  /** Pause of each connection between two questions. */
  readonly pauseMs?: number
  readonly seed?: number
  /** How long an answer may take. */
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
      // Refusals are right where the version is not kept, or not there yet.
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
      // Mostly inside the window; now and then outside it.
      const version = Math.max(0, oldest - 3 + random.below(span + 6))
      await ask(randomQuestion(version, random))
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
      // A node that is not there is not asked in a tight loop.
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
