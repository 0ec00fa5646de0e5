import { readFileSync } from 'node:fs'
import { createMemoryEngine, engineToAsync, type StateWriter } from '@ledger-state/engine'
import { openSource } from '@ledger-state/feed'
import { createAsyncLedger, createLedger } from '@ledger-state/ledger'
import { keptOf } from '@ledger-state/ledger/testing/random-slices'
import { parseSliceSpec, SliceKeeper } from '@ledger-state/slices'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { inject } from 'light-my-request'
import { describe, expect, it } from 'vitest'
import { createRequestListener } from '../server/create-request-listener.js'

interface KitRequest {
  readonly id: string
  readonly area: string
  readonly method: 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body_text?: string
  readonly body_hex?: string
  readonly expect: {
    readonly status: number
    readonly error_code?: string
    readonly vm_error_code?: number | 'any'
    readonly message?: string
    readonly message_starts?: string
    readonly json_text?: string
    readonly body_hex?: string
  }
}

interface Kit {
  readonly sources: readonly { readonly area: string; readonly serve: string; readonly window: number | 'all' }[]
  readonly requests: readonly KitRequest[]
}

function readKit(name: string): Kit {
  return JSON.parse(readFileSync(sharedPath(`conformance/${name}.json`), 'utf8')) as Kit
}

async function loadEngine({ serve, window }: Kit['sources'][number]): Promise<StateWriter> {
  const engine = createMemoryEngine()
  const source = await openSource(sharedPath(serve.replace(/^shared\//, '')))
  for await (const record of source.versions()) await engine.commit([record], { chainId: source.chainId! })
  if (window !== 'all') await engine.prune(BigInt(window))
  return engine
}

/**
 * The slice of a source without any member that was asked for: the framework, the modules, and the tables found there.
 */
async function loadFramework({ serve }: Kit['sources'][number]): Promise<StateWriter> {
  const engine = createMemoryEngine()
  const source = await openSource(sharedPath(serve.replace(/^shared\//, '')))
  const keeper = SliceKeeper.begin(parseSliceSpec({ accounts: ['0xdead'] }), 0n)
  for await (const record of source.versions()) {
    const writes = keptOf(keeper, engine, record.version, record.writes)
    const kept = { ...record, writes: [...writes, ...keeper.takeRecords()] }
    await engine.commit([kept], { chainId: source.chainId! })
    keeper.settle()
  }
  return engine
}

/** Whether a view reads only at the framework's addresses: supplies, conversions and settings. */
function isOfFrameworkAlone({ body_text: body }: KitRequest): boolean {
  if (body === undefined || !/"arguments": ?\[\]/.test(body)) return false
  const addresses = [...body.matchAll(/0x[0-9a-f]+(?=::)/g)].map(([address]) => address)
  return addresses.every((address) => ['0x1', '0x3', '0x4', '0xa'].includes(address))
}

function saysUnknownAccount({ status, text }: { readonly status: number; readonly text: string }): boolean {
  return status === 410 && /does not have account 0x(?![134a];)[0-9a-f]+; ingest with --only-account /.test(text)
}

async function differenceOf(listener: ReturnType<typeof createRequestListener>, request: KitRequest) {
  const { method, path, headers, body_text, body_hex, expect: expected } = request
  const payload = body_hex === undefined ? body_text : Buffer.from(body_hex.replace(/^0x/, ''), 'hex')
  const answer = await inject(listener, { method, url: path, headers, ...(payload !== undefined && { payload }) })
  const text = answer.body
  const found = { status: answer.statusCode, text: text.slice(0, 400) }
  if (answer.statusCode !== expected.status) return found
  if (expected.json_text !== undefined && text !== expected.json_text) return found
  if (expected.body_hex !== undefined && `0x${answer.rawPayload.toString('hex')}` !== expected.body_hex) return found
  if (answer.statusCode === 200) return undefined
  const error = JSON.parse(text) as { message: string; error_code: string; vm_error_code?: number }
  if (expected.error_code !== undefined && error.error_code !== expected.error_code) return found
  if (typeof expected.vm_error_code === 'number' && error.vm_error_code !== expected.vm_error_code) return found
  if (expected.vm_error_code === undefined && error.vm_error_code !== undefined) return found
  if (expected.message !== undefined && error.message !== expected.message) return found
  if (expected.message_starts !== undefined && !error.message.startsWith(expected.message_starts)) return found
  return undefined
}

describe.skipIf(!hasSharedData)('views of the kits', () => {
  const kits: readonly (readonly [name: string, every: number, everyAsync: number])[] = [
    ['views-errors', 1, 3],
    ['views-framework', 7, 61],
  ]
  const slowKits = [
    ['views-ops', 1, 20],
    ['views-programs', 1, 20],
  ] as const
  it.each([...kits, ...(isSlowRun ? slowKits : [])])(
    '%s are answered as a real vm answered them, also over an async ledger',
    async (name, every, everyAsync) => {
      const kit = readKit(name)
      for (const source of isSlowRun ? kit.sources : kit.sources.slice(0, 1)) {
        const engine = await loadEngine(source)
        const limits = { maxEventLoopDelayMs: Number.POSITIVE_INFINITY }
        const overSync = createRequestListener({ ledger: createLedger(engine), ...limits })
        const overAsync = createRequestListener({ ledger: createAsyncLedger(engineToAsync(engine)), ...limits })
        const requests = kit.requests.filter(({ area }) => area === source.area)
        const differences: unknown[] = []
        for (const [at, request] of requests.entries()) {
          if (isSlowRun || at % every === 0) {
            const difference = await differenceOf(overSync, request)
            if (difference) differences.push([request.id, request.body_text, request.expect, difference])
          }
          if (at % everyAsync === 0) {
            const difference = await differenceOf(overAsync, request)
            if (difference) differences.push(['async', request.id, request.expect, difference])
          }
        }
        expect(differences).toEqual([])
      }
    },
  )

  it('of the framework are answered by a slice as by the whole, or it names an account that they were asked about', async () => {
    const kit = readKit('views-framework')
    for (const source of isSlowRun ? kit.sources : kit.sources.slice(0, 1)) {
      const ledger = createLedger(await loadFramework(source))
      const listener = createRequestListener({ ledger, maxEventLoopDelayMs: Number.POSITIVE_INFINITY })
      const found = { asWhole: 0, unknown: 0 }
      const differences: unknown[] = []
      const requests = kit.requests.filter(({ area }) => area === source.area)
      for (const request of requests.filter((_, at) => isSlowRun || at % 7 === 0)) {
        const difference = await differenceOf(listener, request)
        if (!difference) found.asWhole++
        else if (!isOfFrameworkAlone(request) && saysUnknownAccount(difference)) found.unknown++
        else differences.push([request.id, request.body_text, request.expect, difference])
      }
      expect(differences).toEqual([])
      expect(found.asWhole).toBeGreaterThan(10)
      expect(found.unknown).toBeGreaterThan(10)
    }
  })
})
