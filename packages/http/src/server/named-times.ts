import { parseMoment, parseTimestamp } from '@ledger-state/ledger'
import { type NearPlace, timePlace } from '../admission/near-place.js'
import { ifParsed } from '../protocol/if-parsed.js'
import { readableParameter } from '../protocol/query.js'
import type { FoundRoute } from './router.js'

/** Parameters that name a time, and how each is read; `from` and `to` may also be versions. */
const TIMES: Readonly<Record<string, (text: string) => bigint | undefined>> = {
  ledger_timestamp: parseTimestamp,
  from: timeOf,
  to: timeOf,
}
/** Whether a query may have one of these parameters. Most have none, and are not read again. */
const MAY_NAME_TIME = /timestamp|from|to/

function timeOf(text: string): bigint | undefined {
  const moment = parseMoment(text)
  return 'timestampUsec' in moment ? moment.timestampUsec : undefined
}

/** The newest time at which a request reads; undefined if it names none. */
export function timeNamedBy({ route: { parameters = [] } }: FoundRoute, query: string): NearPlace | undefined {
  if (!MAY_NAME_TIME.test(query)) return undefined
  let newest: bigint | undefined
  for (const { name, in: place } of parameters) {
    const parse = place === 'query' ? TIMES[name] : undefined
    const text = parse && readableParameter(query, name)
    // If it is wrong, the operation reports that.
    const time = text === undefined ? undefined : ifParsed(() => parse!(text))
    if (time !== undefined && (newest === undefined || time > newest)) newest = time
  }
  return newest === undefined ? undefined : timePlace(newest)
}
