// The made-up ledgers behind servers on loopback, whose answers a test may change.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Write } from '@ledger-state/core'
import { createRequestListener } from '@ledger-state/http'
import { createProvenLedger } from '@ledger-state/http/testing/proven-ledger'
import { createSignedTransactions } from '@ledger-state/http/testing/signed-transactions'
import { createLedger } from '@ledger-state/ledger'
import { GENESIS, HELD, HOLDERS, u64 } from '@ledger-state/ledger/testing/view-ledger'
import { resourceKey } from '@ledger-state/type-tag'
import { inject } from 'light-my-request'
import { HOLDER_WRITES } from './asset-writes.ts'

export interface Served {
  /** URL of the API. */
  readonly url: string
  close(): void
}

/**
 * Serves on a free port of loopback. Idle connections stay open: a busy process would close one late, while a request is on
 * its way.
 */
export async function serve(listener: RequestListener): Promise<Served> {
  const server = createServer({ keepAliveTimeout: 0 }, listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Programs with views, and values that they read. */
export const VIEW_WRITES: readonly Write[] = [
  ...GENESIS,
  [resourceKey(HOLDERS[0]!, HELD), u64(11)],
  [resourceKey(HOLDERS[1]!, HELD), u64(22)],
]

/** A listener for a ledger with a signed state. */
export async function stateListener() {
  const { engine, proofs, close } = await createProvenLedger({ further: [...HOLDER_WRITES, ...VIEW_WRITES] })
  const listener = createRequestListener({
    ledger: createLedger(engine),
    proofs,
    maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
  })
  return { listener, close }
}

/** A listener for a ledger with signed transactions, and the waypoint to trust. */
export async function transactionListener() {
  const { engine, proofs, waypoint } = await createSignedTransactions({ seed: 3 })
  const listener = createRequestListener({
    ledger: createLedger(engine),
    proofs,
    maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
  })
  return { listener, waypoint }
}

/** An answer of an honest node. */
export interface HonestAnswer {
  readonly status: number
  readonly type: string
  readonly body: Uint8Array<ArrayBuffer>
}

/** Passes a request of a client to a listener. */
export async function answerOf(
  listener: RequestListener,
  { method, url, headers }: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
  payload?: Uint8Array,
): Promise<HonestAnswer> {
  const { accept, 'content-type': contentType } = headers
  const answer = await inject(listener, {
    method: method as 'GET' | 'POST',
    url: url!,
    headers: { ...(accept && { accept }), ...(contentType && { 'content-type': contentType }) },
    ...(payload && payload.length > 0 && { payload: Buffer.from(payload) }),
  })
  return {
    status: answer.statusCode,
    type: String(answer.headers['content-type']),
    body: Uint8Array.from(answer.rawPayload),
  }
}

/** A request that a hostile server got, with its place in the order of requests, beginning with 0. */
export interface Asked {
  readonly number: number
  readonly url: string
  readonly body: string
}

/** Answers instead of an honest node, or returns a changed answer, or undefined to answer honestly. */
export type Lie = (
  asked: Asked,
  honest: HonestAnswer,
  response: ServerResponse,
) => Partial<HonestAnswer> | 'answered' | undefined

/** Serves a ledger dishonestly: `lie` may be set at any time, and counts the requests since then. */
export async function serveHostile(listener: RequestListener) {
  let [lie, number]: [Lie, number] = [() => undefined, 0]
  const served = await serve(async (request, response) => {
    const chunks: Uint8Array[] = []
    for await (const chunk of request) chunks.push(chunk as Uint8Array)
    const payload = Buffer.concat(chunks)
    const honest = await answerOf(listener, request, payload)
    const told = lie({ number: number++, url: request.url!, body: payload.toString() }, honest, response)
    if (told === 'answered') return
    const { status, type, body } = { ...honest, ...told }
    response.writeHead(status, { 'content-type': type }).end(body)
  })
  return {
    ...served,
    tell(next: Lie) {
      lie = next
      number = 0
    },
    get asked() {
      return number
    },
  }
}
