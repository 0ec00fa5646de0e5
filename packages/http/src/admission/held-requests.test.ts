import { connect } from 'node:net'
import { createMemoryEngine, engineToAsync, type StateReader, type StateWriter } from '@ledger-state/engine'
import { createAsyncLedger, createLedger } from '@ledger-state/ledger'
import { eventually, PATIENCE_MS } from '@ledger-state/testing/eventually'
import { afterEach, describe, expect, it } from 'vitest'
import { RAW_ITEM_BODY, type RunningServer, startServerOver, stopServer } from '../../testing/one-item-server.ts'
import { createSignedTransactions } from '../../testing/signed-transactions.ts'
import type { AnswerReport } from '../server/request-listener-options.js'

const ITEM = '/v1/tables/0x7/raw_item'

let running: RunningServer | undefined
afterEach(async () => {
  if (running) await stopServer(running)
  running = undefined
})

/** A service whose newest version the test sets, with the reports of its answers. */
async function serve(limits: { maxHoldMs?: number; maxHeld?: number; spreadMs?: number } = {}) {
  const engine = createMemoryEngine()
  const answered: AnswerReport[] = []
  const onAnswered = (one: AnswerReport): void => void answered.push(one)
  running = await startServerOver(engine satisfies StateReader, { maxHoldMs: PATIENCE_MS, ...limits, onAnswered })
  let received = 0
  running.server.on('request', () => received++)
  const hasReceived = (count: number) =>
    eventually(
      () => received >= count,
      () => `${count} requests; ${received} have come`,
    )
  const url = `http://127.0.0.1:${running.port}`
  const reach = async (latest: bigint): Promise<void> => {
    for (let version = (engine.ledger?.latestVersion ?? -1n) + 1n; version <= latest; version++)
      await engine.commit([{ version, block: { height: version, epoch: 0n, timestampUsec: version }, writes: [] }], {
        chainId: 4n,
      })
  }
  const get = (minimum: string, init: RequestInit = {}, path = '/v1') =>
    fetch(`${url}${path}`, { ...init, headers: { 'x-svc-min-ledger-version': minimum, ...init.headers } })
  return { answered, engine, get, hasReceived, reach, port: running.port }
}

const versionOf = async (response: Promise<Response>): Promise<string | null> =>
  (await response).headers.get('x-svc-ledger-version')

