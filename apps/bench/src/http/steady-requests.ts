import { Agent, get } from 'node:http'

/** Latencies in milliseconds, each from the moment when its request was due. */
export interface SteadyLatencies {
  readonly p50: number
  readonly p99: number
  readonly most: number
  /** Requests without an answer, or with a status other than 200. They count as if they had taken the whole timeout. */
  readonly failed: number
  readonly requests: number
}

export interface SteadyRequests {
  readonly port: number
  readonly path: string
  readonly perSecond: number
  readonly milliseconds: number
}

/** Time after which a request without an answer has failed. */
const TIMEOUT_MS = 10_000

/** A client that sends the same small request at a fixed rate, on as many connections as that takes. */
export async function sendSteadily({ port, path, perSecond, milliseconds }: SteadyRequests): Promise<SteadyLatencies> {
  const agent = new Agent({ keepAlive: true })
  const requests = Math.floor((perSecond * milliseconds) / 1_000)
  const latencies: number[] = []
  let failed = 0
  const ask = (due: number): Promise<void> =>
    new Promise((resolve) => {
      const settle = (isRight: boolean): void => {
        latencies.push(isRight ? performance.now() - due : TIMEOUT_MS)
        if (!isRight) failed++
        resolve()
      }
      const request = get({ agent, host: '127.0.0.1', port, path, timeout: TIMEOUT_MS }, (response) => {
        response.resume()
        response.once('end', () => settle(response.statusCode === 200))
        response.once('error', () => settle(false))
      })
      request.once('timeout', () => request.destroy(new Error('timeout')))
      request.once('error', () => settle(false))
    })
  const began = performance.now()
  const asked: Promise<void>[] = []
  while (asked.length < requests) {
    const due = began + (asked.length * 1_000) / perSecond
    const wait = due - performance.now()
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    asked.push(ask(due))
  }
  await Promise.all(asked)
  agent.destroy()
  latencies.sort((a, b) => a - b)
  const percentile = (share: number): number => latencies[Math.min(requests - 1, Math.floor(requests * share))]!
  return { p50: percentile(0.5), p99: percentile(0.99), most: latencies.at(-1)!, failed, requests }
}
