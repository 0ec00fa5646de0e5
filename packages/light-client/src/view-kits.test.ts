// Views of the kits over signed states: the light client runs each view over values that the node proves, and finds the
// results of a real VM.
import { readFileSync } from 'node:fs'
import type { Write } from '@ledger-state/core'
import { openSource } from '@ledger-state/feed'
import { createRequestListener } from '@ledger-state/http'
import { CHECKPOINT, createProvenLedger, waypointOf } from '@ledger-state/http/testing/proven-ledger'
import { createLedger } from '@ledger-state/ledger'
import { testSeed } from '@ledger-state/testing/random'
import { sampleCases } from '@ledger-state/testing/sample-cases'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { inject } from 'light-my-request'
import { describe, expect, it } from 'vitest'
import { rememberingBls } from '../testing/remembering-bls.ts'
import { verifyViewAnswer } from './verify-view-answer.js'

interface Kit {
  readonly sources: readonly { readonly area: string; readonly serve: string }[]
  readonly requests: readonly {
    readonly id: string
    readonly area: string
    readonly path: string
    readonly body_text?: string
    readonly expect: { readonly status: number; readonly json_text?: string }
  }[]
}

/** Views of each kit that are run. */
const VIEWS = isSlowRun ? 140 : 12
const KITS = [
  ['views-framework', 'states-devnet'],
  ['views-framework', 'mainnet'],
  ['views-programs', 'programs'],
  ['views-ops', 'ops'],
] as const

const bls = rememberingBls()
const waypoint = waypointOf(0)

async function newestState(path: string): Promise<readonly Write[]> {
  const newest = new Map<string, Write>()
  const source = await openSource(sharedPath(path.replace(/^shared\//, '')))
  for await (const { writes } of source.versions()) {
    for (const write of writes) newest.set(Buffer.from(write[0]).toString('hex'), write)
  }
  await source.close()
  return [...newest.values()].filter(([, value]) => value !== null)
}

describe.skipIf(!hasSharedData)('views of the kits over proven values (skipped without ../shared)', () => {
  it.each(isSlowRun ? KITS : [KITS[testSeed() % KITS.length]!])('%s of %s', async (name, area) => {
    const { sources, requests } = JSON.parse(readFileSync(sharedPath(`conformance/${name}.json`), 'utf8')) as Kit
    const { engine, proofs, close } = await createProvenLedger({
      further: await newestState(sources.find((one) => one.area === area)!.serve),
    })
    const listener = createRequestListener({
      ledger: createLedger(engine),
      proofs,
      maxEventLoopDelayMs: Number.POSITIVE_INFINITY,
    })
    const views = requests.filter(
      ({ area: ofArea, path, expect: { status, json_text }, body_text }) =>
        ofArea === area && path === '/v1/view' && status === 200 && json_text !== undefined && body_text !== undefined,
    )
    expect(views.length).toBeGreaterThan(0)
    for (const { id, body_text: payload, expect: expected } of sampleCases(views, VIEWS)) {
      const { statusCode, rawPayload, body } = await inject(listener, {
        method: 'POST',
        url: `/v1/view?ledger_version=${CHECKPOINT}&proof=true&proof_from=${waypoint}`,
        headers: { accept: 'application/x-bcs', 'content-type': 'application/json' },
        payload: payload!,
      })
      expect([id, statusCode, statusCode === 200 ? '' : body]).toEqual([id, 200, ''])
      const call = JSON.parse(payload!) as Record<string, never>
      const question = { function: call.function!, typeArguments: call.type_arguments, arguments: call.arguments }
      const { results } = await verifyViewAnswer(new Uint8Array(rawPayload), { question, waypoint, bls })
      expect([id, `[${results.map(({ json }) => json).join(',')}]`]).toEqual([id, expected.json_text])
    }
    close()
  })
})
