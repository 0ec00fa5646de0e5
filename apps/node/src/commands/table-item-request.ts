import { type JsonValue, parseJson } from '@ledger-state/bcs'
import { isLedgerStateError, parseAddress } from '@ledger-state/core'
import type { TableItemRequest } from '@ledger-state/ledger'
import { parseTypeTag } from '@ledger-state/type-tag'
import type { CommandInput } from '../config/command.js'
import { option, parseAs } from '../config/option.js'
import { usageError } from '../errors.js'

const keyTypeOption = option('key-type', 'TYPE', 'type of the key', parseTypeTag)
const valueTypeOption = option('value-type', 'TYPE', 'type of the value', parseTypeTag)
const keyOption = option('key', 'JSON', 'the key, such as \'"42"\' for a u64; texts need quotes', parseKey)

export const handleArgument = { name: 'HANDLE', description: 'table handle, 0x…' }
/** Options that name an item of a table; a command requires all of them. */
export const tableItemOptions = [keyTypeOption, valueTypeOption, keyOption] as const

/** An item of the demonstration ledger, for the examples of the commands. */
export const DEMO_ITEM = `0x7ab1e3 --key-type 0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::harbour::Good --value-type 0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15::harbour::Price --key '{"Tea":{}}'`

/**
 * Reads `handleArgument` and `tableItemOptions`.
 * @throws `usage`
 */
export function tableItemRequest(input: CommandInput): TableItemRequest {
  return {
    handle: parseAs('HANDLE', input.argument('HANDLE'), parseAddress),
    keyType: input.required(keyTypeOption),
    valueType: input.required(valueTypeOption),
    key: input.required(keyOption),
  }
}

/**
 * Parses a key as JSON.
 * @throws `usage`
 */
function parseKey(text: string): JsonValue {
  try {
    return parseJson(text)
  } catch (error) {
    if (!isLedgerStateError(error)) throw error
    const isWord = /^[^\s"'[\]{}]+$/.test(text)
    const hint = isWord ? `; a text needs quotes, within those of the shell: --key '"${text}"'` : ''
    throw usageError(`${JSON.stringify(text)} is not JSON (${error.message})${hint}`)
  }
}
