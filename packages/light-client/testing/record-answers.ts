// A program that asks a node about the made-up ledger and prints its answers, for a browser, which cannot start a node.
import { bytesToHex } from '@ledger-state/core'
import { createRequestListener } from '@ledger-state/http'
import { CHECKPOINT, createProvenLedger, waypointOf } from '@ledger-state/http/testing/proven-ledger'
import { createLedger } from '@ledger-state/ledger'
import { inject } from 'light-my-request'
import { readProofFrom } from '../src/read-proof.ts'
import { verifyRead } from '../src/verify-read.ts'
import { callNode, callToText, type NodeCall, stateCalls, transactionCalls } from './node-reads.ts'
import { cases } from './proven-cases.ts'
import { answerOf, stateListener, transactionListener } from './serve-ledgers.ts'

/** Answer of a node to one question. Bytes are in hex. */
export interface RecordedAnswer {
  readonly name: string
  /** The question as JSON, in which each `Uint8Array` is `{ hex }`. */
  readonly question: string
  readonly json: string
  readonly bcs: string
  readonly bytes: string | null
  readonly value: unknown
}

export interface RecordedAnswers {
  readonly version: string
  readonly waypoint: string
  readonly answers: readonly RecordedAnswer[]
  /** Proofs of modules, by their state keys. */
  readonly modules: Readonly<Record<string, string>>
  /** The answer with epoch changes, in BCS. */
  readonly endings: string
  /** Calls that ask a node themselves, as texts, and the answers of the node by their requests. */
  readonly calls: readonly string[]
  readonly exchanges: Readonly<Record<string, { readonly status: number; readonly body: string }>>
}

async function recordAnswers(): Promise<RecordedAnswers> {
  const { engine, proofs, close } = await createProvenLedger()
  const maxEventLoopDelayMs = Number.POSITIVE_INFINITY
  const listener = createRequestListener({ ledger: createLedger(engine), proofs, maxEventLoopDelayMs })
  const waypoint = waypointOf(0)
  const ask = async (url: string, body?: unknown, accept = 'application/json') =>
    await inject(listener, {
      method: body === undefined ? 'GET' : 'POST',
      url: `/v1${url}`,
      headers: { accept, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  const modules: Record<string, string> = {}
  const readProof = readProofFrom('', (async (url: string, { body }: { readonly body: string }) => {
    const { statusCode, payload } = await ask(url, body)
    return new Response(payload, { status: statusCode })
  }) as unknown as typeof globalThis.fetch)
  const answers: RecordedAnswer[] = []
  for (const { question, url, body, bytes, json } of cases) {
    const path = `${url}?ledger_version=${CHECKPOINT}&proof=true&proof_from=${waypoint}`
    const text = (await ask(path, body)).payload
    await verifyRead(text, {
      question,
      waypoint,
      async readProof(key, version) {
        const proof = (await readProof(key, version)) as string
        modules[bytesToHex(key)] = proof
        return proof
      },
    })
    answers.push({
      name: `${question.kind} of ${url}`,
      question: JSON.stringify(question, (_, one) => (one instanceof Uint8Array ? { hex: bytesToHex(one) } : one)),
      json: text,
      bcs: bytesToHex((await ask(path, body, 'application/x-bcs')).rawPayload),
      bytes: bytes ? bytesToHex(bytes) : null,
      value: json ?? null,
    })
  }
  const endings = (await ask(`/-/epoch_endings?from=${waypoint}`, undefined, 'application/x-bcs')).rawPayload
  close()
  return {
    version: String(CHECKPOINT),
    waypoint,
    answers,
    modules,
    endings: bytesToHex(endings),
    ...(await recordCalls()),
  }
}

async function recordCalls(): Promise<Pick<RecordedAnswers, 'calls' | 'exchanges'>> {
  const exchanges: Record<string, { readonly status: number; readonly body: string }> = {}
  const state = await stateListener()
  const whole = await transactionListener()
  const record = async (listener: typeof state.listener, call: NodeCall) => {
    const fetchHere = (async (url: string, { method, headers, body }: RequestInit) => {
      const request = {
        method: method ?? 'GET',
        url: url.slice('http://node'.length),
        headers: headers as Record<string, string>,
      }
      const answer = await answerOf(listener, request, body ? Buffer.from(body as string) : undefined)
      exchanges[`${request.method} ${url} ${body ?? ''}`] = { status: answer.status, body: bytesToHex(answer.body) }
      return new Response(answer.body, { status: answer.status })
    }) as typeof globalThis.fetch
    await callNode(call, { url: 'http://node/v1', fetch: fetchHere })
  }
  const events = await answerOf(whole.listener, {
    method: 'GET',
    url: '/v1/events/vector%3Cu64%3E?order=asc',
    headers: {},
  })
  const [, , { version }] = JSON.parse(Buffer.from(events.body).toString())
  const ofState = stateCalls(waypointOf(1))
  const ofTransactions = transactionCalls(whole.waypoint, BigInt(version))
  for (const call of ofState) await record(state.listener, call)
  for (const call of ofTransactions) await record(whole.listener, call)
  state.close()
  return { calls: [...ofState, ...ofTransactions].map(callToText), exchanges }
}

process.stdout.write(JSON.stringify(await recordAnswers()))
