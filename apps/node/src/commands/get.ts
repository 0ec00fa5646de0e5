import { type JsonValue, parseJson } from '@ledger-state/bcs'
import { ByteWriter, bytesToHex, hexToBytes, isLedgerStateError, parseAddress, parseU64 } from '@ledger-state/core'
import { createLedger, type LedgerState, parseAsset, parseTimestamp } from '@ledger-state/ledger'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { parseTypeTag } from '@ledger-state/type-tag'
import type { Command, CommandInput } from '../config/command.js'
import { option, parseAs, switchOption } from '../config/option.js'
import { settings } from '../config/settings.js'
import { usageError } from '../errors.js'

const keyTypeOption = option('key-type', 'TYPE', 'type of the key', parseTypeTag)
const valueTypeOption = option('value-type', 'TYPE', 'type of the value', parseTypeTag)
const keyOption = option('key', 'JSON', 'the key, such as \'"42"\' for a u64; texts need quotes', parseKey)
const bcsOption = switchOption('bcs', 'print the stored bytes in hex')
const versionOption = option('version', 'VERSION', 'ledger version to read at (default the latest)', parseU64)
const atOption = option('at', 'TIME', 'time to read at: RFC 3339, or microseconds since 1970', parseTimestamp)
const handleArgument = { name: 'HANDLE', description: 'table handle, 0x…' }

export const getTableItemCommand: Command = {
  name: 'get table-item',
  summary: 'Prints a table item, found by its typed key, as JSON.',
  arguments: [handleArgument],
  options: [keyTypeOption, valueTypeOption, keyOption, bcsOption, settings.dataDir, versionOption, atOption],
  required: [keyTypeOption, valueTypeOption, keyOption, settings.dataDir],
  examples: [`ledger-state get table-item 0x7ab1e --key-type u64 --value-type u64 --key '"1"' --data-dir data/demo`],
  async run(input) {
    const handle = parseAs('HANDLE', input.argument('HANDLE'), parseAddress)
    const keyType = input.required(keyTypeOption)
    const valueType = input.required(valueTypeOption)
    const key = input.required(keyOption)
    await read(input, (state) => {
      const item = state.readTableItem({ handle, keyType, valueType, key })
      return input.get(bcsOption) ? bytesToHex(item.bytes) : item.toJson()
    })
  },
}

export const getRawItemCommand: Command = {
  name: 'get raw-item',
  summary: 'Prints a table item, found by its serialized key, in hex.',
  arguments: [handleArgument, { name: 'KEY', description: 'BCS bytes of the key in hex' }],
  options: [bcsOption, settings.dataDir, versionOption, atOption],
  required: [settings.dataDir],
  examples: ['ledger-state get raw-item 0x7ab1e 0x0100000000000000 --data-dir data/demo'],
  async run(input) {
    const handle = parseAs('HANDLE', input.argument('HANDLE'), parseAddress)
    const key = parseAs('KEY', input.argument('KEY'), hexToBytes)
    await read(input, (state) => bytesToHex(state.readRawTableItem(handle, key)))
  },
}

export const getBalanceCommand: Command = {
  name: 'get balance',
  summary: 'Prints what an account holds of a coin or fungible asset.',
  arguments: [
    { name: 'ADDRESS', description: 'the account, with or without 0x' },
    { name: 'ASSET', description: 'a coin type, or the address of a fungible asset' },
  ],
  options: [bcsOption, settings.dataDir, versionOption, atOption],
  required: [settings.dataDir],
  examples: [
    'ledger-state get balance 0xa11ce 0x1::aptos_coin::AptosCoin --data-dir data/demo',
    'ledger-state get balance 0xa11ce 0xa --at 2025-01-01T00:12:30Z --data-dir data/demo',
  ],
  async run(input) {
    const owner = parseAs('ADDRESS', input.argument('ADDRESS'), parseAddress)
    const asset = parseAs('ASSET', input.argument('ASSET'), parseAsset)
    await read(input, (state) => {
      const balance = state.readBalance(owner, asset)
      return input.get(bcsOption) ? bytesToHex(new ByteWriter().u64(balance).toBytes()) : String(balance)
    })
  },
}

/** @throws `usage` */
function parseKey(text: string): JsonValue {
  try {
    return parseJson(text)
  } catch (error) {
    if (!isLedgerStateError(error)) throw error
    const isWord = /^[^\s"'[\]{}]+$/.test(text)
    const hint = isWord ? `; a text needs quotes, within those of the shell: --key '"${text}"'` : ''
    throw usageError(`${JSON.stringify(text)} is no JSON (${error.message})${hint}`)
  }
}

async function read(input: CommandInput, print: (state: LedgerState) => string): Promise<void> {
  const version = input.get(versionOption)
  const timestampUsec = input.get(atOption)
  if (version !== undefined && timestampUsec !== undefined) throw usageError('give --version or --at, not both')
  const engine = openStateEngineReader({ path: input.required(settings.dataDir), verifyReads: true })
  try {
    const ledger = createLedger(engine)
    const state = ledger.at(timestampUsec === undefined ? version : ledger.versionAtTime(timestampUsec))
    process.stdout.write(`${print(state)}\n`)
  } finally {
    await engine.close()
  }
}
