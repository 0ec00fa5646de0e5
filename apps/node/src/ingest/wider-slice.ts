import type { LedgerStateError } from '@ledger-state/core'
import type { AsyncStateReader, StateEngineReader } from '@ledger-state/engine'
import { readSliceLines } from '@ledger-state/ingest'
import { type SliceSpec, sliceSpecToLines } from '@ledger-state/ledger'
import { widerSlice } from '../errors.js'
import type { StorePlace } from '../stores/store-place.js'

/** Lines that a command names one by one; more of them go through a file. */
const MOST_NAMED = 12

/** The refusal of another slice, with the one command that makes a store of both out of the same source. */
export async function withWiderCommand(
  error: LedgerStateError,
  engine: StateEngineReader | AsyncStateReader,
  place: StorePlace,
  location: string,
  asked: SliceSpec,
): Promise<LedgerStateError> {
  const held = await readSliceLines(engine)
  if (held.length === 0) return error
  const lines = [...new Set([...held, ...sliceSpecToLines(asked)])]
  const into = 'dataDir' in place ? `--data-dir ${quoted(`${place.dataDir}-wider`)}` : '--store URL'
  const ingest = `ledger-state ingest ${quoted(location)} ${into}`
  if (lines.length <= MOST_NAMED) return widerSlice(error, `${ingest} ${lines.map(optionOf).join(' ')}`)
  const from = 'dataDir' in place ? `--data-dir ${quoted(place.dataDir)}` : '--store URL'
  const named = sliceSpecToLines(asked).map((line) => ` ${quoted(line)}`)
  const more = named.length <= MOST_NAMED ? `printf '%s\\n'${named.join('')} >> slice.txt` : 'cat FILE >> slice.txt'
  return widerSlice(error, `ledger-state info --slice ${from} > slice.txt && ${more} && ${ingest} --only slice.txt`)
}

function optionOf(line: string): string {
  if (line.startsWith('table ')) return `--only-table ${line.slice('table '.length)}`
  return line.includes('::') ? `--only-type ${quoted(line)}` : `--only-account ${line}`
}

function quoted(text: string): string {
  return /^[\w./:@=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