describe('a request that names the version it was shown', () => {
  it('is answered at once if that version is served', async () => {
    const { get, reach } = await serve()
    await reach(3n)
    for (const minimum of ['0', '3']) expect(await versionOf(get(minimum))).toBe('3')
  })

  it('is 400 if the header is not a version, unless it asks for health', async () => {
    const { get, reach } = await serve()
    await reach(3n)
    for (const minimum of ['-1', 'x', '', '1e3', String(2n ** 64n), '9'.repeat(21), '1, 2']) {
      const answer = await get(minimum)
      expect([answer.status, await answer.json()], minimum).toEqual([
        400,
        {
          message: expect.stringContaining('failed to parse header `x-svc-min-ledger-version`'),
          error_code: 'web_framework_error',
        },
      ])
      expect((await get(minimum, {}, '/v1/-/healthy')).status).toBe(200)
    }
  })

  it('waits until that version is served, whatever its method, with its body; its metrics count the wait', async () => {
    const { answered, get, hasReceived, reach } = await serve()
    const body = { method: 'POST', body: RAW_ITEM_BODY, headers: { 'content-type': 'application/json' } }
    const answers = [get('7'), get('8', body, ITEM), get('9')]
    await reach(6n)
    await get('5')
    await hasReceived(4)
    expect(answered.map(({ route }) => route)).toEqual(['/v1'])
    const waitedFrom = performance.now()
    while (performance.now() - waitedFrom < 50) await new Promise(setImmediate)
    await reach(8n)
    expect(await versionOf(answers[0]!)).toBe('8')
    expect(await (await answers[1]!).json()).toMatchObject({ error_code: 'table_item_not_found' })
    await reach(9n)
    expect(await versionOf(answers[2]!)).toBe('9')
    const held = answered.slice(1)
    expect(held.map(({ route, status }) => [route, status])).toEqual([
      ['/v1', 200],
      ['/v1/tables/{table_handle}/raw_item', 404],
      ['/v1', 200],
    ])
    for (const { seconds } of held) expect(seconds).toBeGreaterThan(0.05)
  })

  it('is answered 503 if that takes too long, which is counted as such', async () => {
    const { answered, get, reach } = await serve({ maxHoldMs: 30 })
    await reach(6n)
    const answer = await get('7')
    expect([answer.status, answer.headers.has('retry-after'), answer.headers.get('connection')]).toEqual([
      503,
      true,
      'close',
    ])
    expect(await answer.json()).toEqual({
      message: 'version 7 is not served here yet; the newest is 6',
      error_code: 'version_not_found',
    })
    expect(answered).toMatchObject([{ route: '/v1', status: 503 }])
    // A timer may fire a millisecond early.
    expect(answered[0]!.seconds).toBeGreaterThan(0.028)
  })

  it('is answered 503 if too many wait; those that wait are answered', async () => {
    const { get, reach } = await serve({ maxHeld: 2 })
    await reach(6n)
    const answers = [get('7'), get('7'), get('7')]
    expect((await Promise.race(answers)).status).toBe(503)
    await reach(7n)
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 200, 503])
  })

  it('is not held if it asks for health', async () => {
    const { get, reach } = await serve()
    await reach(6n)
    expect((await get('7', {}, '/v1/-/healthy')).status).toBe(200)
  })

  it('of a client that leaves is dropped, and counted as that', async () => {
    const { answered, get, reach, port } = await serve()
    await reach(6n)
    const client = connect(port, '127.0.0.1')
    client.write('GET /v1/accounts/0x1 HTTP/1.1\r\nhost: x\r\nx-svc-min-ledger-version: 7\r\n\r\n')
    const count = () =>
      new Promise<number>((resolve) => running!.server.getConnections((_, connections) => resolve(connections)))
    await eventually(
      async () => (await count()) === 1,
      () => 'a connection',
    )
    client.destroy()
    await eventually(
      () => answered.length === 1,
      () => 'its end',
    )
    expect(answered).toMatchObject([{ route: '/v1/accounts/{address}', status: 499 }])
    await reach(7n)
    expect(await versionOf(get('7'))).toBe('7')
  })

  it('is described by the OpenAPI document, for every operation but health', async () => {
    const { port } = await serve()
    const { paths } = (await (await fetch(`http://127.0.0.1:${port}/v1/spec.json`)).json()) as {
      paths: Record<string, Record<string, { operationId: string; parameters: { name: string; in: string }[] }>>
    }
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
    const without = operations.filter(
      ({ parameters }) => !parameters.some((one) => one.name === 'x-svc-min-ledger-version' && one.in === 'header'),
    )
    expect(without.map(({ operationId }) => operationId)).toEqual(['healthy'])
  })
})

