import { type JsonValue, parseJson } from '@ledger-state/bcs'
import { bytesToHex, clip, isLedgerStateError } from '@ledger-state/core'
import { parseViewFunction } from '@ledger-state/http'
import { callView, type StoredValue } from '@ledger-state/ledger'
import { parseTypeTag, type TypeTag } from '@ledger-state/type-tag'
import type { Command } from '../config/command.js'
import { type Option, parseAs, switchOption } from '../config/option.js'
import { splitTypes } from '../config/split-types.js'
import { usageError } from '../errors.js'
import { openLedger } from '../stores/ledger-reader.js'
import { storePlace } from '../stores/store-place.js'
import { hintOfFunction, namingAbsent } from './absent-names.js'
import { askedVersion, namesOfStateOptions, stateOptions } from './asked-state.js'
import { namesOfHistoryOptions, printViewHistory, VIEW_HISTORY_OPTIONS } from './view-history.js'

const typeArgumentOption: Option<readonly TypeTag[]> = {
  name: 'type-arg',
  value: 'TYPE',
  description: 'a type argument; repeat the option for further ones, or separate them with commas',
  isList: true,
  parse: (text) => splitTypes(text).map(parseTypeTag),
}
const bcsOption = switchOption('bcs', 'print the BCS of each result in hex, one per line')
const historyOption = switchOption('history', 'print each version at which the answer changed, one per line')

export const viewCommand: Command = {
  name: 'view',
  summary: 'Runs a view function, and prints its results as a JSON array.',
  details: `The view runs with the modules and the state of the version. An argument is JSON; a word that is not JSON, such as an address, is a
string. Numbers may have any size. With --history, the command prints every change of the answer, or with --every the answers at points in
time. The options --from, --to, --order, --limit, --csv, --format and --ignore-clock need --history.`,
  arguments: [
    { name: 'FUNCTION', description: 'the function, such as 0x1::coin::balance' },
    { name: 'ARG', description: 'its arguments, as clients write them in JSON', isRest: true },
  ],
  options: [typeArgumentOption, bcsOption, ...stateOptions, historyOption, ...VIEW_HISTORY_OPTIONS],
  examples: [
    'ledger-state view 0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::market::quote 1000000 --version 1500 --data-dir data/demo',
    'ledger-state view 0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::market::quote 1000000 --history --csv --data-dir data/demo',
    'ledger-state view 0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::market::quote 1000000 --history --order asc --format parquet --data-dir data/demo > quote.parquet',
    'ledger-state view 0x1::coin::balance 0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab --type-arg 0x1::aptos_coin::AptosCoin --data-dir data/node',
    'ledger-state view 0x1::coin::supply --type-arg 0x1::aptos_coin::AptosCoin --history --every 1d --csv --data-dir data/node',
  ],
  async run(input) {
    const name = parseAs('FUNCTION', input.argument('FUNCTION'), parseFunction)
    const json = input.rest().map(toArgument)
    const typeArguments = input.get(typeArgumentOption) ?? []
    const asked = askedVersion(input)
    const isHistory = input.get(historyOption)
    const [stateOption] = namesOfStateOptions(input)
    if (isHistory && stateOption !== undefined)
      throw usageError(`--${stateOption} cannot be combined with --history: use --to`)
    if (isHistory && input.get(bcsOption))
      throw usageError('--bcs cannot be combined with --history, which prints the answers as JSON, CSV or Parquet')
    const [misplaced] = isHistory ? [] : namesOfHistoryOptions(input)
    if (misplaced !== undefined) throw usageError(`--${misplaced} needs --history`)
    const print = input.get(bcsOption) ? printBcs : printJson
    const request = { ...name, typeArguments, arguments: { json } }
    const store = await openLedger(storePlace(input, 'view'))
    try {
      if (isHistory) {
        await printViewHistory(store, request, input)
        return
      }
      const text = await store.read((ledger) => {
        const state = ledger.at(asked(ledger))
        return print(
          namingAbsent(
            () => callView(state, request),
            () => hintOfFunction(state, request),
          ),
        )
      })
      process.stdout.write(`${text}\n`)
    } finally {
      await store.close()
    }
  },
}

/** Parses the name of a function. The error of an interface names parts of a request that the command line does not have. */
function parseFunction(text: string): ReturnType<typeof parseViewFunction> {
  try {
    return parseViewFunction(text)
  } catch (error) {
    if (!isLedgerStateError(error)) throw error
    throw usageError(`${JSON.stringify(clip(text))} is not ADDRESS::MODULE::FUNCTION, such as 0x1::coin::balance`)
  }
}

function printJson(results: readonly StoredValue[]): string {
  return `[${results.map((result) => result.toJson()).join(',')}]`
}

function printBcs(results: readonly StoredValue[]): string {
  return results.map(({ bytes }) => bytesToHex(bytes)).join('\n')
}

/** An argument: words such as `7`, `true`, `[1,2]` and `"x"` are JSON; `0x1` and others are texts. */
function toArgument(word: string): JsonValue {
  try {
    return parseJson(word)
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_json')) return word
    throw error
  }
}
