import { bytesToHexDigits, copyBytes } from '@ledger-state/core/bytes'
import { expect, it } from 'vitest'
import { Meter } from '../budget/meter.js'
import { DEFAULT_BUDGET } from '../budget/view-budget.js'
import { StateAccess } from './state-access.js'

const SETTING = Uint8Array.of(1, 2, 3)
const VALUE = Uint8Array.of(1, 2, 4)

it.each([
  ['reads', (access: StateAccess) => access.readForEnvironment({ bytes: SETTING, text: '010203' })],
  ['finds known', (access: StateAccess) => access.useEnvironment([{ bytes: SETTING, text: '010203' }])],
])('a run that %s settings counts other keys as reads, and reports each key once', (_, useSettings) => {
  const meter = new Meter(DEFAULT_BUDGET)
  const reported: string[] = []
  const access = new StateAccess({ read: (key) => key }, meter, (key, text, kind) => {
    expect(text).toBe(bytesToHexDigits(key))
    reported.push(`${kind} ${text}`)
  })
  useSettings(access)
  for (const key of [SETTING, VALUE, VALUE, SETTING]) expect(access.read(copyBytes(key))).toEqual(key)
  expect(meter.usage).toMatchObject({ reads: 1, readBytes: 3 })
  expect(reported).toEqual(['code 010203', 'value 010204'])
})
