import { parseAddress } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { parseStructTag, resourceKey } from '@ledger-state/type-tag'
import { inject } from 'light-my-request'
import { beforeAll, describe, expect, it } from 'vitest'
import { createRequestListener } from '../server/create-request-listener.js'

/** 2026-01-31T00:00:00Z, in microseconds. */
const START = 1_769_817_600_000_000n
const MINUTE = 60_000_000n
const ACCOUNT = resourceKey(parseAddress('0x1'), parseStructTag('0x1::account::Account'))

describe('a state asked for by its time', () => {
  let listener: ReturnType<typeof createRequestListener>
  beforeAll(async () => {
    const engine = createMemoryEngine()
    // Blocks have two versions and come a minute apart; the account's bytes name the version.
    for (let version = 0n; version < 10n; version++) {
      const height = version / 2n
      const block = { height, epoch: 0n, timestampUsec: START + height * MINUTE }
      const writes = [[ACCOUNT, Uint8Array.of(Number(version))] as const]
      await engine.commit([version % 2n === 0n ? { version, block, writes } : { version, writes }], { chainId: 4n })
    }
    await engine.prune(8n)
    listener = createRequestListener({ ledger: createLedger(engine) })
  })

  const get = async (query: string) => {
    const { statusCode, rawPayload, headers } = await inject(listener, {
      url: `/v1/accounts/0x1?${query}`,
      headers: { accept: 'application/x-bcs' },
    })
    return { status: statusCode, body: rawPayload, headers }
  }
  const versionOf = async (query: string) => {
    const { status, body } = await get(query)
    return status === 200 ? body[0] : status
  }
  const errorOf = async (query: string) => {
    const { status, body } = await get(query)
    return [status, JSON.parse(body.toString()) as unknown]
  }

  it('is the last version of the newest block at or before it', async () => {
    expect(await versionOf(`ledger_timestamp=${START + MINUTE}`)).toBe(3)
    expect(await versionOf(`ledger_timestamp=${START + 2n * MINUTE - 1n}`)).toBe(3)
    expect(await versionOf(`ledger_timestamp=${START + 2n * MINUTE}`)).toBe(5)
    expect(await versionOf('ledger_timestamp=2026-01-31T00:02:59.999999Z')).toBe(5)
    expect(await versionOf('ledger_timestamp=2026-01-31T01:03:00%2B01:00')).toBe(7)
    expect(await versionOf('ledger_timestamp=2026-01-31T01:03:00+01:00')).toBe(7)
    expect(await versionOf(`ledger_timestamp=${BigInt(Date.now()) * 1_000n}`)).toBe(9)
  })

  it('is named by a header, of the request as a whole', async () => {
    const header = async (url: string, requests?: readonly object[]) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await inject(listener, {
        url,
        headers,
        ...(requests && { method: 'POST', payload: JSON.stringify({ requests }) }),
      })
      return answer.headers['x-svc-read-version']
    }
    const time = '2026-01-31T00:02:00Z'
    const later = { path: `/v1/accounts/0x1/balance/0xa?ledger_timestamp=2026-01-31T00:03:00Z` }
    expect(await header(`/v1/accounts/0x1/balance/0xa?ledger_timestamp=${time}`)).toBe('5')
    expect(await header(`/v1/accounts/0x1/balance/0xa/history?to=${time}`)).toBe('5')
    expect(await header('/v1/accounts/0x1/balance/0xa?ledger_version=5')).toBeUndefined()
    expect(await header('/v1/accounts/0x1/balance/0xa')).toBeUndefined()
    expect(await header(`/v1/batch?ledger_timestamp=${time}`, [later])).toBe('5')
    expect(await header('/v1/batch', [later])).toBeUndefined()
  })

  it('is named by the same header if nothing is found at the version', async () => {
    const answer = await inject(listener, '/v1/accounts/0x1/resource/0x1::a::B?ledger_timestamp=2026-01-31T00:02:00Z')
    expect([answer.statusCode, answer.headers['x-svc-read-version']]).toEqual([404, '5'])
    const item = await inject(listener, {
      method: 'POST',
      url: `/v1/tables/0x7/raw_item?ledger_timestamp=${START + 2n * MINUTE}`,
      headers: { 'content-type': 'application/json' },
      payload: '{"key":"0x01"}',
    })
    expect([item.statusCode, item.headers['x-svc-read-version']]).toEqual([404, '5'])
    const byVersion = await inject(listener, '/v1/accounts/0x1/resource/0x1::a::B?ledger_version=5')
    expect([byVersion.statusCode, byVersion.headers['x-svc-read-version']]).toEqual([404, undefined])
  })

  it('is 410 before the oldest block, and 404 in the future', async () => {
    expect(await errorOf(`ledger_timestamp=${START + MINUTE - 1n}`)).toEqual([
      410,
      { error_code: 'version_pruned', message: expect.stringContaining('has been pruned'), oldest_ledger_version: '2' },
    ])
    expect(await errorOf('ledger_timestamp=9999-01-01T00:00:00Z')).toEqual([
      404,
      { error_code: 'version_not_found', message: expect.stringContaining('is in the future') },
    ])
  })

  it('is 400 if a version is given too, or it is not a time', async () => {
    expect(await errorOf(`ledger_version=3&ledger_timestamp=${START}`)).toMatchObject([
      400,
      { error_code: 'invalid_input' },
    ])
    expect(await errorOf('ledger_timestamp=yesterday')).toEqual([
      400,
      {
        error_code: 'web_framework_error',
        message: expect.stringContaining('failed to parse parameter `ledger_timestamp`: "yesterday" is not a time'),
      },
    ])
  })

  it.each(['ledger_verson', 'ledgerVersion', 'version', 'ledger%5Fverison'])(
    'is 400 if a parameter nearly has its name: %s',
    async (name) => {
      const message = `unknown parameter ${JSON.stringify(decodeURIComponent(name))}; did you mean \`ledger_version\`?`
      expect(await errorOf(`foo=1&${name}=3`)).toEqual([400, { error_code: 'invalid_input', message }])
      const answer = await inject(listener, {
        method: 'POST',
        url: '/v1/batch',
        headers: { 'content-type': 'application/json' },
        payload: JSON.stringify({ requests: [{ path: `/v1/accounts/0x1/balance/0xa?${name}=3` }] }),
      })
      expect(JSON.parse(answer.body)).toEqual([{ status: 400, error: { error_code: 'invalid_input', message } }])
    },
  )

  it.each([
    ['/accounts/0x1/balance/0xa/history', 'give its end as `to`'],
    ['/accounts/0x1/resource/0x1::m::T/history', 'give its end as `to`'],
    ['/accounts/0x1/changes', 'give its end as `to`'],
    ['/accounts/0x1/activities', 'give its end as `to`'],
    ['/stream', 'give its beginning as `from`'],
  ])('is 400 of an operation that reads a range, and was ignored: %s', async (path, advice) => {
    for (const query of ['ledger_version=3', 'ledger_timestamp=2026-01-31', 'version=3', 'limit=1&ledgerVersion=3']) {
      const answer = await inject(listener, `/v1${path}?${query}`)
      const message = expect.stringContaining(advice)
      expect([answer.statusCode, JSON.parse(answer.body)]).toEqual([400, { error_code: 'invalid_input', message }])
    }
  })

  it('is read even if other parameters are unknown', async () => {
    expect(await versionOf('foo=1&ledger_version=3&%zz=1&bar')).toBe(3)
    const many = Array.from({ length: 8_000 }, (_, at) => `p${at}`).join('&')
    expect(await versionOf(`${many}&ledger_version=3`)).toBe(3)
  })

  it('is 400 in seconds and milliseconds, which name the time that they would be', async () => {
    for (const time of ['1769817600', '1769817600000']) {
      expect(await errorOf(`ledger_timestamp=${time}`)).toMatchObject([
        400,
        { message: expect.stringMatching(/2026-01-31T00:00:00Z.*send 1769817600000000$/) },
      ])
    }
  })

  it('is the state at the first microsecond of a date', async () => {
    expect(await versionOf('ledger_timestamp=2026-02-01')).toBe(9)
    expect((await errorOf('ledger_timestamp=2026-01-31'))[0]).toBe(410)
  })

  it('is accepted wherever a version is', async () => {
    const { body } = await inject(listener, '/v1/spec.json')
    const { paths } = JSON.parse(body) as { paths: Record<string, Record<string, { parameters: { name: string }[] }>> }
    const names = Object.values(paths).flatMap((methods) =>
      Object.values(methods).map(({ parameters }) => parameters.map(({ name }) => name)),
    )
    const taking = names.filter((one) => one.includes('ledger_version'))
    expect(taking.length).toBeGreaterThan(8)
    for (const one of taking) expect(one).toContain('ledger_timestamp')
  })
})
