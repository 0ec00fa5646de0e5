// Lists and histories without a line: the reason on standard error, and status 0.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'

const MARKET = '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::market::quote'
const TYPE = '0x1::account::Account'
const ITEM = ['--key-type', 'u64', '--value-type', 'u64', '--key', '"4"']

let bed: CommandBed

beforeAll(async () => {
  bed = new CommandBed()
  await bed.fillWithDemo('demo')
})
afterAll(async () => {
  await bed.close()
})

function list(...words: string[]) {
  return bed.run(...words, '--data-dir', 'demo')
}

describe('an empty list', () => {
  it.each([
    ['get balances 0x5 --nonzero --asset 0xa', 'no holdings above zero of 0x5 in this asset at version 2999'],
    ['get holders 0x5', 'no holders of 0x5 at version 2999: this state has no such asset'],
    ['get holders 0x5::x::Y', 'no holders of 0x5::x::Y at version 2999: 0x5 has no modules'],
    ['get tokens 0x5 --version 2000', 'no tokens of 0x5 at version 2000: this state has no such collection'],
    ['history account 0x5', 'no changes of this account from version 0 to 2999'],
    ['history balance 0x5 0xa', 'no changes of this balance from version 0 to 2999: check ADDRESS and ASSET'],
    [
      `history resource 0x5 ${TYPE} --from 9 --to 12`,
      'no changes of this resource from version 9 to 12: an earlier --from may show some',
    ],
    [
      `history resource 0x5 ${TYPE} --from 4000`,
      'no changes of this resource: --from is version 4000, above the last one, 2999',
    ],
  ])('of %s says so on standard error', (line, notice) => {
    expect(list(...line.split(' '))).toMatchObject({ status: 0, stdout: '', stderr: `${notice}\n` })
  })

  it('of a table item says that there is no table, or names the words to check', () => {
    const history = (handle: string) => list('history', 'table-item', handle, ...ITEM)
    const none = 'no changes of this table item from version 0 to 2999'
    const noTable = `${none}: the table 0x5 has no items\n`
    expect(history('0x5')).toMatchObject({ status: 0, stdout: '', stderr: noTable })
    const noItem = `${none}: check HANDLE, --key-type and --key\n`
    expect(history('0x7ab1e3')).toMatchObject({ status: 0, stdout: '', stderr: noItem })
  })

  it('is a head without lines as CSV', () => {
    const { status, stdout, stderr } = list('get', 'holders', '0x5', '--csv')
    expect([status, stderr]).toEqual([0, 'no holders of 0x5 at version 2999: this state has no such asset\n'])
    expect(stdout).toMatch(/^asset_type,[^\n]*\n$/)
  })

  it('of points in time says why there are none', () => {
    const stderr =
      'no answers: points in time are the multiples of 604800 seconds since 1970, and none is from 2025-01-01T00:00:08Z to 2025-01-01T00:25:00Z, the times of the range; give a shorter --every or a longer range\n'
    const words = ['view', MARKET, '1000000', '--history', '--from', '10', '--every', '1w']
    expect(list(...words)).toMatchObject({ status: 0, stdout: '', stderr })
  })
})

it('a list of an unknown version prints nothing, no head of CSV either', () => {
  const stderr = expect.stringContaining('the store holds versions 0 to 2999')
  expect(list('get', 'holders', '0xa', '--csv', '--version', '5000')).toMatchObject({ status: 1, stdout: '', stderr })
})
