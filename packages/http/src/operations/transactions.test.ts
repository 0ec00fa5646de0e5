import { parseAddress, type Write } from '@ledger-state/core'
import { engineToAsync, type StateWriter } from '@ledger-state/engine'
import { createAsyncLedger, createLedger } from '@ledger-state/ledger'
import { HELD, HOLDERS, u64, viewLedger } from '@ledger-state/ledger/testing/view-ledger'
import { TRANSACTIONS_KEY, transactionKey, transactionToBytes } from '@ledger-state/records'
import { parseStructTag, resourceKey, tableItemKey } from '@ledger-state/type-tag'
import { inject } from 'light-my-request'
import { beforeAll, describe, expect, it } from 'vitest'
import { createRequestListener } from '../server/create-request-listener.js'

const HOLDER = '0xa1'
const COIN = '0x1::aptos_coin::AptosCoin'
const HOLDER_KEY = resourceKey(HOLDERS[0]!, HELD)
const COIN_KEY = resourceKey(HOLDERS[0]!, parseStructTag(`0x1::coin::CoinStore<${COIN}>`))
const TABLE_KEY = tableItemKey(parseAddress('0x7'), Uint8Array.of(1))
const VALUE = { function: '0x42::main::value', type_arguments: [], arguments: [HOLDER] }
const CALLED = '0x1::aptos_account::transfer'

/** Writes of the transaction of a version: a user's for even ones, the chain's for odd ones. */
function ownWrites(version: number): Write[] {
  const hash = new Uint8Array(32).fill(version)
  const isUser = version % 2 === 0
  const made = isUser
    ? ({ kind: 'user', hash, isSuccess: version !== 4, sender: parseAddress('0xb0b'), entryFunction: CALLED } as const)
    : ({ kind: 'block_metadata', hash, isSuccess: true } as const)
  return [[transactionKey(BigInt(version)), transactionToBytes(made)]]
}

const hashOf = (version: number) => `0x${version.toString(16).padStart(2, '0').repeat(32)}`

function transactionOf(version: number) {
  const isUser = version % 2 === 0
  return {
    hash: hashOf(version),
    type: isUser ? 'user_transaction' : 'block_metadata_transaction',
    success: version !== 4,
    sender: isUser ? '0xb0b' : null,
    function: isUser ? CALLED : null,
  }
}

/** A ledger in which each version from 1 to 6 writes observed keys; transactions are known since version 3. */
function ledgerWith(transactions: boolean): Promise<StateWriter> {
  const versions = Array.from({ length: 6 }, (_, at): Write[] => {
    const version = at + 1
    const coins = Uint8Array.of(version, ...new Uint8Array(104))
    const state: Write[] = [
      [HOLDER_KEY, u64(version)],
      [COIN_KEY, coins],
      [TABLE_KEY, Uint8Array.of(version)],
    ]
    if (!transactions || version < 3) return state
    return [...state, ...ownWrites(version), ...(version === 3 ? [[TRANSACTIONS_KEY, new Uint8Array(0)] as const] : [])]
  })
  return viewLedger(0n, versions)
}

function ask(engine: StateWriter, over: string) {
  const ledger = over === 'memory' ? createLedger(engine) : createAsyncLedger(engineToAsync(engine))
  const listener = createRequestListener({ ledger, maxEventLoopDelayMs: Number.POSITIVE_INFINITY })
  return async (url: string, body?: object, accept = 'application/json') => {
    const { statusCode, body: text } = await inject(listener, {
      method: body ? 'POST' : 'GET',
      url: `/v1${url}`,
      headers: { accept, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { payload: JSON.stringify(body) }),
    })
    expect([statusCode, text]).toEqual([200, expect.any(String)])
    return text
  }
}

interface Shown {
  readonly version: string
  readonly transaction?: object
}

const HISTORIES = [
  ['a balance', `/accounts/${HOLDER}/balance/${COIN}/history`, undefined],
  ['a resource', `/accounts/${HOLDER}/resource/0x42::main::R/history`, undefined],
  ['a raw table item', '/tables/0x7/raw_item/history', { key: '0x01' }],
  ['a table item', '/tables/0x7/item/history', { key_type: 'u8', value_type: 'u8', key: 1 }],
  ['a view', '/view/history', VALUE],
] as const

describe.each(['memory', 'another machine'])('transactions of a store in %s', (over) => {
  let keeping: StateWriter
  let plain: StateWriter
  beforeAll(async () => {
    keeping = await ledgerWith(true)
    plain = await ledgerWith(false)
  })

  it.each(HISTORIES)('are with the changes in the history of %s', async (_, url, body) => {
    const changes = JSON.parse(await ask(keeping, over)(url, body)) as Shown[]
    const shown = changes.map(({ version, transaction }) => [version, transaction])
    expect(shown.filter(([version]) => Number(version) > 0)).toEqual(
      [6, 5, 4, 3, 2, 1].map((version) => [String(version), version < 3 ? undefined : transactionOf(version)]),
    )
    expect(await ask(plain, over)(url, body)).not.toContain('transaction')
  })

  it.each([HISTORIES[0], HISTORIES[4]])('are columns of the CSV of %s', async (_, url, body) => {
    const lines = (await ask(keeping, over)(`${url}?limit=5`, body, 'text/csv')).split('\r\n')
    expect(lines[0]).toMatch(/,error,transaction,sender,function,success$/)
    expect(lines.slice(1, 6).map((line) => line.split(',').slice(-4))).toEqual(
      [6, 5, 4, 3, 2].map((version) => {
        if (version < 3) return ['', '', '', '']
        const { hash, sender, function: called, success } = transactionOf(version)
        return [hash, sender ?? '', called ?? '', String(success)]
      }),
    )
    const [head] = (await ask(plain, over)(url, body, 'text/csv')).split('\r\n')
    expect(head).toMatch(/,error$/)
  })

  it('are left out of the points of a curve, and of those at which a view is sampled', async () => {
    expect(await ask(keeping, over)(`${HISTORIES[0][1]}?points=4`)).not.toContain('transaction')
    expect(await ask(keeping, over)('/view/history?samples=3', VALUE)).not.toContain('transaction')
  })

  it('name the writer of the last change of an account', async () => {
    const url = `/accounts/${HOLDER}/changes?from=1&to=5`
    const changes = JSON.parse(await ask(keeping, over)(url)) as { readonly last_write: object }[]
    expect(changes.length).toBe(2)
    const written = { version: '5', transaction: transactionOf(5) }
    for (const { last_write } of changes) expect(last_write).toEqual(written)
    expect(await ask(plain, over)(url)).not.toContain('last_write')
    expect(await ask(keeping, over)(`/accounts/${HOLDER}/changes?from=0&to=2`)).not.toContain('last_write')
  })

  it('are announced by GET /v1/info', async () => {
    expect(JSON.parse(await ask(keeping, over)('/info'))).toMatchObject({ transactions_since: '3' })
    expect(JSON.parse(await ask(plain, over)('/info'))).toMatchObject({ transactions_since: null })
  })
})