describe('a request for a version just above the latest', () => {
  const jsonOf = async (response: Promise<Response>): Promise<unknown> => (await response).json()
  /** Asks for an item, which no version has, and for a block, at a version. */
  const askAt = (port: number, version: bigint) => {
    const url = `http://127.0.0.1:${port}`
    const headers = { 'content-type': 'application/json' }
    return [
      jsonOf(fetch(`${url}${ITEM}?ledger_version=${version}`, { method: 'POST', body: RAW_ITEM_BODY, headers })),
      jsonOf(fetch(`${url}/v1/blocks/by_version/${version}`)),
    ]
  }

  it('waits for it if another process may have shown it', async () => {
    const { port, hasReceived, reach } = await serve({ spreadMs: PATIENCE_MS })
    await reach(3n)
    const [item, block] = askAt(port, 4n)
    await hasReceived(2)
    await reach(4n)
    expect(await item).toMatchObject({ error_code: 'table_item_not_found' })
    expect(await block).toMatchObject({ block_height: '4' })
  })

  it('waits for the block of a height, for the version of a transaction, and for one in a header', async () => {
    const { answered, port, hasReceived, reach } = await serve({ spreadMs: PATIENCE_MS })
    await reach(3n)
    const url = `http://127.0.0.1:${port}/v1`
    const headers = { 'content-type': 'application/json', 'x-svc-ledger-version': '4' }
    const document = jsonOf(
      fetch(`${url}/graphql`, { method: 'POST', body: '{"query":"{ledger_infos{chain_id}}"}', headers }),
    )
    const answers = [
      'blocks/by_height/4',
      'transactions/by_version/4',
      'transactions?start=4',
      'transactions/auxiliary_info?start_version=4',
      'accounts/0x1/transaction_summaries?end_version=4',
    ].map((path) => jsonOf(fetch(`${url}/${path}`)))
    await hasReceived(answers.length + 1)
    await fetch(url)
    expect(answered.map(({ route }) => route)).toEqual(['/v1'])
    await reach(4n)
    expect(await answers[0]).toMatchObject({ block_height: '4' })
    expect(await document).not.toMatchObject({ error_code: 'version_not_found' })
    // This store keeps no transactions.
    for (const answer of answers.slice(1)) expect(await answer).toMatchObject({ error_code: 'api_disabled' })
  })

  it('waits for the block of a time, which another process may have shown', async () => {
    const { answered, port, hasReceived, reach } = await serve({ spreadMs: PATIENCE_MS })
    await reach(3n)
    const url = `http://127.0.0.1:${port}/v1`
    const balance = `${url}/accounts/0x1/balance/0xa`
    const answers = ['?ledger_timestamp=4', '/history?to=1970-01-01T00:00:00.000004Z'].map((end) =>
      fetch(balance + end),
    )
    await hasReceived(answers.length)
    for (const end of ['?ledger_timestamp=3', '?ledger_timestamp=x', '?ledger_timestamp=10001000004'])
      await fetch(balance + end)
    expect(answered.map(({ status }) => status)).toEqual([200, 400, 200])
    await reach(4n)
    for (const answer of answers) expect((await answer).headers.get('x-svc-read-version')).toBe('4')
  })

  it.each([
    ['of this machine', createLedger],
    ['on other machines', (engine: StateWriter) => createAsyncLedger(engineToAsync(engine))],
  ] as const)('waits once for a transaction by its hash, in a state %s', async (_, ledgerOver) => {
    const { engine, chain } = await createSignedTransactions({ seed: 1 })
    const { latestVersion } = chain
    const cut = latestVersion - 5n
    const ledger = ledgerOver(engine)
    running = await startServerOver(engine, { ledger, maxHoldMs: PATIENCE_MS, spreadMs: PATIENCE_MS })
    const url = `http://127.0.0.1:${running.port}/v1`
    const read = async (path: string) => {
      const answer = await fetch(`${url}/transactions/${path}`)
      return { status: answer.status, body: (await answer.json()) as { hash?: string } }
    }
    const newest = await read(`by_version/${latestVersion}`)
    const { hash } = newest.body
    const rest = [...engine.versions(cut + 1n, latestVersion)]
    await engine.truncateTo(cut)
    const waiting = ['by_hash', 'wait_by_hash'].map((name) => read(`${name}/${hash}`))
    const unknown = read(`by_hash/0x${'00'.repeat(32)}`)
    const atVersion = await read(`by_hash/${hash}?ledger_version=${cut}`)
    expect(atVersion.status).toBe(404)
    await engine.commit(rest, { chainId: engine.ledger!.chainId })
    for (const answer of waiting) expect(await answer).toEqual(newest)
    expect((await unknown).status).toBe(404)
  })

  it('waits for nothing if a refresh shows all that another process may have shown', async () => {
    const { engine, chain } = await createSignedTransactions({ seed: 1 })
    const { latestVersion } = chain
    const { engine: behind } = await createSignedTransactions({ seed: 1 })
    await behind.truncateTo(latestVersion - 1n)
    let shown: StateReader = behind
    let refreshes = 0
    const lagging: StateReader = {
      get ledger() {
        return shown.ledger
      },
      get base() {
        return shown.base
      },
      at: (version) => shown.at(version),
      blockAt: (version) => shown.blockAt(version),
      blockByHeight: (height) => shown.blockByHeight(height),
      blockAtTime: (time) => shown.blockAtTime(time),
      history: (key, options) => shown.history(key, options),
    }
    const refresh = (): void => {
      refreshes++
      shown = engine
    }
    running = await startServerOver(lagging, { maxHoldMs: PATIENCE_MS, spreadMs: PATIENCE_MS, refresh })
    const url = `http://127.0.0.1:${running.port}/v1`
    const read = async (path: string) => {
      const before = refreshes
      shown = behind
      const answer = await fetch(`${url}/${path}`)
      return [(await answer.json()) as { hash?: string }, refreshes - before] as const
    }
    const [newest] = await read(`transactions/by_version/${latestVersion}`)
    expect(newest).toMatchObject({ version: String(latestVersion) })
    expect(await read(`transactions/by_hash/${newest.hash}`)).toEqual([newest, 1])
    expect(await read(`blocks/by_version/${latestVersion}`)).toMatchObject([{ last_version: String(latestVersion) }, 1])
    const unknown = `transactions/by_hash/0x${'00'.repeat(32)}`
    expect(await read(unknown)).toMatchObject([{ error_code: 'transaction_not_found' }, 1])
    const notFound = { error_code: 'version_not_found' }
    expect(await read(`blocks/by_version/${latestVersion + 1n}`)).toMatchObject([notFound, 1])
    expect(await read(`blocks/by_version/${latestVersion + 20_000n}`)).toMatchObject([notFound, 0])
    expect(await read(`blocks/by_version/${latestVersion - 1n}`)).toMatchObject([{}, 0])
  })

  it('is not refused for a parameter that its operation does not have', async () => {
    const { port, reach } = await serve({ spreadMs: PATIENCE_MS })
    await reach(3n)
    const answer = await fetch(`http://127.0.0.1:${port}/v1/accounts/0x1/balance/0xa?start=%zz`)
    expect([answer.status, await answer.text()]).toEqual([200, '0'])
  })

  it('waits for a version or a branch that another process has shown in a cursor', async () => {
    const { engine, port, hasReceived, reach } = await serve({ spreadMs: PATIENCE_MS })
    await reach(3n)
    const pageOf = (cursor: string) =>
      jsonOf(
        fetch(`http://127.0.0.1:${port}/v1/accounts/0x1/balance/0x1::aptos_coin::AptosCoin/history?start=${cursor}`),
      )
    const pages = ['4.0.4', '2.1.2'].map(pageOf)
    await hasReceived(2)
    await reach(4n)
    expect(await pages[0]).toEqual([])
    await engine.truncateTo(2n)
    expect(await pages[1]).toEqual([])
    expect(await pageOf('4.0.4')).toMatchObject({ error_code: 'version_not_found' })
  })

  it('is answered without it if it does not come, is far above, or too many wait', async () => {
    for (const [limits, version] of [
      [{ spreadMs: 20 }, 4n],
      [{}, 4n],
      [{ spreadMs: PATIENCE_MS }, 10_004n],
      [{ spreadMs: PATIENCE_MS, maxHeld: 0 }, 4n],
    ] as const) {
      const { port, reach } = await serve(limits)
      await reach(3n)
      for (const answer of askAt(port, version))
        expect(await answer, JSON.stringify(limits)).toMatchObject({ error_code: 'version_not_found' })
      const block = fetch(`http://127.0.0.1:${port}/v1/blocks/by_height/${version}`)
      expect(await jsonOf(block), JSON.stringify(limits)).toMatchObject({ error_code: 'block_not_found' })
      await stopServer(running!)
      running = undefined
    }
  })
})
