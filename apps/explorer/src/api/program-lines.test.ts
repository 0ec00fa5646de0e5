import { runInThisContext } from 'node:vm'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toCommandLine, toCurl, toSdkLine, toStandardAddress } from './program-lines.ts'

const COIN = encodeURIComponent('0x1::coin::CoinStore<0x2::b::Bean>')

it('the page writes a read of an account for curl, ts-sdk and the command line', () => {
  const request = { path: `/accounts/0xa/resource/${COIN}`, at: '15' }
  expect(toCurl('http://node:80', request)).toBe(
    `curl 'http://node:80/v1/accounts/0xa/resource/${COIN}?ledger_version=15'`,
  )
  expect(toSdkLine(request)).toBe(
    "await aptos.getAccountResource({ accountAddress: '0xa', resourceType: '0x1::coin::CoinStore<0x2::b::Bean>', options: { ledgerVersion: 15n } })",
  )
  expect(toCommandLine(request)).toBe(
    "ledger-state get resource 0xa '0x1::coin::CoinStore<0x2::b::Bean>' --version 15 --data-dir DIR",
  )
})

it('the page writes the request for the ledger itself', () => {
  expect(toCurl('http://n', { path: '' })).toBe('curl http://n/v1')
  expect(toSdkLine({ path: '' })).toBe('await aptos.getLedgerInfo()')
  expect(toCommandLine({ path: '' })).toBe('ledger-state info --data-dir DIR')
})

it('the page writes a call of a view for curl, ts-sdk and the command line', () => {
  const body = JSON.stringify({ function: '0x1::coin::balance', type_arguments: ['0x2::b::Bean'], arguments: ['0xa'] })
  const request = { path: '/view', at: '15', body }
  expect(toCurl('http://n', request)).toContain(`'http://n/v1/view?ledger_version=15'`)
  expect(toSdkLine(request)).toBe(
    'await aptos.viewJson({ payload: {"function":"0x1::coin::balance","typeArguments":["0x2::b::Bean"],"functionArguments":["0xa"]}, options: { ledgerVersion: 15n } })',
  )
  expect(toCommandLine(request)).toBe(
    'ledger-state view 0x1::coin::balance 0xa --type-arg 0x2::b::Bean --version 15 --data-dir DIR',
  )
})

it('the page quotes characters that a shell would interpret', () => {
  const body = JSON.stringify({ key_type: '0x1::string::String', value_type: 'u8', key: "it's" })
  const request = { path: '/tables/0x7/item', body }
  expect(toCurl('http://n', request)).toContain(`"key":"it'\\''s"`)
  expect(toCommandLine(request)).toBe(
    `ledger-state get table-item 0x7 --key-type 0x1::string::String --value-type u8 --key '"it'\\''s"' --data-dir DIR`,
  )
})

it('the page writes a text argument of a view that looks like JSON as JSON, which the command would read otherwise', () => {
  const words = ['7', 'true', 'null', '[1]', ' 7', '"', 'a b', '']
  const body = JSON.stringify({ function: '0x1::a::b', type_arguments: [], arguments: words })
  expect(toCommandLine({ path: '/view', body })).toBe(
    `ledger-state view 0x1::a::b '"7"' '"true"' '"null"' '"[1]"' '" 7"' '"' 'a b' '' --data-dir DIR`,
  )
})

it('the page writes no call of the SDK that answers the latest state in place of an earlier one', () => {
  for (const path of ['/accounts/0xa', '/accounts/0xa/balance/0xa']) {
    expect(toSdkLine({ path })).toBeDefined()
    expect(toSdkLine({ path, at: '15' })).toBeUndefined()
  }
})

