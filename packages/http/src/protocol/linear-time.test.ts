import { isLedgerStateError } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { createLedger } from '@ledger-state/ledger'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countSteps } from '../../testing/count-steps.ts'
import { getLedgerInfo } from '../operations/ledger-info.js'
import { parseModuleName } from '../operations/parts/account-parts.js'
import { parseHistoryQuery } from '../operations/parts/history-page.js'
import { expectKnownParameters } from '../operations/parts/known-parameters.js'
import { parseLimit, parseStateKeyStart } from '../operations/parts/paging.js'
import { expectJsonContentType, parseAddressParameter, parseAskedState } from '../operations/parts/request-parts.js'
import { createRouter } from '../server/router.js'
import { acceptsOnlyJson, chooseFormat, prefersCsv } from './accept.js'
import { chooseEncoding } from './content-encoding.js'
import { matchesEtag } from './etag.js'
import { parseJsonBytes, READ_LIMITS } from './json-body.js'
import { queryParameter } from './query.js'

const ledger = createLedger(createMemoryEngine())
const router = createRouter([
  { method: 'GET', path: '/v1/{a}/b/{c}', negotiates: false, handle: () => ({ contentType: '', body: '' }) },
])

/** All parsers of a client's input. */
const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  Accept: (text) => [chooseFormat(text, 'json'), acceptsOnlyJson(text), prefersCsv(text)],
  'Accept-Encoding': chooseEncoding,
  'If-None-Match': (text) => matchesEtag(text, '"5-json"'),
  'Content-Type': (text) => expectJsonContentType(text),
  'a query parameter': (text) => queryParameter(text, 'ledger_version'),
  'the names of all query parameters': (text) => expectKnownParameters(getLedgerInfo, text),
  'a limit': (text) => parseLimit(`limit=${text}`),
  'a cursor': (text) => parseStateKeyStart(`start=${text}`),
  'the range of a history': (text) => parseHistoryQuery(`from=${text}&to=${text}&order=${text}`),
  'a module name': parseModuleName,
  'a ledger timestamp': (text) => parseAskedState(`ledger_timestamp=${text}`),
  'a ledger version': (text) => parseAskedState(`ledger_version=${text}`),
  'the target of a request line': (text) => router.find('GET', text),
  'a path of parameters': (text) => router.find('GET', `/v1/${text}/b/${text}`),
  'an address': (text) => parseAddressParameter('address', text),
  'a type tag': (text) => ledger.parseType(text),
  'an asset': (text) => ledger.parseAsset(text),
  'a type tag with arguments': (text) => ledger.parseType(`0x1::a::B<${text}>`),
  'a body': (text) => parseJsonBytes(Buffer.from(text), READ_LIMITS),
  'a string in a body': (text) => parseJsonBytes(Buffer.from(`"${text}"`), READ_LIMITS),
}

/** Most passes of a parser over its text. */
const STEPS_PER_CHARACTER = 40
const STEPS_PER_TEXT = 2_000

function stepsOf(parse: (text: string) => unknown, text: string): number {
  return countSteps(() => {
    try {
      parse(text)
    } catch (error) {
      if (!isLedgerStateError(error)) throw error
    }
  })
}

// Repetitions of a few characters, which make parsers backtrack.
const unit = fc.string({ unit: fc.constantFrom(...',;="\\ %+&aq01./*:x<>[]{}\n\t'), minLength: 1, maxLength: 6 })
const hostileText = fc.record({ start: unit, again: unit, end: unit, times: fc.constantFrom(300, 3_000) })

describe('the work that a client causes', () => {
  it.each(Object.keys(PARSERS))('grows no faster than the text: %s', (name) => {
    const limit = (text: string) => STEPS_PER_TEXT + STEPS_PER_CHARACTER * text.length
    fc.assert(
      fc.property(hostileText, ({ start, again, end, times }) => {
        const text = start + again.repeat(times) + end
        expect(stepsOf(PARSERS[name]!, text)).toBeLessThanOrEqual(limit(text))
      }),
      { numRuns: isSlowRun ? 300 : 100 },
    )
    const commas = ','.repeat(31_000)
    expect(stepsOf(PARSERS[name]!, commas)).toBeLessThanOrEqual(limit(commas))
  })

  it('is counted if it grows faster', () => {
    const text = ','.repeat(1_000)
    expect(stepsOf((accept) => accept.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/), text)).toBeGreaterThan(500_000)
    const tail = (rest: string): unknown => rest !== '' && tail(rest.slice(1))
    expect(stepsOf(tail, text)).toBeGreaterThan(500_000)
  })
})
