// A program that asks a node about the made-up ledger and prints its answers, for a browser, which cannot start a node.
import { bytesToHex } from '@ledger-state/core'
import { createRequestListener } from '@ledger-state/http'
import { CHECKPOINT, createProvenLedger, waypointOf } from '@ledger-state/http/testing/proven-ledger'
import { createLedger } from '@ledger-state/ledger'
import { inject } from 'light-my-request'
import { readProofFrom } from '../src/read-proof.ts'
import { verifyRead } from '../src/verify-read.ts'
import { cases } from './proven-cases.ts'

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
  /** The answer with ends of epochs, in BCS. */
  readonly endings: string
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
  return { version: String(CHECKPOINT), waypoint, answers, modules, endings: bytesToHex(endings) }
}

process.stdout.write(JSON.stringify(await recordAnswers()))