it('the page writes nothing if there is no such call or command', () => {
  expect(toSdkLine({ path: '/accounts/0xa/balance/0xa/history?limit=5' })).toBeUndefined()
  expect(toSdkLine({ path: '/accounts/0xa/resources', at: '2025-01-01T00:00:00Z' })).toBeUndefined()
  expect(toCommandLine({ path: '/accounts/0xa/resources' })).toBeUndefined()
  expect(toCommandLine({ path: '/accounts/0xa/balance/0xa/history?limit=5' })).toBe(
    'ledger-state history balance 0xa 0xa --limit 5 --data-dir DIR',
  )
})

it('the page gives programs addresses in the form of AIP-40', () => {
  expect(['0x0', '0x00f', 'A', '0x10', '0xA11CE', '0x1'.padEnd(66, 'f')].map(toStandardAddress)).toEqual([
    '0x0',
    '0xf',
    '0xa',
    `0x${'10'.padStart(64, '0')}`,
    `0x${'a11ce'.padStart(64, '0')}`,
    '0x1'.padEnd(66, 'f'),
  ])
  expect(toSdkLine({ path: '/accounts/0xb0b/balance/0xf00d' })).toBe(
    `await aptos.getBalance({ accountAddress: '${toStandardAddress('0xb0b')}', asset: '${toStandardAddress('0xf00d')}' })`,
  )
})

it('the page gives programs nothing for a body that is not JSON, and no other address than the given text', () => {
  const request = { path: '/tables/0x7/item', body: '{"key_type":"u8","value_type":"u8","key":{}' }
  expect([toSdkLine(request), toCommandLine(request)]).toEqual([undefined, undefined])
  expect([toSdkLine({ path: '/view', body: '[' }), toCommandLine({ path: '/view', body: '[' })]).toEqual([
    undefined,
    undefined,
  ])
  expect(toStandardAddress('zzz')).toBe('zzz')
  expect(toSdkLine({ path: '/accounts/zzz' })).toBe("await aptos.getAccountInfo({ accountAddress: 'zzz' })")
})

it('the page writes commands and calls with nothing from the address of the page that a shell or a program would run', () => {
  const [time, line] = ['2025-01-01T00:00:00Z; touch /tmp/x', "a'\nprocess.exit()//"]
  expect(toCommandLine({ path: '/accounts/0xa', at: time })).toBe(
    `ledger-state get account 0xa --at '${time}' --data-dir DIR`,
  )
  expect(toCommandLine({ path: '/accounts/0xa/balance/0xa/history?limit=5;x' })).toContain(` --limit '5;x' `)
  for (const subject of ['by_height', 'by_version']) {
    expect(toSdkLine({ path: `/blocks/${subject}/${encodeURIComponent('1 }); process.exit(')}` })).toBeUndefined()
  }
  expect(toSdkLine({ path: `/accounts/${encodeURIComponent(line)}` })).toBe(
    String.raw`await aptos.getAccountInfo({ accountAddress: 'a\'\nprocess.exit()//' })`,
  )
})

it('the literals that the page writes are the given texts', () => {
  const type = fc.string({ unit: 'binary-ascii' }).filter((text) => text !== '')
  fc.assert(
    fc.property(type, (text) => {
      const line = toSdkLine({ path: `/accounts/0xa/resource/${encodeURIComponent(text)}` })
      const [, literal] = /resourceType: (.*) }\)$/.exec(line!)!
      expect(runInThisContext(literal!)).toBe(text)
    }),
  )
})

it('the page keeps each digit of long numbers, and puts words with a hyphen behind the options', () => {
  const body = '{"function":"0x1::a::b","type_arguments":[],"arguments":[-5,[18446744073709551615]]}'
  const request = { path: '/view', at: '15', body }
  expect(toSdkLine(request)).toContain('"functionArguments":[-5,["18446744073709551615"]]')
  expect(toCommandLine(request)).toBe(
    `ledger-state view --version 15 --data-dir DIR -- 0x1::a::b -5 '["18446744073709551615"]'`,
  )
  const item = { path: '/tables/0x7/item', body: '{"key_type":"u128","value_type":"u8","key":9007199254740993}' }
  expect(toCommandLine(item)).toContain(`--key '"9007199254740993"'`)
})
